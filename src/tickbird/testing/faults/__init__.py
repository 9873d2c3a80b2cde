"""The fault lab: real workers, real faults, ledgers that survive a kill, and a checker that names broken promises."""

from tickbird.testing.faults.absent import Absent
from tickbird.testing.faults.checker import Verdict, Violation, check, judge
from tickbird.testing.faults.clock import SetClock
from tickbird.testing.faults.disk import SmallDisk
from tickbird.testing.faults.fleet import Fleet, Member, until
from tickbird.testing.faults.ledger import Ledger, Note, read_notes
from tickbird.testing.faults.network import Cable
from tickbird.testing.faults.proxy import Proxy

__all__ = [
    "Absent",
    "Cable",
    "Fleet",
    "Ledger",
    "Member",
    "Note",
    "Proxy",
    "SetClock",
    "SmallDisk",
    "Verdict",
    "Violation",
    "check",
    "judge",
    "read_notes",
    "until",
]
