"""The leader on the command line."""

from __future__ import annotations

from conformance.steps import a_worker
from tests.api.conftest import keys
from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.domain.leadership import LeaderLease, LeaderTerm
from tickbird.store.protocol.store import Store


def elect(cli: Cli, name: str, timeout: float = 600) -> None:
    async def work(_: Client, store: Store) -> None:
        assert (await store.leadership.elect(a_worker(name), timeout)).elected

    cli.store(work)


def test_the_leader_and_its_terms_are_shown(cli: Cli) -> None:
    assert cli.ok("leader").out == "There is no leader.\n"
    elect(cli, "web-1")
    shown = cli.ok("leader").out
    assert shown.startswith("web-1 is the leader in term 1, last heartbeat ")
    document = cli.ok("leader", "--json").json
    assert (document["is_live"], document["lease"]["worker"]) == (True, "web-1")
    assert set(document["lease"]) == keys(LeaderLease)
    assert set(document["terms"][0]) == keys(LeaderTerm)


def test_the_leader_resigns(cli: Cli) -> None:
    assert cli.refused(3, "leader", "--resign").startswith("there is no leader. ")
    elect(cli, "web-1")
    assert "the term is 1, not 4." in cli.refused(4, "leader", "--resign", "--term", "4")
    shown = cli.ok("leader", "--resign", "--term", "1", "--note", "slow host").out
    assert shown.startswith("Term 1 of web-1 has ended. Another worker in leader mode takes over.\n")
    assert "resigned (requested by ana: slow host)" in shown
    elect(cli, "web-2")
    document = cli.ok("leader", "--json").json
    assert [(term["term"], term["end_reason"]) for term in document["terms"]] == [(2, None), (1, "resigned")]


def test_options_of_a_resignation_need_it(cli: Cli) -> None:
    assert "require --resign" in cli.refused(2, "leader", "--term", "1")
    assert "require --resign" in cli.refused(2, "leader", "--note", "slow host")


def test_a_leader_without_heartbeat_is_none(cli: Cli) -> None:
    async def work(_: Client, store: Store) -> None:
        from datetime import UTC, datetime

        await store.leadership.elect(a_worker("web-1"), 60, now=datetime(2026, 1, 1, tzinfo=UTC))

    cli.store(work)
    assert "There is no leader: the last heartbeat of term 1 (web-1) was " in cli.ok("leader").out
    assert cli.ok("leader", "--json").json["is_live"] is False
