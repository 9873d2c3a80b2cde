"""Actions on a schedule. Each has a page, and its form also opens in a dialog."""
