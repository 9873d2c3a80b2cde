"""What a run logs: the newest lines on its page, more of them as they come, earlier ones by page, and all as a file."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from starlette.responses import Response, StreamingResponse

from tickbird.api.streams.sse import Events, SseConnections, event
from tickbird.domain.errors import NotFoundError, TickbirdError
from tickbird.domain.runs.log_positions import LOG_POSITION, LogPosition, format_position, position_of
from tickbird.domain.runs.logs import LogLine, Progress, RunLogs
from tickbird.domain.runs.run import FINAL
from tickbird.domain.time.zone_data import zone_info
from tickbird.web.display_clock import find_zone
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.rendering import plain, render

MAX_SHOWN: Final = 1_000
# Whoever looks for what is rare reads so many lines of a page, and is told where to go on.
MAX_EXAMINED: Final = 20_000
_CHUNK: Final = 2_000
_MAX_LENGTH: Final = 10_000
# How soon a run that logs is looked at again, and how rarely one that is quiet.
_SOON, _SELDOM = 0.5, 2.0
LEVELS: Final = ((0, "all levels"), (20, "info and above"), (30, "warnings and above"), (40, "errors"))
_COLOURS: Final = re.compile("\x1b\\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Sought:
    """Which lines: those that contain a text, in small or capital letters, and are of a level or above."""

    text: str = ""
    level: int = 0

    def __bool__(self) -> bool:
        return bool(self.text or self.level)

    def finds(self, line: LogLine) -> bool:
        """Is it one of them?"""
        return line.level >= self.level and self.text.casefold() in line.text.casefold()


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line as a page shows it."""

    place: str
    attempt: int
    level: int
    word: str
    clock: str
    moment: str
    text: str
    # The first of its attempt on this page.
    begins: bool


@dataclass(frozen=True, slots=True)
class LogPage:
    """Lines in order, and the place in front of which there may be more."""

    lines: Sequence[ShownLine]
    earlier: str | None
    # Behind which new ones come.
    last: str


def sought(visit: PageRequest) -> Sought:
    """What the address asks for."""
    level = visit.query.get("level", "")
    return Sought(visit.query.get("q", "")[:500], int(level) if level in ("10", "20", "30", "40", "50") else 0)


def parse_position(text: str | None) -> LogPosition | None:
    """A place in a log from an address; None for what is none."""
    found = re.fullmatch(LOG_POSITION, text or "")
    return None if found is None else (min(int(found[1]), 2**31 - 1), min(int(found[2] or 0), 2**31 - 1))


async def last_page(visit: PageRequest, run_id: int, own: str | None) -> LogPage:
    """The newest lines that are sought, or those in front of a place."""
    if visit.by_htmx:
        # Only what stands above it is drawn again; new lines come as events.
        return LogPage((), None, "0")
    wanted, before = sought(visit), parse_position(visit.query.get("before"))
    board, found, looked, more = visit.board, list[LogLine](), 0, True
    newest: LogLine | None = None
    while more and len(found) <= MAX_SHOWN and looked < MAX_EXAMINED:
        size = _CHUNK if wanted else MAX_SHOWN + 1
        lines = await board.last_lines(run_id, before=before, limit=size)
        newest = newest or (lines[-1] if lines else None)
        found[:0] = [line for line in lines if wanted.finds(line)]
        looked, more = looked + len(lines), len(lines) == size
        before = position_of(lines[0]) if lines else before
    shown = found[-MAX_SHOWN:]
    earlier = format_position(shown[0]) if len(found) > len(shown) else None
    if earlier is None and more and before is not None:
        earlier = f"{before[0]}.{before[1]}"
    return LogPage(shown_lines(visit, shown, own), earlier, "0" if newest is None else format_position(newest))


