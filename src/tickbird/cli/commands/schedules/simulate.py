"""The `simulate` command."""

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

# Show a progress bar from this many ticks.
_MANY = 200_000
_BARS = " ▁▂▃▄▅▆▇█"


@click.command(cls=Command)
@click.argument("names", metavar="[NAME]...", nargs=-1, type=storable_text, shell_complete=schedule_names)
@click.option("--days", type=click.IntRange(1, MAX_DAYS), metavar="N", help="Number of days (default: 7).")
@click.option("--from", "start", type=storable_text, metavar="INSTANT", help="Start of the forecast (default: now).")
@click.option("--to", "end", type=storable_text, metavar="INSTANT", help="End of the forecast, instead of --days.")
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    shell_complete=file_names,
    help="Assume that these files are applied; repeatable.",
)
@format_option
@click.option("--alone", is_flag=True, help="Use only the files, without a store.")
@click.option(
    "--outage",
    "outages",
    multiple=True,
    type=storable_text,
    metavar="INSTANT/DURATION",
    help="Period without workers and planning; repeatable.",
)
@click.option(
    "--more",
    type=click.IntRange(0, MAX_SCHEDULES),
    default=0,
    metavar="N",
    help="Add N schedules similar to the existing ones.",
)
@click.option("--slots", type=click.IntRange(1, 1_000_000), metavar="N", help="Assume N slots in total.")
@click.option(
    "--workers",
    type=storable_text,
    metavar="N|SHARE",
    help="Assume N workers, or a share of the current ones: 0.5, 50%.",
)
@click.option("--slower", type=float, default=1.0, metavar="FACTOR", help="Multiply run durations by this factor.")
@click.option(
    "--duration", type=length, metavar="DURATION", help="Run duration of schedules without history (default: 10s)."
)
@click.option(
    "--limit", type=click.IntRange(0, MAX_ROWS), default=20, show_default=True, help="Number of schedules to list."
)
@click.option(
    "--svg",
    metavar="FILE",
    shell_complete=file_names,
    help="Also write an hourly chart to FILE; - prints it instead of the text.",
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
    """Forecast the coming days, optionally with an outage or fewer workers."""
    if alone and not files:
        raise click.UsageError("--alone requires -f.", click.get_current_context())
    if svg == STDOUT and settings.as_json:
        raise click.UsageError("--svg - and --json cannot be combined.", click.get_current_context())
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
                outages=sorted(_outage(reader, outage) for outage in outages),
                more=more,
                slots=slots,
                workers=number,
                share=share,
                slower=slower,
            )
            with bar(settings, "simulating", _MANY) as counted:
                comparison = await client.forecasts.simulate(
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
            return comparison, now

    comparison, _ = run_async(work(), settings)
    if svg == STDOUT:
        click.echo(_chart(comparison), nl=False)
        return
    if svg is not None:
        _draw(svg, comparison)
    tz = settings.tz or "UTC"
    print_result(settings, lambda: encode(comparison), lambda screen: _show(screen, comparison, tz, document, alone))
    if svg is not None:
        warn(f"chart written to {svg}.")


def _has_store(settings: GlobalOptions) -> bool:
    """Return True if a store or server is given, or if the default store exists."""
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
    """Parse a number of workers, or a share of the current ones."""
    if given is None:
        return None, None
    hint = "Write a number such as 3, or a share such as 0.5 or 50%."
    try:
        if given.isascii() and given.isdigit():
            return int(given), None
        share = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        raise InvalidError(
            f"workers: {given[:60]!r} is neither a number nor a share.", field="workers", hint=hint
        ) from None
    return None, share


def _outage(reader: InstantParser, given: str) -> tuple[int, int]:
    """Parse INSTANT/DURATION to the first and the last second."""
    at, slash, long = given.rpartition("/")
    if not slash:
        raise InvalidError(
            f"outage: {given[:60]!r} has no duration.",
            field="outage",
            hint='Write, for example, "2026-11-17 02:00/2h" or "in 3h/30m".',
        )
    begin = to_seconds(reader(at, "outage", ahead=True).at)
    return begin, begin + seconds(long.strip(), "outage", minimum=1)


def _chart(comparison: ForecastComparison) -> str:
    from tickbird.domain.forecast.chart import forecast_chart

    return forecast_chart(comparison, "Forecast")


def _draw(path: str, comparison: ForecastComparison) -> None:
    try:
        Path(path).write_text(_chart(comparison), encoding="utf-8")
    except OSError as error:
        raise Failed(f"the file {path} cannot be written ({error.strerror}).", hint="Choose another file.") from None


# Text output


def _show(screen: Printer, comparison: ForecastComparison, tz: str, document: Document | None, alone: bool) -> None:
    base, changed = comparison.baseline, comparison.changed
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
            ("QUEUE", "SLOTS", "RUNS", "PEAK SLOTS", "PEAK AT", "MAX LATENESS"),
            [
                (
                    queue.name,
                    "any" if queue.slots is None else f"{queue.slots:,}",
                    f"{queue.runs:,}",
                    f"{queue.peak:,}",
                    clock(to_datetime(queue.peak_at), tz) if queue.peak else "",
                    _late(queue.worst_lateness),
                )
                for queue in last.queues
            ],
        )
    _show_schedules(screen, last)
    _show_moves(screen, last, tz)


