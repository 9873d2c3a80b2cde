"""`./dev soak`: a fleet at work for minutes or days, with faults, and whether anything of it grows."""
