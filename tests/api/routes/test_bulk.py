"""One change to many schedules over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.errors import ConflictError, CountChangedError, InvalidError, StoreUnavailableError
from tickbird.domain.planning.bulk import BulkResult, check_count
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.planning.commands.pause import Resume, removed_from_code
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.schedules import ScheduleStore

PATH = "/api/v1/bulk"


async def many(api: Api) -> None:
    """Five schedules, of which three are tagged and one of those is paused; and one elsewhere."""
    for name in ("mail-a", "mail-b", "mail-c"):
        await api.create(name, tags=["mail"])
    for name in ("other", "mail-less"):
        await api.create(name)
    await api.create("mail-a", "elsewhere", tags=["mail"])
    await api.client().schedules.pause("mail-c", actor="bo", note="before")


async def bulk(api: Api, verb: str, expected: int, role: Any = "operator", **sent: Any) -> Any:
    """The answer to a change of many."""
    body = {name: sent.pop(name) for name in ("note", "until", "cancel_runs") if name in sent}
    return await api.ask("POST", f"{PATH}/{verb}", role, json={"filter": sent, "expected": expected, **body})


async def states(api: Api, namespace: str = "default") -> dict[str, str]:
    """The state of each schedule."""
    return {row.schedule.name: row.schedule.state for row in await api.client(namespace).schedules.list()}


async def test_those_that_match_are_paused_and_told_apart(api: Api) -> None:
    await many(api)
    answer = await bulk(api, "pause", 3, tag="mail", note="upgrade", until="2099-01-01T00:00:00Z")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert set(found) == keys(BulkResult)
    assert found == {
        "verb": "pause",
        "matched": 3,
        "changed": ["mail-a", "mail-b"],
        "not_changed": [{"schedule": "mail-c", "why": "is already paused by bo"}],
        "runs": {},
    }
    paused = await api.get("/schedules/mail-a")
    assert (paused["paused"]["note"], paused["paused"]["until"]) == ("upgrade", "2099-01-01T00:00:00Z")
    assert (await api.get("/schedules/mail-c"))["paused"]["note"] == "before"
    assert await states(api, "elsewhere") == {"mail-a": "active"}
    audit = [(each["action"], each["schedule"]) for each in (await api.get("/audit"))["items"]]
    assert sorted(each for each in audit if each[0] == "pause") == [
        ("pause", "mail-a"),
        ("pause", "mail-b"),
        ("pause", "mail-c"),
    ]
    resumed = (await bulk(api, "resume", 4, contains="mail", note="done")).json()
    assert (resumed["matched"], resumed["changed"]) == (4, ["mail-a", "mail-b", "mail-c"])
    assert resumed["not_changed"] == [{"schedule": "mail-less", "why": "is active, not paused"}]
    assert set((await states(api)).values()) == {"active"}


async def test_those_that_match_are_triggered(api: Api) -> None:
    await many(api)
    found = (await bulk(api, "trigger", 2, contains="mail", state="active", tag="mail")).json()
    assert (found["changed"], found["not_changed"]) == (["mail-a", "mail-b"], [])
    runs = {run.schedule: run.id for run in await api.client().runs.list()}
    assert found["runs"] == runs
    assert found["runs"].keys() == {"mail-a", "mail-b"}
    both = (await bulk(api, "trigger", 1, contains="mail-c")).json()
    assert both["changed"] == ["mail-c"]


async def test_a_count_that_changed_is_refused_and_nothing_is_changed(api: Api) -> None:
    await many(api)
    before = await states(api)
    for verb in ("pause", "resume", "trigger"):
        for expected in (2, 4, 0, 2**31 - 1):
            words = refused(await bulk(api, verb, expected, tag="mail"), 409, "count-changed")
            assert words.startswith(f"3 schedules match, not {expected:,}: the difference is more than 10 %")
        none = (await bulk(api, verb, 0, tag="nothing")).json()
        assert (none["matched"], none["changed"], none["not_changed"]) == (0, [], [])
    assert await states(api) == before
    assert await api.client().runs.list() == []


@pytest.mark.parametrize(
    "expected, found, fits",
    [
        (0, 0, True),
        (0, 1, False),
        (1, 1, True),
        (1, 2, False),
        (9, 10, False),
        (9, 8, False),
        (10, 11, True),
        (10, 9, True),
        (10, 12, False),
        (19, 21, False),
        (20, 22, True),
        (20, 23, False),
        (1_000, 900, True),
        (1_000, 899, False),
        (None, 77, True),
    ],
)
def test_a_tenth_of_what_was_expected_is_what_it_may_be_off(expected: int | None, found: int, fits: bool) -> None:
    if fits:
        check_count(expected, found)
    else:
        with pytest.raises(CountChangedError):
            check_count(expected, found)


async def test_so_many_are_not_changed_at_once(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("tickbird.client.bulk.MAX_COUNT", "tickbird.domain.planning.bulk.MAX_COUNT"):
        monkeypatch.setattr(place, 4)
    await many(memory)
    answer = await bulk(memory, "pause", 5)
    assert "Narrow it by contains, tag or state" in refused(answer, 422, "invalid")
    assert answer.json()["field"] == "filter"
    refused(await bulk(memory, "pause", 50), 409, "count-changed")
    assert list((await states(memory)).values()).count("paused") == 1
    assert (await bulk(memory, "pause", 4, contains="mail")).json()["matched"] == 4


async def test_what_the_code_no_longer_has_is_not_resumed_with_the_others(memory: Api) -> None:
    await many(memory)
    definition = Definition(trigger=every(hours=1), target=Target("report"), tags=("mail",))
    create = Create(actor="sync", namespace="default", definition=definition, app="shop", fingerprint="f")
    await memory.store.schedules.change("default", "gone", create)
    await memory.store.schedules.change("default", "gone", removed_from_code())
    found = (await bulk(memory, "resume", 2, state="paused")).json()
    assert (found["changed"], [each["schedule"] for each in found["not_changed"]]) == (["mail-c"], ["gone"])
    assert "resume it by its name" in found["not_changed"][0]["why"]
    await memory.store.schedules.change("default", "gone", Resume(actor="ana", note=""))


async def test_what_changes_after_it_was_read_is_left_alone(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await many(memory)
    read = type(memory.store.schedules).list

    async def slowly(*args: Any, **more: Any) -> Any:
        rows = await read(*args, **more)
        await memory.client().schedules.update("mail-b", actor="cy", retries=3)
        return rows

    monkeypatch.setattr(type(memory.store.schedules), "list", slowly)
    found = (await bulk(memory, "pause", 2, tag="mail", state="active")).json()
    assert (found["changed"], [each["schedule"] for each in found["not_changed"]]) == (["mail-a"], ["mail-b"])
    assert "is at revision 2, not 1: it has changed" in found["not_changed"][0]["why"]


async def test_what_is_refused_is_left_and_what_the_store_fails_is_told(
    memory: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await many(memory)
    change = type(memory.store.schedules).change

    async def unlucky(schedules: ScheduleStore, namespace: str, name: str, command: Any, **more: Any) -> Any:
        if name == "mail-b":
            raise ConflictError("schedule 'mail-b' is at revision 2, not 1: it has changed.")
        if name == "other":
            raise StoreUnavailableError("the database at 10.0.0.7 does not answer;")
        return await change(schedules, namespace, name, command, **more)

    monkeypatch.setattr(type(memory.store.schedules), "change", unlucky)
    monkeypatch.setattr("tickbird.client.bulk._MAX_PARALLEL", 1)
    await memory.client().schedules.list()
    found = (await bulk(memory, "trigger", 5)).json()
    assert found["changed"] == ["mail-a", "mail-c", "mail-less"]
    assert {each["schedule"]: each["why"] for each in found["not_changed"]} == {
        "mail-b": "schedule 'mail-b' is at revision 2, not 1: it has changed.",
        "other": "the store did not respond: the change may or may not have been made",
    }
    refused(await bulk(memory, "trigger", 1, contains="other"), 503, "store-unavailable")


@pytest.mark.parametrize(
    "body, field",
    [
        ({}, "filter"),
        ({"filter": {}}, "expected"),
        ({"filter": {}, "expected": -1}, "expected"),
        ({"filter": {}, "expected": 2**31}, "expected"),
        ({"filter": {}, "expected": "all"}, "expected"),
        ({"filter": {"name": "x"}, "expected": 1}, "filter.name"),
        ({"filter": {"state": "deleted"}, "expected": 1}, "filter.state"),
        ({"filter": {"state": "asleep"}, "expected": 1}, "filter.state"),
        ({"filter": {"contains": "x" * 201}, "expected": 1}, "filter.contains"),
        ({"filter": {"contains": "\0"}, "expected": 1}, "filter.contains"),
        ({"filter": {"tag": "\0"}, "expected": 1}, "filter.tag"),
        ({"filter": "all", "expected": 1}, "filter"),
        ({"filter": {}, "expected": 5, "more": 1}, "more"),
    ],
)
async def test_bad_input_changes_nothing(memory: Api, body: Any, field: str) -> None:
    await memory.create("digest")
    for verb in ("pause", "resume", "trigger"):
        answer = await memory.ask("POST", f"{PATH}/{verb}", "operator", json=body)
        words = refused(answer, 422, "invalid")
        assert answer.json()["field"] == field, words
    assert await states(memory) == {"digest": "active"}
    assert await memory.client().runs.list() == []


async def test_an_instant_that_is_past_or_an_actor_that_is_none(memory: Api) -> None:
    await many(memory)
    answer = await bulk(memory, "pause", 3, tag="mail", until="2020-01-01T00:00:00Z")
    assert "until: 2020-01-01T00:00:00+00:00 is in the past" in refused(answer, 422, "invalid")
    refused(await bulk(memory, "pause", 3, tag="mail", until="soon"), 422, "invalid")
    for wrong in ({"actor": ""}, {"actor": "ana", "expected": True}, {"actor": "ana", "state": "deleted"}):
        with pytest.raises(InvalidError):
            await memory.client().schedules.pause_all(**wrong)
