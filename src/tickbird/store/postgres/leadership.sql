-- Leadership: elect, renew and resign, each scoped to one term.
-- Lock order: the counter, then the lease. Planning locks the lease before it locks cursors.

-- fragment: now
coalesce(%(now)s::timestamptz, statement_timestamp())

-- fragment: term_columns
term, worker, host, pid, namespace, app, began_at, ended_at, end_reason, note, runs, skips

-- name: read_lease
SELECT {now} AS now, l.term, l.worker, l.heartbeat_at, l.timeout
FROM (SELECT 1) AS always
LEFT JOIN tickbird.leader_lease AS l ON true
ORDER BY l.term DESC
LIMIT 1;

-- name: lock_leader_counter
INSERT INTO tickbird.leader_counter AS c (last_term) VALUES (0)
ON CONFLICT (lock_id) DO UPDATE SET last_term = c.last_term;

-- name: delete_expired_lease
-- The lease of the worker itself too. Waits for planning transactions of the term; a heartbeat that was waited for counts.
DELETE FROM tickbird.leader_lease
WHERE worker = %(worker)s OR abs(extract(epoch FROM {now} - heartbeat_at)) >= timeout
RETURNING term;

-- name: close_terms
UPDATE tickbird.leader_terms
SET ended_at = greatest(began_at, {now}),
    end_reason = CASE
        WHEN NOT term = ANY(%(ended)s::bigint[]) THEN 'removed' WHEN worker = %(worker)s THEN 'resigned' ELSE 'expired'
    END,
    note = CASE WHEN worker = %(worker)s AND term = ANY(%(ended)s::bigint[]) THEN 'elected again' ELSE '' END
WHERE ended_at IS NULL;

-- name: begin_term
-- The number is higher than every earlier one, also after changes by plain SQL.
WITH issued AS (
    INSERT INTO tickbird.leader_counter AS c (last_term)
    SELECT coalesce(max(t.term), 0) + 1 FROM tickbird.leader_terms AS t
    ON CONFLICT (lock_id) DO UPDATE SET last_term = greatest(c.last_term + 1, excluded.last_term)
    RETURNING last_term
),
begun AS (
    INSERT INTO tickbird.leader_terms (term, worker, host, pid, namespace, app, began_at)
    SELECT last_term, %(worker)s, %(host)s, %(pid)s, %(namespace)s, %(app)s, {now} FROM issued
)
INSERT INTO tickbird.leader_lease (term, worker, heartbeat_at, timeout)
SELECT last_term, %(worker)s, {now}, %(timeout)s FROM issued
RETURNING heartbeat_at AS now, term, worker, heartbeat_at, timeout;

-- name: prune_terms
DELETE FROM tickbird.leader_terms WHERE term <= %(term)s;

-- name: renew_lease
WITH renewed AS (
    UPDATE tickbird.leader_lease
    SET heartbeat_at = {now}
    WHERE term = %(term)s AND worker = %(worker)s
    RETURNING term, worker, heartbeat_at, timeout
),
counted AS (
    UPDATE tickbird.leader_terms AS t
    SET runs = greatest(t.runs, %(runs)s), skips = greatest(t.skips, %(skips)s)
    FROM renewed
    WHERE t.term = renewed.term
)
SELECT heartbeat_at AS now, term, worker, heartbeat_at, timeout FROM renewed;

-- name: delete_lease
DELETE FROM tickbird.leader_lease
WHERE term = %(term)s AND (%(worker)s::text IS NULL OR worker = %(worker)s)
RETURNING term;

-- name: end_term
UPDATE tickbird.leader_terms
SET ended_at = greatest(began_at, {now}),
    end_reason = 'resigned',
    note = %(note)s,
    runs = greatest(runs, %(runs)s),
    skips = greatest(skips, %(skips)s)
WHERE term = %(term)s
RETURNING {term_columns};

-- name: list_terms
SELECT {term_columns} FROM tickbird.leader_terms ORDER BY term DESC LIMIT %(limit)s;

-- name: hold_term
-- Until the end of the transaction, nothing can end the term. The parameter becomes the term of each row that it writes.
SELECT set_config('tickbird.term', term::text, true) FROM tickbird.leader_lease WHERE term = %(term)s FOR KEY SHARE;
