"""Templates and their filters. All data is escaped, and invisible characters are made visible."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Any, Final
from urllib.parse import unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tickbird.domain.messages import brief
from tickbird.domain.schedules.fields import POLICIES, field_text
from tickbird.domain.time.durations import duration_text
from tickbird.web.schedule_urls import name_in_path, schedule_path
from tickbird.web.static_files import asset_path

# Pages truncate longer texts. The API returns them completely.
_MAX_LENGTH: Final = 100_000


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tickbird.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "plain": plain,
        "text": text,
        "cut": cut,
        "code_spans": code_spans,
        "duration": duration,
        "pretty": pretty,
        "value": value,
        "unquoted": unquote,
        "lastline": brief,
        "field_text": lambda encoded, name: field_text(name, encoded),
        "policy": lambda encoded, name: POLICIES[name].describe(encoded),
    }
    environment.globals |= {"asset": asset_path, "schedule_path": schedule_path, "name_in_path": name_in_path}
    return environment


def render(template: str, context: Mapping[str, Any]) -> str:
    """Render a template; lone surrogates, which UTF-8 cannot encode, become question marks."""
    shown = str(_environment().get_template(template).render(context))
    return shown.encode(errors="replace").decode()


def plain(value: object, maximum: int = _MAX_LENGTH) -> str:
    """Return a text with invisible characters escaped, truncated to `maximum` characters."""
    whole = str(value)
    part = whole[:maximum]
    # Checks each distinct character once, because a text may have a million characters.
    shown = part.translate({ord(character): _shown(character) for character in set(part) if not _visible(character)})
    return shown if len(whole) <= maximum else f"{shown}… ({len(whole):,} characters)"


def text(value: object, maximum: int = _MAX_LENGTH) -> Markup:
    """Return a text that cannot change the writing direction of the text around it."""
    return Markup("<bdi>{}</bdi>").format(plain(value, maximum))


def code_spans(value: object) -> Markup:
    """Return a text in which words between backticks are code, as in hints that name a command."""
    parts = plain(value).split("`")
    # An unpaired backtick is shown as text.
    if len(parts) % 2 == 0:
        return text(value)
    spans = [Markup("<code>{}</code>").format(part) if index % 2 else part for index, part in enumerate(parts)]
    return Markup("<bdi>{}</bdi>").format(Markup("").join(spans))


def cut(value: object, maximum: int = 60) -> Markup:
    """Truncate a text. The tooltip shows up to 2,000 characters of it."""
    whole = plain(value, 2_000)
    if len(whole) <= maximum:
        return Markup("<bdi>{}</bdi>").format(whole)
    return Markup('<bdi title="{}">{}…</bdi>').format(whole, whole[: maximum - 1])


def duration(seconds: float | None) -> str:
    """Format a duration, with tenths of a second below 10 s."""
    if seconds is None:
        return "—"
    return f"{seconds:.1f} s" if 1 <= abs(seconds) < 10 else duration_text(seconds)


def pretty(value: object) -> str:
    """Format a JSON value on several lines."""
    return plain(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=_plain))


def value(given: object) -> str:
    """Format a value on one line: text unchanged, everything else as JSON."""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, sort_keys=True, default=_plain)


def _plain(given: object) -> object:
    # Payloads are mappings that are not always dicts.
    return dict(given) if isinstance(given, Mapping) else str(given)


def _visible(character: str) -> bool:
    # Control and format characters (such as direction overrides), lone surrogates and line separators are invisible.
    return (
        character == "\n"
        or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or character == "\u200d"
    )


def _shown(character: str) -> str:
    if character == "\t":
        return "    "
    return character.encode("unicode_escape").decode()
