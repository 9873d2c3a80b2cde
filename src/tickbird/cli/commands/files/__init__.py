"""Commands about files of schedules, and about other systems."""
