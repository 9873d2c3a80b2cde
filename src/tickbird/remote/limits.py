"""Limits over HTTP: of concurrency keys, and the rates of queues."""

from __future__ import annotations

from tickbird.client.limits import Limits
from tickbird.remote.base import Remote


class RemoteLimits(Remote, Limits):
    """The verbs about limits."""
