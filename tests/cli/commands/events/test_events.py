"""events: publish, list and show on the command line."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.store.protocol.store import Store

ID = "00000000-0000-0000-0000-000000000001"


async def stamp(_: Client, store: Store) -> None:
    """As a worker does."""
    await store.events.stamp()


def test_an_event_is_published_listed_and_shown(cli: Cli) -> None:
    assert cli.ok("events", "ls").out == "No events match.\n"
    data = '{"total": 10}'
    said = cli.ok(
        "events", "publish", "orders.paid", "Paid", "--key", "42", "--data", data, "--id", ID, "--header", "a=b"
    )
    assert said.out == f"Published {ID} to orders.paid.\n"
    cli.ok("events", "publish", "stock", "Low")
    cli.store(stamp)
    heads, row = cli.ok("events", "ls", "--topic", "orders.#").out.splitlines()
    assert heads.split() == ["POSITION", "TOPIC", "TYPE", "KEY", "VERSION", "TIME", "ID"]
    assert row.split()[:5] == ["1", "orders.paid", "Paid", "42", "1"]
    listed = cli.ok("events", "ls", "--after", "1", "--json").json["events"]
    assert [event["topic"] for event in listed] == ["stock"]
    [event] = cli.ok("events", "ls", "--limit", "1", "--json").json["events"]
    assert event["resume_token"] == f"{event['incarnation']}:1"
    listed = cli.ok("events", "ls", "--after", event["resume_token"], "--json").json["events"]
    assert [event["topic"] for event in listed] == ["stock"]
    assert len(cli.ok("events", "ls", "--since", "-1h", "--json").json["events"]) == 2
    shown = cli.ok("events", "show", ID, "--json").json
    assert (shown["data"], shown["headers"], shown["version"]) == ({"total": 10}, {"a": "b"}, 1)
    assert '{"total": 10}' in cli.ok("events", "show", ID).out
    assert json.loads(cli.ok("events", "show", ID, "--cloudevents").out)["specversion"] == "1.0"


def test_wrong_events_are_refused(cli: Cli) -> None:
    assert "'a b' is not a topic" in cli.refused(2, "events", "publish", "a b", "A")
    assert "data is not JSON" in cli.refused(2, "events", "publish", "a", "A", "--data", "{")
    assert "'x' has no value" in cli.refused(2, "events", "publish", "a", "A", "--header", "x")
    assert "is not a UUID" in cli.refused(2, "events", "publish", "a", "A", "--id", "5")
    assert "needs a key" in cli.refused(2, "events", "publish", "a", "A", "--expected-version", "0")
    assert "has version 0, not 3" in cli.refused(
        4, "events", "publish", "a", "A", "--key", "k", "--expected-version", "3"
    )
    assert f"there is no event '{ID}'" in cli.refused(3, "events", "show", ID)
    assert "there is no event 'x'" in cli.refused(3, "events", "show", "x")
    assert "'1:x' is not a position" in cli.refused(2, "events", "ls", "--after", "1:x")
    refused = cli.refused(4, "events", "ls", "--after", "1:1")
    assert "Start again from a time or from the beginning" in refused
    assert "the log ends at position 0" in cli.refused(4, "events", "ls", "--after", "5")
    assert "give either --since or --after" in cli.refused(2, "events", "ls", "--after", "0", "--since", "-1h")
    assert "is not a pattern of topics" in cli.refused(2, "events", "ls", "--topic", "a..b")
