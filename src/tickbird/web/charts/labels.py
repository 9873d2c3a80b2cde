"""Texts and numbers in charts: short, and safe in markup."""

from __future__ import annotations

import math
import re
import unicodedata

from tickbird.domain.time.durations import duration_text

# Maximum length of a text in a tooltip.
FULL = 400

_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
# Control characters, surrogates and non-characters (invalid in XML), and direction overrides.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u202a-\u202e\u2066\u2067]")
_SPACES = re.compile("[\t\n\r\u2028\u2029 ]+")
_RIGHT_TO_LEFT = frozenset(("R", "AL", "AN"))


def clean(text: object, maximum: int = FULL) -> str:
    """Make a text safe: no control characters, one line, isolated writing direction.

    Cleaning is idempotent, so that a sentence of clean parts can be cleaned again.
    """
    # Truncate first, so that the work is bounded.
    given = str(text)[: maximum * 4 + 16]
    return _isolated(cut(_UNSAFE.sub("\ufffd", _SPACES.sub(" ", given)).strip(), maximum))


def _isolated(text: str) -> str:
    """Balance the direction isolates, and isolate right-to-left text."""
    kept, depth, is_bare = [], 0, False
    for character in text:
        if character == _END_ISOLATE and depth == 0:
            kept.append("\ufffd")
            continue
        depth += (character == _ISOLATE) - (character == _END_ISOLATE)
        is_bare = is_bare or (depth == 0 and unicodedata.bidirectional(character) in _RIGHT_TO_LEFT)
        kept.append(character)
    balanced = "".join(kept) + _END_ISOLATE * depth
    return f"{_ISOLATE}{balanced}{_END_ISOLATE}" if is_bare else balanced


def cut(text: str, maximum: int) -> str:
    """Truncate a text to `maximum` columns, with an ellipsis."""
    columns = 0
    room = len(text)
    for place, character in enumerate(text):
        columns += _columns(character)
        if columns <= maximum - 1:
            room = place + 1
        elif columns > maximum:
            return text[:room].rstrip() + "…"
    return text


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def room_for(text: str, *, bold: bool = False) -> float:
    """Estimate the width of a label in pixels, with a margin because the font is unknown."""
    return sum(map(_columns, text)) * (7.0 if bold else 6.4)


def number(value: float) -> str:
    """Format a coordinate with at most two decimals; 0 for infinity and NaN."""
    if not math.isfinite(value):
        return "0"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def count(value: int, one: str, many: str | None = None) -> str:
    """Format a count: "1 run", "2,000 runs"."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def short_count(value: float) -> str:
    """Format a number for little room: 950, 1.2k, 34k, 5M."""
    for limit, divisor, unit in ((1e3, 1, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M"), (math.inf, 1e9, "G")):
        if value < limit * 0.9995 or limit == math.inf:
            scaled = min(value / divisor, 1e6)
            return f"{number(round(scaled, 1) if scaled < 9.95 else round(scaled))}{unit}"
    return ""


def length(seconds: float) -> str:
    """Format a duration: "0.4 ms", "12 ms", "0.2 s", "41 s", "1 h 30 min"."""
    if not math.isfinite(seconds):
        return "—"
    if seconds < 0:
        return "−" + length(-seconds)
    if seconds == 0:
        return "0 s"
    if seconds < 0.00095:
        return f"{number(max(0.1, round(seconds * 1000, 1)))} ms"
    if seconds < 0.0995:
        return f"{round(seconds * 1000)} ms"
    if seconds < 9.95:
        return f"{number(round(seconds, 1))} s"
    return duration_text(min(seconds, 1e12))


def offset(seconds: float) -> str:
    """Format an offset from an instant: "+0.2 s"."""
    return length(seconds) if seconds < 0 else "+" + length(seconds)


def listing(parts: dict[str, int]) -> str:
    """Format counts, without zeros: "58 succeeded, 2 failed"."""
    return ", ".join(f"{value:,} {word}" for word, value in parts.items() if value)
