-- min_compatible: 15
-- Lines: runs of which one schedule makes many at once stand behind the line of their queue until an instant, in whole
-- minutes since the epoch: four bytes, which fill a gap in the index of queued runs.

ALTER TABLE tickbird.runs ADD COLUMN behind integer NOT NULL DEFAULT 0;
-- Until when the last of them stands behind the line.
ALTER TABLE tickbird.cursors ADD COLUMN line_until integer;

DROP INDEX tickbird.runs_queued;
CREATE INDEX runs_queued ON tickbird.runs (namespace, queue, priority DESC, behind, available_at, id)
    WHERE status = 'queued';
CREATE INDEX runs_behind ON tickbird.runs (behind) WHERE status = 'queued' AND behind > 0;
