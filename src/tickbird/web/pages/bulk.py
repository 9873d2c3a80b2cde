"""Bulk changes to selected or all matching schedules: confirmation, change, result."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, cast

from starlette.responses import Response

from tickbird.api.middleware.timeouts import extend_timeout
from tickbird.domain.dashboard_rows import ScheduleFilter
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.planning.bulk import (
    MAX_COUNT,
    BulkResult,
    pause_command,
    reason_not_changed,
    resume_command,
    trigger_command,
)
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import utc_text
from tickbird.web.filters import query_of, requested_filter
from tickbird.web.forms.field_errors import without_field
from tickbird.web.forms.idempotency import form_token, key_of
from tickbird.web.forms.instants import Picked, in_full, read_instant, tomorrow_at, zone_choices
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.schedule_selection import ScheduleSelection, SelectedSchedules

Deed = Literal["pause", "resume", "run"]
DONE: Final = {"pause": "paused", "resume": "resumed", "run": "run"}
# Above this number, the user must type the number to run the schedules.
TYPED_ABOVE: Final = 20
_SHOWN: Final = 50
# Timeout in seconds: 1,000 changes are slow on a busy store.
_SECONDS: Final = 110
_TOMORROW: Final = 9


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """A bulk form with its selected schedules."""

    visit: PageRequest
    deed: Deed
    # The filter if all matching schedules are selected; None for a selection by name.
    every: ScheduleFilter | None
    names: Sequence[str]
    selected: SelectedSchedules

    @property
    def schedules(self) -> Sequence[Schedule]:
        return self.selected.schedules

    @property
    def number(self) -> int:
        return len(self.selected.schedules)

    @property
    def too_many(self) -> bool:
        return self.number > MAX_COUNT

    @property
    def kinds(self) -> Counter[str]:
        """Counts by state, plus shadows and one-shots, for the warnings."""
        counted: Counter[str] = Counter()
        for schedule in self.schedules:
            definition = schedule.definition
            counted[schedule.state] += 1
            if definition is not None:
                counted["shadow"] += definition.shadow
                counted["one-shot"] += "at" in definition.trigger.to_json()
        return counted

    @property
    def left(self) -> int:
        """The number of schedules that will not change."""
        verb = "trigger" if self.deed == "run" else self.deed
        unchanged = sum(1 for schedule in self.schedules if reason_not_changed(verb, schedule))
        return unchanged + (self.kinds["shadow"] + self.kinds["parked"] if self.deed == "run" else 0)

    @property
    def command(self) -> str:
        """The equivalent command line; empty if one line cannot express it."""
        verb = "trigger" if self.deed == "run" else self.deed
        written = self.visit.form.text("note") or ("…" if self.deed == "pause" else "")
        note = ["--note", written] if written and self.deed != "run" else []
        end = self._end_text if self.deed == "pause" else None
        stops = ["--cancel-runs"] if self.deed == "pause" and "cancel_runs" in self.visit.form else []
        options = [*note, *(["--until", end] if end else []), *stops]
        where = [] if self.visit.namespace == "default" else ["--namespace", self.visit.namespace]
        wanted = self.every
        if wanted is not None and not (wanted.app or wanted.queue or wanted.failing or len(wanted.states) > 1):
            narrowed = {"--contains": wanted.contains, "--tag": wanted.tag, "--state": "".join(wanted.states)}
            filters = [part for option, value in narrowed.items() if value for part in (option, value)]
            expected = ["--expect", str(self.number)]
            return shlex.join(["tickbird", verb, "--all", *filters, *expected, *options, *where])
        if not 0 < self.number <= _SHOWN:
            return ""
        names = shlex.join(schedule.name for schedule in self.schedules)
        return f'for name in {names}; do {shlex.join(["tickbird", verb, *options, *where, "--"])} "$name"; done'

    @property
    def zones(self) -> Sequence[str]:
        """Time zones for the end of the pause."""
        return zone_choices(self.visit.clock, None, self.visit.form.text("tz"))

    @property
    def end(self) -> datetime | None:
        """The end of the pause; None if a user must resume the schedules."""
        now, text = self.visit.clock.now.replace(microsecond=0), self.visit.form.text("until_at")
        match self.visit.form.text("until") or ("pick" if text else ""):
            case "":
                return None
            case "1h":
                return now + timedelta(hours=1)
            case "tomorrow":
                return tomorrow_at(_TOMORROW, now, self.zones[0])
        if not text:
            raise InvalidError("Choose a date and a time.", field="until")
        at = read_instant(text, self.zones[0], "until").at
        if at <= now:
            raise InvalidError("Choose a future time.", field="until")
        return at

    @property
    def reads(self) -> str:
        """The end of the pause in words; empty if there is none."""
        try:
            at = self.end
        except InvalidError:
            return ""
        return "" if at is None else in_full(Picked(at), self.zones[0], self.visit.clock.now)

    @property
    def _end_text(self) -> str | None:
        try:
            at = self.end
        except InvalidError:
            return "INSTANT"
        chosen = self.visit.form.text("until")
        words = {"1h": "1h", "tomorrow": f"tomorrow {_TOMORROW:02d}:00 {self.zones[0]}"}
        return None if at is None else words.get(chosen, utc_text(at))


async def change(visit: PageRequest) -> Response:
    """Show the confirmation, or execute the confirmed change and show the result."""
    deed = cast("Deed", visit.path.rpartition("/")[2])
    chosen, every, names = _selection(visit)
    request = BulkRequest(visit, deed, every, names, await chosen.find())
    if not request.number or request.too_many or "go" not in visit.form:
        return _show(request, 200 if request.number and not request.too_many else 422)
    try:
        result = await _do(request, chosen)
    except InvalidError as error:
        return _show(request, 422, error.field, without_field(error, error.field))
    except ConflictError as error:
        # The selection changed since it was shown. Keep the input and show the new number.
        return _show(request, 409, "", str(error))
    return visit.render(
        "bulk_done.html", request=request, result=result, back=_back(visit), done=DONE[deed], shown=_SHOWN
    )


async def _do(request: BulkRequest, chosen: ScheduleSelection) -> BulkResult:
    visit, form = request.visit, request.visit.form
    text = form.text("expected")
    expected = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else request.number
    note = form.text("note")
    if request.deed == "pause" and not note:
        raise InvalidError("Enter a reason for the people on call.", field="note")
    if (
        request.deed == "run"
        and request.number > TYPED_ABOVE
        and form.text("typed").replace(",", "") != str(request.number)
    ):
        raise InvalidError(f"Type {request.number} to confirm.", field="typed")
    end = request.end if request.deed == "pause" else None
    extend_timeout(visit.request, _SECONDS)
    if request.deed == "pause":
        command = pause_command(actor=visit.actor, note=note, until=end, cancel_runs="cancel_runs" in form)
        return await chosen.change("pause", expected, command)
    if request.deed == "resume":
        return await chosen.change("resume", expected, resume_command(actor=visit.actor, note=note))
    return await chosen.change(
        "trigger", expected, trigger_command(actor=visit.actor, key=lambda name: key_of(visit, name))
    )


def _show(request: BulkRequest, status: int, field: str = "", why: str = "") -> Response:
    context: dict[str, Any] = {"request": request, "wrong": {field: why} if why else {}, "back": _back(request.visit)}
    context |= {"tomorrow": _TOMORROW, "once": form_token(request.visit)}
    return request.visit.render(
        "bulk.html", status=status, maximum=MAX_COUNT, shown=_SHOWN, typed_above=TYPED_ABOVE, **context
    )


async def export(visit: PageRequest) -> Response:
    """Download the schedules as a file for `tickbird apply`."""
    from tickbird.files.writer import write

    extend_timeout(visit.request, _SECONDS)
    chosen, every, names = _selection(visit)
    if every is None and not names:
        raise InvalidError("No schedule is selected.", hint="Select some schedules, or all that match.")
    document = await chosen.document()
    number = len(document.schedules)
    head = [
        f"{number:,} schedule{'' if number == 1 else 's'}, written by the dashboard.",
        "Apply this file with: tickbird apply -f THIS-FILE",
    ]
    text = write(document, "toml", head=head, remarks=await visit.client.files.operator_notes(document))
    headers = {"Content-Disposition": 'attachment; filename="schedules.toml"'}
    return Response(text, headers=headers, media_type="application/toml; charset=utf-8")


def _selection(visit: PageRequest) -> tuple[ScheduleSelection, ScheduleFilter | None, Sequence[str]]:
    if "every" in visit.form:
        wanted = requested_filter(visit)
        return ScheduleSelection(visit.client, wanted), wanted, ()
    names = [name for name in visit.form.all("name") if name]
    return ScheduleSelection(visit.client, names), None, names


def _back(visit: PageRequest) -> str:
    return visit.url("/schedules", **query_of(requested_filter(visit)))


ROUTES: Final = (
    PageRoute("/bulk/export", export, "viewer", ("POST",)),
    *(PageRoute(f"/bulk/{deed}", change, "operator", ("POST",)) for deed in DONE),
)
