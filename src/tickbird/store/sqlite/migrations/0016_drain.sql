-- min_compatible: 15
-- Drains: who asked a worker to take nothing new, finish and end. It hears of it with its next heartbeat.

ALTER TABLE workers ADD COLUMN drain_requested_at INTEGER;
ALTER TABLE workers ADD COLUMN drain_requested_by TEXT;
-- Moves when workers do well to send a heartbeat at once.
INSERT INTO counters (name, last) VALUES ('heartbeat', 0);
