"""Reader of single values: each is returned, or reported as a diagnostic with its location."""

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

# The result of a reader after it has reported an error.
WRONG: Final = object()


class Values:
    """Reads values of one file, and collects diagnostics."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        self.source = Source("document", Node({}))
        # Prefix of diagnostics: the item that is being read.
        self.where = ""

    def wrong(self, at: Position | None, text: str) -> None:
        self.diagnostics.append(Diagnostic(self.source.location(at), f"{self.where}{text}"))

    def unknown(self, name: str, node: Node, known: Iterable[str], what: str) -> None:
        """Report an unknown name, with a similar known one."""
        close = get_close_matches(name, list(known), 1)
        hint = f"Did you mean {close[0]}?" if close else f"Known fields: {', '.join(known)}."
        self.wrong(node.key or node.at, f"{name[:60]!r} is not a field of {what}. {hint}")

    def checked(self, node: Node, check: Callable[[], Any]) -> Any:
        """Return the result of a check, or report its InvalidError and return WRONG."""
        try:
            return check()
        except InvalidError as error:
            self.wrong(node.at, str(error))
            return WRONG

    def expected(self, node: Node, what: str, name: str) -> Any:
        """Report a value of the wrong type and return WRONG."""
        self.wrong(node.at, f"{name} must be {what}, not {kind_of(node.value)}.")
        return WRONG

    def named(self, node: Node, check: Callable[[], Any]) -> bool:
        """Run a check of the node's key; report its InvalidError and return False."""
        try:
            check()
        except InvalidError as error:
            self.wrong(node.key or node.at, str(error))
            return False
        return True

    def text(self, node: Node, name: str) -> Any:
        if isinstance(node.value, str):
            return node.value
        hint = "" if isinstance(node.value, dict | list) else " Put it in quotes."
        self.wrong(node.at, f"{name} must be a text, not {kind_of(node.value)}.{hint}")
        return WRONG

    def name(self, node: Node, what: str) -> Any:
        text = self.text(node, what)
        return text if text is WRONG else self.checked(node, lambda: check_name(text, what))

    def names(self, node: Node, name: str) -> Any:
        """Read one name, or a list of names."""
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.name(item, name) for item in items]
        return WRONG if WRONG in read else tuple(read)

    def moment(self, node: Node, name: str) -> Any:
        """Read a date with a time, with or without an offset."""
        if isinstance(node.value, datetime):
            if node.value.microsecond:
                self.wrong(
                    node.at, f"{name} has a fraction of a second, but ticks are whole seconds. Remove the fraction."
                )
                return WRONG
            return node.value
        if not isinstance(node.value, str):
            return self.expected(node, "a date with a time, such as 2026-01-31T09:00:00Z", name)
        return self.checked(node, lambda: parse_iso(node.value, name))

    def instant(self, node: Node, name: str, tz: str | None) -> Any:
        """Read an instant. Without an offset, it is local time in `tz`."""
        moment = self.moment(node, name)
        if moment is WRONG or moment.tzinfo is not None:
            return moment
        if tz is None:
            self.wrong(node.at, f"{name}: {moment.isoformat()} has no offset. Write {moment.isoformat()}Z, or add tz.")
            return WRONG
        return to_datetime(zone(tz).to_epoch(wall_seconds(moment)))

    def length(self, node: Node, name: str) -> Any:
        """Read a duration: whole seconds, or text such as 10m."""
        if isinstance(node.value, bool) or not isinstance(node.value, int | str):
            return self.expected(node, 'a duration such as "10m", or whole seconds', name)
        return self.checked(node, lambda: seconds(node.value, name))

    def expected_choice(self, node: Node, name: str, choices: Sequence[str]) -> Any:
        """Report a value that is not one of the choices, with a similar one."""
        close = get_close_matches(node.value, choices, 1) if isinstance(node.value, str) else []
        hint = f"Did you mean {close[0]}?" if close else f"Use one of {', '.join(choices)}."
        shown = repr(node.value)[:60] if isinstance(node.value, str) else kind_of(node.value)
        self.wrong(node.at, f"{name}: {shown} is not allowed. {hint}")
        return WRONG

    def days(self, node: Node, name: str) -> Any:
        """Read one day, or a list of days: weekdays and dates."""
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.day(item, name) for item in items]
        return WRONG if WRONG in read else read

    def day(self, node: Node, name: str) -> Any:
        if type(node.value) is date:
            return node.value.isoformat()
        if not isinstance(node.value, str):
            return self.expected(node, "a weekday or a date", name)
        return node.value if self.checked(node, lambda: policies({name: [node.value]})) is not WRONG else WRONG
