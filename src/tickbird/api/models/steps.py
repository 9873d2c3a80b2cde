"""Steps of explanations."""

from __future__ import annotations

from pydantic import BaseModel

from tickbird.api.models.parts import Instant


class StepModel(BaseModel):
    """One step of an explanation; `ok` is false where it kept the tick from running or made it late."""

    ok: bool | None
    name: str
    text: str
    run_id: int | None
    at: Instant | None
