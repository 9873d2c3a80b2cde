-- min_compatible: 15
-- When the database last refused to plan a schedule, for a cause outside of its row; null once it is planned. Meanwhile the
-- schedule stays active, and has the error.

ALTER TABLE cursors ADD COLUMN refused_at INTEGER;
