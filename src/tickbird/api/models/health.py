"""How the process is."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class Health(BaseModel):
    """How the process is."""

    status: Literal["ok", "ready"]
