"""Plans, claims, executes and rescues: steps that say when they want to be called again, and one loop."""
