"""What another scheduler really did, from its log, a table, its database or its cluster."""
