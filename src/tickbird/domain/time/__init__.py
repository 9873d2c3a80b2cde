"""Time: instants, durations, zones and the version of the zone data."""
