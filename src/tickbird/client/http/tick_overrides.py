"""One coming tick over HTTP: skipped, moved, or with another payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from tickbird.client.http.base import instant, read_changed, schedule_path, sent
from tickbird.client.http.ticks import RemoteTicks
from tickbird.client.tick_overrides import Overrides, without_fraction
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.time.instants import iso
from tickbird.wire.decode.schedules import read_override


class RemoteOverrides(RemoteTicks, Overrides):
    """The verbs about one tick alone."""

    async def override(
        self,
        name: str,
        tick: datetime,
        *,
        actor: str,
        skip: bool = False,
        move_to: datetime | None = None,
        payload: Mapping[str, Any] | None = None,
        note: str = "",
        revision: int | None = None,
    ) -> OverrideRecord:
        """Decide for one coming tick: skip it, or make it due at another instant, give it another payload, or both.

        What was decided for that tick before is replaced.
        """
        body = {
            "skip": skip,
            "move_to": instant(move_to),
            "payload": None if payload is None else sent(payload),
            "note": note,
        }
        return await self._other(
            "PUT", _path(name, tick), lambda made: read_override(made["override"]), body, revision=revision
        )

    async def undo_override(
        self, name: str, tick: datetime, *, actor: str, note: str = "", revision: int | None = None
    ) -> Schedule:
        """Let a coming tick be as if nothing had been decided for it, by an override or by a reschedule."""
        return await self._other("DELETE", _path(name, tick), read_changed, query={"note": note}, revision=revision)

    async def overrides(self, name: str) -> Sequence[OverrideRecord]:
        """The coming ticks for which something was decided one by one, in order."""
        path = f"{schedule_path(name)}/overrides"
        return await self._fetch(path, lambda found: [*map(read_override, found["items"])])


def _path(name: str, tick: datetime) -> str:
    return f"{schedule_path(name)}/overrides/{quote(iso(without_fraction(tick, 'tick')))}"
