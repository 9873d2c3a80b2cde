"""Backfill: first an exact preview, then the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Final, Literal

from starlette.responses import Response

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.planning.backfills import MAX_CONCURRENCY, BackfillPlan
from tickbird.domain.time.instants import utc_text
from tickbird.web.actions.base import Action, routes_of
from tickbird.web.forms.instants import local_value, read_instant

# Above this number of runs, the user must type the number to confirm.
SURE_BELOW: Final = 500
_LISTED: Final = 100


class Backfill(Action):
    """Runs past ticks that have no run."""

    template = "actions/backfill.html"
    title = "Backfill"
    fields = ("note", "first", "last", "concurrency", "order", "payload", "confirmed")
    instants: ClassVar = {"first": "", "last": ""}
    defaults: ClassVar = {"concurrency": "1", "order": "oldest"}
    plan: BackfillPlan | None = None

    async def do(self) -> Response:
        """Show the preview; create the runs if the user has confirmed it."""
        self.plan = await self._backfill(dry_run=True)
        seen = self.visit.form.text("count")
        if not seen or "start" not in self.visit.form:
            return await self.show()
        if seen != str(self.plan.count):
            raise ConflictError(
                f"The backfill now has {self.plan.count:,} runs instead of {seen[:20]}. Review them again."
            )
        if self.plan.count > SURE_BELOW and self.typed("confirmed").strip().replace(",", "") != seen:
            raise InvalidError(f"Type {self.plan.count} to confirm.", field="confirmed")
        if not self.plan.count:
            raise ConflictError("This range has no ticks to run.")
        created = await self._backfill(dry_run=False)
        if created.backfill_id is None:
            raise ConflictError("Someone else ran these ticks meanwhile. There is nothing left to run.")
        to = self.visit.url(f"/backfills/{created.backfill_id}")
        return self.visit.done(
            to, f"Backfill {created.backfill_id} of {self.schedule.name} started with {created.count:,} runs."
        )

    async def _backfill(self, *, dry_run: bool) -> BackfillPlan:
        order: Literal["oldest", "newest"] = "newest" if self.typed("order") == "newest" else "oldest"
        concurrency = self.number("concurrency", "Concurrent runs", maximum=MAX_CONCURRENCY, empty=1)
        return await self.visit.client.backfills.create(
            self.schedule.name,
            self.picked("first").at,
            self.picked("last").at,
            actor=self.visit.actor,
            concurrency=concurrency or 1,
            order=order,
            payload=self.payload(),
            note=self.note,
            dry_run=dry_run,
            revision=self.base_revision,
        )

    def command(self) -> Sequence[str]:
        options = ["--from", self._text("first"), "--to", self._text("last")]
        if (at_once := self.typed("concurrency").strip()) not in ("", "1"):
            options += ["--concurrency", at_once]
        if self.typed("order") == "newest":
            options += ["--order", "newest"]
        if payload := self.typed("payload").strip():
            options += ["--payload", payload]
        return self.line("backfill", options=[*options, *self.cli_note()])

    def _text(self, name: str) -> str:
        try:
            text = self.typed(name) or (self._range[name] if not self.sent else "")
            return utc_text(read_instant(text.strip(), self.zones[0], name).at) or ""
        except InvalidError:
            return "INSTANT"

    @property
    def _range(self) -> Mapping[str, str]:
        now = self.visit.clock.now.replace(second=0, microsecond=0)
        tz = self.zones[0]
        return {"first": local_value(now - timedelta(days=1), tz), "last": local_value(now, tz)}

    async def context(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "plan": plan,
            "ticks": [] if plan is None else plan.ticks[:_LISTED],
            "unlisted": 0 if plan is None else plan.count - len(plan.ticks[:_LISTED]),
            "range": self._range,
            "sure_below": SURE_BELOW,
        }


ROUTES: Final = routes_of("/backfill", Backfill, "operator")
