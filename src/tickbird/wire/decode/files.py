"""Plans of applying files."""

from __future__ import annotations

from tickbird.domain.schedules.schedule import Pause
from tickbird.files.diagnostics import Mistake
from tickbird.files.parse.nodes import Place
from tickbird.files.plan import FieldChange, FilePlan, Kept, Late, ScheduleChange, SettingChange, Stays
from tickbird.files.tick_diff import Crowd, TickChanges
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
        left=document["left"],
        # One that does not tell of them is older.
        stays=[Stays(each["name"], _kept(each), _pause(each)) for each in document.get("stays", ())],
        crowds=[Crowd(instant(each["at"]), each["schedules"], tuple(each["names"])) for each in document["crowds"]],
        mistakes=[*map(_mistake, document["mistakes"])],
        conflicts=[*map(_mistake, document["conflicts"])],
    )


def _change(document: Document) -> ScheduleChange:
    return ScheduleChange(
        name=document["name"],
        kind=document["kind"],
        command=None,
        schedule=read_schedule(document["schedule"]),
        fields=tuple(FieldChange(each["name"], each["before"], each["after"]) for each in document["fields"]),
        kept=_kept(document),
        pause=_pause(document),
        ticks=_ticks(document["ticks"]),
        late=maybe(lambda each: Late(each["ticks"], each["catch_up"]), document["late"]),
        void=document["void"],
        notes=tuple(document["notes"]),
    )


def _kept(document: Document) -> tuple[Kept, ...]:
    return tuple(Kept(each["name"], each["value"], each["declared"]) for each in document["kept"])


def _pause(document: Document) -> Pause | None:
    return maybe(lambda each: Pause(each["by"], each["note"], each["until"]), document["pause"])


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


def _mistake(document: Document) -> Mistake:
    return Mistake(Place(document["file"], document["line"], document["column"]), document["text"])
