"""TOML, YAML and JSON with places: the same values, and where each of them stands."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickbird.files.diagnostics import Diagnostic
from tickbird.files.loader import FORMATS, MAX_FILE, Format, Source, read_paths, read_text
from tickbird.files.parse.json import read_json
from tickbird.files.parse.nodes import Node, Position
from tickbird.files.parse.toml import read_toml

TOML = """\
app = "ops"  # [not.a.table]
[schedules.nightly]
cron = "0 3 * * *"
payload.a.b = [1, 2,
  {c = "d]", e = 'f}'}]  # ] }
"odd \\"name\\"" = \"\"\"
x # no comment
\"\"\"\"\"
[[schedules.x.list]]
a = 1
[[schedules.x.list]]
b = 1979-05-27 07:32:00
[schedules.x.list.sub]
c = 3
"""
YAML = """\
app: ops
schedules:
  nightly:
    cron: "0 3 * * *"
    no: [1, 2.5, ~, 2026-01-01, 'yes', 0x1f]
"""
JSON = """\
{"app": "ops",
 "schedules": {
   "nightly": {"cron": "0 3 * * *", "payload": {"a": [1, -2.5e3, null, true]}}}}
"""


def places(node: Node, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Position | None]:
    """Where each value stands, by its path."""
    found = {path: node.at}
    if isinstance(node.value, dict | list):
        pairs = node.value.items() if isinstance(node.value, dict) else enumerate(node.value)
        for name, each in pairs:
            found |= places(each, (*path, name))
    return found


def read(text: str | bytes, spelling: Format) -> tuple[Source | None, list[str]]:
    diagnostics: list[Diagnostic] = []
    data = text if isinstance(text, bytes) else text.encode()
    return read_text(data, f"x.{spelling}", spelling, diagnostics), [str(each) for each in diagnostics]


def test_toml_has_the_values_of_the_standard_library_and_their_places() -> None:
    root = read_toml(TOML)
    assert root.plain == tomllib.loads(TOML)
    found = places(root)
    assert found["app",] == (1, 7)
    assert found["schedules", "nightly"] == (2, 12)
    assert found["schedules", "nightly", "payload", "a", "b", 2, "e"] == (5, 18)
    assert found["schedules", "nightly", 'odd "name"'] == (6, 18)
    assert found["schedules", "x", "list", 1, "b"] == (12, 5)
    assert found["schedules", "x", "list", 1, "sub", "c"] == (14, 5)


def test_yaml_has_places_and_the_scalars_of_its_newer_version() -> None:
    source, diagnostics = read(YAML, "yaml")
    assert source is not None
    assert not diagnostics
    assert source.root.plain["schedules"]["nightly"]["no"] == [1, 2.5, None, "2026-01-01", "yes", 31]
    found = places(source.root)
    assert found["schedules", "nightly", "cron"] == (4, 11)
    assert found["schedules", "nightly", "no", 3] == (5, 21)


def test_json_has_places() -> None:
    source, diagnostics = read(JSON, "json")
    assert source is not None
    assert not diagnostics
    assert source.root.plain == json.loads(JSON)
    assert places(source.root)["schedules", "nightly", "payload", "a", 1] == (3, 58)


SCALARS = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text())
VALUES = st.recursive(
    SCALARS | st.none(), lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(), each, max_size=4)
)


@settings(deadline=None)
@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    root, remarks = read_json(text)
    assert not remarks
    assert json.dumps(root.plain) == json.dumps(value)


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \n\\u', max_size=40))
def test_json_reader_refuses_the_same_as_the_standard_library(text: str) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        wanted = json.dumps(json.loads(text, parse_constant=refuse), sort_keys=True)
    except ValueError:
        wanted = None
    source, diagnostics = read(text, "json")
    if source is None:
        # A number that is too large becomes infinite there.
        assert diagnostics
        assert wanted is None or "Infinity" in wanted
    elif not diagnostics:
        assert json.dumps(source.root.plain, sort_keys=True) == wanted


KEYS = st.text(alphabet="ab-_1", min_size=1, max_size=3)
TOML_TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8).map(
    lambda text: json.dumps(text, ensure_ascii=False)
)
TOML_SCALARS = st.one_of(
    TOML_TEXT,
    TOML_TEXT.map(lambda text: f'""{text}""'),
    st.integers().map(str),
    st.sampled_from(["true", "1.5", "2026-01-01", "2026-01-01 10:00:00", "'a]#'", "'''\nx''y'''", '"""a\\"""b"""']),
)
TOML_VALUES = st.recursive(
    TOML_SCALARS,
    lambda each: (
        st.lists(each, max_size=3).map(lambda all_: "[ # ]\n" + ", # ,\n".join(all_) + " ]")
        | st.dictionaries(KEYS, each, max_size=3).map(
            lambda all_: "{" + ", ".join(f'"{key}" = {value}' for key, value in all_.items()) + "}"
        )
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.dictionaries(KEYS, st.dictionaries(KEYS, TOML_VALUES, max_size=3), max_size=3), st.booleans())
def test_toml_values_have_their_locations(tables: dict[str, dict[str, str]], several: bool) -> None:
    opening, closing = ("[[", "]]") if several else ("[", "]")
    text, lines = "", {}
    for name, pairs in tables.items():
        text += f"{opening} {name} {closing} # x\n"
        for key, value in pairs.items():
            lines[(name, 0, key) if several else (name, key)] = (text.count("\n") + 1, len(f"  {key}= ") + 1)
            text += f"  {key}= {value}\n"
    root = read_toml(text)
    found = places(root)
    assert root.plain == tomllib.loads(text)
    assert {path: found[path] for path in lines} == lines
    # What the scan misses has the place of the whole text.
    assert [path for path, at in found.items() if at == (1, 1)] == [()]


@pytest.mark.parametrize("spelling", FORMATS)
@pytest.mark.parametrize(
    "data, said",
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'a\n "\xff"', ":2:3: cannot be read"),
        ("a".encode("utf-16"), "is UTF-16. Save it as UTF-8"),
        (b"\xe9", "Save it as UTF-8"),
        (b" " * (MAX_FILE + 1), "is larger than 64 MiB"),
        (b'{"a": ' + b"[" * 100_000, "is nested more than 64 deep"),
        (b'"a": ' + b'{"a": ' * 100_000, ""),
        (b"\x00", ""),
        (b"{", ""),
    ],
)
def test_syntax_error_is_one_sentence(spelling: Format, data: bytes, said: str) -> None:
    if spelling == "toml" and said.startswith("is nested"):
        data = data.replace(b'{"a": ', b"a = ")
    source, diagnostics = read(data, spelling)
    assert source is None
    [diagnostic] = diagnostics
    assert said in diagnostic
    assert len(diagnostic) < 300


