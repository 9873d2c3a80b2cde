"""Planning code that all stores share: revisions, plans and rows."""
