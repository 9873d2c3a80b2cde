"""The doctor: a snapshot of the store, and the findings that follow from it."""
