"""Runs of lost workers: the filter of the list, the page of a run, and the form with the answer."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx

from conformance.steps import a_worker
from tests.web.conftest import Served
from tickbird.domain.runs.lost_runs import ReconcileReport


async def lose(served: Served, effect_error: str | None) -> int:
    """A run whose worker was lost, and whose reconcile function has no answer."""
    client, store = served.client, served.store
    run_id = await client.runs.enqueue("report", crash_limit=-3, actor="ana", unknown_task_ok=True)
    await store.leases.claim(a_worker(), 1, 0.01, queues=["default"], targets=[("task", "report")])
    at = await client.system.now() + timedelta(seconds=1)
    await store.leases.rescue(now=at)
    [call] = await store.lost_runs.claim(a_worker(), ["report"], 1, 60, now=at)
    report = ReconcileReport(run_id=run_id, attempt=1, number=call.number, effect="unknown", error=effect_error)
    assert await store.lost_runs.report(report, now=at)
    return run_id


async def test_a_person_answers(served: Served) -> None:
    run_id = await lose(served, "<b>the bank is closed")
    await served.client.runs.enqueue("other", actor="ana", unknown_task_ok=True)
    async with httpx.AsyncClient(base_url=served.url, timeout=30) as http:
        listed = (await http.get("/runs?status=waiting&undecided=1")).text
        assert f"/runs/{run_id}" in listed
        assert "waits for the answer whether it had its effect" in listed
        assert listed.count("data-row") == 1
        page = (await http.get(f"/runs/{run_id}")).text
        assert "&lt;b&gt;the bank is closed" in page
        assert f"/runs/{run_id}/resolve" in page
        assert f"tickbird resolve {run_id} yes" in page
        form = (await http.get(f"/runs/{run_id}/resolve")).text
        assert "Did run" in form
        csrf = re.findall(r'name="csrf" content="([0-9a-f]+)"', page)[0]
        refused = await http.post(f"/runs/{run_id}/resolve", data={"csrf": csrf, "effect": "perhaps"})
        assert refused.status_code == 422
        sent = {"csrf": csrf, "effect": "yes", "note": "the transfer is there"}
        assert (await http.post(f"/runs/{run_id}/resolve", data=sent)).status_code in (204, 303)
        page = (await http.get(f"/runs/{run_id}")).text
        assert "the transfer is there" in page
        assert (await http.post(f"/runs/{run_id}/resolve", data=sent)).status_code == 409
        assert "and waits for no answer" in (await http.get(f"/runs/{run_id}/resolve")).text
    assert (await served.client.runs.get(run_id)).status == "succeeded"
