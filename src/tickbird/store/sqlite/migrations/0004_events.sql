-- min_compatible: 1
-- Events: the log of a namespace, its consumer groups and their dead letters. SQLite has one writer at a time, so an event gets
-- its position in the transaction that publishes it.

INSERT INTO meta (key, value) VALUES ('event_partitions', '16');

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    position INTEGER NOT NULL,
    -- Counts the events of a key, from 1; null without a key.
    version INTEGER,
    partition INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    type TEXT NOT NULL,
    source TEXT NOT NULL,
    key TEXT,
    tenant TEXT,
    -- The instant of the tick; for other events, when they were published.
    time INTEGER NOT NULL,
    published_at INTEGER NOT NULL,
    transaction_id TEXT,
    ordinal INTEGER NOT NULL DEFAULT 1,
    count INTEGER NOT NULL DEFAULT 1,
    run_id INTEGER,
    actor TEXT,
    headers TEXT,
    data TEXT NOT NULL,
    CONSTRAINT events_version_check CHECK ((key IS NULL) = (version IS NULL))
) STRICT;
CREATE UNIQUE INDEX events_position_key ON events (namespace, position);
CREATE UNIQUE INDEX events_event_id_key ON events (namespace, event_id);
CREATE UNIQUE INDEX events_version_key ON events (namespace, key, version) WHERE key IS NOT NULL;
CREATE INDEX events_partition_idx ON events (namespace, partition, position);

CREATE TABLE event_streams (
    namespace TEXT PRIMARY KEY,
    -- The last position that was assigned.
    head INTEGER NOT NULL DEFAULT 0,
    -- The last position that retention removed, 0 if none.
    pruned_until INTEGER NOT NULL DEFAULT 0,
    pruned_at INTEGER
) STRICT, WITHOUT ROWID;

-- The versions of keys whose newest events retention has removed.
CREATE TABLE event_keys (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

-- Runs of event targets that are not published yet.
CREATE INDEX runs_queued_events_idx ON runs (id) WHERE target_kind = 'event' AND status = 'queued';
