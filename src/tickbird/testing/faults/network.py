"""A network of its own for some processes, whose only cable can be pulled: packets vanish and nobody is told."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Self

from tickbird.testing.faults.absent import Absent


class Cable:
    """`with Cable() as cable:` start processes behind `cable.prefix`; they reach this machine at `cable.host` only."""

    def __init__(self, number: int = 77) -> None:
        if shutil.which("ip") is None:
            raise Absent("the program `ip` is not installed. Run: sudo apt-get install iproute2")
        self._name = f"tickbird{os.getpid()}"
        # Names of links are short.
        self._near, self._far = f"tb{os.getpid()}a"[-15:], f"tb{os.getpid()}b"[-15:]
        self.host, there = f"10.{number}.0.1", f"10.{number}.0.2"
        try:
            self._ip("netns", "add", self._name)
            self._ip("link", "add", self._near, "type", "veth", "peer", "name", self._far, "netns", self._name)
            self._ip("addr", "add", f"{self.host}/30", "dev", self._near)
            self._ip("link", "set", self._near, "up")
            self._ip("-n", self._name, "addr", "add", f"{there}/30", "dev", self._far)
            self._ip("-n", self._name, "link", "set", self._far, "up")
            self._ip("-n", self._name, "link", "set", "lo", "up")
        except BaseException:
            self.close()
            raise

    @property
    def prefix(self) -> tuple[str, ...]:
        """The words before a command that is to run at the other end."""
        return "ip", "netns", "exec", self._name

    def pull(self) -> None:
        """Packets vanish from now on, both ways."""
        self._ip("link", "set", self._near, "down")

    def plug(self) -> None:
        """They arrive again."""
        self._ip("link", "set", self._near, "up")

    def close(self) -> None:
        """Take it down; processes that are left there have no network any more."""
        for words in (("link", "del", self._near), ("netns", "del", self._name)):
            subprocess.run(["ip", *words], capture_output=True, check=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ip(self, *words: str) -> None:
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Absent(f"a network namespace cannot be made: ip {' '.join(words)}: {done.stderr.strip()}")
