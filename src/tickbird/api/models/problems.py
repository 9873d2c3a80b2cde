"""What is refused."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ProblemDocument(BaseModel):
    """Why a request was refused or cannot be served, and what to do about it."""

    type: str
    title: str
    status: int
    code: str = Field(description="For programs; `detail` and `hint` are for people.")
    detail: str
    field: str | None = Field(description="The part of the request at fault, if one is.")
    hint: str | None = Field(description="The next step.")
