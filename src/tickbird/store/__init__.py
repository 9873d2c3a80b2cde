"""Where schedules and runs are kept: one protocol, one driver per database."""
