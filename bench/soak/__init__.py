"""`./dev soak`: a fleet at work for minutes or days, with faults, and a check for growth."""
