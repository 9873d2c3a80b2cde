"""Records as JSON: what the API answers and `--json` prints."""
