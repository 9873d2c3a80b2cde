"""Roll back: show the changes, then create a revision with the definition of an earlier one."""

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
    """Restores the definition of an earlier revision."""

    template = "actions/roll_back.html"
    title = "Roll back"

    @property
    def to(self) -> int:
        """The revision to restore, from the path."""
        return self.visit.number("to") or 0

    async def _record(self) -> RevisionRecord:
        for record in await self.visit.client.revisions.list(self.schedule.name, before=self.to + 1, limit=1):
            if record.revision == self.to:
                return record
        raise NotFoundError(
            f"{self.schedule.name} has no revision {self.to}, or it was pruned.",
            hint=f"The current revision is {self.schedule.revision}.",
        )

    async def do(self) -> Response:
        self._check_target_role(await self._record())
        name, to = self.schedule.name, self.to
        after = await self.visit.client.revisions.roll_back(
            name, to, actor=self.visit.actor, note=self.note, revision=self.base_revision
        )
        notice = override_notice(after)
        message = f"{name}: revision {to} is restored as revision {after.revision}."
        return self.visit.done(self.back, f"{message} {notice}" if notice else message)

    def _check_target_role(self, record: RevisionRecord) -> None:
        """Check that the caller's role may define the target, as the API does."""
        # An unreadable target is refused later, with its reason.
        stated = record.definition if isinstance(record.definition, Mapping) else {}
        with suppress(InvalidError):
            target = decode_field("target", stated.get("target"))
            current, kind = self.schedule.definition, find_kind(target.kind)
            if kind is None or self.visit.may(kind.role) or (current is not None and current.target == target):
                return
            raise Problem(403, "forbidden", f"A revision with another {target.kind} requires the role {kind.role}.")

    def command(self) -> Sequence[str]:
        return self.line("roll-back", options=["--to", str(self.to), *self.cli_note()])

    async def context(self) -> dict[str, Any]:
        record = await self._record()
        return {"record": record, "changes": differences(self.schedule.definition_json, record.definition)}


ROUTES: Final = routes_of("/revisions/{to}/roll-back", RollBack, "editor")
