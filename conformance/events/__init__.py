"""Events: the log, consumer groups, dead letters."""
