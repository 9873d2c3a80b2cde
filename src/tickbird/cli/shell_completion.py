"""Shell completion of names and ids, read from the store or server of the command line or the environment."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from tickbird.client import Client

# Seconds. TICKBIRD_COMPLETION_SECONDS overrides the default.
_TIMEOUT = 2.0
_MAX_TIMEOUT = 60.0
_MAX_COUNT = 1_000
_NEWEST = 30
# Names or ids with a short description, which some shells show.
Completions = Iterable[tuple[str, str]]
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _from_store(read: Callable[[Client, click.Context, str], Awaitable[Completions]]) -> Complete:
    """Complete names from the store within a timeout; return nothing on any error."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        import asyncio
        import logging

        from tickbird.cli.connection import connect
        from tickbird.cli.options import GlobalOptions

        async def read_names() -> Completions:
            async with (
                asyncio.timeout(_timeout()),
                connect(ctx.find_object(GlobalOptions) or GlobalOptions()) as client,
            ):
                return await read(client, ctx, incomplete)

        before = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        try:
            with redirect_stderr(StringIO()):
                names = asyncio.run(read_names())
        except Exception:  # noqa: BLE001 - a shell that completes must not be disturbed
            return []
        finally:
            logging.disable(before)
        return [CompletionItem(name, help=about or None) for name, about in names if name.startswith(incomplete)]

    return complete


def file_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete file names."""
    return [CompletionItem(incomplete, type="file")]


def _timeout() -> float:
    given = os.environ.get("TICKBIRD_COMPLETION_SECONDS", "")
    return min(float(given), _MAX_TIMEOUT) if given.isascii() and given.isdigit() else _TIMEOUT


async def _schedules(client: Client, _: click.Context, incomplete: str) -> Completions:
    rows = await client.schedules.list(contains=incomplete, limit=_MAX_COUNT)
    return [(row.schedule.name, row.schedule.state) for row in rows]


async def _tags(client: Client, _: click.Context, __: str) -> Completions:
    definitions = [row.schedule.definition for row in await client.schedules.list(limit=_MAX_COUNT)]
    tags = {tag for definition in definitions if definition is not None for tag in definition.tags}
    return [(tag, "") for tag in sorted(tags)]


async def _queues(client: Client, _: click.Context, __: str) -> Completions:
    return [(queue.name, "") for queue in await client.queues.list()]


async def _calendars(client: Client, _: click.Context, __: str) -> Completions:
    return [(calendar.name, "") for calendar in await client.calendars.list()]


async def _keys(client: Client, _: click.Context, __: str) -> Completions:
    return [(limit.key, "") for limit in await client.limits.list()]


async def _runs(client: Client, _: click.Context, __: str) -> Completions:
    return [
        (str(run.id), f"{run.schedule or run.target.name} {run.status}")
        for run in await client.runs.list(limit=_NEWEST)
    ]


async def _backfills(client: Client, _: click.Context, __: str) -> Completions:
    return [(str(backfill.id), backfill.schedule) for backfill in await client.backfills.list(limit=_NEWEST)]


async def _groups(client: Client, _: click.Context, __: str) -> Completions:
    return [(group.name, group.state) for group in await client.consumers.list()]


async def _letters(client: Client, _: click.Context, __: str) -> Completions:
    return [
        (str(letter.id), f"{letter.group} {letter.state}") for letter in await client.dead_letters.list(limit=_NEWEST)
    ]


async def _tokens(client: Client, _: click.Context, __: str) -> Completions:
    return [(token.id, token.name) for token in await client.tokens.list(live=True, limit=_MAX_COUNT)]


async def _workers(client: Client, _: click.Context, __: str) -> Completions:
    return [(worker.id, worker.app or "") for worker in await client.workers.list()]


async def _revisions(client: Client, ctx: click.Context, _: str) -> Completions:
    # While an option lacks its value, click has not assigned the arguments yet.
    name = ctx.params.get("name") or ctx.args[0]
    records = await client.revisions.list(name, limit=_NEWEST)
    return [(str(record.revision), f"{record.action} by {record.actor}") for record in records]


schedule_names = _from_store(_schedules)
tag_names = _from_store(_tags)
queue_names = _from_store(_queues)
calendar_names = _from_store(_calendars)
key_names = _from_store(_keys)
run_ids = _from_store(_runs)
backfill_ids = _from_store(_backfills)
group_names = _from_store(_groups)
letter_ids = _from_store(_letters)
token_ids = _from_store(_tokens)
worker_ids = _from_store(_workers)
revision_numbers = _from_store(_revisions)
