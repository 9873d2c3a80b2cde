"""Links in sentences, for the runs, revisions and users that they mention."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from tickbird.web.rendering import plain

# Limits on the number and length of phrases, which come from data.
_MAX_COUNT: Final = 200
_MAX_LENGTH: Final = 200


def linked(text: str, addresses: Mapping[str, str]) -> Markup:
    """Escape a text, and link each of these phrases to its URL."""
    urls = {
        plain(phrase): href for phrase, href in list(addresses.items())[:_MAX_COUNT] if 2 <= len(phrase) <= _MAX_LENGTH
    }
    shown = plain(text)
    if not urls:
        return Markup("<bdi>{}</bdi>").format(shown)
    # The longest first, because the first alternative that matches wins.
    either = "|".join(re.escape(phrase) for phrase in sorted(urls, key=len, reverse=True))
    html, at = Markup(), 0
    for match in re.finditer(rf"(?<!\w)(?:{either})(?!\w)", shown):
        html += Markup('{}<a href="{}">{}</a>').format(shown[at : match.start()], urls[match[0]], match[0])
        at = match.end()
    return Markup("<bdi>{}{}</bdi>").format(html, shown[at:])
