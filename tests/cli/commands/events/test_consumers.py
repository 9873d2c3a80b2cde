"""consumers and dead-letters on the command line."""

from __future__ import annotations

from conformance.events import steps
from conformance.events.steps import GROUP, A, B
from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.store.protocol.store import Store


async def fill(_: Client, store: Store) -> None:
    """A group that has handled the event of B; the first one of A has failed, the second one waits."""
    await steps.declare(store)
    await steps.publish(store, A, B, A)
    await steps.consume(store, fails=lambda event: event.position == 1)


async def publish_two(_: Client, store: Store) -> None:
    await steps.publish(store, B, B)


def test_groups_are_listed_and_shown(cli: Cli) -> None:
    assert "There are no consumer groups." in cli.ok("consumers", "ls").out
    cli.store(fill)
    cli.store(publish_two)
    heads, row = cli.ok("consumers", "ls").out.splitlines()
    assert heads.split() == ["GROUP", "STATE", "TOPICS", "LAG", "BEHIND", "FAILED", "DEFERRED", "DECLARED"]
    assert row.split()[:4] == [GROUP, "active", "orders.*", "2"]
    listed = cli.ok("consumers", "ls", "--json").json["consumers"]
    assert [(group["name"], group["lag"], group["dead_letters"]["failed"]) for group in listed] == [(GROUP, 2, 1)]
    shown = cli.ok("consumers", "show", GROUP).out
    assert "1 failed, 1 deferred" in shown
    assert "PARTITION" in shown
    document = cli.ok("consumers", "show", GROUP, "--json").json
    assert len(document["partitions"]) == 16
    assert "Did you mean billing?" in cli.refused(3, "consumers", "show", "biling")


def test_a_group_is_moved_copied_stopped_and_deleted(cli: Cli) -> None:
    cli.store(fill)
    assert "give either --position or --at" in cli.refused(2, "consumers", "seek", GROUP, "--yes")
    assert "Confirm with --yes" in cli.refused(2, "consumers", "seek", GROUP, "--position", "0")
    said = cli.ok("consumers", "seek", GROUP, "--position", "1", "--yes", "--note", "bad deploy")
    assert said.out == f"{GROUP} continues after position 1: 2 events to read.\n"
    assert "the log ends at position 3" in cli.refused(2, "consumers", "seek", GROUP, "--position", "9", "--yes")
    moved = cli.ok("consumers", "seek", GROUP, "--at", "-1h", "--yes", "--json").json
    assert moved["lag"] == 3
    assert "to read. Delete it afterwards" in cli.ok("consumers", "copy", GROUP, "test", "--at", "-1d").out
    assert "exists already" in cli.refused(4, "consumers", "copy", GROUP, "test", "--position", "0")
    assert f"{GROUP} is stopped." in cli.ok("consumers", "stop", GROUP, "--reason", "wrong invoices").out
    assert "wrong invoices" in cli.ok("consumers", "show", GROUP).out
    assert cli.ok("consumers", "resume", GROUP).out == f"{GROUP} is active: 3 events to read.\n"
    assert "Confirm with --yes" in cli.refused(2, "consumers", "rm", "test")
    assert cli.ok("consumers", "rm", "test", "--yes").out == "test is deleted.\n"
    assert cli.ok("consumers", "rm", GROUP, "--yes", "--json").json == {"deleted": GROUP}
    assert "there is no consumer group" in cli.refused(3, "consumers", "rm", GROUP, "--yes")


