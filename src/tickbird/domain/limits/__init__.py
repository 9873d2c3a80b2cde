"""Limits: concurrency keys, queue rates and fairness within a queue."""
