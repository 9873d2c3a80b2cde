"""Commands about processes, the store and who may use it."""
