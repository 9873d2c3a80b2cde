"""Commands about runs and what they wait for."""
