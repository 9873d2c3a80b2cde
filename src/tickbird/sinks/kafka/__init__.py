"""Apache Kafka as a sink: events in the binary format of CloudEvents."""

from __future__ import annotations

from tickbird.sinks.kafka.sink import KafkaSink

__all__ = ["KafkaSink"]
