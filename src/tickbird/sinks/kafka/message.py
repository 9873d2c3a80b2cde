"""An event as a Kafka message: CloudEvents 1.0, Kafka protocol binding, binary mode."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tickbird.domain.errors import DefinitionError
from tickbird.domain.events.event import Event
from tickbird.domain.text import describe

ChooseTopic = Callable[[Event], str]

# Not headers: the value of the message, and the content type, which has a header with its own name.
_NOT_ATTRIBUTES: Final = ("data", "datacontenttype")
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}", re.ASCII)
_TEMPLATE: Final = re.compile(r"([A-Za-z0-9._-]|\{topic\}|\{namespace\})+", re.ASCII)


class InvalidMessage(Exception):
    """No Kafka message can be made of the event; the text is the reason."""


@dataclass(frozen=True, slots=True)
class KafkaMessage:
    topic: str
    key: bytes | None
    value: bytes
    headers: list[tuple[str, str | bytes | None]]


def topic_chooser(topic: str | ChooseTopic) -> ChooseTopic:
    """The function that chooses the Kafka topic of an event; raises DefinitionError for an invalid template."""
    if callable(topic):
        return topic
    template = topic
    if not isinstance(template, str) or not _TEMPLATE.fullmatch(template):
        raise DefinitionError(
            f"topic: {str(template)[:60]!r} cannot be the name of a Kafka topic.",
            field="topic",
            hint="Use letters, digits, '.', '_', '-', {topic} and {namespace}, or pass a function of the event.",
        )
    return lambda event: template.replace("{topic}", event.topic).replace("{namespace}", event.namespace)


def kafka_message(event: Event, choose_topic: ChooseTopic) -> KafkaMessage:
    """The message of an event; raises InvalidMessage."""
    try:
        topic = choose_topic(event)
    except Exception as error:  # noqa: BLE001 - user code may raise anything
        raise InvalidMessage(
            f"the function of its Kafka topic raised {type(error).__name__}: {describe(error)}"
        ) from None
    if not isinstance(topic, str) or not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise InvalidMessage(f"{str(topic)[:60]!r} cannot be the name of a Kafka topic")
    value = json.dumps(event.data, ensure_ascii=False, separators=(",", ":"))
    return KafkaMessage(
        topic=topic,
        key=None if event.key is None else event.key.encode(),
        value=value.encode(),
        headers=[
            ("content-type", "application/json"),
            *(
                (f"ce_{name}", str(attribute))
                for name, attribute in event.to_cloud_event().items()
                if name not in _NOT_ATTRIBUTES
            ),
        ],
    )
