"""Rendering of a snapshot for rich. Shapes and words carry the same information as colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from examples.bird_shop.snapshot import NOTABLE, Activity, Event, Kind, Result, Row, Snapshot, clock, plural
from tickbird.domain.time.durations import duration_text

WIDE = 110
VERY_WIDE = 150
_FEWEST_EVENTS = 3
_TALL = 14
_STRIP = 6

# Shape, plain shape for terminals without Unicode, style.
_RESULTS: dict[Result, tuple[str, str, str]] = {
    "ok": ("●", "o", "green"),
    "recovered": ("◐", "r", "yellow"),
    "failed": ("✗", "x", "bold red"),
    "cancelled": ("■", "c", "magenta"),
    "skipped": ("○", "-", "cyan"),
}
_KINDS: dict[Kind, tuple[str, str, str]] = {
    "tick": ("·", ".", "dim"),
    "manual": ("+", "+", "bold"),
    "caught up": ("«", "<", "bold blue"),
    "start": ("►", ">", ""),
    "ok": ("●", "o", "green"),
    "retry": ("↻", "r", "yellow"),
    "lost": ("?", "?", "bold yellow"),
    "requeued": ("↩", "p", "yellow"),
    "failed": ("✗", "x", "bold red"),
    "cancelled": ("■", "c", "magenta"),
    "skip": ("○", "-", "cyan"),
}
_ACTIVITIES: dict[Activity, str] = {
    "idle": "dim",
    "running": "bold",
    "waiting": "cyan",
    "retrying": "yellow",
    "stopping": "magenta",
    "ended": "dim",
    "paused": "yellow",
    "parked": "bold red",
}


def render(snapshot: Snapshot, width: int, height: int, *, plain_shapes: bool = False) -> RenderableType:
    """Render the complete screen, cut to fit."""
    head = _head(snapshot, width)
    # Decorative lines are dropped first, then rows of the table.
    tall = height >= len(snapshot.rows) + _TALL
    room = height - len(head) - (5 if tall else 2)
    rows, lines = snapshot.rows, room - len(snapshot.rows)
    left_out = 0
    if lines < _FEWEST_EVENTS:
        left_out = min(len(rows), _FEWEST_EVENTS + 1 - lines)
        rows, lines = rows[: len(rows) - left_out], _FEWEST_EVENTS
    rule: list[RenderableType] = [Rule(style="dim")] if tall else []
    parts = [*head, *rule, table(snapshot, rows, width, plain_shapes=plain_shapes)]
    if left_out:
        parts.append(_line(Text(f"… and {left_out} more: use a taller window", style="dim")))
    parts += [_line(coming(snapshot, width)), *rule, _feeds(snapshot, width, lines, plain_shapes=plain_shapes)]
    if tall:
        parts.append(_line(_foot(snapshot, plain_shapes=plain_shapes)))
    return Group(*parts)


def _head(snapshot: Snapshot, width: int) -> list[RenderableType]:
    up = duration_text(max(1, int((snapshot.now - snapshot.started_at).total_seconds())))
    title = Table.grid(expand=True)
    title.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    title.add_column(no_wrap=True, justify="right")
    title.add_row(
        Text.assemble(("Tickbird", "bold"), f"  {snapshot.url}"),
        Text.assemble(
            f"{snapshot.busy}/{plural(snapshot.slots, 'slot')} busy",
            f"  {clock(snapshot.now)} {snapshot.now.astimezone():%Z}",
            (f"  up {up}", "bold"),
        ),
    )
    lines: list[RenderableType] = [title, _line(_tally(snapshot))]
    if snapshot.caught_up:
        lines.append(_line(Text(str(snapshot.caught_up), style="bold blue")))
    if snapshot.draining is not None:
        lines.append(_line(Text(draining_words(snapshot, width), style="bold reverse")))
    if snapshot.notice:
        lines.append(_line(Text(snapshot.notice, style="yellow")))
    return lines


def _tally(snapshot: Snapshot) -> Text:
    counts = snapshot.counts
    text = Text.assemble(
        f"{plural(counts.runs, 'run')} planned, {counts.succeeded:,} ok, ",
        (f"{counts.failed:,} failed", "bold red" if counts.failed else ""),
        f", {counts.retried:,} retried, {counts.cancelled:,} cancelled, {counts.skipped:,} skipped",
    )
    text.append(f"; worker {snapshot.worker}", style="dim")
    return text


def draining_words(snapshot: Snapshot, width: int | None = None) -> str:
    """Render the runs that the drain waits for, on one line, and the way to stop at once."""
    waits = list(snapshot.draining or ("the last records",))
    for shown in range(len(waits), 0, -1):
        more = f" and {len(waits) - shown} more" if shown < len(waits) else ""
        text = f"draining: waiting for {', '.join(waits[:shown])}{more}; Ctrl-C again ends at once"
        if width is None or len(text) <= width:
            return text
    return f"draining: waiting for {plural(len(waits), 'run')}; Ctrl-C again ends at once"


def table(snapshot: Snapshot, rows: Iterable[Row], width: int, *, plain_shapes: bool = False) -> Table:
    """Render the schedules, with triggers and policies if there is room."""
    gap = 2 if width >= WIDE else 1
    drawn = Table(box=None, expand=True, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
    drawn.add_column("schedule", no_wrap=True, overflow="ellipsis", min_width=15)
    if width < WIDE:
        drawn.add_column("when", no_wrap=True, overflow="ellipsis", width=15)
    else:
        drawn.add_column("when", no_wrap=True, overflow="ellipsis", ratio=4)
        drawn.add_column("policy", no_wrap=True, overflow="ellipsis", ratio=6)
    drawn.add_column("last", no_wrap=True, width=_STRIP + 10)
    drawn.add_column("now", no_wrap=True, overflow="ellipsis", ratio=4, min_width=22)
    drawn.add_column("next in", no_wrap=True, justify="right", width=7)
    for row in rows:
        style = "dim" if row.activity == "ended" else ""
        cells = [
            Text(row.name, style=style or "bold"),
            Text(row.words, style=style),
            *([Text(row.policy, style="dim")] if width >= WIDE else []),
            strip(row.results, plain_shapes=plain_shapes),
            Text(row.doing, style=_ACTIVITIES[row.activity]),
            Text(_until(row.next_at, snapshot.now), style=style),
        ]
        drawn.add_row(*cells)
    return drawn


def strip(results: Sequence[Result], *, plain_shapes: bool = False) -> Text:
    """Render the last results as shapes, oldest first, and the newest as a word."""
    text = Text()
    shown = results[-_STRIP:]
    for result in shown:
        shape, plain, style = _RESULTS[result]
        text.append(plain if plain_shapes else shape, style=style)
    text.append(" " * (_STRIP - len(shown) + 1))
    if shown:
        text.append(shown[-1], style=_RESULTS[shown[-1]][2])
    else:
        text.append("none yet", style="dim")
    return text


def coming(snapshot: Snapshot, width: int) -> Text:
    """Render the next ticks, soonest first, as many as fit."""
    soon = sorted((row.next_at, row.name) for row in snapshot.rows if row.next_at is not None)
    text = Text("next  ", style="dim")
    for place, (at, name) in enumerate(soon):
        left = _until(at, snapshot.now)
        words = f"{', ' if place else ''}{name} {'in ' if left[0].isdigit() else ''}{left}"
        if len(text) + len(words) > width:
            break
        text.append(words, style="")
    if not soon:
        text.append("nothing is planned")
    return text


def _feeds(snapshot: Snapshot, width: int, lines: int, *, plain_shapes: bool) -> RenderableType:
    """Render the newest events. If there is room, notable events stay longer next to them."""
    if width < VERY_WIDE:
        return feed(newest(snapshot.events, lines), plain_shapes=plain_shapes, lines=lines)
    both = Table.grid(expand=True, padding=(0, 2))
    both.add_column(ratio=1)
    both.add_column(ratio=1)
    notable = [event for event in snapshot.events if event.kind in NOTABLE]
    left = feed(newest(snapshot.events, lines - 1), plain_shapes=plain_shapes, lines=lines - 1)
    right = feed(newest(notable, lines - 1), plain_shapes=plain_shapes, lines=lines - 1)
    both.add_row(Text("all events", style="dim"), Text("notable", style="dim"))
    both.add_row(left, right)
    return both


def newest(events: Sequence[Event], maximum: int) -> list[Event]:
    """Return the newest events, oldest first, only the last one per run, so that the feed stays readable."""
    chosen: list[Event] = []
    runs: set[int] = set()
    for event in reversed(events):
        if len(chosen) >= maximum:
            break
        # A skip has no run.
        if event.run_id is not None:
            if event.run_id in runs:
                continue
            runs.add(event.run_id)
        chosen.append(event)
    return chosen[::-1]


def feed(events: Sequence[Event], *, plain_shapes: bool = False, lines: int = 0) -> RenderableType:
    """Render one line per event, padded to a constant height."""
    drawn = Table.grid(expand=True, padding=(0, 1))
    drawn.add_column(no_wrap=True)
    drawn.add_column(no_wrap=True)
    drawn.add_column(no_wrap=True, min_width=15)
    drawn.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for event in events:
        shape, plain, style = _KINDS[event.kind]
        drawn.add_row(
            Text(clock(event.at), style="dim"),
            Text(f"{plain if plain_shapes else shape} {event.kind:<9}", style=style),
            Text(event.name, style="bold" if event.kind in NOTABLE else ""),
            Text(event.text, style=style if event.kind in ("failed", "lost") else ""),
        )
    for _ in range(lines - len(events)):
        drawn.add_row("", "", "", "")
    return drawn


def line_of(event: Event, *, plain_shapes: bool = False) -> str:
    """Render an event as one line."""
    shape, plain, _ = _KINDS[event.kind]
    return f"{clock(event.at)}  {plain if plain_shapes else shape} {event.kind:<9}  {event.name:<15}  {event.text}"


def _foot(snapshot: Snapshot, *, plain_shapes: bool) -> Text:
    text = Text(style="dim")
    for place, (result, (shape, plain, style)) in enumerate(_RESULTS.items()):
        text.append("" if place == 0 else "  ")
        text.append(plain if plain_shapes else shape, style=style)
        text.append(f" {result}")
    text.append("    Ctrl-C drains and ends" if snapshot.draining is None else "    Ctrl-C again ends at once")
    return text


def summary(snapshot: Snapshot, width: int, *, plain_shapes: bool = False) -> RenderableType:
    """Render only the counts and the table, for output that is not a terminal."""
    return Group(_line(_tally(snapshot)), table(snapshot, snapshot.rows, width, plain_shapes=plain_shapes))


def _until(at: datetime | None, now: datetime) -> str:
    if at is None:
        return "-"
    left = (at - now).total_seconds()
    if left < 0.5:
        # Only a draining or missing worker is this late.
        return "now" if left > -2 else "overdue"
    return duration_text(round(left))


def _line(text: Text) -> Text:
    text.no_wrap = True
    text.overflow = "ellipsis"
    return text
