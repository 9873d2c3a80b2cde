"""Events: published facts, their topics, and the consumer groups that read them."""
