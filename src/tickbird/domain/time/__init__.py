"""Time: instants, durations, zones and the version of the time zone data."""
