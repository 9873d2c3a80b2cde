-- min_compatible: 11
-- Dependencies between schedules. Code that does not know of them would neither note successes nor release who waits.

-- Of schedules that others depend on, and only of those: when a run of theirs last succeeded.
CREATE TABLE tickbird.last_success (
    schedule_id bigint PRIMARY KEY,
    finished_at timestamptz
) WITH (fillfactor = 50);

-- What waiting runs wait for: that a schedule succeeds between two instants. They stand in lane -1 until then.
CREATE TABLE tickbird.awaits (
    run_id bigint NOT NULL,
    schedule_id bigint NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (run_id, schedule_id)
);
CREATE INDEX awaits_of_schedule ON tickbird.awaits (schedule_id);
CREATE INDEX awaits_until ON tickbird.awaits (until);
CREATE INDEX runs_awaiting ON tickbird.runs (id) WHERE status = 'waiting' AND lane = -1;

-- Those of these schedules whose successes are noted. Volatile, so that it looks once more, after the locks that the
-- statement which asks has waited for: a schedule that others begin to depend on just now must not be missed.
CREATE FUNCTION tickbird.watched(ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    RETURN ARRAY(SELECT l.schedule_id FROM tickbird.last_success AS l WHERE l.schedule_id = ANY(ids));
END $$;

-- Only schedules that depend on others are in it.
CREATE INDEX schedules_with_dependencies ON tickbird.schedules (namespace, name) WHERE definition ? 'depends_on';
