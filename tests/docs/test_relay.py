"""docs/relay.md lists the defaults and the fixed settings of the Kafka sink, and every header."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from tests.sinks.events import make_event
from tickbird.sinks.kafka import KafkaSink
from tickbird.sinks.kafka.message import kafka_message
from tickbird.sinks.kafka.settings import resolve_settings

PAGE = (Path(__file__).parents[2] / "docs" / "relay.md").read_text()


def test_settings_are_listed_with_their_values() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `?([^|]*?)`? \|", PAGE, re.MULTILINE))
    settings, _ = resolve_settings("localhost:9092", {}, 30)
    del settings["bootstrap.servers"], settings["topic.metadata.propagation.max.ms"]
    assert {name: rows[name.replace(".", "_")] for name in settings} == {
        name: str(value) for name, value in settings.items()
    }


def test_arguments_are_listed_with_their_defaults() -> None:
    for name, parameter in inspect.signature(KafkaSink).parameters.items():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            assert f"| `{name}` |" in PAGE
            if parameter.default is not inspect.Parameter.empty:
                assert str(parameter.default) in PAGE.partition(f"| `{name}` |")[2].splitlines()[0]


def test_headers_are_listed() -> None:
    headers = {name for name, _ in kafka_message(make_event(1), lambda event: event.topic).headers}
    assert headers - {"ce_traceparent"} <= set(re.findall(r"`([\w-]+)`", PAGE))
