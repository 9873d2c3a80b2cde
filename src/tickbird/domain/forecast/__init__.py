"""Forecasts of the coming days, computed from the schedules alone."""
