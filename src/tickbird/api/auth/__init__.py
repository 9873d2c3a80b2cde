"""Authentication: tokens, sessions, namespaces and local access."""
