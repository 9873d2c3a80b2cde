"""Previews: what a schedule would do, before there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from tickbird.client.base import ClientBase
from tickbird.cpu_threads import compute
from tickbird.domain.forecast.preview import Preview, preview
from tickbird.domain.forecast.tick_load import MAX_SCHEDULES, load_around
from tickbird.domain.planning.commands.calendars import resolve_calendars
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.text import check_name
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.trigger import Trigger

# What it would run is of no concern to its ticks.
_ANY = Target("preview")


class Previews(ClientBase):
    """The verbs about what would be."""

    async def preview(
        self,
        trigger: Trigger,
        *,
        count: int = 10,
        after: datetime | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Preview:
        """The next ticks of a trigger with these policies, what is unusual about them, and what else ticks then.

        With `name`, as the schedule of that name would have them. At most 500 others are looked at, around ten ticks.
        With `target`, its definition has the settings of that task where they are not given.
        """
        if name is not None:
            check_name(name, "name")
        given = policies(options)
        definition = Definition(trigger=trigger, **{"target": _ANY, **await self._unstated(given), **given})
        if definition.calendars:
            stored = {each.name: each.closed for each in await self._store.calendars.list(self._namespace)}
            definition = replace(definition, closed=resolve_calendars(definition.calendars, stored))
        start = to_seconds(await self._store.now() if after is None else after)
        found = await compute(preview, definition, start, count, namespace=self._namespace, name=name)
        # One more than are looked at, besides the schedule itself, tells whether these are all.
        rows = await self._store.schedules.list(self._namespace, state="active", limit=MAX_SCHEDULES + 2)
        others = [row.schedule for row in rows if row.schedule.name != name]
        instants = [to_seconds(tick.due_at) for tick in found.ticks if tick.skipped is None]
        complete = len(others) <= MAX_SCHEDULES
        load = await compute(load_around, instants, others[:MAX_SCHEDULES], complete=complete)
        return replace(found, load=load)

    async def _unstated(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The settings of the task that a definition names."""
        target = given.get("target")
        if not isinstance(target, Target):
            return {}
        settings = (await self._task_settings([target])).get(target.name, {})
        # A key is made of fields of the payload.
        return settings if "payload" in given else {**settings, "concurrency_key": None}
