"""Schedules of other systems, read into the file that `tickbird apply` takes."""
