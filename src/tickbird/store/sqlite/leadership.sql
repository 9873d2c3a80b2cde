-- Leadership: elect, renew and resign, each scoped to one term.

-- fragment: term_columns
term, worker, host, pid, namespace, app, began_at, ended_at, end_reason, note, runs, skips

-- name: read_lease
SELECT term, worker, heartbeat_at, timeout FROM leader_lease ORDER BY term DESC LIMIT 1;

-- name: delete_expired_lease
-- The lease of the worker itself too.
DELETE FROM leader_lease WHERE worker = :worker OR abs(:now - heartbeat_at) >= timeout RETURNING term;

-- name: close_terms
UPDATE leader_terms
SET ended_at = max(began_at, :now),
    end_reason = CASE
        WHEN term NOT IN (SELECT value FROM json_each(:ended)) THEN 'removed' WHEN worker = :worker THEN 'resigned' ELSE 'expired'
    END,
    note = iif(worker = :worker AND term IN (SELECT value FROM json_each(:ended)), 'elected again', '')
WHERE ended_at IS NULL;

-- name: issue_term
-- Higher than every earlier number, also after changes by plain SQL.
INSERT INTO counters (name, value) VALUES ('leader_term', (SELECT coalesce(max(term), 0) + 1 FROM leader_terms))
ON CONFLICT (name) DO UPDATE SET value = max(value + 1, excluded.value)
RETURNING value;

-- name: begin_term
INSERT INTO leader_terms (term, worker, host, pid, namespace, app, began_at)
VALUES (:term, :worker, :host, :pid, :namespace, :app, :now);

-- name: insert_lease
INSERT INTO leader_lease (term, worker, heartbeat_at, timeout) VALUES (:term, :worker, :now, :timeout);

-- name: prune_terms
DELETE FROM leader_terms WHERE term <= :term;

-- name: renew_lease
UPDATE leader_lease SET heartbeat_at = :now WHERE term = :term AND worker = :worker
RETURNING term, worker, heartbeat_at, timeout;

-- name: count_planned
UPDATE leader_terms SET runs = max(runs, :runs), skips = max(skips, :skips) WHERE term = :term;

-- name: delete_lease
DELETE FROM leader_lease WHERE term = :term AND (:worker IS NULL OR worker = :worker) RETURNING term;

-- name: end_term
UPDATE leader_terms
SET ended_at = max(began_at, :now), end_reason = 'resigned', note = :note, runs = max(runs, :runs), skips = max(skips, :skips)
WHERE term = :term
RETURNING {term_columns};

-- name: list_terms
SELECT {term_columns} FROM leader_terms ORDER BY term DESC LIMIT :limit;

-- name: has_term
SELECT 1 FROM leader_lease WHERE term = :term;

-- name: set_planning_term
-- The term of new runs and skips; deleted before the end of the transaction.
INSERT INTO counters (name, value) VALUES ('planning_term', :term)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: delete_planning_term
DELETE FROM counters WHERE name = 'planning_term';
