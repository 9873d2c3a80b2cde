"""A server that is not there, is another, answers late or not at all; and what is asked for is done once."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from operator import attrgetter
from typing import Any

import httpx
import pytest

from tests.client.http.conftest import URL, Both
from tickbird.client.http import HttpClient, Transport
from tickbird.client.http import transport as transports
from tickbird.domain.errors import InvalidError, StoreError, StoreUnavailableError, TickbirdError

TOKEN = "tbk_aaaaaaaa_" + "a" * 43


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries follow each other without a pause."""
    monkeypatch.setattr(transports, "_RETRY_DELAYS", (0.0, 0.0))


async def told(client: HttpClient, verb: str = "schedules.list", *args: Any, **options: Any) -> TickbirdError:
    """The error that must come of it."""
    with pytest.raises(TickbirdError) as caught:
        await attrgetter(verb)(client)(*args, **options)
    await client._transport.close()
    return caught.value


class Unsteady:
    """A wire that fails some times, before or after the server has done what it was asked for."""

    async def aclose(self) -> None:
        """Nothing is open."""

    def __init__(self, inner: Any, before: int = 0, after: int = 0, error: type[Exception] = httpx.ReadError) -> None:
        self.inner, self.before, self.after, self.error = inner, before, after, error
        self.asked: list[Any] = []

    async def handle_async_request(self, request: Any) -> Any:
        """One request, which may get lost."""
        self.asked.append(request)
        if self.before:
            self.before -= 1
            raise httpx.ConnectError("refused")
        answer = await self.inner.handle_async_request(request)
        if self.after:
            self.after -= 1
            raise self.error("lost")
        return answer


async def on(both: Both, wire: Any) -> HttpClient:
    """A client by way of such a wire."""
    return HttpClient(Transport(URL, await both.token(), wire=wire), "default")


@pytest.mark.parametrize("error", [httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError])
async def test_a_lost_answer_is_asked_for_again(both: Both, error: type[Exception]) -> None:
    await both.create("report", overlap="allow")
    wire = Unsteady(both.wire, after=2, error=error)
    client = await on(both, wire)
    run = await client.schedules.trigger("report", actor="x")
    assert [each.id for each in await both.local.runs.list()] == [run.id]
    assert len(wire.asked) == 3
    keys = {each.headers.get("idempotency-key") for each in wire.asked}
    assert len(keys) == 1
    other = await client.schedules.trigger("report", actor="x")
    assert other.id != run.id
    if error is not httpx.ReadTimeout:
        wire.after = 2
        assert (await client.schedules.get("report")).name == "report"
        assert len(wire.asked) == 7


async def test_what_is_asked_twice_is_done_once(both: Both) -> None:
    await both.create("report")
    wire = Unsteady(both.wire, after=2)
    skipped = await (await on(both, wire)).schedules.skip("report", 1, actor="x")
    assert len(wire.asked) == 3
    assert skipped == await both.local.schedules.get("report")
    assert [each.action for each in await both.local.audit.list(schedule="report")] == ["skip", "create"]
    # A token is shown once, and no server keeps its text.
    wire.after = 1
    error = await told(await on(both, wire), "tokens.create", "bot", "viewer", actor="x")
    assert "The change may have been made" in str(error)


async def test_what_may_have_been_done_is_not_repeated(both: Both) -> None:
    await both.create("report")
    wire = Unsteady(both.wire, after=1)
    error = await told(await on(both, wire), "schedules.update", "report", actor="x", retries=1)
    assert isinstance(error, StoreUnavailableError)
    assert "closed the connection (lost). The change may have been made: check before" in str(error)
    assert len(wire.asked) == 1
    assert (await both.local.schedules.get("report")).revision == 2


async def test_what_was_not_sent_is_sent_again(both: Both) -> None:
    await both.create("report")
    wire = Unsteady(both.wire, before=2)
    assert (await (await on(both, wire)).schedules.update("report", actor="x", retries=1)).revision == 2
    assert len(wire.asked) == 3


async def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    client = HttpClient(Transport(URL, TOKEN))
    with pytest.raises(StoreError, match=r"Install it with `pip install 'tickbird\[client\]'`"):
        await client.schedules.list()
    with pytest.raises(StoreError, match="httpx, which is not installed"):
        await anext(client.runs.follow_logs(1))


async def test_no_server_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    error = await told(HttpClient(Transport(f"http://127.0.0.1:{port}", TOKEN)))
    assert isinstance(error, StoreUnavailableError)
    assert str(error).startswith(f"server http://127.0.0.1:{port} cannot be reached (")
    assert str(error).endswith(". Check the URL and that `tickbird server` runs, then try again.")
    assert isinstance(await told(HttpClient(Transport("http://nowhere.invalid", TOKEN))), StoreUnavailableError)


