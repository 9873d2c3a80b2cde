"""The log of a run: newest lines, live stream, earlier pages and download."""

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
# Lines searched per page. The page links to the next part.
MAX_EXAMINED: Final = 20_000
_CHUNK: Final = 2_000
_MAX_LENGTH: Final = 10_000
# Polling intervals in seconds, for active and quiet logs.
_ACTIVE_POLL, _QUIET_POLL = 0.5, 2.0
LEVELS: Final = ((0, "all levels"), (20, "info and above"), (30, "warnings and above"), (40, "errors"))
_COLOURS: Final = re.compile("\x1b\\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class LogFilter:
    """A log filter: text (case-insensitive) and minimum level."""

    text: str = ""
    level: int = 0

    def __bool__(self) -> bool:
        return bool(self.text or self.level)

    def matches(self, line: LogLine) -> bool:
        return line.level >= self.level and self.text.casefold() in line.text.casefold()


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A log line for display."""

    place: str
    attempt: int
    level: int
    word: str
    clock: str
    moment: str
    text: str
    # True for the first line of an attempt on this page.
    begins: bool


@dataclass(frozen=True, slots=True)
class LogPage:
    """Log lines in order, and the position before which there may be more."""

    lines: Sequence[ShownLine]
    earlier: str | None
    # The stream of new lines starts after this position.
    last: str


def sought(visit: PageRequest) -> LogFilter:
    level = visit.query.get("level", "")
    return LogFilter(visit.query.get("q", "")[:500], int(level) if level in ("10", "20", "30", "40", "50") else 0)


def parse_position(text: str | None) -> LogPosition | None:
    """Parse a log position; None if it is invalid."""
    match = re.fullmatch(LOG_POSITION, text or "")
    return None if match is None else (min(int(match[1]), 2**31 - 1), min(int(match[2] or 0), 2**31 - 1))


async def last_page(visit: PageRequest, run_id: int, own: str | None) -> LogPage:
    """Read the newest matching lines, or those before a position."""
    if visit.by_htmx:
        # A live refresh does not replace the log. New lines come over the stream.
        return LogPage((), None, "0")
    wanted, before = sought(visit), parse_position(visit.query.get("before"))
    board, matching, examined, more = visit.board, list[LogLine](), 0, True
    newest: LogLine | None = None
    while more and len(matching) <= MAX_SHOWN and examined < MAX_EXAMINED:
        size = _CHUNK if wanted else MAX_SHOWN + 1
        lines = await board.last_lines(run_id, before=before, limit=size)
        newest = newest or (lines[-1] if lines else None)
        matching[:0] = [line for line in lines if wanted.matches(line)]
        examined, more = examined + len(lines), len(lines) == size
        before = position_of(lines[0]) if lines else before
    shown = matching[-MAX_SHOWN:]
    earlier = format_position(shown[0]) if len(matching) > len(shown) else None
    if earlier is None and more and before is not None:
        earlier = f"{before[0]}.{before[1]}"
    return LogPage(shown_lines(visit, shown, own), earlier, "0" if newest is None else format_position(newest))


def shown_lines(visit: PageRequest, lines: Sequence[LogLine], own: str | None) -> list[ShownLine]:
    """Convert lines for display: without ANSI colours, in the zone for display."""
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
    """Remove ANSI colour sequences."""
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
    """Stream new lines as server-sent events until the run ends."""
    run = await visit.client.runs.get(visit.number("id") or 0)
    place = (
        parse_position(visit.request.headers.get("last-event-id")) or parse_position(visit.query.get("after")) or (0, 0)
    )
    streams: SseConnections = visit.request.app.state.streams
    own = find_zone(visit.query.get("zone", ""))
    answer: Response = streams.open(visit.request, lambda: _follow(visit, run.id, place, own))
    return answer


async def _follow(visit: PageRequest, run_id: int, place: LogPosition, own: str | None) -> Events:
    client, wanted, pause, progress_at = visit.client, sought(visit), _ACTIVE_POLL, None
    while True:

        async def read(after: LogPosition = place) -> tuple[Progress | None, RunLogs]:
            return await client.runs.progress(run_id), await client.runs.read_logs(run_id, after=after, limit=MAX_SHOWN)

        try:
            progress, page = await visit.readings.share(
                (visit.namespace, "log", run_id, place), read, fresh=_ACTIVE_POLL / 2
            )
        except NotFoundError:
            # The run was pruned.
            yield event({}, name="end")
            return
        except TickbirdError:
            # The store is unavailable. Other parts of the page report it.
            await asyncio.sleep(_QUIET_POLL)
            continue
        if progress is not None and progress.at != progress_at:
            # Progress causes no activity, so this stream notifies the page.
            progress_at, pause = progress.at, _ACTIVE_POLL
            yield event({}, name="progress")
        if page.lines:
            place, pause = position_of(page.lines[-1]), _ACTIVE_POLL
            shown = shown_lines(visit, [line for line in page.lines if wanted.matches(line)], own)
            html = render("log_lines.html", {"lines": shown})
            yield event({"html": html}, name="lines", place=format_position(page.lines[-1]))
        elif page.status in FINAL:
            yield event({}, name="end")
            return
        else:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _QUIET_POLL)


async def download(visit: PageRequest) -> Response:
    """Download the complete log as a text file."""
    run = await visit.client.runs.get(visit.number("id") or 0)
    headers = {"Content-Disposition": f'attachment; filename="run-{run.id}.log"'}
    return StreamingResponse(_text(visit, run.id), media_type="text/plain", headers=headers)


async def _text(visit: PageRequest, run_id: int) -> AsyncIterator[bytes]:
    place: LogPosition = (0, 0)
    while lines := await visit.client.runs.logs(run_id, after=place, limit=MAX_SHOWN):
        yield "".join(
            f"{line.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ} {_word(line.level):8} [{line.attempt}] {line.text}\n"
            for line in lines
        ).encode(errors="replace")
        place = position_of(lines[-1])


ROUTES: Final = (
    PageRoute("/runs/{id}/lines", lines),
    PageRoute("/runs/{id}/log.txt", download),
)
