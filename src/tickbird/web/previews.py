"""The preview of a draft: description, next ticks, warnings, and the load at those times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from tickbird.domain.errors import InvalidError, TickbirdError
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.forecast.preview import Preview
from tickbird.domain.schedules.codec import default_field, encode_field
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.task_settings import find_published, read_settings
from tickbird.domain.text import NAME
from tickbird.domain.triggers.trigger import AnyOf, at
from tickbird.web.charts import Chart
from tickbird.web.forms.schedule_draft import Draft
from tickbird.web.forms.trigger_text import clock_notes, kept_note
from tickbird.web.load_diff import load_change
from tickbird.web.page_request import PageRequest

_TICKS: Final = 10
# With at least this number of other ticks in the same minute, suggest a quieter minute.
_CROWDED: Final = 3
_NEAR: Final = (-20, -15, -10, -5, -2, 2, 5, 10, 15, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The data of the preview next to the form."""

    preview: Preview | None = None
    wrong: str = ""
    # A minute near the first tick with fewer other ticks, and their number.
    quieter: tuple[datetime, int] | None = None
    # The reason why no live worker would execute its runs.
    unserved: str = ""
    # Settings that a new schedule inherits from its task: label and value.
    inherited: Sequence[tuple[str, str]] = ()
    # Notes about DST changes at the typed times.
    notes: Sequence[str] = ()
    # The load in the hour of the first tick, before and after.
    load: Chart | None = None


async def outlook(visit: PageRequest, draft: Draft, name: str | None, before: Schedule | None = None) -> Outlook:
    """Preview a draft that may have errors; `before` is the stored schedule, None for a new one."""
    if not draft.texts["when"].strip():
        return Outlook()
    if draft.wrong.keys() & {"when", "tz"}:
        return Outlook(wrong=draft.wrong.get("when") or draft.wrong["tz"])
    try:
        fields = draft.fields
        trigger = fields.pop("trigger")
        fields.pop("payload", None)
        fields.pop("concurrency_key", None)
        target = fields.pop("target", None)
        settings = await _settings(visit, target) if before is None else {}
        # A concurrency key needs payload fields, which may be invalid at this point.
        unstated = {key: value for key, value in settings.items() if key != "concurrency_key" and key not in fields}
        preview = await visit.client.forecasts.preview(trigger, count=_TICKS, name=_name(name), **unstated, **fields)
    except InvalidError as error:
        return Outlook(wrong=str(error))
    except (TypeError, ValueError, AttributeError, KeyError):
        return Outlook(wrong="The stored definition cannot be read. Fix it above.")
    return Outlook(
        preview=preview,
        inherited=_inherited(settings, draft.fields),
        notes=_notes(draft),
        quieter=await _quieter(visit, preview),
        unserved=await _unserved(visit, target, preview),
        load=await load_change(visit, before, preview, _name(name)),
    )


def _notes(draft: Draft) -> list[str]:
    text, tz = draft.texts["when"], draft.texts["tz"].strip() or "UTC"
    return [*clock_notes(text, tz), *kept_note(text, tz, draft.base.get("trigger"))]


async def _settings(visit: PageRequest, target: Target | None) -> Mapping[str, Any]:
    """Return the settings of a task that a live worker publishes."""
    if target is None or target.kind != "task":
        return {}
    return read_settings(find_published(await visit.client.workers.list(), target.name) or {})


def _inherited(settings: Mapping[str, Any], stated: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the task settings that the form does not set and that are not the default."""
    encoded = {key: encode_field(key, value) for key, value in settings.items() if key not in stated}
    return [
        (policy.label, policy.text(encoded[name]))
        for name, policy in POLICIES.items()
        if name in encoded and encoded[name] != default_field(name)
    ]


def _name(name: str | None) -> str | None:
    return name if name and NAME.fullmatch(name) else None


async def _quieter(visit: PageRequest, preview: Preview) -> tuple[datetime, int] | None:
    """A quieter minute near its first tick, and the number of ticks in it; None if the first is not crowded."""
    first = preview.load.instants[0] if preview.load is not None and preview.load.instants else None
    if first is None or first.in_minute < _CROWDED:
        return None
    try:
        near = [at(first.at + timedelta(minutes=minutes)) for minutes in _NEAR]
        load = (await visit.client.forecasts.preview(AnyOf(*near), count=len(near))).load
    except (TickbirdError, OverflowError):
        return None
    instants = () if load is None else load.instants
    best = min(instants, key=lambda point: (point.in_minute, abs(point.at - first.at)), default=None)
    return None if best is None or best.in_minute >= first.in_minute else (best.at, best.in_minute)


async def _unserved(visit: PageRequest, target: Target | None, preview: Preview) -> str:
    if target is None:
        return ""
    return unserved_reason(preview.definition.queue, target, await visit.client.workers.list())
