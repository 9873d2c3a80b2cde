"""The settings of librdkafka: checked when the sink is created, resolved when it opens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from tickbird.domain.errors import DefinitionError, UnavailableError

Setting = str | int | float | bool

_ENV: Final = "env:"
# Settings that order and acknowledgement depend on.
_FIXED: Final[Mapping[str, Setting]] = {
    "acks": "all",
    # Without it, a retry could change the order of messages.
    "enable.idempotence": True,
    # If a message fails, the later ones are not sent.
    "enable.gapless.guarantee": True,
    # A message that expired in the queue would be skipped: the timeout of `send` ends all messages together.
    "message.timeout.ms": 0,
}
_DEFAULTS: Final[Mapping[str, Setting]] = {
    "client.id": "tickbird",
    # Java clients choose the same partition for a key.
    "partitioner": "murmur2_random",
    # The default limit of brokers. That of librdkafka is smaller than the largest event.
    "message.max.bytes": 1_048_588,
}
# One message at a time needs no idempotence: no other message can overtake it.
_SINGLE: Final[Mapping[str, Setting]] = {
    "enable.idempotence": False,
    "enable.gapless.guarantee": False,
    "max.in.flight.requests.per.connection": 1,
    "linger.ms": 0,
}
# Also aliases of fixed settings, and settings of another kind of producer.
_RESERVED: Final = frozenset(
    {
        *_FIXED,
        "bootstrap.servers",
        "metadata.broker.list",
        "request.required.acks",
        "delivery.timeout.ms",
        "retries",
        "message.send.max.retries",
        "transactional.id",
        "plugin.library.paths",
    }
)
# Both names of each setting of a single message.
_REPLACED_BY_SINGLE: Final = frozenset({*_SINGLE, "max.in.flight", "queue.buffering.max.ms"})


def check_settings(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return the settings by their names in librdkafka; raises DefinitionError. Their values appear in no error."""
    checked: dict[str, Setting] = {}
    for name, value in settings.items():
        dotted = name.replace("_", ".")
        if dotted in _RESERVED:
            raise DefinitionError(
                f"setting {name!r} cannot be changed: the order of events depends on it.",
                field=name,
                hint="Remove it.",
            )
        if not isinstance(value, Setting):
            raise DefinitionError(f"setting {name!r} must be a text, a number, True or False.", field=name)
        if isinstance(value, str) and value.startswith(_ENV) and not value.removeprefix(_ENV):
            raise DefinitionError(f"setting {name!r}: needs the name of a variable. Write env:NAME.", field=name)
        checked[dotted] = value
    return checked


def resolve_settings(
    servers: str, settings: Mapping[str, Setting], timeout: int, *, single: bool = False
) -> tuple[dict[str, Setting], frozenset[str]]:
    """All settings of a producer, and the secret values among them; reads variables of the environment."""
    resolved = dict(settings)
    secrets = set()
    for name, value in settings.items():
        if isinstance(value, str) and value.startswith(_ENV):
            secret = _variable(servers, name, value.removeprefix(_ENV))
            resolved[name] = secret
            secrets.add(secret)
    if single:
        resolved = {name: value for name, value in resolved.items() if name not in _REPLACED_BY_SINGLE}
    # Half of the timeout, so that the error of a topic that does not exist is known before the timeout.
    propagation = {"topic.metadata.propagation.max.ms": timeout * 500}
    fixed = {**_FIXED, **(_SINGLE if single else {}), "bootstrap.servers": servers}
    return {**_DEFAULTS, **propagation, **resolved, **fixed}, frozenset(secrets)


def _variable(servers: str, setting: str, name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        raise UnavailableError(
            f"kafka {servers}: variable {name}, for {setting}, is not set on this worker.",
            hint="Set it, and restart the worker.",
        ) from None
