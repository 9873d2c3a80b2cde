"""The engine plans, claims, executes and rescues. Its steps return when to call them again; one loop calls them."""
