"""Words and figures as they stand in pictures: short, clean of what breaks markup, and never longer than their room."""

from __future__ import annotations

import math
import re
import unicodedata

from tickbird.domain.time.durations import duration_text

# What a tooltip holds of a text; no name is longer, an error may be.
FULL = 400

_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
# Controls, lone surrogates and non-characters, none of which XML allows, and what would turn the text after it around.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u202a-\u202e\u2066\u2067]")
_SPACES = re.compile("[\t\n\r\u2028\u2029 ]+")
_RIGHT_TO_LEFT = frozenset(("R", "AL", "AN"))


def clean(text: object, maximum: int = FULL) -> str:
    """Text of others, safe in markup and beside other text: no controls, one line, its direction kept to itself.

    Clean text stays as it is, so that a sentence may be made of clean parts and be cleaned as a whole.
    """
    # Cut before the rest, so that the work is bounded too.
    given = str(text)[: maximum * 4 + 16]
    return _isolated(cut(_UNSAFE.sub("\ufffd", _SPACES.sub(" ", given)).strip(), maximum))


def _isolated(text: str) -> str:
    """Every isolate closed, none closed that was not open, and the whole in one where it reads from the right."""
    kept, depth, is_bare = [], 0, False
    for each in text:
        if each == _END_ISOLATE and depth == 0:
            kept.append("\ufffd")
            continue
        depth += (each == _ISOLATE) - (each == _END_ISOLATE)
        is_bare = is_bare or (depth == 0 and unicodedata.bidirectional(each) in _RIGHT_TO_LEFT)
        kept.append(each)
    balanced = "".join(kept) + _END_ISOLATE * depth
    return f"{_ISOLATE}{balanced}{_END_ISOLATE}" if is_bare else balanced


def cut(text: str, maximum: int) -> str:
    """Text of at most so many columns, with an ellipsis where something is left out."""
    columns = 0
    room = len(text)
    for place, each in enumerate(text):
        columns += _columns(each)
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
    """About how wide a label is, in pixels: generous, since nobody knows the reader's font."""
    return sum(map(_columns, text)) * (7.0 if bold else 6.4)


def number(value: float) -> str:
    """A coordinate: at most two decimals, never infinite, no zeros that say nothing."""
    if not math.isfinite(value):
        return "0"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def count(value: int, one: str, many: str | None = None) -> str:
    """A number of things: "1 run", "2,000 runs"."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def short_count(value: float) -> str:
    """A number for a narrow place: 950, 1.2k, 34k, 5M."""
    for limit, divisor, unit in ((1e3, 1, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M"), (math.inf, 1e9, "G")):
        if value < limit * 0.9995 or limit == math.inf:
            scaled = min(value / divisor, 1e6)
            return f"{number(round(scaled, 1) if scaled < 9.95 else round(scaled))}{unit}"
    return ""


def length(seconds: float) -> str:
    """A length of time: "0.4 ms", "12 ms", "0.2 s", "41 s", "1 h 30 min"."""
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
    """A distance from an instant: "+0.2 s"."""
    return length(seconds) if seconds < 0 else "+" + length(seconds)


def listing(parts: dict[str, int]) -> str:
    """What there is how often, most important first: "58 succeeded, 2 failed"."""
    return ", ".join(f"{value:,} {word}" for word, value in parts.items() if value)
