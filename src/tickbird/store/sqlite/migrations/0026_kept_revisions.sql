-- min_compatible: 15
-- Retries by the revision that they repeat: it is kept as long as they are.

CREATE INDEX runs_retried ON runs (schedule_id, revision) WHERE retry_of IS NOT NULL;
-- Schedules with more revisions than are kept in any case.
CREATE INDEX schedules_edited ON schedules (id) WHERE revision > 100;
