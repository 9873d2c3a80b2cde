"""Pure decisions about time: triggers, policies, planner, codec. No clock, no I/O, no imports from other layers."""
