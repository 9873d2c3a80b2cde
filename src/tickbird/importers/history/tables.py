"""Any table of what ran: CSV with a head, JSON lines, or one JSON list; each row has a name and a time."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.importers.history.observed import Names, ObservedFirings, read_time

# What columns are called where nobody says it; the first that is there counts.
NAME_COLUMNS: Final = ("schedule", "name", "periodic_task_name", "job", "job_name", "job_id", "task", "task_name")
TIME_COLUMNS: Final = (
    *("fired_at", "started_at", "start_time", "date_started", "executed_at", "ran_at", "run_at", "at", "time"),
    *("timestamp", "date_created", "created_at"),
)
# One value of a JSON list has at most so many characters.
_MAX_VALUE_LENGTH: Final = 4_000_000
_BETWEEN: Final = re.compile(r"[\s,]*")


class Table:
    """Reads rows; the columns are those that were named, else such as have a usual name."""

    def __init__(
        self, names: Names, heard: ObservedFirings, *, tz: str, name: str | None = None, time: str | None = None
    ) -> None:
        self._names, self._heard, self._tz = names, heard, tz
        self._name, self._time = name, time

    def read(self, lines: Iterable[tuple[str, str]]) -> None:
        """Read a table, to its end."""
        iterator = iter(lines)
        head = next((each for each in iterator if each[1].strip()), None)
        if head is None:
            return
        if head[1].lstrip().startswith("["):
            rows = self._json_list(chain([head], iterator))
        elif head[1].lstrip().startswith("{"):
            rows = self._json_lines(chain([head], iterator))
        else:
            rows = self._csv(head, iterator)
        for place, row in rows:
            self._take(place, row)

    def _take(self, place: str, row: Mapping[str, Any]) -> None:
        name, time = (self._column(row, *which) for which in (("name", self._name), ("time", self._time)))
        text = json.dumps(dict(row), default=str, ensure_ascii=False)[:500]
        try:
            at = read_time(row.get(time), self._tz)
        except ValueError as error:
            self._heard.wrong(place, str(error), text)
            return
        named = row.get(name)
        if not isinstance(named, str) or not named:
            self._heard.wrong(place, "it has no name", text)
            return
        self._heard.note_instant(at)
        group = self._names.group(named)
        if group is None:
            self._heard.other(named)
        else:
            self._heard.fired(group, at)

    def _column(self, row: Mapping[str, Any], what: str, said: str | None) -> str:
        usual = NAME_COLUMNS if what == "name" else TIME_COLUMNS
        found = said if said is not None else next((each for each in usual if each in row), None)
        if found is None or (said is not None and said not in row and not isinstance(row, _Json)):
            has = ", ".join(map(str, list(row)[:20]))
            raise InvalidError(
                f"{what}-column: the table has {has or 'no columns'}, but no {said or what}.",
                field=f"{what}-column",
                hint=f"Name the column with --{what}-column.",
            )
        return found

    def _csv(self, head: tuple[str, str], lines: Iterator[tuple[str, str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        place, columns = head[0], [each.strip() for each in next(csv.reader([head[1]]))]
        for which in (("name", self._name), ("time", self._time)):
            self._column(dict.fromkeys(columns), *which)

        def texts() -> Iterator[str]:
            nonlocal place
            for place, line in lines:  # noqa: B007 - told with what is wrong
                yield f"{line}\n"

        reader = csv.reader(texts())
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._heard.wrong(place, f"it is not CSV ({error})", "")
                continue
            if not row:
                continue
            if len(row) != len(columns):
                self._heard.wrong(place, f"it has {len(row)} of {len(columns)} columns", ",".join(row))
                continue
            yield place, dict(zip(columns, row, strict=True))

    def _json_lines(self, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for place, line in lines:
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                self._heard.wrong(place, "it is not JSON", line)
                continue
            if isinstance(value, dict):
                yield place, _Json(value)
            else:
                self._heard.wrong(place, "it is not an object", line)

    def _json_list(self, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Value by value, as far as the text has been read; a list that breaks off is told."""
        decoder, text, begun, done, place = json.JSONDecoder(), "", False, False, ""
        for place, line in lines:
            # Lines may be pieces of one; between them there is nothing that matters to JSON.
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
                    yield place, _Json(value)
                else:
                    self._heard.wrong(place, "it is not an object", str(value)[:100])
            text = text[at:]
            done = _BETWEEN.sub("", text, count=1).startswith("]")
            if done or len(text) > _MAX_VALUE_LENGTH:
                break
        if not done:
            self._heard.wrong(place, "the list ends unexpectedly here", text[:100])


class _Json(dict[str, Any]):
    """A row of JSON, which may lack a column that others have."""


def parse_map(said: Sequence[str]) -> dict[str, str]:
    """OLD=NEW, several times; the old name may have the sign in it."""
    found: dict[str, str] = {}
    for each in said:
        old, equals, new = each.rpartition("=")
        if not (old.strip() and equals and new.strip()):
            raise InvalidError(f"map: {each[:60]!r} is not OLD=NEW.", field="map")
        found[old.strip()] = new.strip()
    return found
