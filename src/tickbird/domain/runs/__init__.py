"""Runs: statuses, logs, held runs, idempotency keys and durations."""
