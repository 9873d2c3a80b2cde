-- min_compatible: 15
-- Claims jump through the index of queued runs from one task, and from one priority, to the next. Lists and pictures of a
-- namespace have indexes of their own.

DROP INDEX runs_queued;
CREATE INDEX runs_queued ON runs (namespace, queue, target, schedule_id IS NULL, priority, behind, available_at, id)
    WHERE status = 'queued';
CREATE INDEX runs_of_namespace ON runs (namespace, id);
CREATE INDEX runs_ended ON runs (namespace, finished_at, id) WHERE finished_at IS NOT NULL;
