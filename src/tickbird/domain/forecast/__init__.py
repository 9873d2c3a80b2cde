"""Forecasts: what the next days bring, computed from the schedules alone."""
