"""The base of all actions: form, revision check, and errors that keep the input."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from starlette.responses import Response

from tickbird.domain.access.tokens import Role
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError, StaleError
from tickbird.domain.schedules.revision import HistoryEntry
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import utc_text
from tickbird.web.forms.field_errors import without_field
from tickbird.web.forms.instants import Picked, in_full, read_instant, tomorrow_at, zone_choices
from tickbird.web.forms.payload_form import read_object
from tickbird.web.page_request import Page, PageRequest, PageRoute

# Shown revisions by other users since the form was opened.
_MAX_SHOWN: Final = 10
_MAX_REVISION: Final = 2**31 - 1
# "Now" means this number of seconds in the future.
NOW_SECONDS: Final = 3
TOMORROW_HOUR: Final = 9


class Action(ABC):
    """An action on one schedule. Errors that `do` raises are shown in the form."""

    template: ClassVar[str]
    title: ClassVar[str]
    # Fields that can show an error. Other errors are shown above the form.
    fields: ClassVar[tuple[str, ...]] = ("note",)
    # Fields that are an instant, with the name of their list of choices (or "").
    instants: ClassVar[Mapping[str, str]] = {}
    # Initial values of fields.
    defaults: ClassVar[Mapping[str, str]] = {}

    def __init__(self, visit: PageRequest, schedule: Schedule) -> None:
        self.visit = visit
        self.schedule = schedule
        self.wrong: dict[str, str] = {}

    @abstractmethod
    async def do(self) -> Response: ...

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Return the equivalent command line, with placeholders for missing input."""

    async def context(self) -> dict[str, Any]:
        """Return the additional context of the template."""
        return {}

    async def show(self, status: int = 200, meanwhile: Sequence[HistoryEntry] = ()) -> Response:
        """Render the form with the input so far."""
        more = await self.context()
        return self.visit.render(
            self.template,
            status=status,
            action=self,
            schedule=self.schedule,
            meanwhile=meanwhile,
            command=shlex.join(["tickbird", *self.command()]),
            **more,
        )

    @property
    def refusals(self) -> Sequence[str]:
        """Errors that do not belong to a field of the form."""
        return [text for field, text in self.wrong.items() if field not in self.fields]

    # Input

    @property
    def sent(self) -> bool:
        """True if the form was sent, also for a preview."""
        return bool(self.visit.request.method == "POST")

    def typed(self, name: str, default: str = "") -> str:
        """Return the value of a field: from the form, the query string, or the default."""
        if self.sent:
            return self.visit.form.raw(name) or ""
        return self.visit.query.get(name) or self.defaults.get(name, default)

    def is_on(self, name: str, default: bool = False) -> bool:
        return name in self.visit.form if self.sent else name in self.visit.query or default

    @property
    def note(self) -> str:
        return self.typed("note").strip()

    @property
    def base_revision(self) -> int | None:
        """The revision that the user saw."""
        text = self.visit.form.text("revision")
        return int(text) if text.isascii() and text.isdigit() and 0 < int(text[:11]) <= _MAX_REVISION else None

    @property
    def own_zone(self) -> str:
        return self.schedule.definition.trigger.tz if self.schedule.definition else "UTC"

    @property
    def zones(self) -> Sequence[str]:
        """Time zones that the form offers, the chosen one first."""
        return zone_choices(self.visit.clock, self.own_zone, self.typed("tz"))

    def picked(self, name: str) -> Picked:
        text = self.typed(name).strip()
        if not text:
            raise InvalidError("Choose a date and a time.", field=name)
        return read_instant(text, self.zones[0], name)

    def reads(self, name: str, default: str = "") -> str:
        """Describe the chosen time in the zone of the form and in UTC; empty if there is none."""
        choice = self.instants.get(name, "")
        try:
            if choice and self._choice(name, choice) != "pick":
                at = self.instant(name, choice=choice)
                picked = None if at is None else Picked(at)
            else:
                text = self.typed(name, default).strip()
                picked = read_instant(text, self.zones[0], name) if text else None
        except InvalidError as error:
            # The field already shows the error.
            return "" if name in self.wrong else without_field(error, name)
        return "" if picked is None else in_full(picked, self.zones[0], self.visit.clock.now)

    def instant(self, name: str, *, choice: str) -> datetime | None:
        """Return the instant of a list of choices or of its field; None for no end."""
        match self._choice(name, choice):
            case "":
                return None
            case "now":
                # The store refuses past instants, and the request takes a moment.
                return self._from_now(seconds=NOW_SECONDS)
            case "30m":
                return self._from_now(minutes=30)
            case "1h":
                return self._from_now(hours=1)
            case "tomorrow":
                return tomorrow_at(TOMORROW_HOUR, self.visit.clock.now, self.zones[0])
            case "pick":
                return self.picked(name).at
        raise InvalidError("Choose one of the options.", field=choice)

    def _choice(self, name: str, choice: str) -> str:
        # Without scripts, input into a field does not select its choice.
        return self.typed(choice) or ("pick" if self.typed(name).strip() else "")

    def _from_now(self, **duration: float) -> datetime:
        return self.visit.clock.now.replace(microsecond=0) + timedelta(**duration)

    def number(self, name: str, words: str, *, maximum: int, empty: int | None = None) -> int | None:
        """Parse a whole number of at least 1; `empty` if the field is empty."""
        text = self.typed(name).strip()
        if not text:
            return empty
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:12]) <= maximum or len(text) > 12:
            raise InvalidError(f"{words}: enter a whole number from 1 to {maximum:,}.", field=name)
        return int(text)

    def payload(self, name: str = "payload") -> Mapping[str, Any] | None:
        """Parse a payload; None if the field is empty."""
        text = self.typed(name)
        payload, why = read_object(text)
        if why:
            raise InvalidError(why, field=name)
        return payload if text.strip() else None

    # Links and commands

    @property
    def back(self) -> str:
        return self.visit.schedule(self.schedule.name)

    def line(self, verb: str, *arguments: str, options: Sequence[str] = ()) -> Sequence[str]:
        """Build a command line. Arguments that start with a dash come after `--`."""
        where = () if self.visit.namespace == "default" else ("--namespace", self.visit.namespace)
        positional = (self.schedule.name, *arguments)
        if any(argument.startswith("-") for argument in positional):
            return [verb, *options, *where, "--", *positional]
        return [verb, *positional, *options, *where]

    def cli_instant(self, name: str, *, choice: str) -> str | None:
        """Return an instant for the command line, relative if the choice is relative."""
        words = {"now": "now", "30m": "30m", "1h": "1h", "tomorrow": f"tomorrow {TOMORROW_HOUR:02d}:00 {self.zones[0]}"}
        chosen = self._choice(name, choice)
        if chosen in words:
            return words[chosen]
        try:
            return utc_text(self.picked(name).at) if chosen == "pick" else None
        except InvalidError:
            return "INSTANT"

    def cli_note(self, *, required: bool = False) -> Sequence[str]:
        return ("--note", self.note or "…") if self.note or required else ()


