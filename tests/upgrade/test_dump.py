"""This version reads everything that the previous version stored."""

from __future__ import annotations

import json
import zipfile
from typing import Any

import pytest

from tests.upgrade.codes import PREVIOUS, Code, kind_of

# Texts for users may change between versions; the clock moves.
WORDS = ("sentence", "steps", "waiting_for", "problem", "problems", "trigger_description", "now")


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """The differences in the output of the new version; it may have more fields."""
    if isinstance(old, dict) and isinstance(new, dict):
        found: list[str] = []
        for key, value in old.items():
            if key in WORDS:
                continue
            found += differences(value, new[key], f"{path}/{key}") if key in new else [f"{path}/{key}: gone"]
        return found
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [
            each
            for n, (one, other) in enumerate(zip(old, new, strict=True))
            for each in differences(one, other, f"{path}/{n}")
        ]
    return [] if old == new else [f"{path}: {old!r} became {new!r}"]


def test_a_store_of_the_previous_version_reads_the_same(url: str, codes: dict[str, Code]) -> None:
    old, new = codes["previous"], codes["current"]
    before = json.loads(old.module("tests.upgrade.answers", url))
    assert {run["status"] for run in before["runs"]["said"]["runs"]} == {
        "waiting", "queued", "running", "succeeded", "failed", "cancelled",
    }  # fmt: skip
    applied = json.loads(new.ok(url, "migrate", "--json"))["applied"]
    # A file that was edited after it had landed would be refused here.
    numbered = [name for name in applied if name[:4].isdigit()]
    assert len(numbered) == new.newest(kind_of(url)) - old.newest(kind_of(url))
    after = json.loads(new.module("tests.upgrade.answers", url))
    assert differences(before, after) == []


def test_the_differences_are_found() -> None:
    old = {"a": [{"b": 1, "sentence": "x"}], "c": None}
    assert differences(old, {"a": [{"b": 1, "sentence": "y", "new": 2}], "c": None, "d": 3}) == []
    assert differences(old, {"a": [{"b": 2}], "c": None}) == ["/a/0/b: 1 became 2"]
    assert differences(old, {"a": [], "c": None}) == [f"/a: {old['a']!r} became []"]
    assert differences(old, {"a": old["a"]}) == ["/c: gone"]


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
def test_landed_migrations_are_never_edited(kind: str, codes: dict[str, Code]) -> None:
    landed = codes["current"].path / "tickbird" / "store" / kind / "migrations"
    with zipfile.ZipFile(PREVIOUS / "tickbird.zip") as packed:
        names = [name for name in packed.namelist() if f"/{kind}/migrations/" in name]
        assert len(names) == codes["previous"].newest(kind_of(kind))
        for name in names:
            assert (landed / name.rpartition("/")[2]).read_bytes() == packed.read(name), name
