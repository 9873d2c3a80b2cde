"""Plans of applying files."""

from __future__ import annotations

from tickbird.domain.schedules.schedule import PauseState
from tickbird.files.diagnostics import Diagnostic
from tickbird.files.parse.nodes import SourceLocation
from tickbird.files.plan import FieldChange, FilePlan, KeptOverride, Late, ScheduleChange, SettingChange, Unchanged
from tickbird.files.tick_diff import BusyMinute, TickChanges
from tickbird.wire.decode.parts import Document, instant, maybe
from tickbird.wire.decode.schedules import read_schedule


def read_plan(document: Document) -> FilePlan:
    """All that would change, or was changed; without the commands, which are the server's."""
    return FilePlan(
        app=document["app"],
        namespace=document["namespace"],
        schedules=[*map(_change, document["schedules"])],
        settings=[
            SettingChange(each["part"], each["name"], each["before"], each["after"]) for each in document["settings"]
        ],
        unserved=document["unserved"],
        same=document["same"],
        not_in_files=document["not_in_files"],
        # One that does not tell of them is older.
        stays=[Unchanged(each["name"], _kept_overrides(each), _pause(each)) for each in document.get("stays", ())],
        crowds=[
            BusyMinute(instant(each["at"]), each["schedules"], tuple(each["names"])) for each in document["crowds"]
        ],
        diagnostics=[*map(_diagnostic, document["diagnostics"])],
        conflicts=[*map(_diagnostic, document["conflicts"])],
    )


def _change(document: Document) -> ScheduleChange:
    return ScheduleChange(
        name=document["name"],
        kind=document["kind"],
        command=None,
        schedule=read_schedule(document["schedule"]),
        fields=tuple(FieldChange(each["name"], each["before"], each["after"]) for each in document["fields"]),
        kept_overrides=_kept_overrides(document),
        pause=_pause(document),
        ticks=_ticks(document["ticks"]),
        late=maybe(lambda each: Late(each["ticks"], each["catch_up"]), document["late"]),
        void=document["void"],
        notes=tuple(document["notes"]),
    )


def _kept_overrides(document: Document) -> tuple[KeptOverride, ...]:
    return tuple(KeptOverride(each["name"], each["value"], each["declared"]) for each in document["kept_overrides"])


def _pause(document: Document) -> PauseState | None:
    return maybe(lambda each: PauseState(each["by"], each["note"], each["until"]), document["pause"])


def _ticks(document: Document) -> TickChanges:
    return TickChanges(
        before=document["before"],
        after=document["after"],
        appear=document["appear"],
        vanish=document["vanish"],
        moved=document["moved"],
        complete=document["complete"],
        appearing=tuple(map(instant, document["appearing"])),
        vanishing=tuple(map(instant, document["vanishing"])),
        moving=tuple((instant(each["from"]), instant(each["to"])) for each in document["moving"]),
    )


def _diagnostic(document: Document) -> Diagnostic:
    return Diagnostic(SourceLocation(document["file"], document["line"], document["column"]), document["text"])
