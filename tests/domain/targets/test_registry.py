"""Target kinds: plug-ins, the formats of their definitions, and how workers publish targets."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.plug_in_package import ECHO, forget, package
from tickbird import DefinitionError, Tickbird, command, event, every
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.forecast.model import SlotPool
from tickbird.domain.schedules.codec import (
    CUSTOM_TRIGGERS,
    FORMAT,
    decode_definition,
    encode_definition,
    ignored_reason,
    in_its_format,
    is_unknown_format,
    own_formats,
)
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.json_schema import target_schema
from tickbird.domain.schedules.target_input import is_target_kind, with_target
from tickbird.domain.targets import registry
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.targets.registry import (
    describe_target,
    find_kind,
    first_kind_format,
    read_target,
    target_details,
    target_kinds,
    target_line,
    target_requirement,
    target_worker_command,
    write_target,
    written_parts,
)
from tickbird.domain.targets.target import Target, target_of
from tickbird.domain.workers import Worker, publish_targets
from tickbird.files.json_schema import json_schema as file_schema
from tickbird.web.forms.target_fields import target_forms

OTHERS = """
[tickbird.targets]
echo = tickbird_echo.spec:EchoSpec
command = tickbird_echo.spec:EchoSpec
broken = no_such_module:Spec
shout = tickbird_echo.spec:EchoSpec
text = os:sep
half = half_done:HalfSpec
"""


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The spec of the example, as if it were installed, next to invalid entry points."""
    metadata = tmp_path / "echo-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: echo\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(OTHERS)
    half = "from tickbird.targets import TargetSpec\n\n\nclass HalfSpec(TargetSpec):\n    kind = 'half'\n"
    (tmp_path / "half_done.py").write_text(half)
    for folder in (tmp_path, ECHO):
        monkeypatch.syspath_prepend(str(folder))
    forget()
    yield target_kinds()["echo"]
    for name in [name for name in sys.modules if name.startswith(("tickbird_echo", "half_done"))]:
        del sys.modules[name]
    monkeypatch.undo()
    forget()


def test_plug_in_kinds_are_loaded_and_invalid_ones_ignored(plug_in: Any, caplog: pytest.LogCaptureFixture) -> None:
    forget()
    assert [*target_kinds()] == ["task", "command", "sql", "event", "echo"]
    ignored = {record.args[1] for record in caplog.records if isinstance(record.args, tuple)}
    assert ignored == {"command", "broken", "shout", "text", "half"}
    assert "it does not implement from_json, json_schema, to_json" in caplog.text
    assert is_target_kind("echo")
    assert not is_target_kind("queue")
    assert with_target({"echo": {"text": "a"}, "retries": 1}) == {"target": target_of(plug_in("a")), "retries": 1}


@pytest.mark.parametrize(
    "value, words",
    [
        ("hello", 'echo must be an object. Write {"text": "hello"}.'),
        ({"text": "a", "chan": "b"}, "echo: 'chan' is not a field of an echo. Fields: text, channel."),
        ({"channel": "b"}, "echo: text must be a non-empty text."),
        ({"text": "a", "channel": 5}, "echo: channel must be a non-empty text."),
    ],
)
def test_the_example_refuses_an_invalid_value_with_a_sentence(plug_in: Any, value: Any, words: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_target({"echo": value})
    assert str(caught.value) == words


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
    assert "newer than this version" in ignored_reason({**encoded, "v": later})


def test_a_custom_trigger_of_a_plug_ins_kind_must_be_known_too(plug_in: Any) -> None:
    encoded = encode_definition(Definition(trigger=every(hours=1), target=target_of(plug_in("hello"))))
    custom = in_its_format({**encoded, "trigger": {"custom": "nowhere_known"}})
    assert custom["v"] == first_kind_format("echo") + CUSTOM_TRIGGERS
    assert not is_unknown_format(custom["v"])
    assert ignored_reason(custom) == "custom trigger 'nowhere_known' is not available here"
    assert not ignored_reason(encoded)


def test_definitions_of_a_missing_plug_in_are_ignored() -> None:
    encoded = {
        "v": first_kind_format("echo") + 3,
        "trigger": {"every": {"hours": 1}},
        "target": {"echo": {"text": "a"}},
    }
    assert find_kind("echo") is None
    assert is_unknown_format(encoded["v"])
    assert ignored_reason(encoded) == "target kind 'echo' is not available here"
    with pytest.raises(DefinitionError, match="target kind 'echo' is not available here"):
        decode_definition(encoded)
    with pytest.raises(DefinitionError, match=r"kind 'echo' is not available here\. Install its package"):
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
    assert target_worker_command("a b", target).startswith("tickbird worker MODULE:APP --queues 'a b'")


def test_a_target_that_runs_in_the_store_needs_only_a_worker_that_plans() -> None:
    target = target_of(event("orders.nightly", "ReportDue"))
    for worker in (a_worker(), replace(a_worker(), kind="planner", queues=(), slots=0)):
        assert unserved_reason("reports", target, [worker]) == ""
        assert unserved_reason("reports", target, [replace(worker, draining=True)]).endswith("it is draining (w)")
    unserved = "no live worker publishes to orders.nightly"
    assert unserved_reason("default", target, []) == unserved
    for kind in ("executor", "sync"):
        assert unserved_reason("default", target, [replace(a_worker(), kind=kind)]) == unserved
    definition = Definition(trigger=every(hours=1), target=target, queue="reports")
    assert SlotPool(1, frozenset({"default"}), frozenset()).serves(definition)


def test_exception_of_a_kind_is_a_definition_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> CommandSpec:
        raise KeyError("host")

    monkeypatch.setattr(CommandSpec, "from_json", fail)
    with pytest.raises(DefinitionError, match=r"command cannot be read \(KeyError: 'host'\)\."):
        read_target({"command": {}})


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[..., None]]:
    with package(tmp_path) as write:
        yield write


