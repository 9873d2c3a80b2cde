"""Tickbird: a durable distributed scheduler for Python teams."""
