"""Delete: only after its name was typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from tickbird.domain.errors import InvalidError
from tickbird.web.actions.base import Action, routes_of


class Delete(Action):
    """Take a schedule away; what was decided for its ticks stays on record."""

    template = "actions/delete.html"
    title = "Delete"
    fields = ("typed_name",)

    async def do(self) -> Response:
        """Delete it."""
        name = self.schedule.name
        if self.typed("typed_name").strip() != name.strip():
            raise InvalidError("Type the exact name of the schedule.", field="typed_name")
        await self.visit.client.schedules.delete(
            name, actor=self.visit.actor, revision=self.base_revision, cancel_runs=self.is_on("cancel_runs")
        )
        return self.visit.done(self.visit.url("/schedules"), f"{name} is deleted.")

    def command(self) -> Sequence[str]:
        """The same by `tickbird rm`."""
        return self.line("rm", options=["--yes", *(["--cancel-runs"] if self.is_on("cancel_runs") else [])])

    async def context(self) -> dict[str, Any]:
        """The runs that go on, or are cancelled."""
        return {"active": len(await self.visit.client.runs.list_active(self.schedule.name))}


ROUTES: Final = routes_of("/delete", Delete, "editor")
