"""Forms: parse, validate and render input."""
