"""A relay that is killed with -9 again and again, and a broker that is down meanwhile."""

from __future__ import annotations

import random
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.kafka import KafkaCluster
from tests.sinks.events import check_relayed, make_events

ROOT = Path(__file__).parents[2]
COUNT, KEYS = 2_000, 15


class Relay:
    """A relay process; each line of its output names what it does."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout

    def next_line(self) -> str:
        return self._output.readline().strip()

    def wait_for(self, line: str) -> None:
        while (seen := self.next_line()) != line:
            assert seen, "the relay has ended"

    def continue_until(self, line: str) -> None:
        while (seen := self.next_line()) != line:
            assert seen, "the relay has ended"
            if seen == "sent":
                self.store_offset()

    def has_output_within(self, seconds: float) -> bool:
        return bool(select.select([self._output], [], [], seconds)[0])

    def store_offset(self) -> None:
        """Let it continue after "sent"."""
        self._input.write("\n")
        self._input.flush()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def relaying(cluster: KafkaCluster, file: Path) -> Iterator[Relay]:
    command = [sys.executable, "-m", "tests.sinks.relay", cluster.servers, str(file), str(COUNT), str(KEYS)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    with process:
        try:
            yield Relay(process)
        finally:
            process.kill()


def test_a_relay_that_is_killed_again_and_again_loses_nothing(cluster: KafkaCluster, tmp_path: Path) -> None:
    dice = random.Random(21)
    # So that a kill can come between a batch of records and its acknowledgement.
    cluster.delay_responses(0.01)
    kills_while_sending = 0
    for number in range(15):
        with relaying(cluster, tmp_path / "offset") as relay:
            for _ in range(dice.randint(1, 3)):
                relay.wait_for("sent")
                relay.store_offset()
            relay.wait_for("sending")
            if number % 3 == 0:
                # It is killed after the acknowledgement, and before it stores the offset.
                relay.wait_for("sent")
            elif not relay.has_output_within(dice.uniform(0, 0.04)):
                kills_while_sending += 1
            relay.kill()
    with relaying(cluster, tmp_path / "offset") as relay:
        relay.continue_until("done")
    assert kills_while_sending
    # At least the batches that were acknowledged before a kill are there twice.
    assert check_relayed(cluster.read("orders"), make_events(COUNT, KEYS)) >= 5 * 40


def test_a_relay_that_is_killed_while_the_broker_is_down_loses_nothing(cluster: KafkaCluster, tmp_path: Path) -> None:
    for _ in range(2):
        with relaying(cluster, tmp_path / "offset") as relay:
            for _ in range(5):
                relay.wait_for("sent")
                relay.store_offset()
            relay.wait_for("sending")
            cluster.stop_broker()
            # The batch may have been acknowledged just before.
            for _ in range(2):
                relay.continue_until("unavailable")
            relay.kill()
        with relaying(cluster, tmp_path / "offset") as relay:
            relay.wait_for("unavailable")
            cluster.start_broker()
            relay.wait_for("sent")
            relay.store_offset()
    with relaying(cluster, tmp_path / "offset") as relay:
        relay.continue_until("done")
    check_relayed(cluster.read("orders"), make_events(COUNT, KEYS))
