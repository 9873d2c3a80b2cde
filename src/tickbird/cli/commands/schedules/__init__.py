"""Commands about schedules and their ticks."""
