-- min_compatible: 1
-- Who asks for the same run again, by its key, is given the run that exists. A run without a key is in no index for it.

ALTER TABLE tickbird.runs ADD COLUMN idempotency_key text;
CREATE UNIQUE INDEX runs_keyed ON tickbird.runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