def page_of(kind: type[Action]) -> Page:
    """Return the page of an action: GET shows the form, POST executes it."""

    async def enter(visit: PageRequest) -> Response:
        schedule = await visit.client.schedules.get(visit.schedule_name)
        action = kind(visit, schedule)
        if not action.sent or "look" in visit.query:
            return await action.show()
        try:
            return await action.do()
        except StaleError:
            action.schedule = await visit.client.schedules.get(schedule.name)
            return await action.show(412, await _meanwhile(visit, schedule, action.base_revision))
        except InvalidError as error:
            action.wrong = {**action.wrong, error.field: without_field(error, error.field)}
            return await action.show(422)
        except (ConflictError, NotFoundError) as error:
            action.wrong[""] = str(error)
            return await action.show(409)

    return enter


def routes_of(path: str, kind: type[Action], role: Role) -> tuple[PageRoute, ...]:
    return (PageRoute(f"/schedules/{{name:path}}{path}", page_of(kind), role, ("GET", "POST")),)


async def _meanwhile(visit: PageRequest, schedule: Schedule, seen: int | None) -> Sequence[HistoryEntry]:
    """Return the revisions since `seen`, newest first."""
    entries = await visit.client.revisions.history(schedule.name, limit=_MAX_SHOWN)
    return [entry for entry in entries if seen is None or entry.revision.revision > seen]
