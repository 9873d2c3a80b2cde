"""An example app on embedded SQLite and a live view of what it does: `python -m examples.bird_shop`."""
