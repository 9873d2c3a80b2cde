"""Compares Tickbird with the same work in bare SQL, and with other schedulers, on one machine in one run."""
