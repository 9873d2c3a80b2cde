"""Leader mode: one worker plans, under a term that the store issues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError

Coordination = Literal["shared", "leader"]
# "removed": its lease was deleted or replaced by plain SQL.
EndReason = Literal["resigned", "expired", "removed"]

SHARED: Final = "shared"
LEADER: Final = "leader"
COORDINATIONS: Final[tuple[Coordination, ...]] = (SHARED, LEADER)
# Seconds without a heartbeat after which another worker takes over.
DEFAULT_TIMEOUT: Final = 60.0
MIN_TIMEOUT: Final = 1.0
MAX_TIMEOUT: Final = 86_400.0
# Older terms are deleted from the history.
MAX_TERMS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderTerm:
    """One period of leadership of one worker; `ended_at` is None until it has ended or another worker took over."""

    term: int
    worker: str
    host: str
    pid: int
    namespace: str
    app: str
    began_at: datetime
    ended_at: datetime | None = None
    end_reason: EndReason | None = None
    note: str = ""
    # Runs and skips that it planned, as last reported: the count of a lost leader lacks its last heartbeat interval.
    runs: int = 0
    skips: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderLease:
    """The right of one worker to plan, for `timeout` seconds after its heartbeat."""

    term: int
    worker: str
    heartbeat_at: datetime
    timeout: float

    def is_live(self, now: datetime) -> bool:
        """False if another worker may take over.

        A heartbeat that is far in the future was written before the clock was set back.
        """
        return abs((now - self.heartbeat_at).total_seconds()) < self.timeout

    def expires_in(self, now: datetime) -> float:
        """Seconds until another worker may take over; 0 if it may."""
        if not self.is_live(now):
            return 0.0
        return self.timeout - (now - self.heartbeat_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Election:
    """The lease after an attempt to elect this worker, by the store's clock; `elected` if it is this worker's."""

    now: datetime
    lease: LeaderLease
    elected: bool


@dataclass(frozen=True, slots=True)
class Leader:
    """The lease, if there is one, and the newest terms, newest first."""

    now: datetime
    lease: LeaderLease | None
    terms: Sequence[LeaderTerm]

    @property
    def is_live(self) -> bool:
        """True if a worker holds a lease that has not expired."""
        return self.lease is not None and self.lease.is_live(self.now)

    @property
    def current(self) -> LeaderTerm | None:
        """The term of the lease; None if there is no leader."""
        if self.lease is None or not self.is_live:
            return None
        return next((term for term in self.terms if term.term == self.lease.term), None)


def end_text(term: LeaderTerm) -> str:
    """Describe why a term ended; empty if it has not."""
    texts = {
        None: "",
        "resigned": "resigned",
        "expired": "no heartbeat: another worker took over",
        "removed": "the lease was removed by plain SQL",
    }
    return texts[term.end_reason] + (f" ({term.note})" if term.note else "")


def check_coordination(value: str) -> Coordination:
    """Return the value; raises InvalidError if it is neither "shared" nor "leader"."""
    for known in COORDINATIONS:
        if value == known:
            return known
    raise InvalidError(
        f"coordination is {value[:50]!r}, not 'shared' or 'leader'.", field="coordination", hint="Use one of the two."
    )


def check_timeout(seconds: float) -> float:
    """Return the seconds; raises InvalidError if they are outside of the bounds."""
    if not MIN_TIMEOUT <= seconds <= MAX_TIMEOUT:
        raise InvalidError(
            f"leader_timeout is {seconds:g} s, not between {MIN_TIMEOUT:g} and {MAX_TIMEOUT:g} s.",
            field="leader_timeout",
            hint="The default is 60.",
        )
    return seconds


def no_leader() -> NotFoundError:
    return NotFoundError(
        "there is no leader.", hint="Workers in leader mode elect one: `tickbird worker --coordination leader`."
    )


def not_in_term(term: int, current: int) -> ConflictError:
    return ConflictError(f"the term is {current}, not {term}.", hint="`tickbird leader` shows the current one.")


def term_by_force(lease: LeaderLease, now: datetime) -> LeaderTerm:
    """Return the term of a lease that plain SQL has written: it is not in the history."""
    return LeaderTerm(
        term=lease.term,
        worker=lease.worker,
        host="",
        pid=0,
        namespace="",
        app="",
        began_at=lease.heartbeat_at,
        ended_at=now,
        end_reason="removed",
    )
