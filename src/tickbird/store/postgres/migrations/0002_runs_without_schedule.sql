-- min_compatible: 1
-- What is asked of these two indexes is always the runs of a schedule. A run without one is moved from queued to running
-- to final as often as others, and each of these moves wrote two entries that nobody could look for.

DROP INDEX tickbird.runs_active;
CREATE INDEX runs_active ON tickbird.runs (schedule_id) WHERE finished_at IS NULL AND schedule_id IS NOT NULL;

DROP INDEX tickbird.runs_of_schedule;
CREATE INDEX runs_of_schedule ON tickbird.runs (schedule_id, id DESC) WHERE schedule_id IS NOT NULL;
