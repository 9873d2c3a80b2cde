"""Commands about what is to come: simulate."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from tickbird.cli.commands.files.document_input import format_option, read_documents
from tickbird.cli.commands.files.ical import STDOUT
from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import Failed
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import Cell, Printer, clock, print_result, warn
from tickbird.cli.params import length, storable_text
from tickbird.cli.progress_bar import bar
from tickbird.cli.shell_completion import file_names, schedule_names
from tickbird.cli.time_input import InstantParser
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.bounds import MAX_DAYS, MAX_ROWS, MAX_SCHEDULES
from tickbird.domain.forecast.forecast import Forecast, ForecastComparison, WhatIf
from tickbird.domain.messages import count
from tickbird.domain.time.durations import duration_text, seconds
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.files.document import Document
from tickbird.files.loader import Format
from tickbird.stores import DEFAULT_URL, open_store
from tickbird.wire.codec import encode

# From so many ticks on it takes long enough for a bar.
_MANY = 200_000
_BARS = " ▁▂▃▄▅▆▇█"


@click.command(cls=Command)
@click.argument("names", metavar="[NAME]...", nargs=-1, type=storable_text, shell_complete=schedule_names)
@click.option("--days", type=click.IntRange(1, MAX_DAYS), metavar="N", help="So many days; a week if not said.")
@click.option("--from", "start", type=storable_text, metavar="INSTANT", help="From then on; else from now on.")
@click.option("--to", "end", type=storable_text, metavar="INSTANT", help="Up to then, instead of --days.")
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    shell_complete=file_names,
    help="As if these files were applied.",
)
@format_option
@click.option("--alone", is_flag=True, help="Only what the files have, without any store.")
@click.option(
    "--outage", "outages", multiple=True, type=storable_text, metavar="INSTANT/LENGTH", help="Nothing works then."
)
@click.option("--more", type=click.IntRange(0, MAX_SCHEDULES), default=0, metavar="N", help="So many more schedules.")
@click.option("--slots", type=click.IntRange(1, 1_000_000), metavar="N", help="So many slots, for everything.")
@click.option("--workers", type=storable_text, metavar="N|SHARE", help="So many workers, or a share of them: 0.5, 50%.")
@click.option("--slower", type=float, default=1.0, metavar="TIMES", help="Runs take so many times as long.")
@click.option("--duration", type=length, metavar="LENGTH", help="What a run takes where no history tells; else 10 s.")
@click.option("--limit", type=click.IntRange(0, MAX_ROWS), default=20, show_default=True, help="Schedules shown.")
@click.option(
    "--svg", metavar="FILE", shell_complete=file_names, help="Draw it as well, hour by hour; - prints it instead."
)
@click.pass_obj
def simulate(
    settings: GlobalOptions,
    names: Sequence[str],
    days: int | None,
    start: str | None,
    end: str | None,
    files: Sequence[str],
    spelling: Format | None,
    alone: bool,
    outages: Sequence[str],
    more: int,
    slots: int | None,
    workers: str | None,
    slower: float,
    duration: int | None,
    limit: int,
    svg: str | None,
) -> None:
    """Show what the next days bring, and what would be if: an outage, fewer workers."""
    if alone and not files:
        raise click.UsageError("--alone goes with -f.", click.get_current_context())
    if svg == STDOUT and settings.as_json:
        raise click.UsageError("--svg - and --json cannot both be printed.", click.get_current_context())
    number, share = _workers(workers)
    document = read_documents(files, spelling) if files else None
    alone = alone or (document is not None and not _has_store(settings))
    if document is not None:
        namespace = settings.namespace or document.namespace or "default"
        document = replace(document, namespace=namespace)
        settings = replace(settings, namespace=namespace)

    async def work() -> tuple[ForecastComparison, datetime]:
        async with _opened(settings, alone=alone) as client:
            now = await client.system.now()
            reader = InstantParser(now, settings.tz or "UTC")
            what_if = WhatIf(
                outages=sorted(_outage(reader, each) for each in outages),
                more=more,
                slots=slots,
                workers=number,
                share=share,
                slower=slower,
            )
            with bar(settings, "simulating", _MANY) as counted:
                found = await client.forecasts.simulate(
                    days,
                    start=None if start is None else reader(start, "from", ahead=True).at,
                    end=None if end is None else reader(end, "to", ahead=True).at,
                    document=document,
                    what_if=what_if,
                    names=names,
                    assumed=duration,
                    limit=limit,
                    progress=counted,
                )
            return found, now

    found, _ = run_async(work(), settings)
    if svg == STDOUT:
        click.echo(_chart(found), nl=False)
        return
    if svg is not None:
        _draw(svg, found)
    tz = settings.tz or "UTC"
    print_result(settings, lambda: encode(found), lambda screen: _show(screen, found, tz, document, alone))
    if svg is not None:
        warn(f"drawn in {svg}.")


def _has_store(settings: GlobalOptions) -> bool:
    """Was a store or a server named, or is there one where it is by default?"""
    named = settings.url or settings.server or os.environ.get("TICKBIRD_URL") or os.environ.get("TICKBIRD_SERVER")
    path = DEFAULT_URL.removeprefix("sqlite:///")
    return bool(named) or Path(path).exists()


@asynccontextmanager
async def _opened(settings: GlobalOptions, *, alone: bool) -> AsyncIterator[Client]:
    if not alone:
        async with connect(settings) as client:
            yield client
        return
    store = open_store("sqlite://:memory:")
    await store.open()
    try:
        yield StoreClient(store, settings.namespace or "default")
    finally:
        await store.close()


def _workers(given: str | None) -> tuple[int | None, float | None]:
    """So many workers, or a share of those there are."""
    if given is None:
        return None, None
    hint = "write a number such as 3, or a share such as 0.5 or 50%."
    try:
        if given.isascii() and given.isdigit():
            return int(given), None
        share = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        raise InvalidError(
            f"workers: {given[:60]!r} is neither a number nor a share;", field="workers", hint=hint
        ) from None
    return None, share


def _outage(reader: InstantParser, given: str) -> tuple[int, int]:
    """From an instant on, for a length of time."""
    at, slash, long = given.rpartition("/")
    if not slash:
        raise InvalidError(
            f"outage: {given[:60]!r} does not say how long it lasts;",
            field="outage",
            hint='write one such as "2026-11-17 02:00/2h" or "in 3h/30m".',
        )
    begin = to_seconds(reader(at, "outage", ahead=True).at)
    return begin, begin + seconds(long.strip(), "outage", minimum=1)


def _chart(found: ForecastComparison) -> str:
    from tickbird.domain.forecast.chart import forecast_chart

    return forecast_chart(found, "What the next days bring")


def _draw(path: str, found: ForecastComparison) -> None:
    try:
        Path(path).write_text(_chart(found), encoding="utf-8")
    except OSError as error:
        raise Failed(f"the file {path} cannot be written ({error.strerror});", hint="choose another one.") from None


# What is shown


def _show(screen: Printer, found: ForecastComparison, tz: str, document: Document | None, alone: bool) -> None:
    base, changed = found.baseline, found.changed
    what = "in the files" if alone else "with the files applied" if document is not None else "as stored"
    span = f"{clock(to_datetime(base.start), tz)} to {clock(to_datetime(base.end), tz)}"
    screen.line(Cell(f"{count(base.schedules, 'active schedule')} {what}, {span}", "bold"))
    _show_basis(screen, base)
    screen.line()
    _show_numbers(screen, base, changed, tz)
    last = changed or base
    _show_hours(screen, last, tz)
    if len(last.queues) > 1:
        screen.title("Queues")
        screen.table(
            ("QUEUE", "SLOTS", "RUNS", "BUSY AT MOST", "WHEN", "LATEST"),
            [
                (
                    each.name,
                    "any" if each.slots is None else f"{each.slots:,}",
                    f"{each.runs:,}",
                    f"{each.peak:,}",
                    clock(to_datetime(each.peak_at), tz) if each.peak else "",
                    _late(each.worst_lateness),
                )
                for each in last.queues
            ],
        )
    _show_schedules(screen, last)
    _show_moves(screen, last, tz)


def _show_basis(screen: Printer, base: Forecast) -> None:
    """What it goes by."""
    if base.without_history:
        have = "has" if base.without_history == 1 else "have"
        screen.line(
            f"{base.without_history:,} of them {have} no successful run yet: "
            f"taken to last {duration_text(base.assumed)} each (--duration)."
        )
    if base.slots is None:
        screen.line("No live worker is known: as many slots as are needed (--slots or --workers sets them).")
    else:
        screen.line(f"{count(base.workers, 'worker')} with {count(base.slots, 'slot')}.")
    if base.paused:
        screen.line(f"{base.paused:,} more {'is' if base.paused == 1 else 'are'} paused.")
    if base.unserved:
        named = ", ".join(base.unserved[:5]) + (", …" if len(base.unserved) > 5 else "")
        said = (
            f"! No live worker serves some schedules in queue {named}: their runs never start; see `tickbird doctor`."
        )
        screen.line(Cell(said, "yellow"))


def _numbers(found: Forecast, tz: str) -> dict[str, str]:
    slots = "any" if found.slots is None else f"{found.slots:,}"
    peak = f" · {clock(to_datetime(found.peak_at), tz)}" if found.peak else ""
    line = f" · {clock(to_datetime(found.max_queued_at), tz)}" if found.max_queued else ""
    worst = "" if found.latest is None else f" · {found.latest[0]}, {clock(to_datetime(found.latest[1]), tz)}"
    hour = found.busiest_hour
    return {
        "ticks": f"{found.ticks:,}",
        "runs": f"{found.runs:,}",
        "overlaps": f"{found.overlaps:,}",
        **{f"skipped, {reason}": f"{number:,}" for reason, number in found.skips.items()},
        **{f"not run to the end, {reason}": f"{number:,}" for reason, number in found.cancelled.items()},
        "begun anew": f"{found.lost:,}" if found.lost else "",
        "held": f"{found.held:,}" if found.held else "",
        "busiest hour": f"{hour.ticks:,} ticks · {clock(to_datetime(hour.at), tz)}" if hour and hour.ticks else "none",
        "slots busy": f"{found.peak:,} of {slots}{peak}",
        "in line at most": f"{found.max_queued:,}{line}",
        "late, half of all": _late(found.lateness["p50"]) or "on time",
        "late, 1 in 100": _late(found.lateness["p99"]) or "on time",
        "late at worst": f"{_late(found.lateness['max'])}{worst}" if found.latest else "on time",
        "not begun at the end": f"{found.left_over:,}" if found.left_over else "",
    }


def _show_numbers(screen: Printer, base: Forecast, changed: Forecast | None, tz: str) -> None:
    before = _numbers(base, tz)
    if changed is None:
        screen.fields((name, value) for name, value in before.items() if value)
        return
    after = _numbers(changed, tz)
    named = [*before, *(name for name in after if name not in before)]
    rows = [(name, before.get(name, "") or "0", after.get(name, "") or "0") for name in named]
    rows = [row for row in rows if row[1:] != ("0", "0")]
    screen.table(
        ("", "AS IT IS", "AS IT WOULD BE"),
        [(name, one, Cell(other, "bold" if one != other else "")) for name, one, other in rows],
    )


def _show_hours(screen: Printer, found: Forecast, tz: str) -> None:
    """Ticks hour by hour, a line for each day, for as many days as fit a screen."""
    if not found.ticks:
        return
    maximum = max(hour.ticks for hour in found.hours)
    days: dict[str, list[str]] = {}
    for hour in found.hours:
        at = clock(to_datetime(hour.at), tz)
        days.setdefault(at[:10], [" "] * 24)[int(at[11:13])] = _BARS[-(-8 * hour.ticks // maximum) if hour.ticks else 0]
    screen.title(f"Ticks by hour, 00 to 23 ({tz}); █ is {maximum:,}")
    shown = list(days.items())[:14]
    for day, bars in shown:
        screen.line(f"  {day}  {''.join(bars)}".rstrip())
    if len(days) > len(shown):
        screen.line(f"  … and {count(len(days) - len(shown), 'more day')}; --json and --svg have all.")


def _show_schedules(screen: Printer, found: Forecast) -> None:
    if not found.rows:
        return
    screen.title("Schedules, those with most to say of first")
    rows: Iterable[Sequence[str]] = (
        (
            each.name,
            f"{each.runs:,}",
            _reasons(each.skips),
            f"{each.cancelled:,}" if each.cancelled else "",
            _late(each.worst_lateness),
            f"{_late(each.duration)}{'' if each.has_history else ' (assumed)'}",
        )
        for each in found.rows
    )
    screen.table(("SCHEDULE", "RUNS", "SKIPPED", "CUT SHORT", "LATEST", "A RUN TAKES"), rows)
    if found.schedules > len(found.rows):
        screen.line(f"{len(found.rows):,} of {found.schedules:,}; --limit shows more.")


def _show_moves(screen: Printer, found: Forecast, tz: str) -> None:
    if found.busiest:
        screen.title("Busiest minutes")
        for at, ticks in found.busiest[:5]:
            screen.line(f"  {clock(to_datetime(at), tz)}  {count(ticks, 'tick')}")
    if found.suggestions:
        screen.title("Quieter minutes")
        for each in found.suggestions:
            screen.line(
                f"  move {each.schedule} from :{each.minute:02} to :{each.to_minute:02} "
                f"({each.before} → {each.after}): "
                f"{each.left:,} beside it at most, instead of {each.crowd:,}"
            )


def _reasons(skips: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in skips.items())


def _late(length_: float) -> str:
    return duration_text(length_) if length_ else ""
