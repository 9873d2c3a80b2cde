"""The owner, overrides and pause of schedules, which their definitions do not contain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tickbird.domain.schedules.schedule import PauseState

FIELDS: Final = ("app", "overrides", "paused")
PAUSE_FIELDS: Final = ("by", "note", "until")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedState:
    """The owner, overrides and pause of one schedule; `app` is None if it is the document's."""

    app: str | None = None
    # Fields of the definition as JSON, as they are stored.
    overrides: Mapping[str, Any] = field(default_factory=dict)
    pause: PauseState | None = None


NO_STATE: Final = ExportedState()
