-- min_compatible: 15
-- Pages of the schedules that are not active, however many are.

CREATE INDEX cursors_at_rest ON cursors (state, schedule_id) WHERE state <> 'active';
