"""The API inside another app: FastAPI, Starlette and Django, under any path, closed without a token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from tickbird import InvalidError, Tickbird

Asgi = Callable[..., Any]


@pytest.fixture
async def bird(tmp_path: Path) -> AsyncIterator[Tickbird]:
    bird = Tickbird(f"sqlite:///{tmp_path}/t.db", app="shop")
    yield bird
    await bird.aclose()


def _own(_: Any) -> Any:
    return PlainTextResponse("own")


def in_fastapi(bird: Tickbird) -> Asgi:
    app: Asgi = FastAPI(routes=[Route("/own", _own), Mount("/tickbird", bird.api())])
    return app


def in_starlette(bird: Tickbird) -> Asgi:
    inner = Starlette(routes=[Mount("/tickbird", bird.api())])
    app: Asgi = Starlette(routes=[Route("/own", _own), Mount("/deep", inner)])
    return app


def in_django(bird: Tickbird) -> Asgi:
    import django
    from django.conf import settings
    from django.core.asgi import get_asgi_application
    from django.http import HttpResponse
    from django.urls import path

    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=(), SECRET_KEY="x", INSTALLED_APPS=[], USE_TZ=True)
        django.setup()

    async def own(_: Any) -> Any:
        return HttpResponse("own")

    urls = type("urls", (), {"urlpatterns": [path("own", own)]})
    settings.ROOT_URLCONF = urls
    app: Asgi = bird.api(under="/tickbird", otherwise=get_asgi_application())
    return app


PLACES = {"fastapi": (in_fastapi, ""), "starlette": (in_starlette, "/deep"), "django": (in_django, "")}


async def ask(app: Asgi, path: str, token: str = "", **request: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop.test") as http:
        return await http.request(request.pop("method", "GET"), path, headers=headers, **request)


@pytest.mark.parametrize("framework", sorted(PLACES))
async def test_the_api_under_a_path_needs_a_token(bird: Tickbird, framework: str) -> None:
    make, prefix = PLACES[framework]
    app, root = make(bird), f"{prefix}/tickbird"
    assert "own" in (await ask(app, "/own")).text
    # Closed by default, and the store is opened by itself.
    answer = await ask(app, f"{root}/api/v1/schedules")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert (await ask(app, f"{root}/healthz")).json() == {"status": "ok"}
    _, token = await (await bird.client()).tokens.create("ci", "editor", actor="ada")
    new = {"name": "digest", "definition": {"trigger": {"every": {"hours": 1}}, "target": {"task": "report"}}}
    made = await ask(app, f"{root}/api/v1/schedules", token, method="POST", json=new)
    assert made.status_code == 201, made.text
    listed = await ask(app, f"{root}/api/v1/schedules", token)
    assert [each["name"] for each in listed.json()["items"]] == ["digest"]
    document = (await ask(app, f"{root}/api/v1/openapi.json", token)).json()
    assert document["servers"] == [{"url": root}]
    assert "/api/v1/schedules" in document["paths"]
    missing = await ask(app, f"{root}/api/v1/nothing", token)
    assert (missing.status_code, missing.json()["code"]) == (404, "no-such-path")
    # It survives a close of the store, for example by the app's own lifespan.
    await bird.aclose()
    assert (await ask(app, f"{root}/api/v1/schedules", token)).status_code == 200


async def test_alone_it_lives_with_its_server(bird: Tickbird) -> None:
    app, sent = bird.api(), []
    messages = iter(({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}))

    async def receive() -> Any:
        message = next(messages)
        if message["type"] == "lifespan.shutdown":
            assert (await ask(app, "/healthz")).status_code == 200
            assert (await ask(app, "/readyz")).status_code == 200
        return message

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await app({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert len(bird._clients) == 0


@pytest.mark.parametrize(
    "options", [{"under": "tickbird"}, {"under": "/x/"}, {"under": "/x"}, {"otherwise": print}, {"under": "x"}]
)
def test_an_invalid_mount_is_refused(bird: Tickbird, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidError, match="under"):
        bird.api(**options)
