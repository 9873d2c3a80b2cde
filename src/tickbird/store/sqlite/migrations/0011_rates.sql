-- min_compatible: 11
-- Rates of queues: how many runs may begin within how long, and what has begun. A queue without a rate has no row here.

CREATE TABLE rates (
    namespace TEXT NOT NULL,
    queue TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    seconds INTEGER NOT NULL CHECK (seconds > 0),
    -- Pairs of an instant and how many runs began then.
    starts TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(starts)),
    PRIMARY KEY (namespace, queue)
) STRICT, WITHOUT ROWID;
