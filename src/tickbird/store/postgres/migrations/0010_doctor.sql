-- min_compatible: 8
-- How a worker is, as it tells with each heartbeat: its clock beside the store's, its zone rules, slots that are stuck.

ALTER TABLE tickbird.workers ADD COLUMN vitals jsonb NOT NULL DEFAULT '{}';
