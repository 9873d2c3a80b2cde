"""Connections of the server: a timeout for request headers, and TCP_NODELAY."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds from the first byte of a request until its headers are complete.
HEAD_WITHIN: Final = 10.0


class HeaderTimeoutProtocol(H11Protocol):
    """Closes a connection whose request headers do not arrive; uvicorn would wait for ever."""

    head_within = HEAD_WITHIN
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # Tickbird opens the socket, so asyncio does not set TCP_NODELAY. Without it, the body of a response waits for
        # the acknowledgement of its headers, on Linux 40 ms.
        connected = transport.get_extra_info("socket")
        if connected is not None and connected.family in (socket.AF_INET, socket.AF_INET6):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = asyncio.get_running_loop().call_later(self.head_within, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
