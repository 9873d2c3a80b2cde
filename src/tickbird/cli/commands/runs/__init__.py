"""Commands about runs, queues, limits, held runs and backfills."""
