"""Triggers: pure values that define a grid of instants."""
