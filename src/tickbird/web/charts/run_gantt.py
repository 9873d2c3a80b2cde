"""The timeline of a run from its due time to its end, with one row per attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.runs.run import Status
from tickbird.web.charts.chart import Chart, Frame, TableRows, drawing, lesson, usable_width
from tickbird.web.charts.labels import clean, count, length, number, offset, room_for
from tickbird.web.charts.scales import Linear
from tickbird.web.charts.svg import Svg, focusable, group, label, line, path, rect
from tickbird.web.charts.symbols import LABELS, shape
from tickbird.web.charts.time_scale import epoch, moment

MAX_ATTEMPTS = 12
MAX_HEARTBEATS = 24
_ROW, _TOP = 34.0, 48.0
_HEADS = ("event", "time", "after due", "details")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLine:
    """An attempt: its worker, instants and outcome."""

    number: int
    status: Status
    claimed_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    heartbeats: Sequence[datetime] = ()
    worker: str = ""
    note: str = ""
    href: str | None = None


def run_line(due_at: datetime, attempts: Sequence[AttemptLine], now: datetime, tz: str, *, width: float = 960) -> Chart:
    """Draw the attempts and the waits between them on one time scale."""
    title, width = "Timeline of the run", usable_width(width)
    if not attempts:
        sentence = "Not started yet. When a worker claims this run, this chart shows each step with its time."
        return lesson("run", title, sentence, _HEADS, width)
    left_out = max(0, len(attempts) - MAX_ATTEMPTS)
    attempts = sorted(attempts, key=lambda attempt: attempt.number)[-MAX_ATTEMPTS:]
    due, present = epoch(due_at), epoch(now)
    instants = [due, *(at for attempt in attempts for at in _instants(attempt, present))]
    start, end = min(instants), max(instants)
    end = max(end, start + 1e-3)
    gutter = 96.0 if width >= 600 else 64.0
    frame = Frame(width, 0, gutter, width - 24, _TOP, _TOP + _ROW * len(attempts))
    x = Linear(start, end, frame.left + 8, frame.right)
    table = TableRows(*_HEADS)
    table.add("due", moment(due_at, tz), "", "")
    parts = [line(x(due), frame.top - 6, x(due), frame.bottom, "pic-due")]
    before = due
    for place, attempt in enumerate(attempts):
        y = frame.top + _ROW * (place + 0.5)
        parts.append(_attempt(attempt, y, before, due, present, x, frame, tz, table))
        before = max([before, *_instants(attempt, present)])
    parts.append(_steps(attempts, due, present, x, frame))
    last = attempts[-1]
    summary = _summary(last, due, present, len(attempts) + left_out)
    height = frame.bottom + 8
    if left_out:
        height += 18
        parts.append(label(f"+{count(left_out, 'earlier attempt')}", 0, height - 6, "pic-note"))
        summary += f" The first {left_out:,} are not drawn."
    svg = drawing("run", (width, height), title, summary, parts, has_marks=True)
    return Chart(svg, table.table(), title, summary)


def _instants(attempt: AttemptLine, present: float) -> list[float]:
    instants = [epoch(at) for at in (attempt.claimed_at, attempt.started_at, attempt.finished_at) if at is not None]
    return (
        instants
        if attempt.finished_at is not None or attempt.status != "running" or not instants
        else [*instants, max(present, *instants)]
    )


def _attempt(
    attempt: AttemptLine,
    y: float,
    before: float,
    due: float,
    present: float,
    x: Linear,
    frame: Frame,
    tz: str,
    table: TableRows,
) -> Svg:
    """Draw the wait before an attempt, its bar with heartbeats, and its outcome."""
    name = f"attempt {attempt.number}" if frame.left > 80 else f"#{attempt.number}"
    parts = [label(name, 0, y + 4, "pic-name")]
    instants = _instants(attempt, present)
    what = LABELS[attempt.status]
    for word, at in (("claimed", attempt.claimed_at), ("started", attempt.started_at), ("ended", attempt.finished_at)):
        if at is not None:
            more = (
                clean(attempt.worker, 80)
                if word == "claimed"
                else f"{what} {attempt.note}".strip()
                if word == "ended"
                else ""
            )
            table.add(
                f"attempt {attempt.number} {word}", moment(at, tz), offset(epoch(at) - due), more, href=attempt.href
            )
    if not instants:
        table.add(f"attempt {attempt.number} {what}", "", "", attempt.note, href=attempt.href)
        parts.append(
            focusable(f"attempt {attempt.number}: {what}", attempt.href, shape(attempt.status, x(before) + 6, y, 6))
        )
        return group("pic-attempt", *parts)
    first, last = min(instants), max(instants)
    began = epoch(attempt.started_at) if attempt.started_at is not None else last
    if x(first) - x(before) > 1:
        parts.append(line(x(before), y, x(first), y, "pic-lead"))
    if x(began) - x(first) > 1:
        parts.append(line(x(first), y, x(began), y, "pic-claim"))
    bar = [
        rect(x(first) - 4, y - 13, x(last) - x(first) + 16, 26, "pic-hit"),
        rect(x(began), y - 7, max(2.0, x(last) - x(began)), 14, f"pic-bar is-{attempt.status}", 3),
        *_hearts(attempt, y, x, x(began) + 8, x(last) - 12),
    ]
    if attempt.status == "running" and attempt.finished_at is None:
        bar.append(rect(x(last) - 3, y - 7, 3, 14, "pic-growing", 1))
    else:
        bar.append(shape(attempt.status, x(last), y, 6.5))
    description = [f"attempt {attempt.number}: {what}"]
    description += [f"claimed {offset(first - due)}"] if attempt.claimed_at is not None else []
    description += [f"started {offset(began - due)}"] if attempt.started_at is not None else []
    description += [
        f"{'ended' if attempt.finished_at else 'now'} {offset(last - due)}",
        f"took {length(max(0.0, last - began))}",
    ]
    description += [count(len(attempt.heartbeats), "heartbeat")] if attempt.heartbeats else []
    description += [f"worker {clean(attempt.worker, 80)}"] if attempt.worker else []
    description += [clean(attempt.note)] if attempt.note else []
    parts.append(focusable(", ".join(description), attempt.href, *bar))
    return group("pic-attempt", *parts)


def _hearts(attempt: AttemptLine, y: float, x: Linear, low: float, high: float) -> list[Svg]:
    """Return the latest heartbeats that do not overlap each other or the ends of the bar."""
    parts: list[Svg] = []
    free = high
    for at in sorted(map(epoch, attempt.heartbeats), reverse=True):
        place = x(at)
        if low <= place <= free and len(parts) < MAX_HEARTBEATS:
            parts.append(path(_heart(place, y), "pic-heart"))
            free = place - 12
    return parts[::-1]


def _heart(x: float, y: float) -> str:
    return f"M{number(x)} {number(y + 4)}l-4-4.2a2.4 2.4 0 0 1 4-2.6a2.4 2.4 0 0 1 4 2.6z"


def _steps(attempts: Sequence[AttemptLine], due: float, present: float, x: Linear, frame: Frame) -> Svg:
    """Draw the labels due, claimed, started and ended, moved apart if they would touch."""
    first, last = attempts[0], attempts[-1]
    named = [("due", due)]
    named += [("claimed", epoch(first.claimed_at))] if first.claimed_at is not None else []
    named += [("started", epoch(first.started_at))] if first.started_at is not None else []
    named += [(LABELS[last.status], epoch(last.finished_at))] if last.finished_at is not None else []
    named += [("now", max(present, due))] if last.finished_at is None and last.status == "running" else []
    named.sort(key=lambda step: step[1])
    texts = [name if name == "due" else f"{name} {offset(at - due)}" for name, at in named]
    rooms = [room_for(text, bold=True) + 14 for text in texts]
    # Place labels from left to right without overlap, then push them back into the frame from the right.
    lefts: list[float] = []
    for (_, at), room in zip(named, rooms, strict=True):
        lefts.append(max(x(at) - (room - 14) / 2, lefts[-1] + rooms[len(lefts) - 1] if lefts else 0.0))
    limit = frame.width
    for place in range(len(lefts) - 1, -1, -1):
        lefts[place] = max(0.0, min(lefts[place], limit - rooms[place] + 14))
        limit = lefts[place] - 14
    parts = []
    for (_, at), left, text, room in zip(named, lefts, texts, rooms, strict=True):
        middle = left + (room - 14) / 2
        lead = f"M{number(middle)} 20V24L{number(x(at))} {number(frame.top - 6)}V{number(frame.top + 4)}"
        parts += [path(lead, "pic-leader"), label(text, middle, 14, "pic-step", "middle")]
    return group("pic-steps", *parts)


def _summary(last: AttemptLine, due: float, present: float, number_of: int) -> str:
    what = LABELS[last.status]
    tries = f" after {count(number_of, 'attempt')}" if number_of > 1 else ""
    if last.finished_at is not None:
        return f"The run {what}{tries}, {offset(epoch(last.finished_at) - due)} after it was due.".replace(
            "The run cancelled", "The run was cancelled"
        )
    return f"The run is {what}, attempt {last.number}, {offset(present - due)} after it was due."
