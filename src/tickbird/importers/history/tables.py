"""Firings from a table: CSV with a header, JSON Lines, or a JSON list. Each row has a name and a time."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.importers.history.observed import Names, ObservedFirings, read_time

# Default column names. The first one that the table has is used.
NAME_COLUMNS: Final = ("schedule", "name", "periodic_task_name", "job", "job_name", "job_id", "task", "task_name")
TIME_COLUMNS: Final = (
    *("fired_at", "started_at", "start_time", "date_started", "executed_at", "ran_at", "run_at", "at", "time"),
    *("timestamp", "date_created", "created_at"),
)
# Maximum number of characters of one value in a JSON list.
_MAX_VALUE_LENGTH: Final = 4_000_000
_BETWEEN: Final = re.compile(r"[\s,]*")


class Table:
    """Reads rows. The columns are the given ones, or those with a default name."""

    def __init__(
        self, names: Names, observed: ObservedFirings, *, tz: str, name: str | None = None, time: str | None = None
    ) -> None:
        self._names, self._observed, self._tz = names, observed, tz
        self._name, self._time = name, time

    def read(self, lines: Iterable[tuple[str, str]]) -> None:
        iterator = iter(lines)
        head = next((line for line in iterator if line[1].strip()), None)
        if head is None:
            return
        if head[1].lstrip().startswith("["):
            rows = self._json_list(chain([head], iterator))
        elif head[1].lstrip().startswith("{"):
            rows = self._json_lines(chain([head], iterator))
        else:
            rows = self._csv(head, iterator)
        for location, row in rows:
            self._take(location, row)

    def _take(self, location: str, row: Mapping[str, Any]) -> None:
        name, time = (self._column(row, *which) for which in (("name", self._name), ("time", self._time)))
        text = json.dumps(dict(row), default=str, ensure_ascii=False)[:500]
        try:
            at = read_time(row.get(time), self._tz)
        except ValueError as error:
            self._observed.wrong(location, str(error), text)
            return
        named = row.get(name)
        if not isinstance(named, str) or not named:
            self._observed.wrong(location, "it has no name", text)
            return
        self._observed.note_instant(at)
        group = self._names.group(named)
        if group is None:
            self._observed.other(named)
        else:
            self._observed.fired(group, at)

    def _column(self, row: Mapping[str, Any], what: str, given: str | None) -> str:
        usual = NAME_COLUMNS if what == "name" else TIME_COLUMNS
        column = given if given is not None else next((name for name in usual if name in row), None)
        if column is None or (given is not None and given not in row and not isinstance(row, _Json)):
            has = ", ".join(map(str, list(row)[:20]))
            raise InvalidError(
                f"{what}-column: the table has {has or 'no columns'}, but no {given or what}.",
                field=f"{what}-column",
                hint=f"Name the column with --{what}-column.",
            )
        return column

    def _csv(self, head: tuple[str, str], lines: Iterator[tuple[str, str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        location, columns = head[0], [column.strip() for column in next(csv.reader([head[1]]))]
        for which in (("name", self._name), ("time", self._time)):
            self._column(dict.fromkeys(columns), *which)

        def texts() -> Iterator[str]:
            nonlocal location
            for location, line in lines:  # noqa: B007 - used in error reports
                yield f"{line}\n"

        reader = csv.reader(texts())
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._observed.wrong(location, f"it is not CSV ({error})", "")
                continue
            if not row:
                continue
            if len(row) != len(columns):
                self._observed.wrong(location, f"it has {len(row)} of {len(columns)} columns", ",".join(row))
                continue
            yield location, dict(zip(columns, row, strict=True))

    def _json_lines(self, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for location, line in lines:
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                self._observed.wrong(location, "it is not JSON", line)
                continue
            if isinstance(value, dict):
                yield location, _Json(value)
            else:
                self._observed.wrong(location, "it is not an object", line)

    def _json_list(self, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Decode values while the text is read. A list that is cut off is reported."""
        decoder, text, begun, done, location = json.JSONDecoder(), "", False, False, ""
        for location, line in lines:
            # A long line may come in parts. Line breaks between values do not matter in JSON.
            text += line
            at = 0
            if not begun:
                at, begun = text.index("[") + 1, True
            while (begin := _BETWEEN.match(text, at).end()) < len(text) and text[begin] != "]":  # type: ignore[union-attr]
                try:
                    value, at = decoder.raw_decode(text, begin)
                except (ValueError, RecursionError):
                    break
                if isinstance(value, dict):
                    yield location, _Json(value)
                else:
                    self._observed.wrong(location, "it is not an object", str(value)[:100])
            text = text[at:]
            done = _BETWEEN.sub("", text, count=1).startswith("]")
            if done or len(text) > _MAX_VALUE_LENGTH:
                break
        if not done:
            self._observed.wrong(location, "the list ends unexpectedly here", text[:100])


class _Json(dict[str, Any]):
    """A JSON row, which may lack a column that other rows have."""


def parse_map(texts: Sequence[str]) -> dict[str, str]:
    """Parse OLD=NEW options; the old name may contain `=`."""
    names: dict[str, str] = {}
    for text in texts:
        old, equals, new = text.rpartition("=")
        if not (old.strip() and equals and new.strip()):
            raise InvalidError(
                f"map: {text[:60]!r} is not OLD=NEW.", field="map", hint="Write, for example, backup.sh=nightly-backup."
            )
        names[old.strip()] = new.strip()
    return names
