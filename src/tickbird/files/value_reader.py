"""Single values of files: each is read, or what is wrong with it is noted where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.text import check_name
from tickbird.domain.time.durations import seconds
from tickbird.domain.time.instants import parse_iso, to_datetime, wall_seconds
from tickbird.domain.time.zones import zone
from tickbird.files.diagnostics import Diagnostic
from tickbird.files.loader import Source
from tickbird.files.parse.nodes import Node, Position, kind_of

# What a reader gives for something that is wrong, once that is noted.
WRONG: Final = object()


class Values:
    """Reads values of one file, and gathers mistakes."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        self.source = Source("document", Node({}))
        # What a mistake is part of, in front of what is wrong.
        self.where = ""

    def wrong(self, at: Position | None, text: str) -> None:
        """Note a mistake."""
        self.diagnostics.append(Diagnostic(self.source.location(at), f"{self.where}{text}"))

    def unknown(self, name: str, node: Node, known: Iterable[str], what: str) -> None:
        """Note a name that nothing has, with the one that it is like."""
        close = get_close_matches(name, list(known), 1)
        hint = f"Did you mean {close[0]}?" if close else f"Known fields: {', '.join(known)}."
        self.wrong(node.key or node.at, f"{name[:60]!r} is not a field of {what}. {hint}")

    def checked(self, node: Node, check: Callable[[], Any]) -> Any:
        """What a check gives, or a mistake in its words."""
        try:
            return check()
        except InvalidError as error:
            self.wrong(node.at, str(error))
            return WRONG

    def expected(self, node: Node, what: str, name: str) -> Any:
        """Note that something else was expected."""
        self.wrong(node.at, f"{name}: expected {what}, not {kind_of(node.value)}.")
        return WRONG

    def named(self, node: Node, check: Callable[[], Any]) -> bool:
        """Is the name of something usable?"""
        try:
            check()
        except InvalidError as error:
            self.wrong(node.key or node.at, str(error))
            return False
        return True

    def text(self, node: Node, name: str) -> Any:
        """A text."""
        if isinstance(node.value, str):
            return node.value
        hint = "" if isinstance(node.value, dict | list) else "; put it in quotes"
        self.wrong(node.at, f"{name}: expected a text, not {kind_of(node.value)}{hint}.")
        return WRONG

    def name(self, node: Node, what: str) -> Any:
        """A text that may be a name."""
        text = self.text(node, what)
        return text if text is WRONG else self.checked(node, lambda: check_name(text, what))

    def names(self, node: Node, name: str) -> Any:
        """One name, or a list of names."""
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.name(each, name) for each in items]
        return WRONG if WRONG in read else tuple(read)

    def moment(self, node: Node, name: str) -> Any:
        """A date with a time, with or without an offset."""
        if isinstance(node.value, datetime):
            if node.value.microsecond:
                self.wrong(node.at, f"{name}: has a fraction of a second. Ticks are whole seconds.")
                return WRONG
            return node.value
        if not isinstance(node.value, str):
            return self.expected(node, "a date with a time, such as 2026-01-31T09:00:00Z", name)
        return self.checked(node, lambda: parse_iso(node.value, name))

    def instant(self, node: Node, name: str, tz: str | None) -> Any:
        """An instant; without an offset it is on the clock of the zone that stands beside it."""
        found = self.moment(node, name)
        if found is WRONG or found.tzinfo is not None:
            return found
        if tz is None:
            self.wrong(node.at, f"{name}: {found.isoformat()} has no offset. Write {found.isoformat()}Z, or add tz.")
            return WRONG
        return to_datetime(zone(tz).to_epoch(wall_seconds(found)))

    def length(self, node: Node, name: str) -> Any:
        """A length of time, in seconds or as a text."""
        if isinstance(node.value, bool) or not isinstance(node.value, int | str):
            return self.expected(node, 'a duration such as "10m", or whole seconds', name)
        return self.checked(node, lambda: seconds(node.value, name))

    def expected_choice(self, node: Node, name: str, choices: Sequence[str]) -> Any:
        """Note that a word is none of a few, with the one that it is like."""
        close = get_close_matches(node.value, choices, 1) if isinstance(node.value, str) else []
        hint = f"Did you mean {close[0]}?" if close else f"Use one of {', '.join(choices)}."
        shown = repr(node.value)[:60] if isinstance(node.value, str) else kind_of(node.value)
        self.wrong(node.at, f"{name}: {shown} is not allowed. {hint}")
        return WRONG

    def days(self, node: Node, name: str) -> Any:
        """One day, or a list of days: weekdays and dates."""
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.day(each, name) for each in items]
        return WRONG if WRONG in read else read

    def day(self, node: Node, name: str) -> Any:
        """A weekday or a date."""
        if type(node.value) is date:
            return node.value.isoformat()
        if not isinstance(node.value, str):
            return self.expected(node, "a weekday or a date", name)
        return node.value if self.checked(node, lambda: policies({name: [node.value]})) is not WRONG else WRONG
