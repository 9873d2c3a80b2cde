-- min_compatible: 15
-- Following what happens: the transaction that a run was enqueued in, where that is not the store's own.

ALTER TABLE tickbird.runs ADD COLUMN made_in bigint;
