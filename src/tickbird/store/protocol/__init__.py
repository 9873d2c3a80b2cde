"""The store protocol: what every driver implements."""
