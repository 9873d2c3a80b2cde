"""Named statements and fragments of `.sql` files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tickbird.store.shared.sql import load_statements


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package for `.sql` files; its name is unique, because Python caches imported packages."""
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / f"sql_{tmp_path.name}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    return folder


def loaded(package: Path, **texts: str) -> dict[str, str]:
    for noun, text in texts.items():
        (package / f"{noun}.sql").write_text(text)
    return load_statements(package.name)


def test_a_statement_has_the_text_of_its_fragments(package: Path) -> None:
    text = (
        "-- Birds, by {name}.\n\n"
        "-- fragment: young\n-- Not old.\nage < 3\n    AND weight < 9 -- grams\n\n-- Small birds.\n\n"
        "-- fragment: small\n{young} OR size < 5\n\n"
        "-- name: find\n-- By name.\nSELECT '{}' FROM birds WHERE ({small}) AND ({young});\n\n"
        "-- And all of them.\n\n-- name: all\nSELECT * FROM birds;\n"
    )
    assert loaded(package, birds=text) == {
        "find": (
            "SELECT '{}' FROM birds WHERE (age < 3\n    AND weight < 9 OR size < 5) AND (age < 3\n    AND weight < 9)"
        ),
        "all": "SELECT * FROM birds",
    }


@pytest.mark.parametrize(
    "text, message",
    [
        ("-- name: find\nSELECT {small};\n", r"birds\.sql: statement find uses \{small\}, but no fragment above"),
        (
            "-- name: find\nSELECT {small};\n-- fragment: small\n1\n",
            r"birds\.sql: statement find uses \{small\}, but no fragment above",
        ),
        (
            "-- fragment: small\n{small}\n-- name: find\nSELECT {small};\n",
            r"birds\.sql: fragment small uses \{small\}, but no fragment above",
        ),
        ("-- fragment: small\n1\n-- name: find\nSELECT 1;\n", r"birds\.sql: fragment small is not used"),
        (
            "-- fragment: small\n1\n-- fragment: small\n2\n-- name: find\nSELECT {small};\n",
            r"birds\.sql: two fragments are named small",
        ),
        ("-- name: find\nSELECT 1;\n-- name: find\nSELECT 2;\n", r"birds\.sql: two statements are named find"),
    ],
)
def test_a_fragment_is_defined_once_above_its_uses(package: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loaded(package, birds=text)


def test_a_fragment_belongs_to_its_file(package: Path) -> None:
    birds = "-- fragment: small\nsize < 5\n-- name: find\nSELECT 1 FROM birds WHERE {small};\n"
    with pytest.raises(ValueError, match=r"nests\.sql: statement nests uses \{small\}"):
        loaded(package, birds=birds, nests="-- name: nests\nSELECT 1 FROM nests WHERE {small};\n")


def test_two_files_cannot_have_a_statement_of_the_same_name(package: Path) -> None:
    with pytest.raises(ValueError, match=r"two statements are named find; the second is in nests\.sql"):
        loaded(package, birds="-- name: find\nSELECT 1;\n", nests="-- name: find\nSELECT 2;\n")
