"""Runs: claimed, finished, retried, rescued, pruned."""
