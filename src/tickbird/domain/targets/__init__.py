"""Targets: specifications of what a run executes."""
