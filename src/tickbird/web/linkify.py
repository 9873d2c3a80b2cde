"""Sentences whose words lead somewhere: runs, revisions and people that they name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from tickbird.web.rendering import plain

# More phrases than these are not looked for, nor longer ones.
_MAX_COUNT: Final = 200
_MAX_LENGTH: Final = 200


def linked(text: str, addresses: Mapping[str, str]) -> Markup:
    """A text from data in which each of these phrases leads to its address; everything else is only text."""
    known = {
        plain(phrase): href for phrase, href in list(addresses.items())[:_MAX_COUNT] if 2 <= len(phrase) <= _MAX_LENGTH
    }
    shown = plain(text)
    if not known:
        return Markup("<bdi>{}</bdi>").format(shown)
    # The longest first, so that "run 12" is not found in "run 123".
    either = "|".join(re.escape(each) for each in sorted(known, key=len, reverse=True))
    found, at = Markup(), 0
    for match in re.finditer(rf"(?<!\w)(?:{either})(?!\w)", shown):
        found += Markup('{}<a href="{}">{}</a>').format(shown[at : match.start()], known[match[0]], match[0])
        at = match.end()
    return Markup("<bdi>{}{}</bdi>").format(found, shown[at:])
