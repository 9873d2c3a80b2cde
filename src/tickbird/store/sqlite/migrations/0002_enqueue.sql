-- min_compatible: 1
-- Who asks for the same run again, by its key, is given the run that exists. A run without a key is in no index for it.

ALTER TABLE runs ADD COLUMN idempotency_key TEXT;
CREATE UNIQUE INDEX runs_keyed ON runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
