"""The base of actions on consumer groups and dead letters."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from starlette.responses import Response

from tickbird.domain.access.tokens import Role
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.web.actions.form_input import FormInput
from tickbird.web.forms.field_errors import without_field
from tickbird.web.page_request import Page, PageRequest, PageRoute


class EventAction(FormInput, ABC):
    """An action on a consumer group or a dead letter. Errors that `do` raises are shown in the form."""

    template: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    async def load(self) -> None:
        """Read the object."""

    @abstractmethod
    async def do(self) -> str:
        """Make the change; return the message for the next page."""

    @property
    @abstractmethod
    def back(self) -> str:
        """The URL of the page of the object."""

    @property
    @abstractmethod
    def heading(self) -> str:
        """The name of the object."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Return the equivalent command line, with placeholders for missing input."""

    @property
    def after(self) -> str:
        """The URL after the change."""
        return self.back

    async def context(self) -> dict[str, Any]:
        """Return the additional context of the template."""
        return {}

    async def show(self, status: int = 200) -> Response:
        more = await self.context()
        line = shlex.join(["tickbird", *self.command()])
        return self.visit.render(self.template, status=status, action=self, command=line, **more)

    @property
    def namespace_option(self) -> Sequence[str]:
        return () if self.visit.namespace == "default" else ("--namespace", self.visit.namespace)

    def line(self, *words: str, about: str, options: Sequence[str] = ()) -> Sequence[str]:
        """Build a command line. A name that starts with a dash comes after `--`."""
        if about.startswith("-"):
            return [*words, *options, *self.namespace_option, "--", about]
        return [*words, about, *options, *self.namespace_option]


def page_of(kind: type[EventAction]) -> Page:
    """Return the page of an action: GET shows the form, POST executes it."""

    async def enter(visit: PageRequest) -> Response:
        action = kind(visit)
        await action.load()
        if not visit.is_sent:
            return await action.show()
        try:
            message = await action.do()
        except InvalidError as error:
            action.wrong[error.field] = without_field(error, error.field)
            return await action.show(422)
        except ConflictError as error:
            action.wrong[""] = str(error)
            return await action.show(409)
        return visit.done(action.after, message)

    return enter


def route_of(path: str, kind: type[EventAction], role: Role = "operator") -> PageRoute:
    return PageRoute(path, page_of(kind), role, ("GET", "POST"))
