"""The last outcomes of a schedule in a line of text: a bar each, as high as it took long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.web.pictures.clock import moment
from tickbird.web.pictures.marks import WORDS, Kind
from tickbird.web.pictures.markup import Svg, joined, mark, path, rect
from tickbird.web.pictures.picture import Picture, TableRows, drawing
from tickbird.web.pictures.scales import Log
from tickbird.web.pictures.words import clean, length, listing, number

MOST = 60
WIDTH, HEIGHT = 180.0, 20.0
_STEP = WIDTH / MOST
_BASE, _LOWEST, _HIGHEST = 17.0, 3.0, 14.0
_SHORT = {"succeeded": "ok"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one run or tick ended, and how long it took where it ran."""

    at: datetime
    kind: Kind
    seconds: float | None = None
    href: str | None = None


def outcomes(latest: Sequence[Outcome], tz: str) -> Picture:
    """The last sixty, oldest first. Bars are no stops for the keyboard unless they lead somewhere: rows have many."""
    title = "Last outcomes"
    latest = latest[-MOST:]
    table = TableRows("when", "what", "took")
    lasting = [each.seconds for each in latest if each.seconds is not None and each.seconds > 0]
    # Bars of about the same length look about the same: at least a factor of ten from the lowest to the highest.
    low, high = (min(lasting), max(lasting)) if lasting else (1.0, 1.0)
    scale = Log(min(low, high / 10), high, _LOWEST, _HIGHEST)
    tally: dict[Kind, int] = {}
    parts = [rect(0, _BASE, WIDTH, 0.5, "pic-floor")]
    # The newest stands at the right end, however few there are.
    first = MOST - len(latest)
    for place, each in enumerate(latest):
        tally[each.kind] = tally.get(each.kind, 0) + 1
        took = "" if each.seconds is None else length(max(0.0, each.seconds))
        at = moment(each.at, tz)
        table.add(at, WORDS[each.kind], took, href=each.href)
        told = f"{at}: {WORDS[each.kind]}" + (f", {took}" if took else "")
        height = _LOWEST if each.seconds is None else scale(each.seconds)
        bar = _bar(each.kind, (first + place) * _STEP, height)
        parts.append(
            mark(told, each.href, rect((first + place) * _STEP, 0, _STEP, HEIGHT, "pic-hit"), bar, is_stop=False)
        )
    summary = listing({_SHORT.get(kind, WORDS[kind]): tally.get(kind, 0) for kind in WORDS}) or "no runs yet"
    has_links = any(href is not None for href in table.hrefs)
    svg = drawing("outcomes", (WIDTH, HEIGHT), title, clean(summary), parts, has_marks=has_links)
    return Picture(svg, table.table(), title, summary)


def _bar(kind: Kind, x: float, height: float) -> Svg:
    """Rising from the floor where it went well; the whole height and a barb where it failed; a dash for a skip."""
    left, wide = x + 0.5, _STEP - 1
    match kind:
        case "failed":
            barb = (
                f"M{number(left - 0.5)} {number(HEIGHT)}h{number(_STEP)}L{number(x + _STEP / 2)} {number(_BASE - 1)}z"
            )
            return joined(rect(left, 1, wide, _BASE - 1, f"pic-column is-{kind}"), path(barb, f"pic-column is-{kind}"))
        case "skipped" | "will_skip" | "coming" | "moved":
            return rect(left - 0.25, _BASE - 4, wide + 0.5, 1.5, f"pic-column is-{kind}")
        case "cancelled":
            top = rect(left, _BASE - height, wide, height / 2 - 0.75, f"pic-column is-{kind}")
            return joined(top, rect(left, _BASE - height / 2 + 0.75, wide, height / 2 - 0.75, f"pic-column is-{kind}"))
        case "queued" | "waiting":
            return rect(left, _BASE - 2, wide, 2, f"pic-column is-{kind}")
        case _:
            return rect(left, _BASE - height, wide, height, f"pic-column is-{kind}")
