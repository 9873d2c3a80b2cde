-- min_compatible: 7
-- How a worker is, as it tells with each heartbeat: its clock beside the store's, its zone rules, slots that are stuck.

ALTER TABLE workers ADD COLUMN vitals TEXT NOT NULL DEFAULT '{}';
