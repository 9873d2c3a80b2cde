"""What a schedule would do, before there is one."""

from __future__ import annotations

from tickbird.domain.forecast.preview import Preview, PreviewedTick
from tickbird.domain.forecast.tick_load import LoadPoint, TickLoad
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.warnings import DefinitionWarning
from tickbird.domain.time.zone_data import zone_info
from tickbird.wire.decode.parts import Document, instant, maybe


def read_preview(document: Document) -> Preview:
    """The next ticks of a definition, with what is unusual about them and what else goes on then."""
    definition = decode_definition(document["definition"])
    local = zone_info(definition.trigger.tz)
    return Preview(
        definition=definition,
        after=instant(document["after"]),
        ticks=[
            PreviewedTick(
                instant(tick["scheduled_for"]),
                instant(tick["local"]).astimezone(local),
                instant(tick["due_at"]),
                tick["skipped"],
                tick["notes"],
            )
            for tick in document["ticks"]
        ],
        warnings=[
            DefinitionWarning(each["code"], each["text"], maybe(instant, each["at"])) for each in document["warnings"]
        ],
        load=maybe(_load, document["load"]),
    )


def _load(document: Document) -> TickLoad:
    instants = [
        LoadPoint(instant(each["at"]), each["before"], each["minute"], each["after"]) for each in document["instants"]
    ]
    return TickLoad(document["schedules"], document["complete"], instants)
