-- The ledger: every decision about a tick, in narrow rows and whole seconds.

-- name: ledger_runs
SELECT scheduled_for / 1000000, revision, origin, created_at / 1000000, id
FROM runs
WHERE schedule_id = :schedule_id
    AND origin IN ('schedule', 'catch_up', 'backfill')
    AND scheduled_for BETWEEN :runs_from AND :last
ORDER BY scheduled_for
LIMIT :limit;

-- name: ledger_skips
SELECT first_at / 1000000, last_at / 1000000, count, revision, reason, decided_at / 1000000, id
FROM skips
WHERE schedule_id = :schedule_id AND last_at >= :skips_from AND first_at <= :last
ORDER BY last_at
LIMIT :limit;

-- name: pruned_until
SELECT pruned_until / 1000000 FROM prune_horizons WHERE schedule_id = :schedule_id;

-- name: mark_pruned
INSERT INTO prune_horizons (schedule_id, pruned_until) VALUES (?1, ?2)
ON CONFLICT (schedule_id) DO UPDATE SET pruned_until = max(pruned_until, excluded.pruned_until);
