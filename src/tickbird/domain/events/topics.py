"""Topics and the patterns that match them: words joined by dots, `*` for one word, `#` for any number of words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from tickbird.domain.errors import InvalidError

MAX_TOPIC: Final = 200
MAX_PATTERNS: Final = 20
_WORD: Final = "[A-Za-z0-9_-]+"
_TOPIC = re.compile(rf"{_WORD}(\.{_WORD})*", re.ASCII)
_PATTERN = re.compile(rf"({_WORD}|\*|#)(\.({_WORD}|\*|#))*", re.ASCII)
TOPIC_SCHEMA: Final = {"type": "string", "pattern": rf"^{_WORD}(\.{_WORD})*$", "maxLength": MAX_TOPIC}


def check_topic(topic: object, field: str = "topic") -> str:
    """Return the topic, or raise InvalidError."""
    if isinstance(topic, str) and len(topic) <= MAX_TOPIC and _TOPIC.fullmatch(topic):
        return topic
    raise InvalidError(
        f"{field}: {str(topic)[:60]!r} is not a topic.",
        field=field,
        hint=f"Join words of letters, digits, _ and - with dots, such as orders.paid, up to {MAX_TOPIC} characters.",
    )


def check_patterns(patterns: Iterable[str] | str, field: str = "topics") -> tuple[str, ...]:
    """Return the patterns without repetitions, or raise InvalidError."""
    given = (patterns,) if isinstance(patterns, str) else tuple(dict.fromkeys(patterns))
    for pattern in given:
        if not isinstance(pattern, str) or len(pattern) > MAX_TOPIC or not _PATTERN.fullmatch(pattern):
            raise InvalidError(
                f"{field}: {str(pattern)[:60]!r} is not a pattern of topics.",
                field=field,
                hint="Write orders.paid, orders.* (one more word) or orders.# (any number of words).",
            )
    if not 1 <= len(given) <= MAX_PATTERNS:
        raise InvalidError(f"{field} must have 1 to {MAX_PATTERNS} patterns, not {len(given)}.", field=field)
    return given


@cache
def pattern_regex(pattern: str) -> str:
    """Return a regular expression for a dot followed by the topic; PostgreSQL and Python read it alike."""
    wildcards = {"*": r"\.[^.]+", "#": r"(\.[^.]+)*"}
    words = "".join(wildcards.get(word, rf"\.{word}") for word in pattern.split("."))
    return f"^{words}$"


def matches(topic: str, patterns: Iterable[str]) -> bool:
    """True if one of the patterns matches the topic."""
    return any(re.match(pattern_regex(pattern), f".{topic}") for pattern in patterns)
