"""Schedules: definition, policies, grid of ticks, dependencies and their JSON."""
