"""What stands before the routes: size, depth, kind, pace and patience; on one store, since none of it is a store's."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import httpx
import pytest
import uvicorn

from tests.api.conftest import Api, refused
from tickbird.api.auth.auth import Authority, Caller
from tickbird.api.middleware.guard import RequestGuard, RequestLimits, _check_json
from tickbird.api.middleware.rate_limiter import RateLimiter
from tickbird.api.middleware.slow_clients import HeaderTimeoutProtocol
from tickbird.api.problems import Problem
from tickbird.client import StoreClient
from tickbird.domain.errors import TickbirdError
from tickbird.store.sqlite import SqliteStore

PATH = "/api/v1/schedules"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(":memory:")
    await store.open()
    yield store
    await store.close()


def limited(store: SqliteStore, **limits: Any) -> Api:
    """The API with other limits."""
    return Api(store, RequestLimits(**limits))


async def test_a_body_has_a_largest_size(store: SqliteStore) -> None:
    api = limited(store, body=1_000)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b" " * 100

    for content in (b" " * 1_001, pieces()):
        answer = await api.ask("PATCH", PATH, content=content, headers=JSON)
        assert "larger than 1,000 bytes" in refused(answer, 413, "too-large")
    answer = await api.ask("GET", PATH, headers={"Content-Length": "1" * 30})
    refused(answer, 413, "too-large")


@pytest.mark.parametrize("kind", ["[", '{"a":', '[{"a":'])
async def test_a_body_has_a_largest_depth(api: Api, kind: str) -> None:
    answer = await api.ask("PATCH", PATH, content=kind * 50_000, headers=JSON)
    assert "nested more than 64 levels" in refused(answer, 400, "too-deep")


async def test_a_depth_is_counted_level_by_level(api: Api) -> None:
    for deep, status in ((32, 405), (33, 400)):
        content = '[{"a":' * deep + "1" + "}]" * deep
        assert (await api.ask("PATCH", PATH, content=content, headers=JSON)).status_code == status


@pytest.mark.parametrize("content", ["{}," * 400_000, '"",' * 400_000, '{"a":1},' * 100_001, "1," * 100_001])
async def test_a_body_has_so_many_values_at_most(api: Api, content: str) -> None:
    answer = await api.ask("PATCH", PATH, content=f"[{content}0]", headers=JSON)
    assert "more than 100,000 values" in refused(answer, 413, "too-large")


def test_a_text_that_does_not_end_is_looked_at_once() -> None:
    # Once a scan begins anew at each of its quotes, this takes a day.
    for end in (b"", b"\\", b"\\\\"):
        with pytest.raises(Problem, match="deep"):
            _check_json(b"[" * 65 + b'"' + b'\\"' * 900_000 + end, RequestLimits(values=10**6))


async def test_a_request_says_its_length_in_one_way(api: Api) -> None:
    answer = await api.ask(
        "PATCH", PATH, content=b"{}", headers={**JSON, "Transfer-Encoding": "chunked", "Content-Length": "2"}
    )
    assert "both Content-Length and Transfer-Encoding" in refused(answer, 400, "malformed")
    assert answer.headers["connection"] == "close"


async def test_brackets_within_texts_are_no_depth(api: Api) -> None:
    texts = json.dumps({"a": "[" * 1_000, "b": '"[{\\' * 100, "c": [[1]] * 100})
    answer = await api.ask("PATCH", PATH, content=texts, headers=JSON)
    refused(answer, 405, "no-such-method")


@pytest.mark.parametrize(
    "content, headers, status, code",
    [
        (b"{}", {}, 415, "not-json"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "not-json"),
        (b"a=1", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "not-json"),
        (b"{}", {"Content-Type": "application/json; charset=latin-1"}, 415, "not-json"),
        (b"{}", {**JSON, "Content-Encoding": "gzip"}, 415, "not-json"),
        (b'{"a": "\xff"}', JSON, 400, "malformed"),
        ('{"a": 1}'.encode("utf-16-le"), JSON, 400, "malformed"),
        (b'{"a": "\0"}', JSON, 400, "malformed"),
    ],
)
async def test_a_body_is_json_in_utf8(
    api: Api, content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    refused(await api.ask("POST", PATH, content=content, headers=headers), status, code)


async def test_nothing_is_read_of_those_without_a_token(api: Api) -> None:
    async def endless() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    refused(await api.plain("POST", PATH, content=endless(), headers=JSON), 401, "unauthorized")


async def test_a_token_may_ask_only_so_often(store: SqliteStore) -> None:
    api = limited(store, per_second=0.001, burst=3)
    for _ in range(3):
        assert (await api.ask("GET", PATH, "viewer")).status_code == 200
    answer = await api.ask("GET", PATH, "viewer")
    assert "too many requests with this token" in refused(answer, 429, "too-many")
    assert 900 < int(answer.headers["retry-after"]) <= 1_000
    # Others go on, and so does what is open.
    assert (await api.ask("GET", PATH, "editor")).status_code == 200
    assert (await api.plain("GET", "/healthz")).status_code == 200


async def test_an_address_may_try_only_so_many_tokens(store: SqliteStore) -> None:
    api = limited(store, lookups_per_second=0.001, lookups_burst=4)
    good = await api.token("viewer")
    assert (await api.ask("GET", PATH, token=good)).status_code == 200
    for letter in "abc":
        refused(await api.ask("GET", PATH, token=f"tbk_{letter * 8}_{'a' * 43}"), 401, "unauthorized")
    refused(await api.ask("GET", PATH, token=f"tbk_dddddddd_{'a' * 43}"), 429, "too-many")
    # What costs no look-up is not counted.
    refused(await api.ask("GET", PATH, token="tbk_"), 401, "unauthorized")
    assert (await api.ask("GET", PATH, token=good)).status_code == 200


def test_a_pace_is_even_in_the_long_run() -> None:
    now = [0.0]
    pace = RateLimiter(2, 4, lambda: now[0])
    assert [pace.take("a") for _ in range(4)] == [0] * 4
    assert pace.take("a") == pytest.approx(0.5)
    assert pace.take("b") == 0
    now[0] = 0.5
    assert pace.take("a") == 0
    assert pace.take("a") == pytest.approx(0.5)
    now[0] = 100.0
    assert sum(pace.take("a") == 0 for _ in range(10)) == 4
    for number in range(10_100):
        now[0] += 1
        pace.take(str(number))
    assert len(pace._arrivals) <= 10_000


async def call(guard: Any, messages: list[Any], token: str, method: str = "POST") -> list[Any]:
    """What a guard answers to such a request; after its messages, the client is silent."""
    sent: list[Any] = []

    async def receive() -> Any:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": PATH, "root_path": "", "headers": headers}
    await guard(scope, receive, send)
    return sent


def part(body: bytes, more: bool = True) -> dict[str, Any]:
    """A piece of a body."""
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_body_that_does_not_come_to_its_end_is_given_up(api: Api) -> None:
    async def never(*_: Any) -> None:
        raise AssertionError("a half-sent body came through")

    guard = RequestGuard(never, api.app.state.authority, RequestLimits(body_within=0.05, answer_within=0.05))
    token = await api.token("editor")
    # Known already, since the time to look it up would count.
    await api.app.state.authority.caller(f"Bearer {token}")
    start, body = await call(guard, [part(b"{")], token)
    assert start["status"] == 408
    assert json.loads(body["body"])["code"] == "slow"
    assert await call(guard, [part(b"{"), {"type": "http.disconnect"}], token) == []


async def test_an_answer_that_does_not_begin_in_time_is_given_up(api: Api) -> None:
    async def hang(*_: Any) -> None:
        await asyncio.Event().wait()

    async def drip(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.03)
        await send({"type": "http.response.body", "body": b"late"})

    token, limits = await api.token("editor"), RequestLimits(answer_within=0.01)
    authority = api.app.state.authority
    await authority.caller(f"Bearer {token}")
    start, body = await call(RequestGuard(hang, authority, limits), [part(b"", False)], token)
    assert (start["status"], json.loads(body["body"])["code"]) == (503, "busy")
    # One that has begun takes as long as it takes.
    start, body = await call(RequestGuard(drip, authority, limits), [part(b"", False)], token)
    assert (start["status"], body["body"]) == (200, b"late")


async def test_what_is_unexpected_tells_nothing(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise KeyError("the secret of the house")

    await api.token("viewer")
    monkeypatch.setattr(type(api.store.schedules), "list", fail)
    answer = await api.ask("GET", PATH, "viewer")
    assert "secret" not in refused(answer, 500, "unexpected")
    assert "the secret of the house" in caplog.text

    async def told(*_: Any, **__: Any) -> Any:
        raise TickbirdError("it went wrong;", hint="do this.")

    monkeypatch.setattr(type(api.store.schedules), "list", told)
    assert refused(await api.ask("GET", PATH, "viewer"), 500, "unexpected") == "it went wrong; do this."


async def test_a_path_or_method_that_is_not_there(api: Api) -> None:
    assert "openapi.json" in refused(await api.ask("GET", "/api/v1/nothing"), 404, "no-such-path")
    answer = await api.ask("DELETE", PATH)
    refused(answer, 405, "no-such-method")
    assert "GET" in answer.headers["allow"]
    refused(await api.ask("GET", "/api/v1/schedules/"), 404, "no-such-path")


async def test_answers_are_not_kept_by_anybody_in_between(api: Api) -> None:
    for answer in (await api.ask("GET", PATH), await api.plain("GET", PATH), await api.plain("GET", "/healthz")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "said", [b"", b"GET /healthz HTTP/1.1\r\nX: a\r\n", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /"]
)
async def test_a_connection_that_does_not_say_what_it_wants_is_let_go_of(api: Api, said: bytes) -> None:
    at_once: list[int] = []

    class Quick(HeaderTimeoutProtocol):
        head_within = 1.0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            connected = transport.get_extra_info("socket")
            at_once.append(connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(api.app, http=Quick, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    # The signals are pytest's.
    server.capture_signals = nullcontext
    serving = asyncio.create_task(server.serve([listening]))
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    writer.write(said)
    async with asyncio.timeout(60):
        answer = await reader.read()
    assert answer.count(b"HTTP/1.1 200 OK") == said.count(b"\r\n\r\n")
    # No answer waits for the one before it to be acknowledged.
    assert [bool(each) for each in at_once] == [True]
    writer.close()
    server.should_exit = True
    await serving


async def test_an_answer_that_comes_as_patience_ends_is_a_problem() -> None:
    """Whoever is interrupted may answer all the same, an instant too late: that is told as any other delay."""

    class Known(Authority):
        async def caller(self, authorization: str | None) -> Caller:
            return Caller("abcdefgh", "ana", "viewer", None)

        def remembers(self, authorization: str | None) -> bool:
            return True

    async def interrupted(scope: Any, receive: Any, send: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"late"})

    guard = RequestGuard(interrupted, Known(StoreClient(SqliteStore(":memory:"))), RequestLimits(answer_within=0.01))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url="http://tickbird.test") as http:
        answer = await http.get("/api/v1/schedules")
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
