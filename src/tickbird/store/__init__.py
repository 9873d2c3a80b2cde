"""Stores of schedules and runs: one protocol, one driver per database."""
