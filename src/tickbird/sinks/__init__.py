"""Sinks: one file per system to which events can be relayed, with one small protocol."""
