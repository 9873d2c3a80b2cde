"""One way to connect, to a store and to a server; with an event loop and without one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.client.http.servers import make_token, serving
from tickbird import Tickbird, every
from tickbird.client.http import HttpClient
from tickbird.domain.errors import AccessError, InvalidError, PayloadError, StoreError


@pytest.fixture
async def url(tmp_path: Path) -> str:
    """A store."""
    return f"sqlite:///{tmp_path}/birds.db"


@pytest.fixture
async def token(url: str) -> str:
    """A token of one namespace."""
    return await make_token(url, "editor", "shop")


@pytest.fixture
def server(url: str, token: str) -> Iterator[str]:
    """A server on the store."""
    with serving(url) as address:
        yield address


async def test_a_server_and_a_store_are_connected_to_alike(
    url: str, server: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Tickbird.connect(server, token=token) as client:
        assert isinstance(client, HttpClient)
        await client.schedules.create("report", every(hours=1), "report", actor="x", unknown_task_ok=True)
    async with Tickbird.connect(url, namespace="shop") as client:
        assert not isinstance(client, HttpClient)
        assert (await client.schedules.get("report")).namespace == "shop"
    monkeypatch.setenv("TICKBIRD_SERVER", server)
    monkeypatch.setenv("TICKBIRD_TOKEN", token)
    bird = Tickbird.connect()
    assert await bird.client() is await bird.client()
    assert [row.schedule.name for row in await (await bird.client()).schedules.list()] == ["report"]
    await bird.aclose()
    assert token not in repr(vars(await bird.client()))
    await bird.aclose()
    async with Tickbird.connect(namespace="default") as client:
        with pytest.raises(AccessError, match="has no access to 'default'"):
            await client.schedules.list()
    # An app's own store is not a server's business.
    assert Tickbird().url == "sqlite:///tickbird.db"


def test_code_without_an_event_loop(server: str, token: str) -> None:
    with Tickbird.connect(server, token=token) as client:
        client.schedules.create("report", every(hours=1), "report", actor="x", unknown_task_ok=True)
        run = client.schedules.trigger("report", actor="x")
        client.runs.cancel(run.id, actor="x")
        assert client.runs.wait(run.id).status == "cancelled"
        assert list(client.runs.follow_logs(run.id)) == []
    # Once closed, it connects anew.
    bird = Tickbird.connect(server, token=token)
    assert [each.id for each in bird.sync.runs.list()] == [run.id]
    bird.close()


async def test_an_app_sends_through_a_server(server: str, token: str) -> None:
    bird = Tickbird(server, app="web", token=token)

    @bird.task(queue="mail")
    async def send_mail(to: str, times: int = 1) -> None: ...

    run_id = await send_mail.enqueue(to="ada")
    run = await (await bird.client()).runs.get(run_id)
    # Though no worker publishes the task: it is checked here.
    assert (run.payload, run.queue, run.namespace) == ({"to": "ada"}, "mail", "shop")
    with pytest.raises(PayloadError):
        await send_mail.enqueue(to=7)
    await bird.aclose()
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(StoreError, match="this command needs a direct connection to the store"),
    ):
        bird.enqueue_in(connection, send_mail, {"to": "ada"})


async def test_what_cannot_be_connected_to() -> None:
    with pytest.raises(InvalidError, match="is not the URL of a server"):
        await Tickbird.connect("https://").client()
    with pytest.raises(InvalidError, match="is not a Tickbird token"):
        await Tickbird.connect("https://host", token="x").client()
    with pytest.raises(StoreError, match="nor the URL of a store"):
        await Tickbird.connect("mysql://host").client()
