"""The pytest plugin that comes with Tickbird."""
