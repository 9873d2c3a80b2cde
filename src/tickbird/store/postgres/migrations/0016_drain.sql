-- min_compatible: 15
-- Drains: who asked a worker to take nothing new, finish and end. It hears of it with its next heartbeat.

ALTER TABLE tickbird.workers ADD COLUMN drain_requested_at timestamptz;
ALTER TABLE tickbird.workers ADD COLUMN drain_requested_by text;
