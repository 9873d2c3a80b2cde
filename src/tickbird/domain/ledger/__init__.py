"""The ledger: activity, verification and the comparison with another scheduler."""
