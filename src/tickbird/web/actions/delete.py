"""Delete a schedule, after the user has typed its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from tickbird.domain.errors import InvalidError
from tickbird.web.actions.base import Action, routes_of


class Delete(Action):
    """Deletes a schedule. Its runs and skips stay in the ledger."""

    template = "actions/delete.html"
    title = "Delete"
    fields = ("typed_name",)

    async def do(self) -> Response:
        name = self.schedule.name
        if self.typed("typed_name").strip() != name.strip():
            raise InvalidError("Type the exact name of the schedule.", field="typed_name")
        await self.visit.client.schedules.delete(
            name, actor=self.visit.actor, revision=self.base_revision, cancel_runs=self.is_on("cancel_runs")
        )
        return self.visit.done(self.visit.url("/schedules"), f"{name} is deleted.")

    def command(self) -> Sequence[str]:
        return self.line("rm", options=["--yes", *(["--cancel-runs"] if self.is_on("cancel_runs") else [])])

    async def context(self) -> dict[str, Any]:
        return {"active": len(await self.visit.client.runs.list_active(self.schedule.name))}


ROUTES: Final = routes_of("/delete", Delete, "editor")