@pytest.mark.parametrize(
    "name", ["timeout", "payload", "trigger", "target", "v", "closed", "cron", "any_of", "tz", "params"]
)
def test_a_kind_named_like_a_key_of_a_definition_is_refused(
    name: str, install: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    install(name, "")
    assert [*target_kinds()] == ["task", "command", "sql", "event", "echo"]
    refusal = f"{name!r} is a field of a schedule; give the kind another name"
    assert caplog.messages == [f"target kind {name} is not available: plug-in other_kind:Spec: {refusal}"]


INVALID = {
    "json_schema raises": ("json_schema = classmethod(lambda cls: {}['x'])", "json_schema() raised KeyError: 'x'"),
    "json_schema ends the process": (
        "@classmethod\ndef json_schema(cls):\n    raise SystemExit(3)",
        "json_schema() raised SystemExit: 3",
    ),
    "json_schema is a set": (
        "json_schema = classmethod(lambda cls: {'a'})",
        "json_schema() is not JSON (TypeError: Object of type set is not JSON serializable)",
    ),
    "json_schema is a boolean": ("json_schema = classmethod(lambda cls: True)", "json_schema() must return a dict"),
    "json_schema has an unknown type": (
        "json_schema = classmethod(lambda cls: {'type': 'strin'})",
        "json_schema() is not a JSON Schema ('strin' is not valid under any of the given schemas)",
    ),
    "file_schema raises": ("file_schema = classmethod(lambda cls: {}['x'])", "file_schema() raised KeyError: 'x'"),
    "form of texts": ("form = ('text',)", "its form must be a tuple of FormField values"),
    "form is one field": ("form = FormField('a', 'A')", "its form must be a tuple of FormField values"),
    "label of a field": ("form = (FormField('a', 5),)", "name, label and hint of a FormField must be texts"),
    "kind of a field": ("form = (FormField('a', 'A', kind='int'),)", "the kind of a FormField must be text or json"),
    "equal fields": ("form = (FormField('a', 'A'),) * 2", "the fields of its form must have different names"),
    "about": ("about = None", "its about must be a text"),
    "executor": ("executor = 'tickbird_echo'", "its executor must be module:function"),
    "role": ("role = 'owner'", "its role must be editor or admin"),
    "format": ("format = 1", "its format must be None, because only built-in kinds have a fixed one"),
}


@pytest.mark.parametrize("body, refusal", INVALID.values(), ids=[*INVALID])
def test_a_kind_with_an_invalid_declaration_is_not_loaded_and_named_once(
    body: str, refusal: str, install: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    install("shout", body)
    assert [*target_kinds()] == ["task", "command", "sql", "event", "echo"]
    assert json.dumps(target_schema())
    assert json.dumps(file_schema())
    assert [form.kind for form in target_forms()] == ["command", "sql", "event", "echo"]
    assert caplog.messages == [f"target kind shout is not available: plug-in other_kind:Spec: {refusal}"]


def test_a_module_that_ends_the_process_is_not_loaded(
    install: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    install("shout", "", before="raise SystemExit(2)")
    assert [*target_kinds()] == ["task", "command", "sql", "event", "echo"]
    assert caplog.messages == ["target kind shout is not available: plug-in other_kind:Spec: SystemExit: 2"]


def test_ctrl_c_during_the_import_of_a_plug_in_ends_the_process(install: Callable[..., None]) -> None:
    install("shout", "", before="raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        target_kinds()


@pytest.mark.parametrize("failure", ["raise KeyError('x')", "raise SystemExit(2)", "return 5"])
def test_failing_texts_of_a_kind_have_defaults_and_are_logged_once(
    failure: str, install: Callable[..., None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry, "_failed", set())
    install(
        "shout",
        f"@property\ndef line(self):\n    {failure}\n@property\ndef details(self):\n    {failure}\n"
        f"@classmethod\ndef describe(cls, name):\n    {failure}\n"
        f"@classmethod\ndef requirement(cls, name):\n    {failure}\n"
        f"@classmethod\ndef worker_command(cls, queue, name):\n    {failure}\n"
        f"@classmethod\ndef written_parts(cls, value):\n    {failure}\n",
    )
    target = read_target({"shout": {"text": "a", "channel": "loud"}})
    for _ in range(2):
        assert describe_target(target) == "shout 'loud'"
        assert target_requirement(target) == "executes shout 'loud'"
        assert target_worker_command("default", target).endswith("# on a machine that can execute shout 'loud'")
        assert (target_line(target), target_details(target)) == ("loud", {})
        assert [*written_parts(target_kinds()["shout"], {"text": "a"})] == []
    methods = [message.split(" failed")[0].rpartition(" ")[2] for message in caplog.messages]
    assert sorted(methods) == ["describe", "details", "line", "requirement", "worker_command", "written_parts"]


def test_paths_of_a_kind_that_are_not_in_the_value_are_ignored(install: Callable[..., None]) -> None:
    install("shout", "@classmethod\ndef written_parts(cls, value):\n    return [(('nowhere', 1), value)]")
    assert [*written_parts(target_kinds()["shout"], {"text": "a"})] == []


@pytest.mark.parametrize(
    "body, words",
    {
        "from_json ends the process": (
            "@classmethod\ndef from_json(cls, value):\n    raise SystemExit(2)",
            "shout cannot be read (SystemExit: 2). Correct the value, or the package of this target kind.",
        ),
        "from_json returns something else": (
            "from_json = classmethod(lambda cls, value: value)",
            (
                "shout cannot be read (TypeError: from_json returned dict). "
                "Correct the value, or the package of this target kind."
            ),
        ),
        "name raises": (
            "name = property(lambda self: {}['x'])",
            "shout cannot be read (KeyError: 'x'). Correct the value, or the package of this target kind.",
        ),
        "to_json raises": (
            "to_json = lambda self: {}['x']",
            "shout cannot be stored (KeyError: 'x'). Correct the package of this target kind.",
        ),
        "to_json is a set": (
            "to_json = lambda self: {'a'}",
            (
                "shout cannot be stored (TypeError: Object of type set is not JSON serializable). "
                "Correct the package of this target kind."
            ),
        ),
    }.values(),
)
def test_a_kind_that_fails_with_a_value_is_a_definition_error(
    body: str, words: str, install: Callable[..., None]
) -> None:
    install("shout", body)
    with pytest.raises(DefinitionError) as caught:
        write_target(read_target({"shout": {"text": "a"}}))
    assert str(caught.value) == words


@pytest.mark.parametrize(
    "module",
    {
        "the module ends the process": "raise SystemExit(2)",
        "the function raises": "def executables(app):\n    raise InvalidError('no channel')",
        "the name is a number": """
class Echo(SpecExecutable):
    kind, name = 'shout', 5

    def __init__(self):
        pass

    def execute(self, spec, run):
        pass

def executables(app):
    return [Echo()]
""",
        "describe returns a set": """
class Echo(SpecExecutable):
    def execute(self, spec, run):
        pass

    def describe(self):
        return {'a': {1}}

def executables(app):
    return [Echo(type('S', (), {'kind': 'shout'}), 'main')]
""",
    }.values(),
)
def test_failing_executables_of_a_kind_leave_other_kinds_executable(
    module: str, tmp_path: Path, install: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    install("shout", "executor = 'other_kind_executor:executables'")
    head = "from tickbird import InvalidError\nfrom tickbird.targets import SpecExecutable\n"
    (tmp_path / "other_kind_executor.py").write_text(head + module)
    assert [*Tickbird("sqlite://:memory:").executables] == [("echo", "main")]
    expected = "targets of kind shout are not executed here: other_kind_executor:executables failed"
    assert caplog.messages == [expected]
