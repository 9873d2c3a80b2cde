-- min_compatible: 1
-- Consumer groups: durable offsets per partition, and dead letters.

ALTER TABLE tickbird.event_streams
    -- A repair of a dead letter needs a second person.
    ADD COLUMN requires_approval boolean NOT NULL DEFAULT false;

CREATE TABLE tickbird.consumer_groups (
    namespace text NOT NULL,
    name text NOT NULL,
    app text NOT NULL,
    topics text[] NOT NULL,
    state text NOT NULL DEFAULT 'active' CONSTRAINT consumer_groups_state_check CHECK (state IN ('active', 'stopped')),
    -- Why it is stopped.
    reason text,
    -- Retention has removed events after this position that the group had not read.
    lost_after bigint,
    -- The group whose consumer also reads this one.
    scratch_of text,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    -- When a worker declared it last.
    declared_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (namespace, name)
);

-- One row per group and partition. The row that a delivery has leased has its token.
CREATE TABLE tickbird.consumer_offsets (
    token bigint NOT NULL DEFAULT 0,
    -- Events up to this position are handled, or are dead letters.
    position bigint NOT NULL DEFAULT 0,
    -- After a crash: units are delivered one by one until the offset reaches this position.
    single_until bigint,
    leased_until timestamptz,
    -- Set after an infrastructure error.
    paused_until timestamptz,
    -- When dead letters may be due; null: none before a change of the letters.
    letters_at timestamptz,
    -- Claims serve the partition first that has waited longest.
    claimed_at timestamptz,
    partition smallint NOT NULL,
    -- Leases that have expired since the last outcome; up to `single_until`, also the one of the batch.
    crashes smallint NOT NULL DEFAULT 0,
    -- Infrastructure errors since the last success.
    pauses integer NOT NULL DEFAULT 0,
    namespace text NOT NULL,
    consumer_group text NOT NULL,
    -- Who has the lease.
    worker text,
    error text,
    PRIMARY KEY (namespace, consumer_group, partition),
    FOREIGN KEY (namespace, consumer_group) REFERENCES tickbird.consumer_groups (namespace, name) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);

CREATE TABLE tickbird.dead_letters (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The event; its row is kept as long as this one.
    event bigint NOT NULL REFERENCES tickbird.events (id),
    position bigint NOT NULL,
    transaction_id uuid,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    retry_at timestamptz,
    resolved_at timestamptz,
    partition smallint NOT NULL,
    failures integer NOT NULL DEFAULT 0,
    state text NOT NULL CONSTRAINT dead_letters_state_check
        CHECK (state IN ('retrying', 'deferred', 'failed', 'delivered', 'skipped')),
    namespace text NOT NULL,
    consumer_group text NOT NULL,
    key text,
    error text,
    -- Replaces the data of the event for this group.
    repair json,
    repaired_by text,
    -- A repair is used only if this is set.
    approved_by text,
    resolved_by text,
    note text,
    FOREIGN KEY (namespace, consumer_group) REFERENCES tickbird.consumer_groups (namespace, name) ON DELETE CASCADE,
    CONSTRAINT dead_letters_retry_check CHECK ((state = 'retrying') = (retry_at IS NOT NULL)),
    CONSTRAINT dead_letters_resolved_check CHECK ((state IN ('delivered', 'skipped')) = (resolved_at IS NOT NULL))
);
CREATE UNIQUE INDEX dead_letters_position_key ON tickbird.dead_letters (namespace, consumer_group, position);
CREATE INDEX dead_letters_unresolved ON tickbird.dead_letters (namespace, consumer_group, position)
    WHERE state IN ('retrying', 'deferred', 'failed');
CREATE INDEX dead_letters_waiting ON tickbird.dead_letters (namespace, consumer_group, partition, position)
    WHERE state IN ('retrying', 'deferred');
CREATE INDEX dead_letters_retry ON tickbird.dead_letters (namespace, consumer_group, partition, retry_at)
    WHERE retry_at IS NOT NULL;
CREATE INDEX dead_letters_quarantine ON tickbird.dead_letters (namespace, consumer_group, key, position)
    WHERE state IN ('retrying', 'deferred', 'failed') AND key IS NOT NULL;
CREATE INDEX dead_letters_state ON tickbird.dead_letters (namespace, consumer_group, state, id);
CREATE INDEX dead_letters_resolved ON tickbird.dead_letters (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX dead_letters_event ON tickbird.dead_letters (event);
CREATE INDEX dead_letters_transaction ON tickbird.dead_letters (transaction_id) WHERE transaction_id IS NOT NULL;
