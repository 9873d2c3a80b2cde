"""What can be done to a schedule: each action a page of its own, whose form also opens in a dialog."""
