"""What every action has in common: a form, the revision that was seen, and a refusal that loses nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from starlette.responses import Response

from tickbird.domain.access.tokens import Role
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError, StaleError
from tickbird.domain.schedules.revision import HistoryEntry
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import utc_text
from tickbird.web.forms.instants import Picked, in_full, read_instant, tomorrow_at, zone_choices
from tickbird.web.forms.payload_form import read_object
from tickbird.web.page_request import Page, PageRequest, PageRoute

# Of what others did meanwhile, so much is shown.
_MAX_SHOWN: Final = 10
_MAX_REVISION: Final = 2**31 - 1
# Seconds from now that stand for now.
NOW_SECONDS: Final = 3
TOMORROW_HOUR: Final = 9


class Action:
    """One thing that can be done to one schedule; `do` raises what is wrong, and the form comes back with it."""

    template: ClassVar[str]
    title: ClassVar[str]
    # Those at which the form can show what is wrong with them; the rest is told above it.
    fields: ClassVar[tuple[str, ...]] = ("note",)
    # Those of a form that are an instant, each with the choices beside it, if it has any.
    instants: ClassVar[Mapping[str, str]] = {}
    # What stands in them at first.
    defaults: ClassVar[Mapping[str, str]] = {}

    def __init__(self, visit: PageRequest, schedule: Schedule) -> None:
        self.visit = visit
        self.schedule = schedule
        self.wrong: dict[str, str] = {}

    async def do(self) -> Response:
        """Do it."""
        raise NotImplementedError

    def command(self) -> Sequence[str]:
        """The command line that does the same, as far as it is known from what was typed."""
        raise NotImplementedError

    async def context(self) -> dict[str, Any]:
        """What else the form shows."""
        return {}

    async def show(self, status: int = 200, meanwhile: Sequence[HistoryEntry] = ()) -> Response:
        """The form, with all that was typed so far."""
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
        """What is wrong, and with no field of the form."""
        return [text for field, text in self.wrong.items() if field not in self.fields]

    # What was typed

    @property
    def sent(self) -> bool:
        """Was the form sent, if only to be looked at?"""
        return bool(self.visit.request.method == "POST")

    def typed(self, name: str, default: str = "") -> str:
        """What a field holds: what was typed, else what the address says, else the default."""
        if self.sent:
            return self.visit.form.raw(name) or ""
        return self.visit.query.get(name) or self.defaults.get(name, default)

    def is_on(self, name: str, default: bool = False) -> bool:
        """Is a box ticked?"""
        return name in self.visit.form if self.sent else name in self.visit.query or default

    @property
    def note(self) -> str:
        """Why, in the words of whoever does it."""
        return self.typed("note").strip()

    @property
    def base_revision(self) -> int | None:
        """The revision that whoever sent the form had before them."""
        text = self.visit.form.text("revision")
        return int(text) if text.isascii() and text.isdigit() and 0 < int(text[:11]) <= _MAX_REVISION else None

    @property
    def own_zone(self) -> str:
        """The zone of the schedule."""
        return self.schedule.definition.trigger.tz if self.schedule.definition else "UTC"

    @property
    def zones(self) -> Sequence[str]:
        """Those that times of the form may be in, the first unless another is chosen."""
        return zone_choices(self.visit.clock, self.own_zone, self.typed("tz"))

    def picked(self, name: str) -> Picked:
        """The instant of a field."""
        text = self.typed(name).strip()
        if not text:
            raise InvalidError("Choose a date and a time.", field=name)
        return read_instant(text, self.zones[0], name)

    def reads(self, name: str, default: str = "") -> str:
        """What a time that is chosen or typed means, on the clock of the form and in UTC; empty where there is none."""
        choice = self.instants.get(name, "")
        try:
            if choice and self._choice(name, choice) != "pick":
                found = self.instant(name, choice=choice)
                picked = None if found is None else Picked(found)
            else:
                text = self.typed(name, default).strip()
                picked = read_instant(text, self.zones[0], name) if text else None
        except InvalidError as error:
            # What was refused is told at its field.
            return "" if name in self.wrong else str(error).removeprefix(f"{name}: ")
        return "" if picked is None else in_full(picked, self.zones[0], self.visit.clock.now)

    def instant(self, name: str, *, choice: str) -> datetime | None:
        """The instant that a list of choices, with a field beside it, stands for; None for no end."""
        match self._choice(name, choice):
            case "":
                return None
            case "now":
                # What is asked for is a moment away when it is heard, and what is past then is refused.
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
        # Without scripts, a field that is filled in does not tick its choice.
        return self.typed(choice) or ("pick" if self.typed(name).strip() else "")

    def _from_now(self, **length: float) -> datetime:
        return self.visit.clock.now.replace(microsecond=0) + timedelta(**length)

    def number(self, name: str, words: str, *, maximum: int, empty: int | None = None) -> int | None:
        """A whole number from 1; what stands for it where nothing was typed."""
        text = self.typed(name).strip()
        if not text:
            return empty
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:12]) <= maximum or len(text) > 12:
            raise InvalidError(f"{words}: enter a whole number from 1 to {maximum:,}.", field=name)
        return int(text)

    def payload(self, name: str = "payload") -> Mapping[str, Any] | None:
        """A payload that was written as JSON; None where nothing was."""
        text = self.typed(name)
        found, why = read_object(text)
        if why:
            raise InvalidError(why, field=name)
        return found if text.strip() else None

    # Where to

    @property
    def back(self) -> str:
        """The page of the schedule."""
        return self.visit.schedule(self.schedule.name)

    def line(self, verb: str, *arguments: str, options: Sequence[str] = ()) -> Sequence[str]:
        """A command line about the schedule; what begins with a dash comes behind all options."""
        where = () if self.visit.namespace == "default" else ("--namespace", self.visit.namespace)
        told = (self.schedule.name, *arguments)
        if any(each.startswith("-") for each in told):
            return [verb, *options, *where, "--", *told]
        return [verb, *told, *options, *where]

    def cli_instant(self, name: str, *, choice: str) -> str | None:
        """An instant as a command line takes it: relative where it was chosen so."""
        words = {"now": "now", "30m": "30m", "1h": "1h", "tomorrow": f"tomorrow {TOMORROW_HOUR:02d}:00 {self.zones[0]}"}
        chosen = self._choice(name, choice)
        if chosen in words:
            return words[chosen]
        try:
            return utc_text(self.picked(name).at) if chosen == "pick" else None
        except InvalidError:
            return "INSTANT"

    def cli_note(self, *, required: bool = False) -> Sequence[str]:
        """The note as a command line takes it."""
        return ("--note", self.note or "…") if self.note or required else ()


def page_of(kind: type[Action]) -> Page:
    """The page of an action: GET shows its form, POST does it."""

    async def enter(visit: PageRequest) -> Response:
        try:
            schedule = await visit.client.schedules.get(visit.schedule_name)
        except NotFoundError:
            # What follows the typing comes late where the form itself has just deleted it.
            if "look" in visit.query:
                return Response(status_code=204)
            raise
        action = kind(visit, schedule)
        if not action.sent or "look" in visit.query:
            return await action.show()
        try:
            return await action.do()
        except StaleError:
            action.schedule = await visit.client.schedules.get(schedule.name)
            return await action.show(412, await _meanwhile(visit, schedule, action.base_revision))
        except InvalidError as error:
            action.wrong = {**action.wrong, error.field: str(error).removeprefix(f"{error.field}: ")}
            return await action.show(422)
        except (ConflictError, NotFoundError) as error:
            action.wrong[""] = str(error)
            return await action.show(409)

    return enter


def routes_of(path: str, kind: type[Action], role: Role) -> tuple[PageRoute, ...]:
    """The way to an action."""
    return (PageRoute(f"/schedules/{{name:path}}{path}", page_of(kind), role, ("GET", "POST")),)


async def _meanwhile(visit: PageRequest, schedule: Schedule, seen: int | None) -> Sequence[HistoryEntry]:
    """What others did since a revision, newest first."""
    found = await visit.client.revisions.history(schedule.name, limit=_MAX_SHOWN)
    return [each for each in found if seen is None or each.revision.revision > seen]
