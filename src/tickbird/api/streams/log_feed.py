"""What runs log, followed: each run is read by one reader, however many listen."""

from __future__ import annotations

import asyncio
import logging
import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from tickbird.api.problems import Problem
from tickbird.api.streams.sse import Events, event
from tickbird.client import StoreClient
from tickbird.domain.errors import NotFoundError, TickbirdError
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import FINAL, Status
from tickbird.wire.codec import encode

log = logging.getLogger("tickbird.api")
# A line's attempt and its number: where to go on behind it.
LogPosition = tuple[int, int]
START: Final[LogPosition] = (0, 0)
_PAGE: Final = 500
# So many lines are kept at hand for those who listen; who is further behind reads for himself.
_AT_HAND: Final = 2_000
# How soon a run that logs is looked at again, and how rarely one that is quiet.
_SOON, _SELDOM = 0.5, 2.0
LOG_POSITION: Final = r"^([0-9]{1,9})(?:\.([0-9]{1,9}))?$"


def position_of(line: LogLine) -> LogPosition:
    """Where a line stands in the log of its run."""
    return line.attempt, line.number


def format_position(line: LogLine) -> str:
    """The place of a line as it is sent: that of line 17 of attempt 2 is `2.17`."""
    return f"{line.attempt}.{line.number}"


def parse_position(text: str | None, field: str) -> LogPosition:
    """The place that a text stands for; the start where there is none."""
    if text is None:
        return START
    found = re.fullmatch(LOG_POSITION, text)
    if found is None:
        raise Problem(
            400,
            "bad-page",
            f"{field}: {text[:60]!r} is not a position in a log;",
            field=field,
            hint="give the attempt and the number of the last line that was seen, such as 1.17, or leave it out.",
        )
    return int(found[1]), int(found[2] or 0)


class LogFeeds:
    """The logs that somebody listens to."""

    def __init__(self) -> None:
        self._feeds: dict[tuple[str, int], _Feed] = {}

    async def follow(self, namespace: str, client: StoreClient, run_id: int, after: LogPosition) -> Events:
        """Every line of a run behind a place, as they come, and at last that it has ended and how."""
        feed = self._feeds.get((namespace, run_id))
        if feed is None:
            feed = self._feeds[namespace, run_id] = _Feed(client, run_id, after)
        feed.listeners += 1
        try:
            while True:
                news = feed.news
                lines = feed.after(after)
                if lines is None:
                    lines = (await client.runs.read_logs(run_id, after=after, limit=_PAGE)).lines
                    if not lines:
                        after = feed.begins
                        continue
                if lines:
                    yield b"".join(event(encode(line), place=format_position(line)) for line in lines)
                    after = position_of(lines[-1])
                elif feed.ended:
                    yield event({"run_id": run_id, "status": feed.status}, name="end")
                    return
                else:
                    await news.wait()
        finally:
            feed.listeners -= 1
            if not feed.listeners:
                self._feeds.pop((namespace, run_id), None)
                await feed.close()


class _Feed:
    """The newest lines of one run, and whether it has ended; read while anybody listens."""

    def __init__(self, client: StoreClient, run_id: int, after: LogPosition) -> None:
        self._client = client
        self._run_id = run_id
        self._lines: list[LogLine] = []
        self._reached = after
        # What lies before is not at hand.
        self.begins = after
        self.listeners = 0
        self.status: Status | None = None
        self.ended = False
        # Set once there is more to tell, and then another one takes its place.
        self.news = asyncio.Event()
        self._reader = asyncio.get_running_loop().create_task(self._read(), name=f"tickbird logs of run {run_id}")

    def after(self, place: LogPosition) -> Sequence[LogLine] | None:
        """Some lines behind a place; None where they are no longer at hand."""
        if place < self.begins:
            return None
        first = bisect_right(self._lines, place, key=position_of)
        return self._lines[first : first + _PAGE]

    async def close(self) -> None:
        """Read no more."""
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader

    async def _read(self) -> None:
        try:
            pause = _SOON
            while not self.ended:
                try:
                    found = await self._poll()
                except NotFoundError:
                    # It was pruned.
                    self.status = None
                    return
                except TickbirdError as error:
                    log.warning("the log of run %d cannot be read now: %s", self._run_id, error)
                    found = False
                if not self.ended:
                    pause = _SOON if found else min(2 * pause, _SELDOM)
                    await asyncio.sleep(pause)
        finally:
            self.ended = True
            self._notify()

    async def _poll(self) -> bool:
        """Read what is new; was there anything?"""
        found = False
        while True:
            # A run that was final before its lines were read has no more of them.
            logs = await self._client.runs.read_logs(self._run_id, after=self._reached, limit=_PAGE)
            if logs.lines:
                found = True
                self._take(logs.lines)
            if len(logs.lines) < _PAGE:
                self.status = logs.status
                self.ended = logs.status in FINAL
                return found

    def _take(self, lines: Sequence[LogLine]) -> None:
        self._lines += lines
        self._reached = position_of(lines[-1])
        if len(self._lines) > _AT_HAND:
            self.begins = position_of(self._lines[-_AT_HAND // 2 - 1])
            del self._lines[: -_AT_HAND // 2]
        self._notify()

    def _notify(self) -> None:
        told, self.news = self.news, asyncio.Event()
        told.set()
