"""completion: the scripts, and what a real shell completes with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def program(folder: Path) -> Path:
    """A `tickbird` on the path of a shell."""
    place = folder / "bin"
    place.mkdir()
    file = place / "tickbird"
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -m tickbird "$@"\n')
    file.chmod(0o755)
    return place


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
        env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}", "TICKBIRD_URL": cli.url or ""},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_names(shop: Cli, program: Path) -> None:
    assert completed(shop, program, "re") == {"reschedule", "resume", "retry", "release", "revisions"}
    assert "--if-revision" in completed(shop, program, "set", "--")
    assert completed(shop, program, "ls", "--state", "pa") == {"paused", "parked"}
    assert completed(shop, program, "show", "d") == {"digest"}
    assert completed(shop, program, "pause", "") == {"digest", "etl"}
    assert "retries=" in completed(shop, program, "set", "digest", "ret")


def test_names_that_cannot_be_had_disturb_nobody(bare: Cli, program: Path) -> None:
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
