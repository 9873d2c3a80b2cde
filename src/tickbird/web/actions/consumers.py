"""Stop, resume, move, copy and delete a consumer group, and replay its failed letters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.events.groups import ConsumerGroup
from tickbird.domain.events.positions import EventPosition, as_position
from tickbird.domain.messages import count
from tickbird.web.actions.event_action import EventAction, route_of
from tickbird.web.pages.consumers import group_name, group_path


class GroupAction(EventAction):
    """An action on one group."""

    group: ConsumerGroup

    async def load(self) -> None:
        self.group = await self.visit.client.consumers.get(group_name(self.visit))

    @property
    def back(self) -> str:
        return self.visit.url(group_path(self.group.name))

    @property
    def heading(self) -> str:
        return self.group.name


class Stop(GroupAction):
    """Stops a group; its offsets stay."""

    template = "actions/group_stop.html"
    title = "Stop"

    async def do(self) -> str:
        await self.visit.client.consumers.stop(self.group.name, actor=self.visit.actor, reason=self.note)
        return f"{self.group.name} is stopped."

    def command(self) -> Sequence[str]:
        options = ("--reason", self.note) if self.note else ()
        return self.line("consumers", "stop", about=self.group.name, options=options)


class Resume(GroupAction):
    """Continues a stopped group where it was."""

    template = "actions/group_resume.html"
    title = "Resume"

    async def do(self) -> str:
        await self.visit.client.consumers.resume(self.group.name, actor=self.visit.actor)
        return f"{self.group.name} continues."

    def command(self) -> Sequence[str]:
        return self.line("consumers", "resume", about=self.group.name)


class _FromPosition(GroupAction):
    """An action that names a position: by number, by time, or one of both ends of the log."""

    fields = ("from", "position", "at", "note", "scratch")
    instants: ClassVar = {"at": ""}
    defaults: ClassVar = {"from": "position"}

    # The positions after the newest event, and before the oldest that retention has kept.
    newest: int
    oldest: int

    async def load(self) -> None:
        await super().load()
        self.newest = await self.visit.client.store.events.head(self.visit.namespace)
        page = await self.visit.board.events(after=0, limit=1)
        self.oldest = page.rows[0].position - 1 if page.rows else self.newest

    @property
    def choice(self) -> str:
        """What the form names: "oldest", "newest", "position" or "at"."""
        # Without scripts, input into a field does not select its choice.
        chosen = self.typed("from")
        if chosen in ("oldest", "newest"):
            return chosen
        return "at" if chosen == "at" or (self.typed("at") and not self.typed("position")) else "position"

    def target(self) -> tuple[EventPosition | None, datetime | None]:
        """The position or the instant; raises InvalidError."""
        match self.choice:
            case "oldest":
                return EventPosition(self.oldest), None
            case "newest":
                return EventPosition(self.newest), None
            case "at":
                return None, self.picked("at").at
        return self._position(), None

    def _position(self) -> EventPosition:
        try:
            return as_position(self.typed("position").strip().replace(",", ""))
        except InvalidError:
            raise InvalidError(
                "Enter the position of an event, such as 120, or its resume token; 0 is before the first.",
                field="position",
            ) from None

    def position_options(self) -> Sequence[str]:
        """The option of the command line for the choice."""
        match self.choice:
            case "oldest":
                return ("--position", str(self.oldest))
            case "newest":
                return ("--position", str(self.newest))
            case "at":
                return ("--at", self.cli_instant("at", choice="") or "INSTANT")
        return ("--position", self.typed("position").strip() or "POSITION")


class Seek(_FromPosition):
    """Continues a group after another position."""

    template = "actions/group_seek.html"
    title = "Move"

    async def do(self) -> str:
        position, at = self.target()
        name = self.group.name
        await self.visit.client.consumers.seek(name, position, at, actor=self.visit.actor, note=self.note)
        if at is not None:
            return f"{name} continues at {self.visit.clock.text(at)}."
        return f"{name} continues after position {position.position if position else 0:,}."

    def command(self) -> Sequence[str]:
        return self.line(
            "consumers", "seek", about=self.group.name, options=[*self.position_options(), *self.cli_note(), "--yes"]
        )


class Copy(_FromPosition):
    """Creates a scratch group, which the same consumer reads too."""

    template = "actions/group_copy.html"
    title = "Copy"
    defaults: ClassVar = {"from": "oldest"}

    @property
    def scratch(self) -> str:
        return self.typed("scratch", f"{self.group.name}-scratch").strip()

    async def do(self) -> str:
        position, at = self.target()
        name, scratch = self.group.name, self.scratch
        await self.visit.client.consumers.copy(name, scratch, position, at, actor=self.visit.actor)
        return f"{scratch} is a scratch group of {name}."

    @property
    def after(self) -> str:
        return self.visit.url(group_path(self.scratch))

    def command(self) -> Sequence[str]:
        name, scratch = self.group.name, self.scratch or "SCRATCH"
        return ["consumers", "copy", *self.position_options(), *self.namespace_option, "--", name, scratch]


class Delete(GroupAction):
    """Deletes a group with its offsets and dead letters."""

    template = "actions/group_delete.html"
    title = "Delete"
    fields = ("typed_name",)

    async def do(self) -> str:
        name = self.group.name
        if self.typed("typed_name").strip() != name.strip():
            raise InvalidError("Type the exact name of the group.", field="typed_name")
        await self.visit.client.consumers.delete(name, actor=self.visit.actor)
        return f"{name} is deleted."

    @property
    def after(self) -> str:
        return self.visit.url("/events")

    def command(self) -> Sequence[str]:
        return self.line("consumers", "rm", about=self.group.name, options=["--yes"])


class ReplayGroup(GroupAction):
    """Replays all failed letters of a group."""

    template = "actions/group_replay.html"
    title = "Replay failed"

    async def do(self) -> str:
        name = self.group.name
        change = await self.visit.client.dead_letters.replay_group(name, actor=self.visit.actor, note=self.note)
        return f"{count(len(change.letters), 'dead letter')} of {name} will be delivered again."

    @property
    def after(self) -> str:
        return self.visit.url("/events/dead-letters", group=self.group.name)

    def command(self) -> Sequence[str]:
        options = ["--group", self.group.name, *self.cli_note()]
        return ["dead-letters", "replay", *options, *self.namespace_option]


ROUTES: Final = (
    route_of("/events/groups/{name:path}/stop", Stop),
    route_of("/events/groups/{name:path}/resume", Resume),
    route_of("/events/groups/{name:path}/seek", Seek),
    route_of("/events/groups/{name:path}/copy", Copy, "editor"),
    route_of("/events/groups/{name:path}/delete", Delete, "editor"),
    route_of("/events/groups/{name:path}/replay", ReplayGroup),
)
