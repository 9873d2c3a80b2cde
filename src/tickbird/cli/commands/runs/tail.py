"""The `tail` command: follow the activity of all schedules."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable
from datetime import datetime, timedelta

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import clean, clock, warn
from tickbird.cli.params import storable_text
from tickbird.cli.shell_completion import schedule_names
from tickbird.cli.time_input import InstantParser
from tickbird.client import Client
from tickbird.domain.errors import StoreUnavailableError
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.messages import brief
from tickbird.domain.messages import count as in_numbers
from tickbird.domain.time.durations import duration_text
from tickbird.wire.codec import encode

_POLL = 0.5
_MAX_WAIT = 5.0
# A row committed now may have an earlier timestamp, because its transaction began earlier.
_OVERLAP = timedelta(seconds=30)


@click.command(cls=Command)
@click.option(
    "--schedule",
    type=storable_text,
    metavar="NAME",
    shell_complete=schedule_names,
    help="Only activity of this schedule.",
)
@click.option(
    "--since", type=storable_text, metavar="INSTANT", help='Start with past activity: "-1h", "10m ago" (default: now).'
)
@click.option("--no-follow", is_flag=True, help="Print the activity since --since, and exit.")
@click.pass_obj
def tail(settings: GlobalOptions, schedule: str | None, since: str | None, no_follow: bool) -> None:
    """Follow planned runs, finished runs and skips across schedules.

    Prints one line per change until Ctrl-C. With --json, one object per line: `at`, `kind` (`planned`, `ended`,
    `skipped`), `schedule`, and the `run` or the `skip`.
    """
    if no_follow and since is None:
        raise click.UsageError("--no-follow requires --since.", click.get_current_context())
    run_async(_Tail(settings, schedule).follow(since, no_follow), settings)


class _Tail:
    """Prints each activity once, although the polled ranges overlap."""

    def __init__(self, settings: GlobalOptions, schedule: str | None) -> None:
        self._settings = settings
        self._schedule = schedule
        self._seen: dict[tuple[str, int, datetime | None], datetime] = {}
        self._lost = False

    async def follow(self, since: str | None, no_follow: bool) -> None:
        """Poll until cancelled. After a lost connection, print the missed activity."""
        async with connect(self._settings) as client:
            now = await client.system.now()
            begin = now if since is None else InstantParser(now, self._settings.tz)(since, "since").at
            mark, wait = begin, _POLL
            while True:
                try:
                    mark = await self._poll(client, begin, mark)
                except StoreUnavailableError as error:
                    if no_follow:
                        raise
                    if not self._lost:
                        warn(f"{str(error).rstrip('.')}. Waiting for the store.")
                    self._lost, wait = True, min(2 * wait, _MAX_WAIT)
                else:
                    if self._lost:
                        warn("the store is reachable again.")
                    self._lost, wait = False, _POLL
                if no_follow:
                    return
                await asyncio.sleep(wait)

    async def _poll(self, client: Client, begin: datetime, mark: datetime) -> datetime:
        now = await client.system.now()
        since = max(begin, mark - _OVERLAP)
        listed = await client.activity.list(since, schedule=self._schedule)
        fresh = [item for item in listed if item.key not in self._seen]
        self._print(fresh)
        self._seen |= {item.key: item.at for item in fresh}
        self._seen = {key: at for key, at in self._seen.items() if at >= mark - 2 * _OVERLAP}
        return now

    def _print(self, activity: Iterable[Activity]) -> None:
        tz = self._settings.tz or "UTC"
        for item in activity:
            if self._settings.as_json:
                click.echo(json.dumps(encode(item)))
            else:
                click.echo(clean(f"{clock(item.at, tz)}  {_text(item, tz)}"))
        sys.stdout.flush()


def _text(activity: Activity, tz: str) -> str:
    run, skip = activity.run, activity.skip
    if skip is not None:
        span = clock(skip.first, tz) + (f" to {clock(skip.last, tz)}" if skip.count > 1 else "")
        blocker = f", run {skip.run_id}" if skip.run_id is not None else ""
        by = f", by {skip.actor}" if skip.actor else ""
        return f"{activity.schedule}  skipped {in_numbers(skip.count, 'tick')} ({skip.reason}{blocker}{by}): {span}"
    assert run is not None
    name = f"{run.schedule or f'{run.target.kind} {run.target.name}'}  run {run.id}"
    if activity.kind == "planned":
        of = f" for {clock(run.scheduled_for, tz)}" if run.scheduled_for is not None else ""
        covers = f", covers {run.covers.count:,} ticks" if run.covers else ""
        by = f" by {run.actor}" if run.actor else ""
        return f"{name} planned{of} ({run.origin}{by}{covers})"
    took = "" if run.duration is None else f" after {duration_text(run.duration)}"
    why = brief(run.error) if run.status == "failed" else run.reason if run.status == "cancelled" else ""
    return f"{name} {run.status}{took}" + (f": {why}" if why else "")
