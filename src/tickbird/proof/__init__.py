"""`tickbird doctor --prove`: real workers under faults in a temporary store, and a checker of Tickbird's promises."""

from tickbird.proof.cleanup import drop_leftovers
from tickbird.proof.proof import Proof
from tickbird.proof.report import Report

__all__ = ["Proof", "Report", "drop_leftovers"]
