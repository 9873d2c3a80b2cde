"""Connections of the server: how long a client may take to say what it wants, and answers that go out at once."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds from the first sign of a request until its head is there whole.
HEAD_WITHIN: Final = 10.0


class HeaderTimeoutProtocol(H11Protocol):
    """A connection that ends if no head of a request comes; uvicorn itself would wait for ever."""

    head_within = HEAD_WITHIN
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody has connected, and is expected to speak."""
        super().connection_made(transport)
        # The socket was made by us, so asyncio does not know that it is TCP; without this the body of an answer waits
        # until its head is acknowledged, on Linux 40 ms.
        connected = transport.get_extra_info("socket")
        if connected is not None and connected.family in (socket.AF_INET, socket.AF_INET6):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Some bytes: of a head, or of what comes behind it."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = asyncio.get_running_loop().call_later(self.head_within, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
