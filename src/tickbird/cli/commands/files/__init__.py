"""Commands about schedule files and about other schedulers."""
