"""Commands about concurrency keys: list their limits, set one, remove one."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Printer, print_result
from tickbird.cli.params import storable_text
from tickbird.cli.shell_completion import key_names
from tickbird.domain.limits.concurrency import MAX_LIMIT, ConcurrencyLimit
from tickbird.wire.codec import encode


@click.command(cls=Command)
@click.pass_obj
def limits(settings: GlobalOptions) -> None:
    """List concurrency keys with limits, active runs and waiting runs."""

    async def read() -> Sequence[ConcurrencyLimit]:
        async with connect(settings) as client:
            return await client.limits.list()

    records = run_async(read(), settings)

    def show(screen: Printer) -> None:
        if not records:
            screen.line('No concurrency keys are in use. Set one on a schedule: concurrency_key="warehouse".')
            return
        heads = ("KEY", "LIMIT", "ACTIVE", "WAITING")
        screen.table(
            heads, ((record.key, _limit_text(record), str(record.active), str(record.waiting)) for record in records)
        )

    print_result(settings, lambda: {"limits": [encode(record) for record in records]}, show)


@click.command(cls=Command)
@click.argument("action", type=click.Choice(["set", "rm"]))
@click.argument("key", type=storable_text, shell_complete=key_names)
@click.argument("maximum", type=click.IntRange(1, MAX_LIMIT), metavar="[N]", required=False)
@actor_option
@click.pass_obj
def limit(settings: GlobalOptions, action: str, key: str, maximum: int | None, actor: str) -> None:
    """Set or remove the concurrency limit of a key."""
    if (action == "set") != (maximum is not None):
        raise click.UsageError("write `limit set KEY N` or `limit rm KEY`.")

    async def change() -> ConcurrencyLimit:
        async with connect(settings) as client:
            if maximum is None:
                return await client.limits.remove(key, actor=actor)
            return await client.limits.set(key, maximum, actor=actor)

    _print(settings, run_async(change(), settings))


def _print(settings: GlobalOptions, changed: ConcurrencyLimit) -> None:
    text = f"{changed.key}: limit {_limit_text(changed)}; {changed.active} active, {changed.waiting} waiting."
    print_result(settings, lambda: encode(changed), lambda screen: screen.line(text))


def _limit_text(limit: ConcurrencyLimit) -> str:
    return f"{limit.max_running}" if limit.is_explicit else f"{limit.max_running} (default)"
