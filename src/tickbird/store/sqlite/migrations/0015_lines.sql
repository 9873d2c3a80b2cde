-- min_compatible: 15
-- Lines: runs of which one schedule makes many at once stand behind the line of their queue until an instant, in whole
-- minutes since the epoch.

ALTER TABLE runs ADD COLUMN behind INTEGER NOT NULL DEFAULT 0;
-- Until when the last of them stands behind the line.
ALTER TABLE cursors ADD COLUMN line_until INTEGER;

DROP INDEX runs_queued;
CREATE INDEX runs_queued ON runs (namespace, queue, priority, behind, available_at, id, target) WHERE status = 'queued';
CREATE INDEX runs_behind ON runs (behind) WHERE status = 'queued' AND behind > 0;
