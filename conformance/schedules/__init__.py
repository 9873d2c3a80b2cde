"""Definitions: created, edited, overridden, refused."""
