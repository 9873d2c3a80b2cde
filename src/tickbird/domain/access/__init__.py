"""Access: tokens, sessions and stored responses."""
