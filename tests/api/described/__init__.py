"""What schemathesis has to know beside the description of the API, and the server that it asks."""
