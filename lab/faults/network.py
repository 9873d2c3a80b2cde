"""A network namespace whose only link can be taken down, so that packets are lost without an error."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Self

from lab.faults.missing_requirement import MissingRequirement


class Cable:
    """`with Cable() as cable:` start processes with `cable.prefix`; they reach this machine only at `cable.host`."""

    def __init__(self, number: int = 77) -> None:
        if shutil.which("ip") is None:
            raise MissingRequirement("the program `ip` is not installed. Run: sudo apt-get install iproute2")
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
        """The arguments before a command that runs in the namespace."""
        return "ip", "netns", "exec", self._name

    def pull(self) -> None:
        """Drop packets in both directions."""
        self._ip("link", "set", self._near, "down")

    def plug(self) -> None:
        """Forward packets again."""
        self._ip("link", "set", self._near, "up")

    def close(self) -> None:
        """Remove it; processes that are still in it lose their network."""
        for arguments in (("link", "del", self._near), ("netns", "del", self._name)):
            subprocess.run(["ip", *arguments], capture_output=True, check=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ip(self, *arguments: str) -> None:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingRequirement(
                f"a network namespace cannot be created: ip {' '.join(arguments)}: {done.stderr.strip()}"
            )
