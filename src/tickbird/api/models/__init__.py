"""What is sent, completely: the shapes of `tickbird.wire.encode`, for OpenAPI. Fields stay, new ones may come."""
