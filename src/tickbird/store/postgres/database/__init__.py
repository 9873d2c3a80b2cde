"""The server: connections, notifications, the schema."""
