"""Tools that test Tickbird itself: a simulation, a fault lab, PostgreSQL servers and time zone files."""
