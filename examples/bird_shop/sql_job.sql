-- A job without Python: a table, a function that returns jsonb, and one INSERT that schedules it.

CREATE TABLE seeds (
    seed text PRIMARY KEY,
    sacks integer NOT NULL,
    reorder_below integer NOT NULL
);
INSERT INTO seeds VALUES ('sunflower', 40, 20), ('millet', 25, 10), ('niger', 12, 8), ('safflower', 30, 15);

CREATE FUNCTION restock() RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    orders jsonb;
BEGIN
    -- Customers have bought a few sacks.
    UPDATE seeds SET sacks = greatest(0, sacks - 1 - floor(random() * 6)::integer);
    -- Visible while the function is executed.
    PERFORM tickbird.log(format('%s sacks in stock', (SELECT sum(sacks) FROM seeds)));
    PERFORM tickbird.heartbeat(0.5);
    PERFORM pg_sleep(0.8);
    WITH refilled AS (
        UPDATE seeds SET sacks = sacks + 50 WHERE sacks < reorder_below RETURNING seed, sacks - 50 AS before, 50 AS ordered
    )
    SELECT jsonb_agg(to_jsonb(refilled) ORDER BY seed) INTO orders FROM refilled;
    PERFORM tickbird.heartbeat(1);
    IF orders IS NULL THEN
        RETURN tickbird.result(true, 'Enough in stock.', (SELECT jsonb_object_agg(seed, sacks) FROM seeds));
    END IF;
    -- The orders and the success of the run commit together.
    RETURN tickbird.result(true, format('Seeds ordered: %s.', jsonb_array_length(orders)), orders);
END $$;

INSERT INTO tickbird.scheduled_jobs (name, description, function_name, schedule)
VALUES ('restock', 'Order seeds that run low. Defined by plain SQL.', 'restock', '*/10 * * * * *');
