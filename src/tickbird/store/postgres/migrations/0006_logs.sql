-- min_compatible: 5
-- What runs say while they execute.

CREATE TABLE tickbird.run_logs (
    run_id bigint NOT NULL,
    attempt integer NOT NULL,
    number integer NOT NULL,
    at timestamptz NOT NULL,
    level smallint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (run_id, attempt, number)
);

CREATE TABLE tickbird.run_progress (
    run_id bigint PRIMARY KEY,
    attempt integer NOT NULL,
    at timestamptz NOT NULL,
    value json
) WITH (fillfactor = 70);
