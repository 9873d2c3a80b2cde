"""The fault lab: real worker processes under real faults, and the checker of the proof with more checks."""

from lab.faults.checker import check, judge
from lab.faults.clock import SetClock
from lab.faults.disk import SmallDisk
from lab.faults.fleet import Fleet
from lab.faults.missing_requirement import MissingRequirement
from lab.faults.network import Cable
from lab.faults.proxy import Proxy
from tickbird.proof.checker import Verdict, Violation
from tickbird.proof.fleet import Member, until
from tickbird.proof.journal import Entry, Journal, read_journals

__all__ = [
    "Cable",
    "Entry",
    "Fleet",
    "Journal",
    "Member",
    "MissingRequirement",
    "Proxy",
    "SetClock",
    "SmallDisk",
    "Verdict",
    "Violation",
    "check",
    "judge",
    "read_journals",
    "until",
]
