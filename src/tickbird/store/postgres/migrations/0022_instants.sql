-- min_compatible: 15
-- Instants that Python does not have (infinity, years beyond 9999) must not keep any row from being read.

-- Whole seconds since the epoch, or those of the nearest instant that Python has.
CREATE FUNCTION tickbird.seconds(at timestamptz) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN at IS NOT NULL THEN floor(least(greatest(date_part('epoch', at), -62135596800), 253402300799))::bigint
END;

CREATE OR REPLACE VIEW tickbird.schedule_details AS
SELECT
    s.id,
    s.namespace,
    s.name,
    s.app,
    s.definition,
    s.revision,
    s.fingerprint,
    s.overrides,
    s.paused_by,
    s.pause_note,
    -- Until infinity is until somebody resumes it.
    CASE WHEN s.paused_until <> 'infinity' THEN tickbird.seconds(s.paused_until) END AS paused_until,
    s.error,
    s.created_at,
    s.changed_at,
    c.state,
    c.format,
    tickbird.seconds(c.next_run_at) AS next_run_at,
    tickbird.seconds(c.planned_until) AS planned_until,
    c.runs_planned,
    tickbird.seconds(c.moved_tick) AS moved_tick,
    tickbird.seconds(c.moved_due_at) AS moved_due_at,
    tickbird.seconds(c.skip_until) AS skip_until,
    c.skip_by,
    c.skip_note,
    c.last_skip_id,
    c.prior_revision,
    tickbird.seconds(c.changed_at) AS edited_at,
    c.tick_overrides
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id;
