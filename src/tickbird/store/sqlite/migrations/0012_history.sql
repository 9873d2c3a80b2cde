-- min_compatible: 11
-- Pages of the runs that did not end well, however many did.

CREATE INDEX runs_unwell ON runs (namespace, status, id) WHERE status IN ('failed', 'cancelled');
CREATE INDEX runs_unwell_of_schedule ON runs (schedule_id, status, id) WHERE status IN ('failed', 'cancelled');
