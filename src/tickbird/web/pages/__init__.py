"""The pages, one module per page."""
