-- min_compatible: 15
-- When another system says that it really ran what a schedule is to do.

CREATE TABLE pings (
    schedule_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX pings_by_age ON pings (at);
