"""Runs in processes of their own: a worker, a supervisor per child, and the child that executes."""
