"""Roll back: a new revision with the definition of an earlier one, after a look at what that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from starlette.responses import Response

from tickbird.api.problems import Problem
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.planning.commands.define import override_notice
from tickbird.domain.schedules.codec import decode_field
from tickbird.domain.schedules.diff import differences
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.targets.registry import find_kind
from tickbird.web.actions.base import Action, routes_of


class RollBack(Action):
    """Take the definition of an earlier revision again."""

    template = "actions/roll_back.html"
    title = "Roll back"

    @property
    def to(self) -> int:
        """The revision to go back to; it stands in the address."""
        return self.visit.number("to") or 0

    async def _record(self) -> RevisionRecord:
        for found in await self.visit.client.revisions.list(self.schedule.name, before=self.to + 1, limit=1):
            if found.revision == self.to:
                return found
        raise NotFoundError(
            f"{self.schedule.name} has no revision {self.to}, or it was pruned.",
            hint=f"The current revision is {self.schedule.revision}.",
        )

    async def do(self) -> Response:
        """Go back."""
        self._check_target_role(await self._record())
        name, to = self.schedule.name, self.to
        after = await self.visit.client.revisions.roll_back(
            name, to, actor=self.visit.actor, note=self.note, revision=self.base_revision
        )
        kept = override_notice(after)
        said = f"{name}: revision {to} is restored as revision {after.revision}."
        return self.visit.done(self.back, f"{said} {kept}" if kept else said)

    def _check_target_role(self, record: RevisionRecord) -> None:
        """The kind of a target says which role may define it, as over the API."""
        # What cannot be read is refused with its reason when it is asked for.
        stated = record.definition if isinstance(record.definition, Mapping) else {}
        with suppress(InvalidError):
            target = decode_field("target", stated.get("target"))
            known, kind = self.schedule.definition, find_kind(target.kind)
            if kind is None or self.visit.may(kind.role) or (known is not None and known.target == target):
                return
            raise Problem(403, "forbidden", f"A revision with another {target.kind} requires the role {kind.role}.")

    def command(self) -> Sequence[str]:
        """The same by `tickbird roll-back`."""
        return self.line("roll-back", options=["--to", str(self.to), *self.cli_note()])

    async def context(self) -> dict[str, Any]:
        """What going back changes."""
        record = await self._record()
        return {"record": record, "changes": differences(self.schedule.definition_json, record.definition)}


ROUTES: Final = routes_of("/revisions/{to}/roll-back", RollBack, "editor")
