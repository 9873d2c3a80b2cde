"""Every route, found by enumeration: the role it names, that it is closed, and that it is described."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute

from tests.api.conftest import Api, refused
from tickbird.api.auth.auth import is_namespaced, role_of
from tickbird.api.middleware.guard import BASIC, OPEN
from tickbird.domain.access.tokens import ROLES, allows
from tickbird.store.sqlite import SqliteStore

# POST for their bodies alone: they change nothing.
LOOKING = ("/preview", "/simulate", "/diff")


@pytest.fixture
async def store() -> Any:
    """One store will do: nothing here depends on which it is."""
    store = SqliteStore(":memory:")
    await store.open()
    yield store
    await store.close()


def routes(api: Api) -> Iterator[tuple[str, str, APIRoute]]:
    """Method, path with something in its places, and route."""
    found = list(walk(api.app.routes))
    assert len(found) > 3
    for route in found:
        for method in sorted(route.methods - {"HEAD"}):
            yield method, re.sub(r"\{[^}]*\}", "1", route.path), route


def walk(found: Any) -> Iterator[APIRoute]:
    """The routes of an app, those of its routers included."""
    for each in found:
        if isinstance(each, APIRoute):
            yield each
        else:
            raise AssertionError(f"{each!r} is no route that this test knows how to look at")


async def test_every_route_names_its_role(api: Api) -> None:
    for method, path, route in routes(api):
        role = role_of(route)
        assert (role in ROLES) or path in OPEN, f"{method} {path} names no role"
        assert role is None or path not in OPEN
        # What changes something needs more than to look.
        assert role is None or method == "GET" or allows(role, "operator") or path.endswith(LOOKING)


async def test_every_route_refuses_without_a_token(api: Api) -> None:
    made, text = await api.client().tokens.create("gone", "admin", actor="ada")
    await api.client().tokens.revoke(made.id, actor="ada")
    password = base64.b64encode(f"ana:{await api.token()}".encode()).decode()
    wrong = ("Bearer tbk_aaaaaaaa_" + "a" * 43, f"Bearer {text}", f"Basic {text}", text, "Bearer", "")
    sentences = set()
    for method, path, _ in routes(api):
        if path in OPEN:
            continue
        # Only where it is meant to be is a password looked at.
        passwords = () if path in BASIC else (f"Basic {password}",)
        for headers in ({}, *({"Authorization": each} for each in (*wrong, *passwords))):
            answer = await api.plain(method, path, headers=headers)
            sentences.add(refused(answer, 401, "unauthorized"))
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert ("Basic" in answer.headers["www-authenticate"]) == (path in BASIC)
    # Nothing tells what is wrong with a token, nor whether there is such a path.
    sentences.add(refused(await api.plain("GET", "/api/v1/nothing"), 401, "unauthorized"))
    assert len(sentences) == 1
    assert {(method, path) for method, path, _ in routes(api) if path in BASIC} == {("GET", each) for each in BASIC}


async def test_every_route_refuses_a_lower_role_and_another_namespace(api: Api) -> None:
    for method, path, route in routes(api):
        role = role_of(route)
        if role is None:
            continue
        for lower in ROLES[: ROLES.index(role)]:
            said = refused(await api.ask(method, path, lower, json={}), 403, "forbidden")
            assert f"needs the role {role}, but the token '{lower}' has the role {lower}" in said
        if is_namespaced(route):
            elsewhere = {"namespace": "elsewhere"}
            refused(await api.ask(method, path, role, json={}, params=elsewhere), 403, "closed-namespace")


async def test_every_namespaced_route_asks_which_one(api: Api) -> None:
    for method, path, route in routes(api):
        if role_of(route) is None or not is_namespaced(route):
            continue
        answer = await api.ask(method, path, "admin", "a", "b", json={})
        assert "Add `?namespace=NAME`" in refused(answer, 400, "no-namespace")
        assert answer.json()["field"] == "namespace"


async def test_a_request_that_names_no_namespace_is_about_the_default_one(api: Api) -> None:
    """With each token that opens it, so that the first request of the docs works with the first token."""
    await api.create("ours")
    await api.create("theirs", "a")
    for namespaces in (("*",), ("a", "default"), ("default",)):
        [found] = (await api.get("/schedules", "viewer", *namespaces))["items"]
        assert found["name"] == "ours"
    [found] = (await api.get("/schedules", "viewer", "a"))["items"]
    assert found["name"] == "theirs"


def _query(route: APIRoute) -> Iterator[Any]:
    for each in route.dependant.dependencies:
        yield from each.query_params


async def test_every_route_is_described(api: Api) -> None:
    document = await api.get("/openapi.json", "viewer")
    assert document["info"]["title"] == "Tickbird"
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(method, route.path_format) for method, _, route in routes(api)}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"]
            assert operation["description"]
            assert "default" in operation["responses"], (path, method)
            assert ("security" in operation) == (path not in OPEN)
    ids = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert len(ids) == len(set(ids))
    schemas = document["components"]["schemas"]
    assert set(schemas["Problem"]["properties"]) == {"type", "title", "status", "code", "detail", "field", "hint"}
    assert "HTTPValidationError" not in str(document)
