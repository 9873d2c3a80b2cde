"""Explanations: why a tick ran, did not run, or will not."""
