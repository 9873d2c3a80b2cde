"""Consumers: functions and sinks that receive the events of a group."""
