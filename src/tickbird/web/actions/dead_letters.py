"""Replay, skip, repair and approve a dead letter, and require approval for repairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.events.dead_letters import LetterChange
from tickbird.domain.messages import count
from tickbird.web.actions.event_action import EventAction, route_of
from tickbird.web.forms.payload_form import read_json_text
from tickbird.web.forms.payload_schema import as_json
from tickbird.web.pages.dead_letters import LetterPageData, letter_number, letter_path, read_letter


class LetterAction(EventAction):
    """An action on one dead letter, and on those that were published together with it."""

    data: LetterPageData

    async def load(self) -> None:
        self.data = await read_letter(self.visit, letter_number(self.visit))

    @property
    def back(self) -> str:
        return self.visit.url(letter_path(self.data.letter.id))

    @property
    def heading(self) -> str:
        return f"dead letter {self.data.letter.id}"

    @property
    def original(self) -> str:
        """The data of the event as JSON."""
        return as_json(self.data.letter.event.data, 2)

    async def context(self) -> dict[str, Any]:
        return {"data": self.data, "letter": self.data.letter}

    def letter_line(self, verb: str, *options: str) -> Sequence[str]:
        return self.line("dead-letters", verb, about=str(self.data.letter.id), options=options)

    def changed(self, change: LetterChange, words: str) -> str:
        """The message about a change, which may be of several letters."""
        if len(change.letters) <= 1:
            return f"Dead letter {self.data.letter.id} {words}."
        return f"{count(len(change.letters), 'dead letter')}, which were published together: each {words}."


class Replay(LetterAction):
    """Delivers a letter again."""

    template = "actions/letter_replay.html"
    title = "Replay"

    async def do(self) -> str:
        letter, visit = self.data.letter, self.visit
        change = await visit.client.dead_letters.replay(letter.id, actor=visit.actor, note=self.note)
        return self.changed(change, "will be delivered again")

    def command(self) -> Sequence[str]:
        return self.letter_line("replay", *self.cli_note())


class Skip(LetterAction):
    """Never delivers a letter; later events of its key continue."""

    template = "actions/letter_skip.html"
    title = "Skip"

    async def do(self) -> str:
        if not self.note:
            raise InvalidError("Enter a reason: this group never handles the event.", field="note")
        letter, visit = self.data.letter, self.visit
        change = await visit.client.dead_letters.skip(letter.id, actor=visit.actor, note=self.note)
        return self.changed(change, "is skipped")

    def command(self) -> Sequence[str]:
        return self.letter_line("skip", *self.cli_note(required=True), "--yes")


class Repair(LetterAction):
    """Replays a letter with other data, or proposes it."""

    template = "actions/letter_repair.html"
    title = "Repair"
    fields = ("data", "note")

    @property
    def text(self) -> str:
        """The proposed data as JSON; at first the earlier proposal, or the original."""
        letter = self.data.letter
        return self.typed("data", self.original if letter.repaired_by is None else as_json(letter.repair, 2))

    async def do(self) -> str:
        try:
            repaired = read_json_text(self.text)
        except ValueError as error:
            raise InvalidError(str(error), field="data") from None
        letter, visit = self.data.letter, self.visit
        change = await visit.client.dead_letters.repair(letter.id, repaired, actor=visit.actor, note=self.note)
        if change.is_proposed:
            return "The repair is proposed. A second person has to approve it."
        return self.changed(change, "will be delivered with the new data")

    def command(self) -> Sequence[str]:
        try:
            text = as_json(read_json_text(self.text))
        except ValueError:
            text = "JSON"
        return self.letter_line("repair", "--data", text, *self.cli_note())


class Approve(LetterAction):
    """Replays a letter with the data that another person has proposed."""

    template = "actions/letter_approve.html"
    title = "Approve"

    @property
    def is_own(self) -> bool:
        return self.data.letter.repaired_by == self.visit.actor

    @property
    def proposed(self) -> str:
        return as_json(self.data.letter.repair, 2)

    async def do(self) -> str:
        letter, visit = self.data.letter, self.visit
        change = await visit.client.dead_letters.approve(letter.id, actor=visit.actor, note=self.note)
        return self.changed(change, "will be delivered with the approved data")

    def command(self) -> Sequence[str]:
        return self.letter_line("approve", *self.cli_note())


class Approval(EventAction):
    """Requires a second person for each repair, or no longer."""

    template = "actions/letter_approval.html"
    title = "Approval of repairs"
    heading = "dead letters"
    is_required: bool

    async def load(self) -> None:
        self.is_required = await self.visit.client.dead_letters.requires_approval()

    @property
    def back(self) -> str:
        return self.visit.url("/events/dead-letters")

    async def do(self) -> str:
        required = await self.visit.client.dead_letters.set_approval(not self.is_required, actor=self.visit.actor)
        return f"A repair {'needs' if required else 'no longer needs'} the approval of a second person."

    def command(self) -> Sequence[str]:
        return ["dead-letters", "approval", "off" if self.is_required else "on", *self.namespace_option]


ROUTES: Final = (
    route_of("/events/dead-letters/approval", Approval, "admin"),
    route_of("/events/dead-letters/{id}/replay", Replay),
    route_of("/events/dead-letters/{id}/skip", Skip),
    route_of("/events/dead-letters/{id}/repair", Repair, "editor"),
    route_of("/events/dead-letters/{id}/approve", Approve, "editor"),
)
