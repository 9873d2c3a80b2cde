"""A Kafka cluster for tests: the one that is built into librdkafka, in a process of its own.

It speaks the real protocol and keeps messages in memory. It ignores the sequence numbers of idempotent producers.
`python -m lab.kafka` is that process: it executes one command per line of its input, and ends when its input closes.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import confluent_kafka
from confluent_kafka import Consumer, Message, TopicPartition

PRODUCE: Final = 0
BROKER: Final = 1
# Numbers of errors in the protocol of Kafka.
NONE: Final = 0
UNKNOWN_TOPIC: Final = 3
MESSAGE_TOO_LARGE: Final = 10
NOT_ENOUGH_REPLICAS: Final = 19
TOPIC_AUTHORIZATION_FAILED: Final = 29
INVALID_RECORD: Final = 87


class KafkaCluster:
    """`with KafkaCluster() as cluster:` connect to `cluster.servers`. It has one broker."""

    def __init__(self) -> None:
        self.servers = ""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "lab.kafka"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]
        )
        self.servers = self._response()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # It ends when its input closes.
        self._process.communicate()

    def create_topic(self, name: str, partitions: int = 4) -> None:
        """Create a topic; others are created with four partitions when they are used."""
        self._call("rd_kafka_mock_topic_create", name, partitions, 1)

    def stop_broker(self) -> None:
        """Break all connections, and refuse new ones. Messages are kept."""
        self._call("rd_kafka_mock_broker_set_down", BROKER)

    def start_broker(self) -> None:
        self._call("rd_kafka_mock_broker_set_up", BROKER)

    def delay_responses(self, seconds: float) -> None:
        """Respond to requests after this time."""
        self._call("rd_kafka_mock_broker_set_rtt", BROKER, round(seconds * 1000))

    def respond_to_produce_requests(self, *errors: int) -> None:
        """Respond to the next produce requests with these errors; only NONE stores the messages."""
        self._call("rd_kafka_mock_push_request_errors_array", PRODUCE, list(errors))

    def accept_produce_requests(self) -> None:
        """Drop the errors that no request has received yet."""
        self._call("rd_kafka_mock_clear_request_errors", PRODUCE)

    def fail_topic(self, name: str, error: int) -> None:
        """Report an error of a topic in its metadata, until it is NONE."""
        self._call("rd_kafka_mock_topic_set_error", name, error)

    def read(self, *topics: str) -> list[Message]:
        """All messages of the topics, in the order of each partition."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "reader", "auto.offset.reset": "earliest"})
        try:
            partitions = [
                TopicPartition(topic, number, 0)
                for topic in topics
                for number in consumer.list_topics(topic, timeout=30).topics[topic].partitions
            ]
            ends = [consumer.get_watermark_offsets(partition, timeout=30)[1] for partition in partitions]
            consumer.assign(partitions)
            messages: list[Message] = []
            while len(messages) < sum(ends):
                messages += [message for message in consumer.consume(1000, 0.1) if message.error() is None]
            return messages
        finally:
            consumer.close()

    def _call(self, function: str, *arguments: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([function, *arguments]) + "\n")
        self._process.stdin.flush()
        response = self._response()
        assert response == "0", f"{function} failed with error {response}"

    def _response(self) -> str:
        assert self._process.stdout is not None
        response = self._process.stdout.readline().strip()
        assert response, "the process of the cluster has ended"
        return response


def serve() -> None:
    """Start a cluster, print its address, and execute commands."""
    library = _library()
    configuration = ctypes.c_void_p(library.rd_kafka_conf_new())
    # Errors only: it would warn about the missing address of a cluster.
    library.rd_kafka_conf_set(configuration, b"log_level", b"3", None, ctypes.c_size_t(0))
    handle = ctypes.c_void_p(library.rd_kafka_new(ctypes.c_int(0), configuration, None, ctypes.c_size_t(0)))
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(handle, ctypes.c_int(1)))
    print(library.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    for line in sys.stdin:
        function, *arguments = json.loads(line)
        print(getattr(library, function)(cluster, *_native(arguments)) or 0, flush=True)


def _native(arguments: Sequence[Any]) -> list[Any]:
    """The arguments of a function in C; a list becomes its length and its items."""
    native: list[Any] = []
    for argument in arguments:
        if isinstance(argument, str):
            native.append(argument.encode())
        elif isinstance(argument, list):
            native += [ctypes.c_size_t(len(argument)), (ctypes.c_int * len(argument))(*argument)]
        else:
            native.append(ctypes.c_int(argument))
    return native


def _library() -> Any:
    """The library that confluent-kafka uses; its functions for the cluster are not in Python."""
    folder = Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs"
    [file] = folder.glob("librdkafka*.so*")
    library = ctypes.CDLL(str(file))
    for function in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(library, function).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    for function in ("push_request_errors_array", "clear_request_errors", "topic_set_error"):
        getattr(library, f"rd_kafka_mock_{function}").restype = None
    return library


if __name__ == "__main__":
    serve()
