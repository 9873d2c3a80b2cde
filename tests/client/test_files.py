"""The client's verbs about files: apply, export, and what happens between a plan and its transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import pytest

from tickbird.client import Client, StoreClient
from tickbird.domain.errors import ConflictError, InvalidError, StaleError
from tickbird.domain.planning.changes import ChangeSet, ProgressCallback
from tickbird.domain.triggers.cron.cron import cron
from tickbird.files import DocumentError, read_document
from tickbird.files.document import Document
from tickbird.store.sqlite import SqliteStore


class Busy(SqliteStore):
    """A store in which somebody is quicker, so often."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.quicker = 0
        self._apply_changes = self.bulk_changes.apply
        self.bulk_changes.apply = self.apply_changes  # type: ignore[method-assign]

    async def apply_changes(
        self,
        namespace: str,
        changes: ChangeSet,
        actor: str,
        *,
        counted: ProgressCallback | None = None,
        now: datetime | None = None,
    ) -> None:
        if self.quicker:
            self.quicker -= 1
            await StoreClient(self, namespace).schedules.update("a", priority=self.quicker + 1, actor="ana")
        await self._apply_changes(namespace, changes, actor, counted=counted, now=now)


@pytest.fixture
async def store() -> AsyncIterator[Busy]:
    made = Busy()
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def client(store: Busy) -> Client:
    return StoreClient(store)


def said(**schedules: Any) -> Document:
    return read_document(
        {"schedules": {name: {"every": "1h", "task": "work", **each} for name, each in schedules.items()}}
    )


async def test_a_dry_run_changes_nothing_and_applying_does_what_it_told(client: Client) -> None:
    document = said(a={}, b={"retries": 1})
    told = await client.files.apply(document, actor="me", dry_run=True)
    assert [(change.name, change.kind) for change in told.schedules] == [("a", "create"), ("b", "create")]
    assert await client.schedules.list() == []
    counted: list[tuple[int, int]] = []
    done = await client.files.apply(document, actor="me", progress=lambda *each: counted.append(each))
    assert [change.name for change in done.schedules] == ["a", "b"]
    assert counted == [(1, 2), (2, 2)]
    assert [(row.action, row.actor) for row in await client.audit.list()] == [("create", "me")] * 2
    assert (await client.files.apply(document, actor="me")).is_empty
    assert len(await client.audit.list()) == 2


async def test_who_was_quicker_is_seen_and_the_rest_is_done(client: Client, store: Busy) -> None:
    await client.files.apply(said(a={}), actor="me")
    store.quicker = 2
    await client.files.apply(said(a={"retries": 3}, b={}), actor="me")
    schedule = await client.schedules.get("a")
    # What somebody set meanwhile is heeded.
    assert (schedule.definition_json["retries"], schedule.definition_json["priority"], schedule.field_overrides) == (
        3,
        1,
        {"priority": 1},
    )
    assert (await client.schedules.get("b")).app == "files"
    store.quicker = 9
    with pytest.raises(StaleError):
        await client.files.apply(said(a={"retries": 4}, b={}), actor="me")
    assert (await client.schedules.get("a")).definition_json["retries"] == 3


async def test_an_export_has_what_is_declared_and_not_what_operators_set(client: Client) -> None:
    document = read_document(
        {
            "schedules": {
                "a": {"every": "1h", "task": "x", "retries": 1},
                "b": {"at": "2035-01-01T00:00:00Z", "task": "x"},
            },
            "calendars": {"fest": {"dates": ["12-25"]}},
            "limits": {"k": 3},
            "queues": {"mail": "5/s"},
        }
    )
    await client.files.apply(document, actor="me")
    await client.schedules.update("a", retries=9, calendars=["fest"], actor="ana")
    exported = await client.files.export()
    # A calendar that none of the app's own schedules names is not the app's.
    assert exported.calendars == {}
    assert (exported.schedules, exported.limits, exported.queues) == (
        document.schedules,
        document.limits,
        document.queues,
    )
    assert await client.files.operator_notes(exported) == {
        "a": ["retries = 9: set by an operator", 'calendars = ["fest"]: set by an operator']
    }
    assert (await client.files.apply(exported, actor="me")).is_empty
    assert (await client.files.export(everything=True)).calendars == document.calendars


async def test_an_export_of_nothing_is_an_empty_document(client: Client) -> None:
    assert await client.files.export() == Document()
    assert (await client.files.apply(Document(), actor="me", prune=True)).is_empty


async def test_a_changed_calendar_reaches_schedules_of_others(client: Client) -> None:
    await client.calendars.put("fest", {"dates": ["12-25"]}, actor="ana")
    await client.schedules.create("mine", cron("0 9 * * *"), "x", actor="ana", unknown_task_ok=True, calendars=["fest"])
    plan = await client.files.apply({"calendars": {"fest": {"dates": ["12-26"]}}}, actor="me")
    assert [(change.name, change.kind) for change in plan.schedules] == [("mine", "calendar")]
    schedule = await client.schedules.get("mine")
    assert (schedule.definition_json["closed"], schedule.app, schedule.revision) == ({"fest": ["12-26"]}, None, 2)
    assert (await client.files.apply({"calendars": {"fest": {"dates": ["12-26"]}}}, actor="me")).is_empty


async def test_nothing_is_written_where_anything_is_wrong(client: Client) -> None:
    await client.schedules.create("mine", cron("0 9 * * *"), "x", actor="ana", unknown_task_ok=True)
    with pytest.raises(ConflictError, match="schedule mine: a person already defines it"):
        await client.files.apply(said(a={}, mine={}), actor="me")
    with pytest.raises(DocumentError, match=r"2 errors: .*no schedule 'nothing'.*a person already defines it"):
        await client.files.apply(said(a={"depends_on": {"after": "nothing", "within": "1h"}}, mine={}), actor="me")
    with pytest.raises(DocumentError, match=r"calendar fest: .*'XX' are unknown"):
        await client.files.apply({"calendars": {"fest": {"holidays": {"country": "XX"}}}}, actor="me")
    assert [row.schedule.name for row in await client.schedules.list()] == ["mine"]


async def test_bad_input_is_refused_in_one_sentence(client: Client) -> None:
    with pytest.raises(InvalidError, match="actor"):
        await client.files.apply(said(), actor="")
    with pytest.raises(InvalidError, match="the document is for 'west', but this client uses 'default'"):
        await client.files.apply({"namespace": "west"}, actor="me")
    wrong: Any
    for wrong in (None, [], "schedules"):
        with pytest.raises(InvalidError, match="document must be a Document or an object"):
            await client.files.apply(wrong, actor="me")
    for wrong in ({"schedules": 5}, {"schedule": {}}):
        with pytest.raises(DocumentError):
            await client.files.apply(wrong, actor="me")
