"""Messages between a worker and its children: JSON with a length prefix."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

_LENGTH = struct.Struct("!I")
# The largest payload with every character escaped, and some space for the rest.
MAX_FRAME_BYTES = 16_000_000
# Lines of a run beyond these limits are dropped, to protect the worker.
MAX_LINES = 10_000
MAX_LINE_LENGTH = 10_000
# The environment variable that marks all processes below a supervisor.
CHILD_VARIABLE = "TICKBIRD_CHILD"
# The exit code of a child whose user code closed the channel to the worker.
HUNG_UP = 77

Message = dict[str, Any]


class ProtocolError(ValueError):
    """The bytes are not a valid message."""


def pack(message: Message) -> bytes:
    text = json.dumps(message, separators=(",", ":")).encode()
    return _LENGTH.pack(len(text)) + text


class Unpacker:
    """Splits a stream of bytes into messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages that these bytes complete; raises ProtocolError."""
        self._bytes += data
        while len(self._bytes) >= _LENGTH.size:
            [length] = _LENGTH.unpack_from(self._bytes)
            if length > MAX_FRAME_BYTES:
                raise ProtocolError(f"a message of {length:,} bytes is too long")
            end = _LENGTH.size + length
            if len(self._bytes) < end:
                return
            text = bytes(self._bytes[_LENGTH.size : end])
            del self._bytes[:end]
            yield _parsed(text)


def _parsed(text: bytes) -> Message:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(str(error)) from None
    if not isinstance(message, dict):
        raise ProtocolError("the message is not a JSON object")
    return message