def _show_basis(screen: Printer, base: Forecast) -> None:
    """Print the assumptions of the forecast."""
    if base.without_history:
        have = "has" if base.without_history == 1 else "have"
        screen.line(
            f"{base.without_history:,} of them {have} no successful run yet: "
            f"{duration_text(base.assumed)} per run assumed (--duration)."
        )
    if base.slots is None:
        screen.line("There is no live worker: unlimited slots assumed (set them with --slots or --workers).")
    else:
        screen.line(f"{count(base.workers, 'worker')} with {count(base.slots, 'slot')}.")
    if base.paused:
        screen.line(f"{base.paused:,} more {'is' if base.paused == 1 else 'are'} paused.")
    for name, reason in [*base.ignored.items()][:5]:
        screen.line(Cell(f"! {name} is ignored: {reason}. Its ticks are not in this forecast.", "yellow"))
    if len(base.ignored) > 5:
        screen.line(Cell(f"! {len(base.ignored) - 5:,} more are ignored. See `tickbird doctor`.", "yellow"))
    if base.unserved:
        named = ", ".join(base.unserved[:5]) + (", …" if len(base.unserved) > 5 else "")
        text = (
            f"! No live worker serves some schedules in queue {named}: their runs never start. See `tickbird doctor`."
        )
        screen.line(Cell(text, "yellow"))


def _numbers(forecast: Forecast, tz: str) -> dict[str, str]:
    slots = "any" if forecast.slots is None else f"{forecast.slots:,}"
    peak = f" · {clock(to_datetime(forecast.peak_at), tz)}" if forecast.peak else ""
    line = f" · {clock(to_datetime(forecast.max_queued_at), tz)}" if forecast.max_queued else ""
    worst = "" if forecast.latest is None else f" · {forecast.latest[0]}, {clock(to_datetime(forecast.latest[1]), tz)}"
    hour = forecast.busiest_hour
    return {
        "ticks": f"{forecast.ticks:,}",
        "runs": f"{forecast.runs:,}",
        "overlaps": f"{forecast.overlaps:,}",
        **{f"skipped, {reason}": f"{number:,}" for reason, number in forecast.skips.items()},
        **{f"cancelled, {reason}": f"{number:,}" for reason, number in forecast.cancelled.items()},
        "restarted": f"{forecast.lost:,}" if forecast.lost else "",
        "held": f"{forecast.held:,}" if forecast.held else "",
        "busiest hour": f"{hour.ticks:,} ticks · {clock(to_datetime(hour.at), tz)}" if hour and hour.ticks else "none",
        "peak busy slots": f"{forecast.peak:,} of {slots}{peak}",
        "max queued runs": f"{forecast.max_queued:,}{line}",
        "lateness p50": _late(forecast.lateness["p50"]) or "on time",
        "lateness p99": _late(forecast.lateness["p99"]) or "on time",
        "max lateness": f"{_late(forecast.lateness['max'])}{worst}" if forecast.latest else "on time",
        "not started at the end": f"{forecast.left_over:,}" if forecast.left_over else "",
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
        ("", "CURRENT", "WHAT IF"),
        [(name, old, Cell(new, "bold" if old != new else "")) for name, old, new in rows],
    )


def _show_hours(screen: Printer, forecast: Forecast, tz: str) -> None:
    """Print ticks hour by hour, one line per day, at most 14 days."""
    if not forecast.ticks:
        return
    maximum = max(hour.ticks for hour in forecast.hours)
    days: dict[str, list[str]] = {}
    for hour in forecast.hours:
        at = clock(to_datetime(hour.at), tz)
        days.setdefault(at[:10], [" "] * 24)[int(at[11:13])] = _BARS[-(-8 * hour.ticks // maximum) if hour.ticks else 0]
    screen.title(f"Ticks by hour, 00 to 23 ({tz}); █ is {maximum:,}")
    shown = list(days.items())[:14]
    for day, bars in shown:
        screen.line(f"  {day}  {''.join(bars)}".rstrip())
    if len(days) > len(shown):
        screen.line(f"  … and {count(len(days) - len(shown), 'more day')}. --json and --svg have all.")


def _show_schedules(screen: Printer, forecast: Forecast) -> None:
    if not forecast.rows:
        return
    screen.title("Schedules, most affected first")
    rows: Iterable[Sequence[str]] = (
        (
            row.name,
            f"{row.runs:,}",
            _reasons(row.skips),
            f"{row.cancelled:,}" if row.cancelled else "",
            _late(row.worst_lateness),
            f"{_late(row.duration)}{'' if row.has_history else ' (assumed)'}",
        )
        for row in forecast.rows
    )
    screen.table(("SCHEDULE", "RUNS", "SKIPPED", "CANCELLED", "MAX LATENESS", "RUN DURATION"), rows)
    if forecast.schedules > len(forecast.rows):
        screen.line(f"{len(forecast.rows):,} of {forecast.schedules:,} listed. Use --limit for more.")


def _show_moves(screen: Printer, forecast: Forecast, tz: str) -> None:
    if forecast.busiest:
        screen.title("Busiest minutes")
        for at, ticks in forecast.busiest[:5]:
            screen.line(f"  {clock(to_datetime(at), tz)}  {count(ticks, 'tick')}")
    if forecast.suggestions:
        screen.title("Quieter minutes")
        for move in forecast.suggestions:
            screen.line(
                f"  move {move.schedule} from :{move.minute:02} to :{move.to_minute:02} "
                f"({move.before} → {move.after}): "
                f"at most {move.left:,} other ticks in that minute, instead of {move.crowd:,}"
            )


def _reasons(skips: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in skips.items())


def _late(length_: float) -> str:
    return duration_text(length_) if length_ else ""
