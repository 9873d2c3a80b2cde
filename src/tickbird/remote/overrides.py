"""One coming tick over HTTP: skipped, moved, or with another payload."""

from __future__ import annotations

from tickbird.client.overrides import Overrides
from tickbird.remote.ticks import RemoteTicks


class RemoteOverrides(RemoteTicks, Overrides):
    """The verbs about one tick alone."""
