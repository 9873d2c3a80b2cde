"""Planning and claiming: which ticks are due, which runs may begin."""
