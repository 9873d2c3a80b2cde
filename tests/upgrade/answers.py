"""The output of reading commands about a store, with the code on the path: `python -m … URL`."""

from __future__ import annotations

import json
import sys
from typing import Any

from click.testing import CliRunner

from tickbird.cli import root


def answer(url: str, *words: str) -> Any:
    """The document of a command."""
    result = CliRunner().invoke(root, [*words, "--json"], env={"TICKBIRD_URL": url, "TICKBIRD_APP": None})
    # A verification with findings has another exit code; a difference would show.
    return {"code": result.exit_code, "said": json.loads(result.stdout) if result.stdout else result.stderr}


def answers(url: str) -> dict[str, Any]:
    """All reading commands and their documents."""
    found: dict[str, Any] = {"ls": answer(url, "ls", "--limit", "1000")}
    names = [schedule["name"] for schedule in found["ls"]["said"]["schedules"]]
    found["runs"] = answer(url, "runs", "--count", "1000")
    kinds = {(run["status"], run["origin"]): run for run in found["runs"]["said"]["runs"]}
    for run in kinds.values():
        found[f"run {run['id']}"] = answer(url, "runs", str(run["id"]))
        if run["scheduled_for"] is not None:
            found[f"why {run['id']}"] = answer(url, "why", run["schedule"], run["scheduled_for"])
    for name in names:
        found[f"show {name}"] = answer(url, "show", name)
        found[f"verify {name}"] = answer(url, "verify", name, "--to", "2026-01-13Z")
    for command in ("held", "limits", "calendar ls", "backfills"):
        found[command] = answer(url, *command.split())
    return found


if __name__ == "__main__":
    json.dump(answers(sys.argv[1]), sys.stdout)
