"""History of the other scheduler: its firings, from a log, a table, a database or a cluster."""
