"""Logs of runs as streams: one reader per run for all of its subscribers."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from tickbird.api.streams.sse import Events, event
from tickbird.client import StoreClient
from tickbird.domain.errors import NotFoundError, TickbirdError
from tickbird.domain.runs.log_positions import LogPosition, format_position, position_of
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import FINAL, Status
from tickbird.wire.codec import encode

log = logging.getLogger("tickbird.api")
_PAGE: Final = 500
# The number of buffered lines; a subscriber that needs older lines reads the store.
_BUFFER: Final = 2_000
# Seconds between two polls: of a run that logs, and the maximum for a quiet one.
_MIN_PAUSE, _MAX_PAUSE = 0.5, 2.0


class LogFeeds:
    """The logs that have subscribers."""

    def __init__(self) -> None:
        self._feeds: dict[tuple[str, int], _Feed] = {}

    async def follow(self, namespace: str, client: StoreClient, run_id: int, after: LogPosition) -> Events:
        """Stream the lines of a run after a position, then an `end` event with its status."""
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
    """The newest lines of one run; read while it has subscribers."""

    def __init__(self, client: StoreClient, run_id: int, after: LogPosition) -> None:
        self._client = client
        self._run_id = run_id
        self._lines: list[LogLine] = []
        self._reached = after
        # Lines up to this position are not buffered.
        self.begins = after
        self.listeners = 0
        self.status: Status | None = None
        self.ended = False
        # Set when there are new lines, and then replaced.
        self.news = asyncio.Event()
        self._reader = asyncio.get_running_loop().create_task(self._read(), name=f"tickbird logs of run {run_id}")

    def after(self, position: LogPosition) -> Sequence[LogLine] | None:
        """At most a page of lines; None if they are no longer buffered."""
        if position < self.begins:
            return None
        first = bisect_right(self._lines, position, key=position_of)
        return self._lines[first : first + _PAGE]

    async def close(self) -> None:
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader

    async def _read(self) -> None:
        try:
            pause = _MIN_PAUSE
            while not self.ended:
                try:
                    has_lines = await self._poll()
                except NotFoundError:
                    # It was pruned.
                    self.status = None
                    return
                except TickbirdError as error:
                    log.warning("log of run %d not readable: %s", self._run_id, error)
                    has_lines = False
                if not self.ended:
                    pause = _MIN_PAUSE if has_lines else min(2 * pause, _MAX_PAUSE)
                    await asyncio.sleep(pause)
        finally:
            self.ended = True
            self._notify()

    async def _poll(self) -> bool:
        """Read new lines; returns whether there were any."""
        has_lines = False
        while True:
            # A run that was final before its lines were read has no more of them.
            logs = await self._client.runs.read_logs(self._run_id, after=self._reached, limit=_PAGE)
            if logs.lines:
                has_lines = True
                self._take(logs.lines)
            if len(logs.lines) < _PAGE:
                self.status = logs.status
                self.ended = logs.status in FINAL
                return has_lines

    def _take(self, lines: Sequence[LogLine]) -> None:
        self._lines += lines
        self._reached = position_of(lines[-1])
        if len(self._lines) > _BUFFER:
            self.begins = position_of(self._lines[-_BUFFER // 2 - 1])
            del self._lines[: -_BUFFER // 2]
        self._notify()

    def _notify(self) -> None:
        news, self.news = self.news, asyncio.Event()
        news.set()
