"""The audit log, newest first, with filters by actor, action, schedule and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response

from tickbird.client import NOUNS
from tickbird.domain.dashboard_rows import AuditFilter, KeysetPage
from tickbird.domain.errors import TickbirdError
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.schedules.diff import differences
from tickbird.web.forms.field_errors import without_field
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.consumers import group_path
from tickbird.wire.operations import operations_of

_PAGE: Final = 100
_PARAMETERS: Final = ("actor", "action", "schedule", "since", "until")
# Suggestions: the actions of the client's verbs, and those of code, plain SQL and logins.
_ACTIONS: Final = (
    *sorted(
        {action for kind in NOUNS.values() for operation in operations_of(kind).values() if (action := operation.audit)}
    ),
    *("sync", "open_session"),
)
# Actions on consumer groups and dead letters.
_EVENT_ACTIONS: Final = frozenset(
    action
    for noun in ("consumers", "dead_letters")
    for operation in operations_of(NOUNS[noun]).values()
    if (action := operation.audit)
)
# Limit for the table of changed fields. The details below show the complete change.
_MAX_CHANGED: Final = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """An audit entry: changed fields (name, before, after), and other details."""

    record: AuditEntry
    changes: Sequence[tuple[str, Any, Any]]
    rest: Mapping[str, Any]

    @property
    def group(self) -> str | None:
        """The consumer group that was changed."""
        name = self.record.detail.get("group")
        return name if isinstance(name, str) and self.record.action in _EVENT_ACTIONS else None

    @property
    def letter(self) -> int | None:
        """The dead letter that was decided."""
        number = self.record.detail.get("letter")
        return number if isinstance(number, int) and self.record.action in _EVENT_ACTIONS else None


async def audit(visit: PageRequest) -> Response:
    wanted, wrong = _filter(visit)
    before, after = _number(visit.query.get("before")), _number(visit.query.get("after"))

    async def read() -> KeysetPage[AuditEntry]:
        return await visit.board.audit(wanted, before=before, after=after, limit=_PAGE)

    key = (visit.namespace, "audit", repr(wanted), before, after)
    page: KeysetPage[AuditEntry] = KeysetPage([]) if wrong else await visit.readings.share(key, read)
    return visit.render(
        "audit.html",
        status=422 if wrong else 200,
        entries=[_entry(record) for record in page.rows],
        query={name: visit.query.get(name, "") for name in _PARAMETERS},
        group_path=group_path,
        is_narrow=any(visit.query.get(name) for name in _PARAMETERS),
        wrong=wrong,
        actions=_ACTIONS,
        # The search limit was reached before the page was full.
        is_cut=page.reached is not None and len(page.rows) < _PAGE,
        **_links(visit, page, before, after),
    )


def _filter(visit: PageRequest) -> tuple[AuditFilter, dict[str, str]]:
    """Read the filter, and return errors by parameter."""
    wrong: dict[str, str] = {}
    times: dict[str, datetime | None] = {}
    for name in ("since", "until"):
        try:
            text = visit.query.get(name, "").strip()
            times[name] = visit.clock.read(text, name) if text else None
        except TickbirdError as error:
            wrong[name] = without_field(error, name)
    given = {name: visit.query.get(name, "").strip() for name in ("actor", "action", "schedule")}
    wanted = AuditFilter(
        actor=given["actor"],
        action=given["action"] or None,
        schedule=given["schedule"] or None,
        since=times.get("since"),
        until=times.get("until"),
    )
    return wanted, wrong


def _links(
    visit: PageRequest, page: KeysetPage[AuditEntry], before: int | None, after: int | None
) -> dict[str, str | None]:
    """Return links to newer and older entries; None if there are none."""
    rows = page.rows
    newer = older = page.reached
    if after is not None:
        older = rows[-1].id if rows else after + 1
    else:
        newer = None if before is None else rows[0].id if rows else before - 1
    return {
        "newer": None if newer is None else visit.here(after=newer, before=None),
        "older": None if older is None else visit.here(before=older, after=None),
        "newest": visit.here(before=None, after=None) if before is not None or after is not None else None,
    }


def _entry(record: AuditEntry) -> Entry:
    detail = dict(record.detail)
    if "before" not in detail or "after" not in detail:
        return Entry(record, (), detail)
    before, after = detail.pop("before"), detail.pop("after")
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        changed = [(diff.field, diff.before, diff.after) for diff in differences(before, after)]
    else:
        # Concurrency limits and rate limits have a name and one value.
        named = detail.pop("key", None) or detail.pop("queue", None) or "value"
        changed = [(str(named), before, after)]
    if len(changed) > _MAX_CHANGED:
        detail |= {"before": before, "after": after}
    return Entry(record, changed[:_MAX_CHANGED], detail)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 18 else None


ROUTES: Final = (PageRoute("/audit", audit),)
