"""Planning, as far as all stores share it: which revisions, which plan, which rows."""
