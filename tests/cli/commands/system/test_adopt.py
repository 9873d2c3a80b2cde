"""The command `adopt`, and the marks of schedules in memory in lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tickbird.client import Client

APP = """
from tickbird import Tickbird, every

bird = Tickbird("sqlite:///light.db", app="shop")


@bird.task(schedule=every(hours=1), durable=False)
def light() -> None: ...


@bird.task(schedule=every(hours=2))
def kept() -> None: ...
"""


def test_adopt_asks_for_confirmation_and_names_the_rest(bare: Cli) -> None:
    bare.write("light", APP)
    bare.ok("sync", "light:bird")
    listed = bare.ok("ls", "--url", "sqlite:///light.db")
    assert "active in memory" in listed.out
    said = bare("adopt", "light:bird")
    assert (said.code, "Confirm with --yes" in said.err) == (2, True)
    assert "light  168        168" in said.out
    assert "kept" not in said.out
    assert "deprecated: 1 schedule still in memory: light." in said.err
    adopted = bare.ok("adopt", "light:bird", "--yes")
    assert "light: durable" in adopted.out
    assert "in memory" not in bare.ok("ls", "--url", "sqlite:///light.db").out
    again = bare.ok("adopt", "light:bird", "--yes", "--json").json
    assert (again["adopted"], again["in_memory"]) == ([], [])
    # A deploy does not undo it; unsetting the override does.
    bare.ok("sync", "light:bird")
    assert "in memory" not in bare.ok("ls", "--url", "sqlite:///light.db").out
    bare.ok("set", "light", "--unset", "durable", "--url", "sqlite:///light.db")
    assert "active in memory" in bare.ok("ls", "--url", "sqlite:///light.db").out


def test_adopt_refuses_a_wrong_share_and_a_missing_schedule(bare: Cli) -> None:
    bare.write("lighter", APP.replace("light.db", "lighter.db"))
    bare.ok("sync", "lighter:bird")
    assert "is not a share" in bare.refused(2, "adopt", "lighter:bird", "--share", "much")
    assert "more than 0%" in bare.refused(2, "adopt", "lighter:bird", "--share", "0%")
    assert "declares no schedule 'missing'" in bare.refused(3, "adopt", "lighter:bird", "--only", "missing")


def test_watch_undoes_the_adoption_after_a_problem(bare: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write("canary", APP.replace("light.db", "canary.db"))
    bare.ok("sync", "canary:bird")

    async def watch(client: Client, names: Any, seconds: float) -> Mapping[str, str]:
        assert (list(names), seconds) == (["light"], 86_400)
        assert not (await client.schedules.get("light")).in_memory
        return {"light": "late: the tick 2026-01-01T00:10:00Z was planned at 2026-01-01T00:20:00Z"}

    monkeypatch.setattr("tickbird.cli.commands.system.adopt.watch", watch)
    undone = bare("adopt", "canary:bird", "--watch", "24h", "--yes")
    assert undone.code == 1
    assert "light: late: the tick" in undone.out
    assert "The adoption of 1 schedule was undone." in undone.out
    assert "active in memory" in bare.ok("ls", "--url", "sqlite:///canary.db").out
