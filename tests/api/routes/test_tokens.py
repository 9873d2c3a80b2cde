"""Tokens over HTTP, and the audit of what is done with them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.access.tokens import TokenRecord, parse_token
from tickbird.domain.ledger.activity import AuditEntry

PATH = "/api/v1/tokens"


async def make(api: Api, *namespaces: str, **body: Any) -> Any:
    """A token made over HTTP by an admin of these namespaces."""
    sent = {"name": "ci", "role": "viewer", **body}
    answer = await api.ask("POST", PATH, "admin", *namespaces, json=sent)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_a_token_is_made_used_listed_and_revoked(api: Api) -> None:
    made = await make(api, role="operator", expires_at="2099-01-01T00:00:00Z")
    assert set(made) == {*keys(TokenRecord), "token"}
    assert (made["namespaces"], made["role"], made["expires_at"]) == (["default"], "operator", "2099-01-01T00:00:00Z")
    assert made["created_by"].startswith("admin (token ")
    text = made.pop("token")
    assert (await api.ask("GET", "/api/v1/schedules", token=text)).status_code == 200
    found = await api.get("/tokens", params={"live": True})
    assert made["id"] in [each["id"] for each in found["items"]]
    assert set(found["items"][0]) == keys(TokenRecord)
    secret = (parse_token(text) or ("", ""))[1]
    assert secret not in str(found)
    answer = await api.ask("DELETE", f"{PATH}/{made['id']}", "admin")
    assert (answer.status_code, answer.json()["state"]) == (200, "revoked")
    # At once, since this server knows.
    refused(await api.ask("GET", "/api/v1/schedules", token=text), 401, "unauthorized")
    assert made["id"] not in str((await api.get("/tokens", params={"live": True}))["items"])
    again = await api.ask("DELETE", f"{PATH}/{made['id']}", "admin")
    assert again.json() == answer.json()


async def test_an_admin_keeps_to_the_namespaces_of_the_own_token(api: Api) -> None:
    mine = await make(api, "a", "b")
    assert mine["namespaces"] == ["a", "b"]
    assert (await make(api, "a", "b", namespaces=["b"]))["namespaces"] == ["b"]
    for wrong in ({"namespaces": ["a", "c"]}, {"all_namespaces": True}):
        answer = await api.ask("POST", PATH, "admin", "a", "b", json={"name": "ci", "role": "viewer", **wrong})
        assert "Choose from a, b" in refused(answer, 403, "closed-namespace")
    wide = await make(api, "*", namespaces=["b", "c"])
    every = await make(api, "*", all_namespaces=True)
    assert every["namespaces"] is None
    listed = [each["id"] for each in (await api.get("/tokens", "admin", "a", "b"))["items"]]
    assert mine["id"] in listed
    assert not {wide["id"], every["id"]} & {*listed}
    for other in (wide, every):
        answer = await api.ask("DELETE", f"{PATH}/{other['id']}", "admin", "a", "b")
        unknown = await api.ask("DELETE", f"{PATH}/zzzzzzzz", "admin", "a", "b")
        words = refused(answer, 404, "not-found").replace(other["id"], "zzzzzzzz")
        assert words == refused(unknown, 404, "not-found")
    assert {each["state"] for each in (await api.get("/tokens", "admin", "*"))["items"]} == {"live"}


async def test_tokens_come_in_pages(memory: Api) -> None:
    for _ in range(4):
        await make(memory)
    seen, key = [], None
    for _ in range(3):
        found = await memory.get("/tokens", params={"limit": 2, **({"after": key} if key else {})})
        seen += [each["id"] for each in found["items"]]
        key = found["next"]
    # With that of the admin.
    assert (len(seen), len({*seen}), key) == (5, 5, None)


@pytest.mark.parametrize(
    "body, field",
    [
        ({"role": "root"}, "role"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": None}, "name"),
        ({"namespaces": []}, "namespaces"),
        ({"namespaces": ["a b"]}, "namespace"),
        ({"namespaces": "default"}, "namespaces"),
        ({"namespaces": None}, "namespaces"),
        ({"namespaces": ["a"], "all_namespaces": True}, "namespaces"),
        ({"expires_at": "2000-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "2099-01-01T00:00:00"}, "expires_at"),
        ({"secret": "mine"}, "secret"),
    ],
)
async def test_bad_input_makes_no_token(memory: Api, body: dict[str, Any], field: str) -> None:
    sent = {"name": "ci", "role": "viewer", "namespaces": ["default"], **body}
    answer = await memory.ask("POST", PATH, "admin", "*", json=sent)
    words = refused(answer, 422, "invalid")
    assert answer.json()["field"] == field, words
    assert len((await memory.get("/tokens", "admin", "*"))["items"]) == 1


async def test_the_audit_tells_who_did_what_by_namespace(api: Api) -> None:
    await api.create("digest")
    await api.create("digest", "elsewhere")
    await api.ask("POST", "/api/v1/schedules/digest/pause", "operator", json={"note": "upgrade"})
    made = await make(api)
    found = await api.get("/audit", "viewer")
    assert set(found["items"][0]) == keys(AuditEntry)
    told = [(each["action"], each["actor"].partition(" (token ")[0]) for each in found["items"]]
    # The viewer's own token was made last.
    assert told[1:3] == [("create_token", "admin"), ("create_token", "ada")]
    assert ("pause", "operator") in told
    assert made["token"] not in str(found)
    only = await api.get("/audit", params={"schedule": "digest"})
    assert [(each["action"], each["schedule"]) for each in only["items"]] == [("pause", "digest"), ("create", "digest")]
    first = await api.get("/audit", params={"limit": 2})
    rest = await api.get("/audit", params={"limit": 1_000, "after": first["next"]})
    everything = await api.get("/audit")
    assert first["items"] + rest["items"] == everything["items"]
    assert len((await api.get("/audit?namespace=elsewhere", "viewer", "*"))["items"]) == 1
    answer = await api.ask("GET", "/api/v1/audit", params={"schedule": "a\0"})
    refused(answer, 422, "invalid")
