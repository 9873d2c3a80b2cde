"""What a draft would do, as one types it: in words, its next ticks, what is unusual, and what else goes on then."""

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
# From so many others in the same minute on, a quieter one near it is looked for.
_CROWDED: Final = 3
_NEAR: Final = (-20, -15, -10, -5, -2, 2, 5, 10, 15, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is told beside the form."""

    preview: Preview | None = None
    wrong: str = ""
    # A minute near the first tick in which fewer others tick, and how many.
    quieter: tuple[datetime, int] | None = None
    # Why nobody would execute its runs.
    unserved: str = ""
    # Settings that a new schedule gets from its task: what each is called, and its value.
    inherited: Sequence[tuple[str, str]] = ()
    # What clocks do at the times that were typed.
    notes: Sequence[str] = ()
    # The hour of its first tick, before and after.
    load: Chart | None = None


async def outlook(visit: PageRequest, draft: Draft, name: str | None, before: Schedule | None = None) -> Outlook:
    """Of a draft that may be wrong in parts, for a schedule that is new or stands like this."""
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
        # A key is made of fields of the payload, which may be wrong yet.
        unstated = {each: value for each, value in settings.items() if each != "concurrency_key" and each not in fields}
        found = await visit.client.forecasts.preview(trigger, count=_TICKS, name=_name(name), **unstated, **fields)
    except InvalidError as error:
        return Outlook(wrong=str(error))
    except (TypeError, ValueError, AttributeError, KeyError):
        return Outlook(wrong="The stored definition cannot be read. Fix it above.")
    return Outlook(
        preview=found,
        inherited=_inherited(settings, draft.fields),
        notes=_notes(draft),
        quieter=await _quieter(visit, found),
        unserved=await _unserved(visit, target, found),
        load=await load_change(visit, before, found, _name(name)),
    )


def _notes(draft: Draft) -> list[str]:
    text, tz = draft.texts["when"], draft.texts["tz"].strip() or "UTC"
    return [*clock_notes(text, tz), *kept_note(text, tz, draft.base.get("trigger"))]


async def _settings(visit: PageRequest, target: Target | None) -> Mapping[str, Any]:
    """The settings that a task declares, as a live worker publishes them."""
    if target is None or target.kind != "task":
        return {}
    return read_settings(find_published(await visit.client.workers.list(), target.name) or {})


def _inherited(settings: Mapping[str, Any], stated: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Those that the form does not state, where they are not the default."""
    encoded = {each: encode_field(each, value) for each, value in settings.items() if each not in stated}
    return [
        (policy.label, policy.text(encoded[name]))
        for name, policy in POLICIES.items()
        if name in encoded and encoded[name] != default_field(name)
    ]


def _name(name: str | None) -> str | None:
    return name if name and NAME.fullmatch(name) else None


async def _quieter(visit: PageRequest, found: Preview) -> tuple[datetime, int] | None:
    """A quieter minute near its first tick, and the number of ticks in it; None if the first is not crowded."""
    first = found.load.instants[0] if found.load is not None and found.load.instants else None
    if first is None or first.in_minute < _CROWDED:
        return None
    try:
        near = [at(first.at + timedelta(minutes=each)) for each in _NEAR]
        load = (await visit.client.forecasts.preview(AnyOf(*near), count=len(near))).load
    except (TickbirdError, OverflowError):
        return None
    instants = () if load is None else load.instants
    best = min(instants, key=lambda point: (point.in_minute, abs(point.at - first.at)), default=None)
    return None if best is None or best.in_minute >= first.in_minute else (best.at, best.in_minute)


async def _unserved(visit: PageRequest, target: Target | None, found: Preview) -> str:
    if target is None:
        return ""
    return unserved_reason(found.definition.queue, target, await visit.client.workers.list())