def test_letters_are_listed_replayed_and_skipped(cli: Cli) -> None:
    assert cli.ok("dead-letters", "ls").out == "No dead letters match.\n"
    cli.store(fill)
    heads, failed, deferred = cli.ok("dead-letters", "ls").out.splitlines()
    assert heads.split() == ["ID", "GROUP", "STATE", "POSITION", "TOPIC", "KEY", "FAILURES", "SINCE", "ERROR"]
    assert failed.split()[:7] == ["1", GROUP, "failed", "1", "orders.paid", A, "1"]
    assert failed.endswith("no such customer")
    assert deferred.split()[2] == "deferred"
    assert cli.ok("dead-letters", "ls", "--limit", "1").out.endswith("More: --after 1\n")
    listed = cli.ok("dead-letters", "ls", "--state", "deferred", "--json").json["dead_letters"]
    assert [letter["id"] for letter in listed] == [2]
    shown = cli.ok("dead-letters", "show", "1").out
    assert "no such customer" in shown
    assert "tickbird events why" in shown
    assert "give either ID or --group" in cli.refused(2, "dead-letters", "replay")
    assert cli.ok("dead-letters", "replay", "1").out == "1 dead letter will be delivered again.\n"
    assert cli.ok("dead-letters", "replay", "--group", GROUP).out == "0 dead letters will be delivered again.\n"
    assert "Confirm with --yes" in cli.refused(2, "dead-letters", "skip", "1")
    assert cli.ok("dead-letters", "skip", "1", "--yes", "--note", "cancelled").out == "1 dead letter skipped.\n"
    assert "dead letter 1: is skipped" in cli.refused(4, "dead-letters", "skip", "1", "--yes")
    assert "there is no dead letter 9" in cli.refused(3, "dead-letters", "show", "9")


def test_a_repair_is_proposed_and_approved(cli: Cli) -> None:
    cli.store(fill)
    assert cli.ok("dead-letters", "approval").out == "Repairs need no approval.\n"
    assert cli.ok("dead-letters", "approval", "on", "--json").json == {"required": True}
    said = cli.ok("dead-letters", "repair", "1", "--data", '{"total": 10}')
    assert "tickbird dead-letters approve 1" in said.out
    assert "Ask another person." in cli.refused(4, "dead-letters", "approve", "1")
    assert "with the repaired data" in cli.ok("dead-letters", "approve", "1", "--actor", "bo").out
    assert '{"total": 10}' in cli.ok("dead-letters", "show", "1").out
    cli.ok("dead-letters", "approval", "off")
    changed = cli.ok("dead-letters", "repair", "1", "--data", "[]", "--json").json
    assert changed == {"letters": [1], "is_proposed": False}
    assert "data is not JSON" in cli.refused(2, "dead-letters", "repair", "1", "--data", "{")


def test_why_follows_an_event_to_its_groups(cli: Cli) -> None:
    cli.store(fill)
    failed, deferred = cli.ok("dead-letters", "ls", "--json").json["dead_letters"]
    said = cli.ok("events", "why", deferred["event"]["id"]).out
    assert said.startswith("orders.paid is done in 0 of 1 group. billing: deferred.\n")
    assert "waits for dead letter 1, an earlier event of its key" in said
    assert "→ tickbird dead-letters show 1" in said
    document = cli.ok("events", "why", failed["event"]["id"], "--json").json
    assert [(group["verdict"], group["letter_id"]) for group in document["groups"]] == [("failed", 1)]
    assert document["event"]["key"] == A
    assert "there is no event" in cli.refused(3, "events", "why", "x")


def test_doctor_names_a_group_that_retention_has_passed(cli: Cli) -> None:
    async def prune(_: Client, store: Store) -> None:
        await steps.declare(store)
        await steps.publish(store, A, B, A)
        assert await store.events.prune(older_than=3_600, max_events=1) == 2

    cli.store(prune)
    said = cli("doctor", "--json")
    assert said.code == 1
    [bad] = [check for check in said.json["checks"] if check["check"] == "consumers"]
    assert "retention has removed events that it had not read" in bad["text"]
    assert f"tickbird consumers seek {GROUP}" in bad["fix"]


def test_doctor_names_stopped_groups_and_failed_letters(cli: Cli) -> None:
    cli.store(fill)
    cli.ok("consumers", "stop", GROUP)
    said = cli("doctor", "--json")
    assert said.code == 1
    bad = {check["check"]: check["fix"] for check in said.json["checks"] if not check["ok"]}
    assert bad["consumers"].startswith(f"tickbird consumers resume {GROUP}")
    assert bad["dead letters"].startswith(f"tickbird dead-letters ls --group {GROUP}")
