"""The base of actions on schedules: form, revision check, and errors that keep the input."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from starlette.responses import Response

from tickbird.domain.access.tokens import Role
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError, StaleError
from tickbird.domain.schedules.revision import HistoryEntry
from tickbird.domain.schedules.schedule import Schedule
from tickbird.web.actions.form_input import FormInput
from tickbird.web.forms.field_errors import without_field
from tickbird.web.page_request import Page, PageRequest, PageRoute

# Shown revisions by other users since the form was opened.
_MAX_SHOWN: Final = 10
_MAX_REVISION: Final = 2**31 - 1


class Action(FormInput, ABC):
    """An action on one schedule. Errors that `do` raises are shown in the form."""

    template: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, visit: PageRequest, schedule: Schedule) -> None:
        super().__init__(visit)
        self.schedule = schedule

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
    def base_revision(self) -> int | None:
        """The revision that the user saw."""
        text = self.visit.form.text("revision")
        return int(text) if text.isascii() and text.isdigit() and 0 < int(text[:11]) <= _MAX_REVISION else None

    @property
    def own_zone(self) -> str:
        return self.schedule.definition.trigger.tz if self.schedule.definition else "UTC"

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
