"""Code that all store drivers share."""
