-- min_compatible: 1
-- Consumer groups: durable offsets per partition, and dead letters.

-- A repair of a dead letter needs a second person.
ALTER TABLE event_streams ADD COLUMN requires_approval INTEGER NOT NULL DEFAULT 0;

CREATE TABLE consumer_groups (
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    app TEXT NOT NULL,
    -- A JSON array.
    topics TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'active' CONSTRAINT consumer_groups_state_check CHECK (state IN ('active', 'stopped')),
    -- Why it is stopped.
    reason TEXT,
    -- Retention has removed events after this position that the group had not read.
    lost_after INTEGER,
    -- The group whose consumer also reads this one.
    scratch_of TEXT,
    created_at INTEGER NOT NULL,
    -- When a worker declared it last.
    declared_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- One row per group and partition. The row that a delivery has leased has its token.
CREATE TABLE consumer_offsets (
    namespace TEXT NOT NULL,
    consumer_group TEXT NOT NULL,
    partition INTEGER NOT NULL,
    -- Events up to this position are handled, or are dead letters.
    position INTEGER NOT NULL DEFAULT 0,
    token INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    leased_until INTEGER,
    -- Leases that have expired since the last outcome; up to `single_until`, also the one of the batch.
    crashes INTEGER NOT NULL DEFAULT 0,
    -- After a crash: units are delivered one by one until the offset reaches this position.
    single_until INTEGER,
    -- Set after an infrastructure error.
    paused_until INTEGER,
    -- Infrastructure errors since the last success.
    pauses INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    PRIMARY KEY (namespace, consumer_group, partition),
    FOREIGN KEY (namespace, consumer_group) REFERENCES consumer_groups (namespace, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    consumer_group TEXT NOT NULL,
    partition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    -- The event; its row is kept as long as this one.
    event INTEGER NOT NULL REFERENCES events (id),
    key TEXT,
    transaction_id TEXT,
    state TEXT NOT NULL CONSTRAINT dead_letters_state_check
        CHECK (state IN ('retrying', 'deferred', 'failed', 'delivered', 'skipped')),
    failures INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    created_at INTEGER NOT NULL,
    retry_at INTEGER,
    -- Replaces the data of the event for this group.
    repair TEXT,
    repaired_by TEXT,
    approved_by TEXT,
    resolved_at INTEGER,
    resolved_by TEXT,
    note TEXT,
    FOREIGN KEY (namespace, consumer_group) REFERENCES consumer_groups (namespace, name) ON DELETE CASCADE,
    CONSTRAINT dead_letters_retry_check CHECK ((state = 'retrying') = (retry_at IS NOT NULL)),
    CONSTRAINT dead_letters_resolved_check CHECK ((state IN ('delivered', 'skipped')) = (resolved_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX dead_letters_position_key ON dead_letters (namespace, consumer_group, position);
CREATE INDEX dead_letters_state_idx ON dead_letters (namespace, consumer_group, state, partition, position);
CREATE INDEX dead_letters_unresolved_idx ON dead_letters (namespace, id) WHERE state IN ('retrying', 'deferred', 'failed');
CREATE INDEX dead_letters_waiting_idx ON dead_letters (namespace, consumer_group, partition, position)
    WHERE state IN ('retrying', 'deferred');
CREATE INDEX dead_letters_retry_idx ON dead_letters (namespace, consumer_group, retry_at) WHERE retry_at IS NOT NULL;
CREATE INDEX dead_letters_quarantine_idx ON dead_letters (namespace, consumer_group, key, position)
    WHERE state IN ('retrying', 'deferred', 'failed') AND key IS NOT NULL;
CREATE INDEX dead_letters_resolved_idx ON dead_letters (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX dead_letters_event_idx ON dead_letters (event);
CREATE INDEX dead_letters_transaction_idx ON dead_letters (transaction_id) WHERE transaction_id IS NOT NULL;
