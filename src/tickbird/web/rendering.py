"""Templates: everything that comes from data is escaped, and shows as the text that it is."""

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

# Longer texts are cut on pages; the API has them whole.
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
    """A template filled in; half of a character, which JSON can hold and no page, is shown as one that is missing."""
    shown = str(_environment().get_template(template).render(context))
    return shown.encode(errors="replace").decode()


def plain(value: object, maximum: int = _MAX_LENGTH) -> str:
    """A text from data with what cannot be seen made visible, and cut where it is too long to look at."""
    whole = str(value)
    part = whole[:maximum]
    # By distinct characters: a text may have a million, and hardly more than a hundred different ones.
    shown = part.translate({ord(each): _shown(each) for each in set(part) if not _visible(each)})
    return shown if len(whole) <= maximum else f"{shown}… ({len(whole):,} characters)"


def text(value: object, maximum: int = _MAX_LENGTH) -> Markup:
    """A text from data, kept from turning the direction of what stands around it."""
    return Markup("<bdi>{}</bdi>").format(plain(value, maximum))


def cut(value: object, maximum: int = 60) -> Markup:
    """The beginning of a text; the whole of it where one points at it."""
    whole = plain(value, 2_000)
    if len(whole) <= maximum:
        return Markup("<bdi>{}</bdi>").format(whole)
    return Markup('<bdi title="{}">{}…</bdi>').format(whole, whole[: maximum - 1])


def duration(seconds: float | None) -> str:
    """A length of time in words, exact where it is short."""
    if seconds is None:
        return "—"
    return f"{seconds:.1f} s" if 1 <= abs(seconds) < 10 else duration_text(seconds)


def pretty(value: object) -> str:
    """A JSON value for people."""
    return plain(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=_plain))


def value(given: object) -> str:
    """A value of a definition on one line: text as it is, everything else as JSON."""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, sort_keys=True, default=_plain)


def _plain(given: object) -> object:
    # Payloads are mappings that are not always dicts.
    return dict(given) if isinstance(given, Mapping) else str(given)


def _visible(character: str) -> bool:
    # Control characters, invisible ones such as those that turn the direction of writing, and halves of characters.
    return (
        character == "\n"
        or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or character == "\u200d"
    )


def _shown(character: str) -> str:
    if character == "\t":
        return "    "
    return character.encode("unicode_escape").decode()
