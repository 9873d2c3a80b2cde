-- min_compatible: 15
-- Claims jump through the index of queued runs from one task, and from one priority, to the next.

DROP INDEX tickbird.runs_queued;
CREATE INDEX runs_queued ON tickbird.runs (
    namespace, queue, target, CAST(schedule_id IS NULL AS integer), priority, behind, available_at, id
) WHERE status = 'queued';
