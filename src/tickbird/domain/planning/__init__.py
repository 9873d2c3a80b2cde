"""Planning: which ticks become runs or skips, and what a change of a schedule does."""
