"""Runs in separate processes: a worker, one supervisor per child, and the child that executes."""
