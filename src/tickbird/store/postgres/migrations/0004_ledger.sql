-- min_compatible: 1
-- Up to which tick decisions of a schedule may have been pruned: behind it the ledger is complete.

CREATE TABLE tickbird.pruned (
    schedule_id bigint PRIMARY KEY,
    until timestamptz NOT NULL
);
