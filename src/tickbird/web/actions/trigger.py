"""Run now: a form from the parameters of the task. Sent twice, it creates one run."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.runs.run import RunRecord
from tickbird.web.actions.base import Action, routes_of
from tickbird.web.forms.payload_form import (
    PayloadForm,
    SentPayload,
    draw,
    draw_in_thread,
    published_schema,
    read_in_thread,
)
from tickbird.web.forms.payload_schema import as_json

_RECENT: Final = 10
_MAX_RECENT_LENGTH: Final = 20_000


class Trigger(Action):
    """Creates a manual run."""

    template = "actions/trigger.html"
    title = "Run now"
    # The payload form shows errors at its own fields.
    fields = ("payload",)
    _cli: Sequence[str] = ()

    async def do(self) -> Response:
        if "switch" in self.visit.form:
            return await self.show()
        sent = await self._sent()
        if sent.wrong:
            raise InvalidError("The payload is invalid.", field="payload")
        run = await self.visit.client.schedules.trigger(
            self.schedule.name,
            actor=self.visit.actor,
            # None means the payload of the schedule.
            payload=None if sent.payload == self._own else sent.payload,
            idempotency_key=self._idempotency_key(sent.payload),
            revision=self.base_revision,
        )
        return self.visit.done(self.visit.url(f"/runs/{run.id}"), f"Run {run.id} of {self.schedule.name} is created.")

    def _idempotency_key(self, payload: Mapping[str, Any]) -> str:
        """Return the idempotency key of caller, form and payload. Another payload creates another run."""
        text = json.dumps([self._key, payload], sort_keys=True)
        return f"web:{self.visit.caller.token_id}:{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"

    async def _sent(self) -> SentPayload:
        return await read_in_thread(self.visit.form, await self._schema())

    async def _schema(self) -> Mapping[str, Any] | None:
        definition = self.schedule.definition
        return None if definition is None else await published_schema(self.visit.client, definition.target)

    @property
    def _own(self) -> Mapping[str, Any]:
        return dict(self.schedule.definition.payload) if self.schedule.definition else {}

    @property
    def _key(self) -> str:
        """A random id of the form, which identifies repeated submissions."""
        return self.typed("key") or secrets.token_urlsafe(16)

    def command(self) -> Sequence[str]:
        return self.line("trigger", options=self._cli)

    async def context(self) -> dict[str, Any]:
        runs, schema = await self._recent(), await self._schema()
        form, payload = await self._form(runs, schema)
        if payload is not None and payload != self._own:
            self._cli = ("--payload", as_json(dict(payload)))
        return {
            "form": form,
            "has_fields": draw(schema, {}).whole is None,
            "key": self._key,
            "recent": [run for run in runs if dict(run.payload) != self._own],
            "active": len(await self.visit.client.runs.list_active(self.schedule.name)),
        }

    async def _form(
        self, runs: Sequence[RunRecord], schema: Mapping[str, Any] | None
    ) -> tuple[PayloadForm, Mapping[str, Any] | None]:
        """Return the form, and its payload or None if it is invalid."""
        if not self.sent:
            payload = await self._initial_payload(runs)
            return await draw_in_thread(schema, payload), payload
        sent = await read_in_thread(self.visit.form, schema)
        broken = sent.form.whole is not None and bool(sent.wrong.get(""))
        if "switch" in self.visit.form and not broken:
            return await draw_in_thread(schema, sent.payload, as_text=sent.form.whole is None), sent.payload
        return sent.form, None if sent.wrong else sent.payload

    async def _recent(self) -> Sequence[RunRecord]:
        """Return the newest runs, one per payload."""
        runs = await self.visit.client.runs.list(schedule=self.schedule.name, limit=_RECENT)
        return await asyncio.to_thread(_distinct, runs)

    async def _initial_payload(self, runs: Sequence[RunRecord]) -> Mapping[str, Any]:
        like = self.visit.query.get("like", "")
        if not like.isascii() or not like.isdigit() or len(like) > 18:
            return self._own
        run = next((run for run in runs if run.id == int(like)), None) or await self.visit.client.runs.get(int(like))
        if run.schedule_id != self.schedule.id:
            raise NotFoundError(f"Run {run.id} does not belong to {self.schedule.name}.")
        return run.payload


def _distinct(runs: Sequence[RunRecord]) -> Sequence[RunRecord]:
    by_payload: dict[str, RunRecord] = {}
    for run in runs:
        text = json.dumps(dict(run.payload), sort_keys=True)
        if len(text) <= _MAX_RECENT_LENGTH:
            by_payload.setdefault(text, run)
    return list(by_payload.values())


ROUTES: Final = routes_of("/run", Trigger, "operator")
