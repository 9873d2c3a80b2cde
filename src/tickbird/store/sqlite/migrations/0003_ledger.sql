-- min_compatible: 1
-- Up to which tick decisions of a schedule may have been pruned: behind it the ledger is complete.

CREATE TABLE pruned (
    schedule_id INTEGER PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT;
