"""The policy fields of a schedule, declared once.

The rows of `Policies` define the checks of a definition, its JSON and JSON Schema, files, `tickbird set`, the form and
the page of a schedule, and the reference in the docs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, TypeVar, get_args

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.schedules import kinds
from tickbird.domain.schedules.backoff import Backoff
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.schedules.kinds.kind import InstantReader, Kind, json_text
from tickbird.domain.schema_parts import Schema

T = TypeVar("T")

CatchUp = Literal["one", "latest", "all", "skip"]
Overlap = Literal["skip", "queue", "replace", "allow"]
OnCrash = Literal["retry", "fail", "ask"]
Roll = Literal["skip", "previous", "next"]
PriorityName = Literal["low", "normal", "high", "critical"]
Priority = int | PriorityName

PRIORITIES: Final[Mapping[str, int]] = dict(zip(get_args(PriorityName), (-500, 0, 500, 1_000), strict=True))
MAX_CALENDARS: Final = 20
MAX_DESCRIPTION_LENGTH: Final = 10_000


class Group(Enum):
    """Groups of fields; the value is the title in forms and docs."""

    ABOUT = "General"
    DAYS = "Calendar and limits"
    LATE = "Late ticks"
    OVERLAP = "Overlap"
    FAILURE = "Failures and retries"
    SHADOW = "Shadow"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyField:
    """A row of the table."""

    name: str
    kind: Kind
    default: Any
    group: Group
    # One sentence, shown wherever the field is explained.
    help: str
    # Shown instead of an empty value.
    none: str = "none"
    # Whether a task can declare it too, as a default for its schedules and runs.
    task_setting: bool = False
    # Fields that its check depends on; if one of them is invalid, this field is not checked.
    relies_on: tuple[str, ...] = ()
    # The page of the docs with more about it.
    page: str = ""

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").capitalize()

    @property
    def can_state_none(self) -> bool:
        """Whether None differs from an omitted value, which means the value of the task."""
        return self.task_setting and self.default is None

    @property
    def default_text(self) -> str:
        return self.text(self.encode(self.default)) or self.none

    @property
    def help_with_default(self) -> str:
        default = f"the task's, or {self.default_text}" if self.task_setting else self.default_text
        return f"{self.help.removesuffix('.')} (default: {default})."

    @property
    def hint(self) -> str:
        return f"{self.help} {self.kind.hint}".strip()

    def check(self, value: Any) -> None:
        """Raise DefinitionError if the value is invalid."""
        if not self._is_none(value):
            self.kind.check(self.name, value)

    def read(self, value: Any) -> Any:
        return None if self._is_none(value) else self.kind.read(self.name, value)

    def encode(self, value: Any) -> Any:
        return None if value is None else self.kind.encode(self.name, value)

    def decode(self, encoded: Any) -> Any:
        return None if self._is_none(encoded) else self.kind.decode(self.name, encoded)

    def parse(self, text: str, instant: InstantReader) -> Any:
        return self.kind.parse(self.name, text, instant)

    def text(self, encoded: Any) -> str:
        """Return the text to type for a stored value; JSON if the value is of another kind."""
        if encoded is None:
            return ""
        text = self.kind.text(encoded)
        return json_text(encoded) if text is None else text

    def describe(self, encoded: Any) -> str:
        if encoded is None:
            return self.none
        text = self.kind.describe(encoded)
        return json_text(encoded) if text is None else text or self.none

    def to_file(self, value: Any) -> Any:
        """Return the value for a file, with false for None, because TOML has no null."""
        return False if value is None else self.kind.to_file(value)

    def schema(self) -> Schema:
        return {**self.kind.schema(), "description": self.help_with_default}

    def file_schema(self) -> Schema:
        schema = self.kind.file_schema()
        if not self.can_state_none:
            return {**schema, "description": self.help_with_default}
        return {"anyOf": [{"const": False}, schema], "description": f"{self.help_with_default} false: {self.none}."}

    def _is_none(self, value: Any) -> bool:
        return value is None and self.default is None


def policy(kind: Kind, default: T, group: Group, help: str, **row: Any) -> T:  # noqa: A002 - the name of the column
    """Declare a policy as a dataclass field."""
    metadata = {"policy": PolicyField(name="", kind=kind, default=default, group=group, help=help, **row)}
    declared: Any = (
        field(default_factory=dict, metadata=metadata) if default == {} else field(default=default, metadata=metadata)
    )
    return declared  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Policies:
    """The table: one row per policy field; durations are whole seconds."""

    payload: Mapping[str, Any] = policy(
        kinds.Payload(), {}, Group.ABOUT, "The arguments that each run is called with, an object of at most 1 MB."
    )
    description: str = policy(
        kinds.Text(MAX_DESCRIPTION_LENGTH), "", Group.ABOUT, "The purpose of the schedule, and whom to contact."
    )
    tags: tuple[str, ...] = policy(kinds.Names(), (), Group.ABOUT, "Labels to find the schedule by.")
    queue: str = policy(
        kinds.Name(), "default", Group.ABOUT, "The queue in which its runs wait for a worker.", task_setting=True
    )
    priority: int = policy(
        kinds.Number(-1_000, 1_000, names=PRIORITIES),
        0,
        Group.ABOUT,
        "Start runs with a higher priority first.",
        task_setting=True,
    )
    durable: bool = policy(
        kinds.Flag(),
        True,
        Group.ABOUT,
        "Record the decision about every tick in the store; if false, workers compute the ticks in memory.",
        relies_on=("trigger",),
        page="in-memory.md",
    )
    start_at: datetime | None = policy(
        kinds.Instant(), None, Group.DAYS, "Do not tick before this instant.", none="at once"
    )
    end_at: datetime | None = policy(
        kinds.Instant(),
        None,
        Group.DAYS,
        "Do not tick after this instant.",
        none="never",
        relies_on=("start_at",),
    )
    exclude: Calendar = policy(
        kinds.Days(),
        Calendar(),
        Group.DAYS,
        "Weekdays and dates on which it does not run, in the trigger's time zone.",
        page="calendars.md",
    )
    # Only the names are set here; the closed days come from the store.
    calendars: tuple[str, ...] = policy(
        kinds.Names(MAX_CALENDARS),
        (),
        Group.DAYS,
        "Calendars on whose closed days it does not run; weekends is built in.",
        page="calendars.md",
    )
    roll: Roll = policy(
        kinds.Choice(
            get_args(Roll),
            {
                "skip": "the tick is skipped",
                "previous": "the tick moves to the previous open day",
                "next": "the tick moves to the next open day",
            },
        ),
        "skip",
        Group.DAYS,
        "What happens to a tick on a closed day.",
        relies_on=("trigger",),
        page="calendars.md",
    )
    spread: int = policy(
        kinds.Duration(0, 7 * 86_400),
        0,
        Group.DAYS,
        "Delay ticks by an offset below this, fixed per schedule, so that not all start at once.",
    )
    max_runs: int | None = policy(
        kinds.Number(1, 2**31 - 1),
        None,
        Group.DAYS,
        "End the schedule after this many scheduled runs; manual runs do not count.",
        none="no limit",
    )
    grace: int = policy(
        kinds.Duration(),
        10,
        Group.LATE,
        "Treat a tick as late if it is planned later than this after it was due.",
        page="late.md",
    )
    catch_up: CatchUp = policy(
        kinds.Choice(
            get_args(CatchUp),
            {
                "one": "one run, labelled with the oldest late tick, covers all of them",
                "latest": "one run, labelled with the newest late tick, covers all of them",
                "all": "every late tick runs, oldest first",
                "skip": "late ticks do not run",
            },
        ),
        "one",
        Group.LATE,
        "What happens to late ticks.",
        page="late.md",
    )
    catch_up_limit: int = policy(
        kinds.Number(1, 10_000), 100, Group.LATE, "With catch_up=all, run at most this many of the newest late ticks."
    )
    hold_above: int | None = policy(
        kinds.Number(0, 1_000_000),
        None,
        Group.LATE,
        "With catch_up=all, hold the late runs of an outage for an operator if there are more than this.",
        none="nothing is held",
        relies_on=("catch_up",),
        page="backfill.md#after-an-outage",
    )
    start_within: int | None = policy(
        kinds.Duration(),
        None,
        Group.LATE,
        "Cancel a run that has not started within this time after it was due.",
        none="no limit",
        page="late.md",
    )
    overlap: Overlap = policy(
        kinds.Choice(
            get_args(Overlap),
            {
                "skip": "the tick is skipped",
                "queue": "one run waits, later ticks are skipped",
                "replace": "the active run is stopped",
                "allow": "both run",
            },
        ),
        "skip",
        Group.OVERLAP,
        "What happens to a tick while earlier runs are active.",
    )
    max_concurrent: int = policy(
        kinds.Number(1, 10_000), 1, Group.OVERLAP, "How many runs may be active before overlap applies."
    )
    concurrency_key: str | None = policy(
        kinds.ConcurrencyKey(),
        None,
        Group.OVERLAP,
        "Runs with the same key share a limit; {field} is replaced by a field of the payload.",
        task_setting=True,
        relies_on=("payload",),
        page="limits.md",
    )
    depends_on: tuple[After, ...] = policy(
        kinds.Dependencies(),
        (),
        Group.OVERLAP,
        "Run a tick only if these schedules have succeeded recently.",
        relies_on=("start_within", "catch_up", "grace"),
        page="dependencies.md",
    )
    retries: int = policy(
        kinds.Number(0, 1_000),
        0,
        Group.FAILURE,
        "How often to retry after an error or a timeout.",
        task_setting=True,
    )
    backoff: Backoff = policy(
        kinds.ExponentialBackoff(),
        Backoff(),
        Group.FAILURE,
        "How long to wait before a retry, doubled each time, with full jitter.",
        task_setting=True,
    )
    timeout: int | None = policy(
        kinds.Duration(1),
        None,
        Group.FAILURE,
        "Stop an attempt that takes longer than this.",
        none="no limit",
        task_setting=True,
    )
    on_crash: OnCrash = policy(
        kinds.Choice(
            get_args(OnCrash),
            {
                "retry": "it is retried, at most 3 times",
                "fail": "it fails and is never started twice",
                "ask": "it waits for the answer whether it had its effect, of its reconcile function or a person",
            },
        ),
        "retry",
        Group.FAILURE,
        "What happens to a run whose worker was lost.",
        task_setting=True,
    )
    shadow: bool = policy(
        kinds.Flag(), False, Group.SHADOW, "Plan and record ticks, but run nothing.", page="shadow.md"
    )

    def __post_init__(self) -> None:
        for row in POLICIES.values():
            value = getattr(self, row.name)
            if value is not row.default:
                row.check(value)


POLICIES: Final[Mapping[str, PolicyField]] = {
    item.name: replace(item.metadata["policy"], name=item.name) for item in fields(Policies)
}


def field_text(name: str, encoded: Any) -> str:
    """Return the text to type for a stored value; a part of a field, named by its path, is JSON."""
    text = POLICIES[name].text(encoded) if name in POLICIES else encoded
    return text if isinstance(text, str) and text else json_text(encoded)
