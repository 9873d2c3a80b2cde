"""Definitions: made, edited, overridden, refused."""
