"""The `leader` command."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, Text, clock, print_result, relative
from tickbird.cli.params import note_option
from tickbird.domain.leadership import Leader, LeaderTerm, end_text
from tickbird.wire.codec import encode

_HEADS = ("TERM", "WORKER", "HOST", "FROM", "TO", "RUNS", "SKIPS", "ENDED")


@click.command(cls=Command)
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="Maximum number of terms.")
@click.option("--resign", is_flag=True, help="End the current term, so that another worker takes over.")
@click.option(
    "--term", type=click.IntRange(1), metavar="N", help="With --resign: the expected term; exit with 4 if it changed."
)
@note_option
@actor_option
@click.pass_obj
def leader(settings: GlobalOptions, limit: int, resign: bool, term: int | None, note: str, actor: str) -> None:
    """Show the leader of workers in leader mode, and the history of its terms.

    In leader mode, one worker plans all schedules. Another one takes over if there is no heartbeat for the timeout, and
    at once after a resignation.
    """
    if not resign and (term is not None or note):
        raise click.UsageError("--term and --note require --resign.", click.get_current_context())

    async def work() -> tuple[LeaderTerm | None, Leader]:
        async with connect(settings) as client:
            ended = await client.leadership.resign(term=term, note=note, actor=actor) if resign else None
            return ended, await client.leadership.get(limit=limit)

    ended, found = run_async(work(), settings)

    def show(screen: Printer) -> None:
        if ended is not None:
            screen.line(f"Term {ended.term} of {ended.worker} has ended. Another worker in leader mode takes over.")
            screen.line()
        screen.line(_headline(found))
        if found.terms:
            screen.line()
            screen.table(_HEADS, (_row(item) for item in found.terms))

    document = {**encode(found), "is_live": found.is_live}
    print_result(settings, lambda: document if ended is None else {**document, "ended": encode(ended)}, show)


def _headline(found: Leader) -> Text:
    lease = found.lease
    if lease is None:
        return Cell("There is no leader.", "yellow" if found.terms else "")
    seen = relative(lease.heartbeat_at, found.now)
    if not found.is_live:
        return Cell(f"There is no leader: the last heartbeat of term {lease.term} ({lease.worker}) was {seen}.", "red")
    return f"{lease.worker} is the leader in term {lease.term}, last heartbeat {seen}."


def _row(term: LeaderTerm) -> Sequence[Text]:
    to = "" if term.ended_at is None else clock(term.ended_at)
    return (
        str(term.term),
        term.worker,
        term.host,
        clock(term.began_at),
        to,
        f"{term.runs:,}",
        f"{term.skips:,}",
        end_text(term),
    )
