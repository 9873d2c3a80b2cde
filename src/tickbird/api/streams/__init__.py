"""Server-sent events: the activity feed and the logs of a run."""
