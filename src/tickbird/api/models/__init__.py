"""What is sent, completely: the shapes of `tickbird.documents`, for OpenAPI. Fields stay, new ones may come."""
