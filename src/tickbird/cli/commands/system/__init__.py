"""Commands about processes, the store and tokens."""