def test_byte_order_mark_is_ignored() -> None:
    for spelling, text in (("toml", "a = 1"), ("yaml", "a: 1"), ("json", '{"a": 1}')):
        source, diagnostics = read(b"\xef\xbb\xbf" + text.encode(), spelling)  # type: ignore[arg-type]
        assert source is not None
        assert (source.root.plain, diagnostics) == ({"a": 1}, [])


@pytest.mark.parametrize(
    "spelling, text, said",
    [
        ("toml", "a = 1\na = 2", "x.toml:2:6: cannot be read as TOML: cannot overwrite a value"),
        ("toml", "a = ", "x.toml:1:5: cannot be read as TOML: invalid value"),
        ("toml", "[a\n", "x.toml:1:3:"),
        ("json", '{"a": 1,\n "a": 2}', "x.json:2:2: 'a' is defined twice, first in line 1."),
        ("json", '{"a": NaN}', "x.json:1:7: NaN cannot be stored as a number. Put it in quotes."),
        ("json", '{"a": 1e999}', "is too large"),
        ("json", f'{{"a": {"9" * 5_000}}}', "the number is too long"),
        ("json", '{"a": [1,]}', "x.json:1:10: cannot be read as JSON: a value is missing here"),
        ("json", '{"a": "\n"}', "x.json:1:8: cannot be read as JSON: invalid control character"),
        ("json", "{} {}", "unexpected text after the end"),
        ("json", "{'a': 1}", "a name in double quotes is missing"),
        ("yaml", "a: 1\na: 2", "x.yaml:2:1: 'a' is defined twice, first in line 1."),
        ("yaml", "a: * * * * *", "needs quotes"),
        ("yaml", "a: &x 1\nb: *x", "x.yaml:1:4: cannot be read as YAML: anchors are not supported"),
        ("yaml", "b: *x", "x.yaml:1:4: cannot be read as YAML: aliases are not supported"),
        ("yaml", "a: !!python/object/apply:os.system [ls]", "tags are not supported"),
        ("yaml", "a: !x 1", "tags are not supported"),
        ("yaml", "a: 1\n---\nb: 2", "x.yaml:2:1: cannot be read as YAML: a second document"),
        ("yaml", "? [a]\n: 1", "a name must be a text"),
        ("yaml", "a: [1", "x.yaml:2:1: cannot be read as YAML"),
        ("yaml", "a: yes", "x.yaml:1:4: 'yes' is text in some YAML versions"),
        ("yaml", "a: 010", "x.yaml:1:4: 010 is a different number in other YAML versions"),
        ("yaml", "a: .nan", "x.yaml:1:4: .nan cannot be stored as a number. Put it in quotes."),
        ("yaml", "a: 1e999", "is too large"),
        (
            "yaml",
            'é: 1\na: "\x07"',
            "x.yaml:2:5: cannot be read as YAML: contains a character that YAML does not allow",
        ),
        ("yaml", "# nothing", "is empty"),
    ],
)
def test_error_has_its_location(spelling: Format, text: str, said: str) -> None:
    _, diagnostics = read(text, spelling)
    assert [said in diagnostic for diagnostic in diagnostics] == [True], diagnostics


