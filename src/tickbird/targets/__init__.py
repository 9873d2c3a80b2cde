"""What a run can start: one file per kind behind one small protocol."""
