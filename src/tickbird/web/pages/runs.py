"""The list of runs, newest first, with filters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, get_args

from starlette.responses import RedirectResponse, Response

from tickbird.domain.dashboard_rows import KeysetPage, RunFilter
from tickbird.domain.errors import TickbirdError
from tickbird.domain.messages import brief
from tickbird.domain.runs.run import ACTIVE, Origin, RunRecord, Status
from tickbird.domain.time.instants import utc_text
from tickbird.web.page_request import PageRequest, PageRoute

_PAGE: Final = 50
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
# Query parameters of the filter, in canonical order.
_PARAMETERS: Final = (
    "status",
    "schedule",
    "task",
    "kind",
    "origin",
    "worker",
    "queue",
    "key",
    "error",
    "undecided",
    "since",
    "until",
)


@dataclass(frozen=True, slots=True)
class Row:
    """A run as a row of a list."""

    run: RunRecord
    # Seconds from due to start, or until now if the run has not started.
    late: float | None
    took: float | None
    note: str
    why: str | None


async def runs(visit: PageRequest) -> Response:
    if (to := _canonical_url(visit)) is not None:
        return RedirectResponse(to, 303)
    wanted, wrong = _filter(visit)
    before, after = read_number(visit.query.get("before")), read_number(visit.query.get("after"))

    async def read() -> KeysetPage[RunRecord]:
        return await visit.board.runs(wanted, before=before, after=after, limit=_PAGE)

    key = (visit.namespace, "runs", repr(wanted), before, after)
    page: KeysetPage[RunRecord] = KeysetPage([]) if wrong else await visit.readings.share(key, read)
    rows = [row_of(visit, run) for run in page.rows]
    return visit.render(
        "runs.html",
        status=400 if wrong else 200,
        rows=rows,
        wrong=wrong,
        wanted=wanted,
        query={name: visit.query.get(name, "") for name in _PARAMETERS},
        times={name: visit.clock.field(at) for name, at in (("since", wanted.since), ("until", wanted.until))},
        is_filtered=any(visit.query.get(name) for name in _PARAMETERS),
        statuses=STATUSES,
        origins=ORIGINS,
        **_pages(visit, page, before, after),
    )


def _pages(visit: PageRequest, page: KeysetPage[RunRecord], before: int | None, after: int | None) -> dict[str, Any]:
    """Return links to older and newer runs, and whether the search limit was reached."""
    rows, reached = page.rows, page.reached
    newer: int | None
    older: int | None
    if after is not None:
        newer = reached
        older = rows[-1].id if rows else after + 1
    else:
        newer = None if before is None else rows[0].id if rows else before - 1
        older = reached
    return {
        "newer": None if newer is None else visit.here(after=newer, before=None),
        "older": None if older is None else visit.here(before=older, after=None),
        "newest": None if before is None and after is None else visit.here(before=None, after=None),
        "is_cut": reached is not None and len(rows) < _PAGE,
    }


def _canonical_url(visit: PageRequest) -> str | None:
    """Return the canonical URL (no empty or repeated parameters), or None if it is canonical."""
    pairs = visit.request.query_params.multi_items()
    names = [name for name, _ in pairs]
    if len(set(names)) == len(names) and all(value for _, value in pairs):
        return None
    kept: dict[str, object] = {}
    for name in dict.fromkeys(names):
        if name != "ns":
            values = list(dict.fromkeys(value for key, value in pairs if key == name and value))
            kept[name] = ",".join(values) if name == "status" else values[-1] if values else None
    return visit.url(visit.path, **kept)


def _filter(visit: PageRequest) -> tuple[RunFilter, dict[str, str]]:
    """Read the filter, and return errors by parameter."""
    query, wrong = visit.query, dict[str, str]()
    given = [word for word in query.get("status", "").split(",") if word]
    statuses = tuple(status for status in STATUSES if status in given)
    if unknown := [word for word in given if word not in STATUSES]:
        wrong["status"] = f"{unknown[0][:60]!r} is not a status. Use one of {', '.join(STATUSES)}."
    origin = next((name for name in ORIGINS if name == query.get("origin")), None)
    if query.get("origin") and origin is None:
        wrong["origin"] = f"{query['origin'][:60]!r} is not an origin. Use one of {', '.join(ORIGINS)}."
    if query.get("undecided", "1") not in ("", "1"):
        wrong["undecided"] = f"{query['undecided'][:60]!r} is not a value of undecided. Use 1, or omit it."
    times: dict[str, datetime | None] = {}
    for name in ("since", "until"):
        try:
            times[name] = visit.clock.read(query[name], name) if query.get(name) else None
        except TickbirdError as error:
            wrong[name] = str(error)
    wanted = RunFilter(
        schedule=query.get("schedule"),
        statuses=statuses,
        origin=origin,
        target=query.get("task"),
        target_kind=query.get("kind"),
        worker=query.get("worker"),
        queue=query.get("queue"),
        key=query.get("key"),
        since=times.get("since"),
        until=times.get("until"),
        error=query.get("error", ""),
        undecided=bool(query.get("undecided")),
    )
    return wanted, wrong


def row_of(visit: PageRequest, run: RunRecord) -> Row:
    now, note = visit.clock.now, brief(run.error) or run.reason or ""
    if run.held:
        note = "held until you release or drop it"
    if run.undecided:
        note = "waits for the answer whether it had its effect"
    return Row(run, lateness(run, now), duration(run, now), note, why_url(visit, run))


def lateness(run: RunRecord, now: datetime) -> float | None:
    """Return the seconds from due to the first attempt, or until now; None if unknown."""
    if run.origin == "backfill":
        # The tick of a backfill run is long past, so lateness has no meaning.
        return None
    if run.status in ("waiting", "queued") and run.attempt == 0:
        return max(0.0, (now - run.due_at).total_seconds()) or None
    return run.lateness


def duration(run: RunRecord, now: datetime) -> float | None:
    """Return the seconds since the first attempt, until the end or now."""
    if run.began_at is None or (run.status in ACTIVE and run.status != "running"):
        return None
    return max(0.0, ((run.finished_at or now) - run.began_at).total_seconds())


def why_url(visit: PageRequest, run: RunRecord) -> str | None:
    """Return the URL of the explanation of a run's tick, or None."""
    if run.schedule is None or run.scheduled_for is None:
        return None
    return visit.schedule(run.schedule, "/why", at=utc_text(run.scheduled_for))


def read_number(text: str | None) -> int | None:
    """Parse an id; None if it is not a valid id."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 18 else None


ROUTES: Final = (PageRoute("/runs", runs),)
