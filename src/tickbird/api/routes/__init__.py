"""Routes of the HTTP API, one module per noun."""
