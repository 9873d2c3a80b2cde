"""PostgreSQL's wire protocol, as far as needed to see the statements of a client, and the end of a response."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

# The first message of a connection has no type: it requests a protocol version, or encryption.
_VERSION_3 = 3


@dataclass
class Statements:
    """Splits the data of a client into messages, and finds the statements that they execute."""

    _rest: bytes = b""
    _started: bool = False
    # Prepared statements of this connection: name → text.
    _prepared: dict[str, str] = field(default_factory=dict)

    def feed(self, data: bytes) -> Iterator[tuple[bytes, str]]:
        """The messages that are complete now, each with the statement that it executes, or an empty text."""
        self._rest += data
        while (size := self._size()) is not None and len(self._rest) >= size:
            message, self._rest = self._rest[:size], self._rest[size:]
            yield message, self._executes(message)

    def _size(self) -> int | None:
        head = 1 if self._started else 0
        if len(self._rest) < head + 4:
            return None
        (length,) = struct.unpack_from("!I", self._rest, head)
        return head + int(length)

    def _executes(self, message: bytes) -> str:
        if not self._started:
            (version,) = struct.unpack_from("!I", message, 4)
            self._started = version >> 16 == _VERSION_3
            return ""
        kind, body = message[:1], message[5:]
        if kind == b"Q":
            return _text(body, 0)
        if kind == b"P":
            name, text = body.split(b"\0", 2)[:2]
            self._prepared[name.decode()] = text.decode(errors="replace")
        elif kind == b"B":
            return self._prepared.get(_text(body, 1), "")
        return ""


def _text(body: bytes, index: int) -> str:
    return body.split(b"\0", index + 1)[index].decode(errors="replace")


@dataclass
class Responses:
    """Finds the end of a response in the data of a server."""

    complete: asyncio.Event = field(default_factory=asyncio.Event)
    _rest: bytes = b""

    def feed(self, data: bytes) -> None:
        """Set `complete` at the message ReadyForQuery."""
        self._rest += data
        while len(self._rest) >= 5:
            (length,) = struct.unpack_from("!I", self._rest, 1)
            if len(self._rest) < 1 + length:
                return
            if self._rest[:1] == b"Z":
                self.complete.set()
            self._rest = self._rest[1 + length :]
