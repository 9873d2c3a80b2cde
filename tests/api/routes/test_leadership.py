"""The leader over HTTP."""

from __future__ import annotations

from conformance.steps import a_worker
from tests.api.conftest import Api, keys, refused
from tickbird.domain.leadership import LeaderTerm

PATH = "/api/v1/leader"
RESIGN = f"{PATH}/resign?namespace=default"


async def test_the_leader_is_read_and_resigns(api: Api) -> None:
    everywhere = await api.token("admin", "*")
    assert (await api.get("/leader", "viewer"))["lease"] is None
    refused(await api.ask("POST", RESIGN, token=everywhere), 404, "not-found")
    await api.store.leadership.elect(a_worker("a"), 600)
    leader = await api.get("/leader", "viewer")
    assert (leader["lease"]["worker"], leader["lease"]["term"]) == ("a", 1)
    assert set(leader["terms"][0]) == keys(LeaderTerm)
    refused(await api.ask("POST", RESIGN, token=everywhere, json={"term": 2}), 409, "conflict")
    response = await api.ask("POST", RESIGN, token=everywhere, json={"term": 1, "note": "slow"})
    assert response.status_code == 200, response.text
    assert response.json()["end_reason"] == "resigned"
    assert (await api.get("/leader", "viewer"))["lease"] is None
    [entry] = [entry for entry in (await api.get("/audit"))["items"] if entry["action"] == "resign_leader"]
    assert entry["detail"] == {"term": 1, "worker": "a", "note": "slow"}


async def test_only_an_admin_of_all_namespaces_ends_a_term(api: Api) -> None:
    await api.store.leadership.elect(a_worker("a"), 600)
    for role in ("viewer", "operator", "editor", "admin"):
        assert (await api.ask("POST", f"{PATH}/resign", role)).status_code == 403
