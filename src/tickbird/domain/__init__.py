"""Pure decisions about time: triggers, policies, planner, codec. No clock, no I/O, nothing of ours imported."""
