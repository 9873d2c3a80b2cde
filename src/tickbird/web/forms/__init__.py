"""Forms: reading, checking and drawing of input."""
