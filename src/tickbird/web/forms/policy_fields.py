"""The fields of a definition as a form has them: texts that are read back, and left alone where nobody touched them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import decode_field, default_field
from tickbird.domain.schedules.definition import TASK_SETTINGS, CatchUp, OnCrash, Overlap, Roll
from tickbird.domain.time.durations import seconds
from tickbird.domain.time.instants import utc_text
from tickbird.files.fields import as_length
from tickbird.web.forms.instants import read_instant

Kind = Literal["text", "long", "names", "number", "length", "choice", "instant", "json", "box"]


@dataclass(frozen=True, slots=True)
class FormField:
    """One input: what it is called, what it means in a line, and how its text is read."""

    name: str
    label: str
    help: str
    kind: Kind
    choices: tuple[str, ...] = ()

    @property
    def is_setting(self) -> bool:
        """Does a new schedule get it from its task, if nothing is typed?"""
        return self.name in TASK_SETTINGS

    @property
    def default(self) -> str:
        """What holds where nothing is typed."""
        return show(self, default_field(self.name)) or "none"


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that one thinks of together; those of a group that is seldom needed are folded away."""

    title: str
    fields: tuple[FormField, ...]
    folded: bool = True


# All but trigger, target and payload, which have inputs of their own.
GROUPS: Final = (
    Group(
        "About it",
        (
            FormField("description", "Description", "What it is for, and whom to ask.", "long"),
            FormField("tags", "Tags", "To find it by; parted by commas.", "names"),
            FormField("queue", "Queue", "Workers take runs from the queues that they serve.", "text"),
            FormField("priority", "Priority", "From -1000 to 1000; higher ones are taken first.", "number"),
        ),
        folded=False,
    ),
    Group(
        "Days and bounds",
        (
            FormField("start_at", "Not before", "An instant; without an offset, in the zone above.", "instant"),
            FormField("end_at", "Not after", "An instant; without an offset, in the zone above.", "instant"),
            FormField("exclude", "Not on", "Weekdays and dates, such as sat, sun, 2026-12-25.", "names"),
            FormField("calendars", "Calendars", "Names of calendars whose closed days it keeps.", "names"),
            FormField("roll", "On a closed day", "Skip the tick, or move it to an open day.", "choice", get_args(Roll)),
            FormField(
                "spread", "Spread", "Ticks are due within this length, each schedule at its own place.", "length"
            ),
            FormField("max_runs", "Runs at most", "It ends after so many runs of its ticks.", "number"),
        ),
    ),
    Group(
        "When it is late",
        (
            FormField("grace", "Grace", "A tick is late when it is planned later than this.", "length"),
            FormField(
                "catch_up",
                "Late ticks",
                "Run one for all, the latest, all, or none of them.",
                "choice",
                get_args(CatchUp),
            ),
            FormField("catch_up_limit", "Of all, at most", "With all: so many of an outage.", "number"),
            FormField("hold_above", "Hold above", "With all: more than so many wait for a person.", "number"),
            FormField("start_within", "Start within", "A run that has not begun by then is cancelled.", "length"),
        ),
    ),
    Group(
        "When runs meet",
        (
            FormField(
                "overlap",
                "While one is active",
                "Skip the tick, queue it, replace the run, or allow both.",
                "choice",
                get_args(Overlap),
            ),
            FormField(
                "max_concurrent", "At once", "So many of its runs may be active before a tick meets them.", "number"
            ),
            FormField(
                "concurrency_key", "Concurrency key", "Shared with others; {field} is one of the payload.", "text"
            ),
            FormField(
                "depends_on", "Depends on", 'JSON, such as [{"after": "load", "within": 86400, "wait": 7200}].', "json"
            ),
        ),
    ),
    Group(
        "When it fails",
        (
            FormField("retries", "Retries", "Attempts after the first, when it raised or timed out.", "number"),
            FormField("backoff", "Backoff", 'JSON in seconds: {"base": 1, "max": 300}; doubled each time.', "json"),
            FormField("timeout", "Time-out", "An attempt that takes longer is stopped.", "length"),
            FormField(
                "on_crash", "Worker lost", "Try again, or fail and never start twice.", "choice", get_args(OnCrash)
            ),
        ),
    ),
    Group(
        "Shadow",
        (FormField("shadow", "Shadow", "Ticks are planned and recorded, and nothing runs.", "box"),),
    ),
)
ALL: Final = tuple(field for group in GROUPS for field in group.fields)


def show(field: FormField, value: Any) -> str:
    """The text of a value as it is stored; JSON where it is not what it should be."""
    if value is None:
        return ""
    match field.kind:
        case "text" | "long" | "choice" if isinstance(value, str):
            return value
        case "instant" if isinstance(value, str):
            return value
        case "names" if isinstance(value, list) and all(isinstance(each, str) and _plain(each) for each in value):
            return ", ".join(value)
        case "number" if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        case "length" if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return str(as_length(value))
        case "json" if value in ([], {}):
            return ""
        case "box" if isinstance(value, bool):
            return "1" if value else ""
    return json.dumps(value, ensure_ascii=False)


def _plain(text: str) -> bool:
    return bool(text) and text == text.strip() and not {",", "\n"} & {*text} and not text.startswith("[")


def read(field: FormField, text: str, tz: str) -> Any:
    """The value of a text as a definition takes it, or an InvalidError; nothing is its default."""
    stripped = text.strip() if field.kind != "long" else text
    if not stripped:
        return decode_field(field.name, default_field(field.name))
    return decode_field(field.name, _json(field, stripped, tz))


def _json(field: FormField, text: str, tz: str) -> Any:
    match field.kind:
        case "text" | "long" | "choice":
            return text
        case "box":
            return text == "1"
        case "number":
            digits = text.replace(",", "")
            if not digits.removeprefix("-").isascii() or not digits.removeprefix("-").isdigit() or len(digits) > 15:
                raise InvalidError(f"{text[:60]!r} is not a whole number.", field=field.name)
            return int(digits)
        case "length":
            compact = "".join(text.split())
            return seconds(int(compact) if compact.isascii() and compact.isdigit() else compact, field.name)
        case "instant":
            return utc_text(read_instant("T".join(text.split()), tz, field.name).at)
        case "names" if not text.startswith("["):
            return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidError(f"This is not JSON: {str(error)[:200]}.", field=field.name) from None


def texts_of(definition: Mapping[str, Any]) -> dict[str, str]:
    """The texts of all fields of a stored definition; nothing where it has its default, but for what one chooses."""
    found = {field.name: show(field, definition.get(field.name)) for field in ALL}
    # A new one has the setting of its task until another is chosen.
    choices = [field for field in ALL if field.kind == "choice" and not (field.is_setting and not definition)]
    return found | {field.name: field.default for field in choices if definition.get(field.name) is None}
