"""The JSON of the HTTP API and of --json, and how it is read back."""
