-- min_compatible: 10
-- Dependencies between schedules. Code that does not know of them would neither note successes nor release who waits.

-- Of schedules that others depend on, and only of those: when a run of theirs last succeeded.
CREATE TABLE last_success (
    schedule_id INTEGER PRIMARY KEY,
    finished_at INTEGER
) STRICT;

-- What waiting runs wait for: that a schedule succeeds between two instants. They stand in lane -1 until then.
CREATE TABLE awaits (
    run_id INTEGER NOT NULL,
    schedule_id INTEGER NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (run_id, schedule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaits_of_schedule ON awaits (schedule_id);
CREATE INDEX awaits_until ON awaits (until);
CREATE INDEX runs_awaiting ON runs (id) WHERE status = 'waiting' AND lane = -1;

-- Only schedules that depend on others are in it.
CREATE INDEX schedules_with_dependencies ON schedules (namespace, name)
    WHERE json_type(definition, '$.depends_on') = 'array';
