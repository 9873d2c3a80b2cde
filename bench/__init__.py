"""Measures Tickbird beside the same work in bare SQL, and beside others, on one machine in one run."""