def test_yaml_without_pyyaml_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    source, [diagnostic] = read("a: 1", "yaml")
    assert source is None
    assert "pip install 'tickbird[yaml]'" in diagnostic


def test_folder_files_are_read_in_order(tmp_path: Path) -> None:
    for name in ("b.toml", "a/c.json", "a/.hidden.toml", ".git/x.toml", "notes.md", "z.YML"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}" if name.endswith("json") else "a: 1" if name == "z.YML" else "a = 1")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "link.toml").symlink_to(tmp_path / "b.toml")
    # Whoever opens it would wait for a writer.
    os.mkfifo(tmp_path / "pipe.toml")
    diagnostics: list[Diagnostic] = []
    sources = read_paths([tmp_path, tmp_path / "b.toml"], diagnostics)
    # A file is read once, by whatever name.
    assert [Path(source.file).relative_to(tmp_path).as_posix() for source in sources] == ["a/c.json", "b.toml", "z.YML"]
    assert not diagnostics


def test_missing_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.md").write_text("x")
    diagnostics: list[Diagnostic] = []
    read_paths([tmp_path / "empty", tmp_path / "gone.toml", tmp_path / "notes.md"], diagnostics)
    said = [str(each) for each in diagnostics]
    assert "the folder contains no file with extension *.toml" in said[0]
    assert "gone.toml: the file cannot be read (No such file or directory)." in said[1]
    assert "notes.md: the format is unknown. Use the extension *.toml" in said[2]
    # Such as a variable that is not set; not this folder.
    diagnostics.clear()
    assert read_paths([""], diagnostics) == []
    assert [str(each) for each in diagnostics] == ["'': is not a file name. Write . for the current folder."]


def test_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "loop.toml").symlink_to(tmp_path / "loop.toml")
    diagnostics: list[Diagnostic] = []
    read_paths([tmp_path / "loop.toml", f"{tmp_path}/a\0b.toml", "x" * 5_000 + ".toml"], diagnostics)
    assert ["the file cannot be read (" in str(each) for each in diagnostics] == [True] * 3


def test_a_tree_without_end_is_not_walked_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.toml").write_text("a = 1")
    monkeypatch.setattr("tickbird.files.loader.MAX_ENTRIES", 4)
    diagnostics: list[Diagnostic] = []
    assert read_paths([tmp_path], diagnostics) == []
    [said] = map(str, diagnostics)
    assert said.startswith(f"{tmp_path}: the folder contains more than 4 files and folders. Name a folder")
    # Files that are named are read, so long as they are not too much together.
    monkeypatch.setattr("tickbird.files.loader.MAX_DOCUMENT", 12)
    diagnostics.clear()
    assert len(read_paths(sorted(tmp_path.iterdir()), diagnostics)) == 3
    [said] = map(str, diagnostics)
    assert said.startswith(f"{tmp_path}/2.toml: all files together are larger than")


def test_tab_and_comment_only_files_have_their_own_message() -> None:
    assert "2:1: cannot be read as YAML: a tab is not allowed for indentation" in read("a:\n\tb: 1", "yaml")[1][0]
    assert "contains only comments" in read("# nothing\n", "toml")[1][0]
