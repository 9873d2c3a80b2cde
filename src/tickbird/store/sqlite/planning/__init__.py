"""Planning and claiming: due ticks, and the runs that may start."""
