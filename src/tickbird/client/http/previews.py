"""Previews over HTTP: what a schedule would do, before there is one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tickbird.client.http.base import Remote, instant
from tickbird.client.previews import Previews
from tickbird.domain.forecast.preview import Preview
from tickbird.domain.schedules.codec import encode_field
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.triggers.trigger import Trigger
from tickbird.wire.decode.previews import read_preview


class RemotePreviews(Remote, Previews):
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
        """
        target = options.get("target")
        own = self._settings.get(target.name, {}) if isinstance(target, Target) else {}
        if "payload" not in options:
            # A key is made of fields of the payload.
            own = {name: value for name, value in own.items() if name != "concurrency_key"}
        fields = {"trigger": trigger, **own, **policies(options)}
        definition = {field: encode_field(field, value) for field, value in fields.items() if value is not None}
        body = {"definition": definition, "count": count, "after": instant(after), "name": name}
        return await self._post("/preview", read_preview, body)
