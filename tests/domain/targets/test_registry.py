"""Target kinds: plug-ins, the formats of their definitions, and how workers publish targets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tickbird import DefinitionError, Tickbird, command, every
from tickbird.domain.explain.unserved_runs import unserved_reason, worker_command
from tickbird.domain.schedules.codec import (
    CUSTOM_TRIGGERS,
    FORMAT,
    decode_definition,
    encode_definition,
    in_its_format,
    is_unknown_format,
    left_alone_reason,
    own_formats,
)
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.target_input import is_target_kind, with_target
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.targets.registry import describe_target, find_kind, first_kind_format, read_target, target_kinds
from tickbird.domain.targets.target import Target, target_of
from tickbird.domain.workers import Worker, publish_targets

PACKAGE = Path(__file__).parents[3] / "examples" / "tickbird_echo"
OTHERS = """
[tickbird.targets]
echo = tickbird_echo.spec:EchoSpec
command = tickbird_echo.spec:EchoSpec
broken = no_such_module:Spec
shout = tickbird_echo.spec:EchoSpec
text = os:sep
half = half_done:HalfSpec
"""


def forget() -> None:
    for cached in (target_kinds, own_formats):
        cached.cache_clear()


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The spec of the example, as if it were installed, next to invalid entry points."""
    metadata = tmp_path / "echo-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: echo\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(OTHERS)
    half = "from tickbird.targets import TargetSpec\n\n\nclass HalfSpec(TargetSpec):\n    kind = 'half'\n"
    (tmp_path / "half_done.py").write_text(half)
    for folder in (tmp_path, PACKAGE):
        monkeypatch.syspath_prepend(str(folder))
    forget()
    yield target_kinds()["echo"]
    for name in [name for name in sys.modules if name.startswith(("tickbird_echo", "half_done"))]:
        del sys.modules[name]
    monkeypatch.undo()
    forget()


def test_plug_in_kinds_are_loaded_and_invalid_ones_ignored(plug_in: Any, caplog: pytest.LogCaptureFixture) -> None:
    forget()
    assert [*target_kinds()] == ["task", "command", "echo"]
    ignored = {record.args[0] for record in caplog.records if isinstance(record.args, tuple)}
    assert ignored == {"command", "broken", "shout", "text", "half"}
    assert "it does not implement from_json, json_schema, to_json" in caplog.text
    assert is_target_kind("echo")
    assert not is_target_kind("queue")
    assert with_target({"echo": {"text": "a"}, "retries": 1}) == {"target": target_of(plug_in("a")), "retries": 1}


def test_plug_in_definitions_have_their_own_formats(plug_in: Any) -> None:
    definition = Definition(trigger=every(hours=1), target=target_of(plug_in("hello")))
    encoded = encode_definition(definition)
    assert encoded["v"] == first_kind_format("echo") + 3
    assert FORMAT < encoded["v"] < 10**9
    assert decode_definition(encoded) == definition
    assert (
        encode_definition(Definition(trigger=every(hours=1), target=definition.target, shadow=True))["v"]
        in own_formats()
    )
    assert in_its_format({**encoded, "target": {"task": "work"}})["v"] == 1
    assert in_its_format({**encoded, "v": 1}) == encoded
    with pytest.raises(DefinitionError, match=f'"v": {encoded["v"]}'):
        decode_definition({**encoded, "v": 1})
    # Of a later version of tickbird.
    later = first_kind_format("echo") + FORMAT + 1
    assert is_unknown_format(later)
    assert "newer than this version" in left_alone_reason({**encoded, "v": later})


def test_a_custom_trigger_of_a_plug_ins_kind_must_be_known_too(plug_in: Any) -> None:
    encoded = encode_definition(Definition(trigger=every(hours=1), target=target_of(plug_in("hello"))))
    custom = in_its_format({**encoded, "trigger": {"custom": "nowhere_known"}})
    assert custom["v"] == first_kind_format("echo") + CUSTOM_TRIGGERS
    assert not is_unknown_format(custom["v"])
    assert left_alone_reason(custom) == "custom trigger 'nowhere_known' is not known here"
    assert not left_alone_reason(encoded)


def test_definitions_of_a_missing_plug_in_are_ignored() -> None:
    encoded = {
        "v": first_kind_format("echo") + 3,
        "trigger": {"every": {"hours": 1}},
        "target": {"echo": {"text": "a"}},
    }
    assert find_kind("echo") is None
    assert is_unknown_format(encoded["v"])
    assert left_alone_reason(encoded) == "target kind 'echo' is not known here"
    with pytest.raises(DefinitionError, match="target kind 'echo' is not known here"):
        decode_definition(encoded)
    with pytest.raises(DefinitionError, match=r"kind 'echo' is not known here\. Install its package"):
        read_target({"echo": {"text": "a"}})
    with pytest.raises(DefinitionError, match="If a package provides it, write"):
        decode_definition({**encoded, "v": 2})


