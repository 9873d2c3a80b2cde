"""completion: the scripts, and what a real shell completes with them."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.client.http.servers import make_token, serving
from tickbird.client import Client
from tickbird.store.protocol.store import Store

# A machine that has much to do answers late.
PATIENT = {"TICKBIRD_COMPLETION_SECONDS": "60"}


@pytest.fixture
def program(folder: Path) -> Path:
    """A `tickbird` on the path of a shell."""
    place = folder / "bin"
    place.mkdir()
    file = place / "tickbird"
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -m tickbird "$@"\n')
    file.chmod(0o755)
    return place


def offered(cli: Cli, *words: str, **env: str) -> set[str]:
    """What is offered for the last of these words, asked as the script of a shell asks."""
    asked = {"_TICKBIRD_COMPLETE": "bash_complete", "COMP_WORDS": shlex.join(["tickbird", *words])}
    said = cli(**asked, **{"COMP_CWORD": str(len(words)), **PATIENT, **env})
    assert (said.code, said.err) == (0, "")
    return {line.partition(",")[2] for line in said.out.splitlines() if line}


def completed(cli: Cli, program: Path, *words: str) -> set[str]:
    """What bash offers for the last of these words."""
    script = f"""
        eval "$(tickbird completion bash)" || exit 9
        COMP_WORDS=({" ".join(f"'{word}'" for word in ("tickbird", *words))})
        COMP_CWORD={len(words)}
        _tickbird_completion tickbird
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "--norc", "-c", script],
        cwd=cli.folder,
        env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}", "TICKBIRD_URL": cli.url or "", **PATIENT},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_names(shop: Cli, program: Path) -> None:
    assert completed(shop, program, "re") == {"reschedule", "resume", "retry", "release", "revisions", "resolve"}
    assert completed(shop, program, "show", "d") == {"digest"}
    assert "--if-revision" in offered(shop, "set", "--")
    assert offered(shop, "ls", "--state", "pa") == {"paused", "parked"}
    assert offered(shop, "pause", "") == {"digest", "etl"}
    assert "retries=" in offered(shop, "set", "digest", "ret")
    # Files are the shell's to offer.
    for words in (("diff", "-f", "x"), ("simulate", "--svg", "x"), ("import", "crontab", "x"), ("export", "-o", "x")):
        asked = {"_TICKBIRD_COMPLETE": "bash_complete", "COMP_WORDS": shlex.join(["tickbird", *words])}
        assert shop(**asked, COMP_CWORD=str(len(words))).out == "file,x\n"


def test_completion_on_error_returns_nothing(bare: Cli, program: Path) -> None:
    bare.url = "sqlite:///nowhere.db"
    assert completed(bare, program, "show", "d") == set()
    assert not Path("nowhere.db").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_every_shell(bare: Cli, shell: str) -> None:
    script = bare.ok("completion", shell).out
    assert f"_TICKBIRD_COMPLETE={shell}_complete" in script
    assert bare.ok("completion", shell, "--json").json == {"shell": shell, "script": script.removesuffix("\n")}
    found = shutil.which(shell)
    if found is not None:
        subprocess.run([found, "-n", "/dev/stdin"], input=script, text=True, check=True, timeout=60)


@pytest.mark.parametrize(
    "args,words", [((), "missing argument '{bash|zsh|fish}'"), (("tcsh",), "'tcsh' is not one of")]
)
def test_completion_refuses(bare: Cli, args: tuple[str, ...], words: str) -> None:
    assert words in bare.refused(2, "completion", *args)


async def fill(client: Client, store: Store) -> dict[str, str]:
    """Something of everything that has a name."""
    await client.calendars.put("holidays", {"weekdays": ["sat"]}, actor="ana")
    await client.limits.set("warehouse", 2, actor="ana")
    await client.queues.set_rate("press", "5/min", actor="ana")
    token, _ = await client.tokens.create("phone", "viewer", actor="ana")
    run = await client.schedules.trigger("digest", actor="ana")
    await client.schedules.update("digest", actor="ana", timeout="9m")
    return {"run": str(run.id), "token": token.id}


def test_names_and_ids_of_everything_by_either_way(shop: Cli) -> None:
    ids = shop.store(fill)
    shop.live_worker({})
    assert shop.url is not None
    token = asyncio.run(make_token(shop.url, "admin", "default"))
    with serving(shop.url) as server:
        away = {"TICKBIRD_URL": "", "TICKBIRD_SERVER": server, "TICKBIRD_TOKEN": token}
        for env in ({}, away):
            for words, names in (
                (("show", "d"), {"digest"}),
                (("runs", "--schedule", ""), {"digest", "etl"}),
                (("ls", "--tag", "m"), {"mail"}),
                (("pause", "--all", "--tag", ""), {"mail"}),
                (("queue", "p"), {"press"}),
                (("calendar", "show", ""), {"holidays"}),
                (("limit", "rm", "w"), {"warehouse"}),
                (("logs", ""), {ids["run"]}),
                (("cancel", ""), {ids["run"]}),
                (("token", "revoke", ids["token"][:4]), {ids["token"]}),
                (("drain", "w"), {"w1"}),
                (("roll-back", "digest", "--to", ""), {"1", "2"}),
                (("set", "digest", "--if-revision", "2"), {"2"}),
            ):
                assert offered(shop, *words, **env) == names, (words, env)
        # The line so far goes before the environment.
        assert offered(shop, "--server", server, "--token", token, "show", "d", TICKBIRD_URL="") == {"digest"}
        # One that may not see them gets nothing, and no word.
        assert offered(shop, "show", "", **{**away, "TICKBIRD_TOKEN": "nonsense"}) == set()


def test_a_server_that_does_not_answer_is_not_waited_for(bare: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for env in (
            {"TICKBIRD_SERVER": f"http://127.0.0.1:{port}"},
            {"TICKBIRD_URL": f"postgresql://127.0.0.1:{port}/x"},
        ):
            assert offered(bare, "show", "", **env, TICKBIRD_COMPLETION_SECONDS="1") == set()
    assert offered(bare, "show", "", TICKBIRD_SERVER="nonsense") == set()
