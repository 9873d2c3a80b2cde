"""The proof behind `tickbird doctor --prove`: a fleet under faults on a user's own database, in a store of its own."""

from tickbird.testing.proof.proof import Proof
from tickbird.testing.proof.report import Report
from tickbird.testing.proof.scratch import clean

__all__ = ["Proof", "Report", "clean"]