def test_an_app_declares_and_executes_a_plug_in(plug_in: Any) -> None:
    bird = Tickbird("sqlite://:memory:", commands=["/bin/sh"])
    bird.schedule("hello", plug_in("a", channel="main"), every(hours=1))
    bird.schedule("line", command(shell="true"), every(hours=1))
    assert {name: one.target.key for name, one in bird.declarations.schedules.items()} == {
        "hello": ("echo", "main"),
        "line": ("command", "/bin/sh"),
    }
    assert [*bird.executables] == [("command", "/bin/sh"), ("echo", "main")]


def a_worker(**fields: Any) -> Worker:
    return Worker(id="w", namespace="n", app="a", host="h", pid=1, version="0", queues=("default",), slots=1, **fields)


def test_targets_with_the_same_name_are_published_separately() -> None:
    keys = [("task", "main"), ("echo", "main"), ("command", "/x"), ("http", "/x"), ("http", "a b")]
    published = publish_targets({key: {"queue": "default"} for key in keys})
    assert [*published] == ["main", "/x", "echo:main", "http:/x", "a b"]
    assert "kind" not in published["main"], "as workers of earlier versions publish tasks"
    worker = a_worker(tasks=published)
    assert worker.targets == frozenset(keys)
    assert all(worker.serves(key) for key in keys)
    assert not any(
        worker.serves(key) for key in [("http", "main"), ("task", "/x"), ("task", "echo:main"), ("echo", "a b")]
    )


def test_targets_of_earlier_workers_are_read() -> None:
    worker = a_worker(tasks={"digest": {"queue": "default"}, "/bin/sh": {"kind": "command", "env": []}, "odd": None})
    assert worker.targets == {("task", "digest"), ("command", "/bin/sh"), ("task", "odd")}
    assert worker.published(("command", "/bin/sh")) == {"kind": "command", "env": []}
    assert worker.published(("task", "/bin/sh")) is None


@pytest.mark.parametrize(
    "target, requirement",
    [
        (Target("main"), "knows task 'main'"),
        (Target("/bin/sh", "command"), "allows command /bin/sh"),
        (Target("main", "unknown"), "executes unknown 'main'"),
    ],
)
def test_why_no_worker_serves_a_target(target: Target, requirement: str) -> None:
    others = [("task", "main"), ("command", "/bin/sh"), ("unknown", "main")]
    published = publish_targets({key: {} for key in others if key != target.key})
    assert unserved_reason("default", target, [a_worker(tasks=published)]) == f"no live worker {requirement}"
    assert unserved_reason("default", target, [a_worker(tasks=publish_targets({target.key: {}}))]) == ""
    assert describe_target(target) in requirement
    assert worker_command("a b", target).startswith("tickbird worker MODULE:APP --queues 'a b'")


def test_exception_of_a_kind_is_a_definition_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> CommandSpec:
        raise KeyError("host")

    monkeypatch.setattr(CommandSpec, "from_json", fail)
    with pytest.raises(DefinitionError, match=r"command: cannot be read \(KeyError: 'host'\)\."):
        read_target({"command": {}})


@pytest.mark.parametrize(
    "name", ["timeout", "payload", "trigger", "target", "v", "closed", "cron", "any_of", "tz", "params"]
)
def test_a_kind_named_like_a_key_of_a_definition_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    metadata = tmp_path / "clash-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: clash\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[tickbird.targets]\n{name} = clash:ClashSpec\n")
    code = f"from tickbird_echo import EchoSpec\n\n\nclass ClashSpec(EchoSpec):\n    kind = {name!r}\n"
    (tmp_path / "clash.py").write_text(code)
    for folder in (tmp_path, PACKAGE):
        monkeypatch.syspath_prepend(str(folder))
    forget()
    try:
        assert [*target_kinds()] == ["task", "command"]
        refusal = f"{name!r} is a field of a schedule; give the kind another name"
        assert caplog.messages == [f"target kind {name} is not available: plug-in clash:ClashSpec: {refusal}"]
    finally:
        for module in [module for module in sys.modules if module.startswith(("tickbird_echo", "clash"))]:
            del sys.modules[module]
        monkeypatch.undo()
        forget()