async def test_a_stream_that_breaks_off_goes_on(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.client.http.runs._PAUSE", 0.0)
    await both.create("report")
    run = await both.local.schedules.trigger("report", actor="x")
    await both.local.runs.cancel(run.id, actor="x")
    wire = Unsteady(both.wire, before=1, after=2)
    assert [line async for line in (await on(both, wire)).runs.follow_logs(run.id)] == []
    assert len(wire.asked) == 4
    wire.before = 100
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        await anext((await on(both, wire)).runs.follow_logs(run.id))
    page = answering(200, "text/html", "<html>")
    with pytest.raises(StoreError, match="is not a Tickbird server"):
        await anext((await on(both, page)).runs.follow_logs(run.id))


@asynccontextmanager
async def listening(answer: Callable[[bytes], bytes | None]) -> AsyncIterator[int]:
    """A port that gives one answer to whatever is sent; None leaves it open."""
    open_ones = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = answer(await reader.read(10_000))
        if said is None:
            open_ones.append(writer)
            return
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        for each in open_ones:
            each.close()
        server.close()
        await server.wait_closed()


async def test_no_tls_is_there() -> None:
    async with listening(lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        error = await told(HttpClient(Transport(f"https://127.0.0.1:{port}", TOKEN)))
    assert isinstance(error, StoreError)
    assert f"https://127.0.0.1:{port}: the server does not use TLS" in str(error)
    assert f"Use http://127.0.0.1:{port}" in str(error)


async def test_an_answer_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "_RESPONSE_TIMEOUT", 0.5)
    asked: list[bytes] = []
    async with listening(asked.append) as port:
        error = await told(HttpClient(Transport(f"http://127.0.0.1:{port}", TOKEN)))
        # The server may come to read what was sent only now.
        async with asyncio.timeout(60):
            while not asked:  # noqa: ASYNC110 - filled by the server
                await asyncio.sleep(0.01)
    # A person waits in front of it: once is enough.
    assert len(asked) == 1
    assert isinstance(error, StoreUnavailableError)
    assert "did not respond in time. Check the URL" in str(error)


def answering(status: int, kind: str, body: str, **headers: str) -> Any:
    """A wire with something else at its end."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        sent = [(b"content-type", kind.encode()), *((key.encode(), value.encode()) for key, value in headers.items())]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body.encode()})

    return httpx.ASGITransport(app)


@pytest.mark.parametrize(
    "status, kind, body, headers, said",
    [
        (200, "text/html", "<html>", {}, "is not a Tickbird server: it responded 200 with text/html. Use the URL"),
        (404, "text/html", "<html>", {}, "is not a Tickbird server: it responded 404 with text/html"),
        (200, "application/json", "{", {}, "is not a Tickbird server: it responded 200 with malformed JSON"),
        (200, "application/json", "[]", {}, "cannot read the response"),
        (200, "application/json", '{"items": [{"name": "x"}], "next": null}', {}, "Use the same version of Tickbird"),
        (403, "application/problem+json", "[]", {}, "cannot read the response"),
        (302, "text/html", "", {"location": "https://login.test/"}, "redirects to https://login.test/. Use that"),
        (502, "text/html", "<html>", {}, "cannot be reached through its proxy (502"),
        (503, "text/plain", "busy", {}, "cannot be reached through its proxy (503"),
    ],
)
async def test_something_else_is_there(status: int, kind: str, body: str, headers: Any, said: str) -> None:
    wire = answering(status, kind, body, **headers)
    error = await told(HttpClient(Transport(URL, TOKEN, wire=wire)))
    assert isinstance(error, StoreError)
    assert said in str(error)
    assert TOKEN not in str(error)


async def test_who_comes_too_often_comes_back(both: Both) -> None:
    problem = '{"status": 429, "code": "too-many", "detail": "There are too many;", "hint": "wait."}'
    refusing = answering(429, "application/problem+json", problem, **{"retry-after": "0"})
    asked = []

    class Busy(Unsteady):
        async def handle_async_request(self, request: Any) -> Any:
            asked.append(request)
            wire = refusing if len(asked) < 3 else both.wire
            return await wire.handle_async_request(request)

    await both.create("report")
    assert (await (await on(both, Busy(None))).schedules.pause("report", actor="x")).state == "paused"
    assert len(asked) == 3
    error = await told(HttpClient(Transport(URL, TOKEN, wire=refusing)))
    assert isinstance(error, StoreUnavailableError)
    assert str(error) == "There are too many; wait."


@pytest.mark.parametrize(
    "url, said",
    [
        ("https://ana:secret@host", "the URL contains a user name"),
        ("https://", "is not the URL of a server"),
        ("ftp://host", "is not the URL of a server"),
        ("host:8420", "is not the URL of a server"),
        ("https://host?x=1", "is not the URL of a server"),
        ("https://host:port", "is not a URL"),
        ("https://a b", "is not the URL of a server"),
        (None, "is not the URL of a server"),
    ],
)
def test_an_address_that_is_none(url: Any, said: str) -> None:
    with pytest.raises(InvalidError, match=said) as caught:
        Transport(url, TOKEN)
    assert caught.value.field == "server"
    assert "secret" not in str(caught.value)


def test_addresses_as_people_write_them(caplog: pytest.LogCaptureFixture) -> None:
    for given, meant in (
        ("https://host/", "https://host"),
        ("HTTPS://Host:8420/api/v1", "https://host:8420"),
        ("https://host/tickbird/api/v1/", "https://host/tickbird"),
        ("http://[::1]:8420", "http://[::1]:8420"),
    ):
        assert Transport(given, TOKEN).url == meant
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        Transport("http://tickbird.test", TOKEN)
    assert "plain text" in caplog.text


@pytest.mark.parametrize("token", ["hunter2hunter2", "tbk_short", "Bearer " + TOKEN, 7])
def test_a_token_that_is_none_is_not_shown(token: Any) -> None:
    with pytest.raises(InvalidError, match="is not a Tickbird token") as caught:
        Transport(URL, token)
    assert str(token)[:9] not in str(caught.value)
    assert TOKEN not in repr(Transport(URL, TOKEN))