def shown_lines(visit: PageRequest, lines: Sequence[LogLine], own: str | None) -> list[ShownLine]:
    """Lines as a page has them: colours of terminals left out, on the clock that the visitor chose."""
    tz = visit.clock.zone(own)
    return [
        ShownLine(
            format_position(line),
            line.attempt,
            line.level,
            _word(line.level),
            _clock(line.at, tz),
            visit.clock.text(line.at, own),
            plain(without_colours(line.text[: 2 * _MAX_LENGTH]), _MAX_LENGTH),
            begins=line.attempt > 1 and (place == 0 or lines[place - 1].attempt != line.attempt),
        )
        for place, line in enumerate(lines)
    ]


def without_colours(text: str) -> str:
    """A text without what colours it on a terminal."""
    return _COLOURS.sub("", text)


def _clock(at: datetime, tz: str) -> str:
    try:
        local = at.astimezone(zone_info(tz))
    except OverflowError:
        local = at.astimezone(UTC)
    return f"{local:%H:%M:%S}.{local.microsecond // 1000:03d}"


def _word(level: int) -> str:
    return logging.getLevelName(level) if level % 10 == 0 and 10 <= level <= 50 else f"level {level}"


async def lines(visit: PageRequest) -> Response:
    """New lines as they come, as server-sent events, until the run has come to its end."""
    run = await visit.client.runs.get(visit.number("id") or 0)
    place = (
        parse_position(visit.request.headers.get("last-event-id")) or parse_position(visit.query.get("after")) or (0, 0)
    )
    streams: SseConnections = visit.request.app.state.streams
    own = find_zone(visit.query.get("zone", ""))
    answer: Response = streams.open(visit.request, lambda: _follow(visit, run.id, place, own))
    return answer


async def _follow(visit: PageRequest, run_id: int, place: LogPosition, own: str | None) -> Events:
    client, wanted, pause, said_at = visit.client, sought(visit), _SOON, None
    while True:

        async def read(after: LogPosition = place) -> tuple[Progress | None, RunLogs]:
            return await client.runs.progress(run_id), await client.runs.read_logs(run_id, after=after, limit=MAX_SHOWN)

        try:
            progress, found = await visit.readings.share((visit.namespace, "log", run_id, place), read, fresh=_SOON / 2)
        except NotFoundError:
            # It was pruned.
            yield event({}, name="end")
            return
        except TickbirdError:
            # The store is away for a while: whoever looks at the page is told by its other parts.
            await asyncio.sleep(_SELDOM)
            continue
        if progress is not None and progress.at != said_at:
            # Nothing happens in the store when a run says how far it is: its page hears of it here.
            said_at, pause = progress.at, _SOON
            yield event({}, name="progress")
        if found.lines:
            place, pause = position_of(found.lines[-1]), _SOON
            shown = shown_lines(visit, [line for line in found.lines if wanted.finds(line)], own)
            html = render("log_lines.html", {"lines": shown})
            yield event({"html": html}, name="lines", place=format_position(found.lines[-1]))
        elif found.status in FINAL:
            yield event({}, name="end")
            return
        else:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _SELDOM)


async def download(visit: PageRequest) -> Response:
    """The whole log as a text file."""
    run = await visit.client.runs.get(visit.number("id") or 0)
    headers = {"Content-Disposition": f'attachment; filename="run-{run.id}.log"'}
    return StreamingResponse(_text(visit, run.id), media_type="text/plain", headers=headers)


async def _text(visit: PageRequest, run_id: int) -> AsyncIterator[bytes]:
    place: LogPosition = (0, 0)
    while found := await visit.client.runs.logs(run_id, after=place, limit=MAX_SHOWN):
        yield "".join(
            f"{line.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ} {_word(line.level):8} [{line.attempt}] {line.text}\n"
            for line in found
        ).encode(errors="replace")
        place = position_of(found[-1])


ROUTES: Final = (
    PageRoute("/runs/{id}/lines", lines),
    PageRoute("/runs/{id}/log.txt", download),
)
