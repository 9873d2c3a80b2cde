-- min_compatible: 12
-- Rates of queues: how many runs may begin within how long, and what has begun. A queue without a rate has no row here.

CREATE TABLE tickbird.rates (
    namespace text NOT NULL,
    queue text NOT NULL,
    count integer NOT NULL CONSTRAINT rate_count CHECK (count > 0),
    seconds integer NOT NULL CONSTRAINT rate_seconds CHECK (seconds > 0),
    -- Pairs of an instant in microseconds since the epoch, and how many runs began then.
    starts json NOT NULL DEFAULT '[]',
    PRIMARY KEY (namespace, queue)
) WITH (fillfactor = 50);
