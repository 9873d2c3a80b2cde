"""Documents of the HTTP API as the values that they were made of: the reverse of `tickbird.wire.encode`, by noun."""
