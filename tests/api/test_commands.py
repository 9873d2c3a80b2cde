"""Commands over HTTP: admins define them, others may do with them what they may do with any schedule."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import Api, refused

PATH = "/api/v1/schedules"
BACKUP = {
    "trigger": {"cron": "0 3 * * *"},
    "target": {"command": {"program": "/usr/local/bin/backup", "args": ["--full"]}},
}
OTHER = {"target": {"command": ["/bin/rm", "-rf", "/srv"]}}


async def test_only_an_admin_defines_a_command(api: Api) -> None:
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "", {"name": "backup", "definition": BACKUP}),
        ("PUT", "/backup", {"definition": BACKUP}),
    ]
    for method, path, body in requests:
        answer = await api.ask(method, f"{PATH}{path}", "editor", json=body)
        assert "a command needs the role admin, but this token has the role editor" in refused(answer, 403, "forbidden")
        assert answer.json()["field"] == "target"
    made = await api.ask("POST", PATH, "admin", json={"name": "backup", "definition": BACKUP})
    assert made.status_code == 201, made.text
    assert made.json()["schedule"]["definition"] == {"v": 2, **BACKUP}


async def test_an_editor_changes_all_of_it_but_the_command(api: Api) -> None:
    await api.ask("POST", PATH, "admin", json={"name": "backup", "definition": BACKUP})
    others: list[tuple[str, dict[str, Any]]] = [("PATCH", OTHER), ("PUT", {**BACKUP, **OTHER})]
    for method, body in others:
        answer = await api.ask(method, f"{PATH}/backup", "editor", json={"definition": body})
        refused(answer, 403, "forbidden")
    changes: list[tuple[str, dict[str, Any]]] = [
        ("PATCH", {"retries": 2}),
        ("PUT", {"v": 2, **BACKUP, "retries": 3}),
    ]
    for method, body in changes:
        answer = await api.ask(method, f"{PATH}/backup", "editor", json={"definition": body})
        assert answer.status_code == 200, answer.text
    taken = await api.ask("PATCH", f"{PATH}/backup", "editor", json={"definition": {"target": {"task": "digest"}}})
    assert taken.json()["schedule"]["definition"]["v"] == 1


async def test_an_editor_applies_no_command_as_an_override(api: Api) -> None:
    document: dict[str, Any] = {
        "schedules": {"a": {"every": "1h", "task": "x"}},
        "state": {"a": {"overrides": OTHER}},
    }
    answer = await api.ask("POST", "/api/v1/apply", "editor", json={"document": document})
    refused(answer, 403, "forbidden")
    answer = await api.ask("POST", "/api/v1/apply", "admin", json={"document": document})
    assert answer.status_code == 200, answer.text
    document["state"]["a"]["overrides"] = {"target": 7}
    refused(await api.ask("POST", "/api/v1/apply", "editor", json={"document": document}), 422, "invalid")


async def test_what_cannot_be_a_command_is_told(api: Api) -> None:
    body = {**BACKUP, "target": {"command": ["backup"]}}
    answer = await api.ask("POST", PATH, "admin", json={"name": "backup", "definition": body})
    assert "'backup' is not an absolute path" in refused(answer, 422, "invalid")


async def test_a_run_of_it_is_triggered_as_any_and_told_where_nobody_allows_it(api: Api) -> None:
    await api.ask("POST", PATH, "admin", json={"name": "backup", "definition": BACKUP})
    answer = (await api.ask("POST", f"{PATH}/backup/trigger", "operator", json={"payload": {"n": 1}})).json()
    assert answer["run"]["target"] == {"command": "/usr/local/bin/backup"}
    assert answer["warnings"]
