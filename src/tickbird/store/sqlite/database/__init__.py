"""The file: connections, the schema."""
