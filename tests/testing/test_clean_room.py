"""The clean room, as far as one test can show it: CI runs all tests in it."""

import os
import subprocess
import sys
from pathlib import Path

DEV = Path(__file__).parents[2] / "dev"


def test_a_machine_that_cannot_build_one_says_so_in_its_last_line() -> None:
    done = subprocess.run(
        [sys.executable, DEV, "clean-room", "no-such-command"],
        env={**os.environ, "PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    reason = "there is no apt-get on this machine" if os.geteuid() == 0 else "it needs root"
    assert done.stdout.splitlines()[-1] == (
        f"clean-room: not used, because {reason}; ./dev no-such-command ran on this machine and ended with 2"
    )


def test_a_command_must_be_named() -> None:
    done = subprocess.run([sys.executable, DEV, "clean-room"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (
        1,
        "dev: clean-room: needs a command. Run: ./dev clean-room test\n",
    )
