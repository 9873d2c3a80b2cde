"""The lab's checker detects violations seen by clients: edits, payloads and final runs, one damaged at a time."""

from __future__ import annotations

from pathlib import Path

from lab.faults import judge
from tests.proof.past import FIRST_RUN, Past
from tests.proof.past import past as past


async def broken(past: Past) -> set[str]:
    """The promises that are broken."""
    verdict = await judge(past.url, past.folder, past.since, past.until)
    return {violation.promise for violation in verdict.violations}


async def test_an_unspoiled_past_is_clean(past: Past) -> None:
    verdict = await judge(past.url, past.folder, past.since, past.until, calm=(past.since, past.until))
    assert verdict.violations == []
    assert verdict.unsupported == []
    assert verdict.expected == verdict.run + sum(verdict.skipped.values())


async def test_the_checks_of_the_proof(past: Past, tmp_path: Path) -> None:
    spoiled = past.copy(tmp_path / "spoiled")
    spoiled.execute(f"DELETE FROM runs WHERE id = {FIRST_RUN}")
    assert {"I1", "I3"} <= await broken(spoiled)


async def test_a_payload_of_another_revision(past: Past, tmp_path: Path) -> None:
    edited = past.copy(tmp_path / "edited")
    edited.execute("UPDATE revisions SET definition = replace(definition, 'edition\":7', 'edition\":8')")
    assert "I17" in await broken(edited)
    executed = past.copy(tmp_path / "executed")
    executed.rewrite("began", detail={"edition": 8})
    assert "I17" in await broken(executed)


async def test_a_revision_that_is_used_after_an_edit(past: Past, tmp_path: Path) -> None:
    edited = past.copy(tmp_path / "edited")
    edited.write("acknowledged", detail={"schedule": "clock", "revision": 2})
    assert "I15" in await broken(edited)
    stale = past.copy(tmp_path / "stale")
    stale.write("stale edit accepted", detail={"schedule": "clock", "revision": 1})
    assert "I15" in await broken(stale)


async def test_a_final_run_that_changed(past: Past, tmp_path: Path) -> None:
    changed = past.copy(tmp_path / "changed")
    changed.write("final", detail={"run_id": changed.first_run(), "state": ["failed", 1, 0, 0, 0.0]})
    assert "I6" in await broken(changed)
