"""Runs in processes of their own: a worker, a keeper per child, and the child that executes."""
