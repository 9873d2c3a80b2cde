"""What many models are made of."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

# A text already, as the documents have it; only told to be an instant.
Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"}, description="An instant, in UTC.")]
Json = dict[str, Any]
# No NUL, which databases refuse.
TEXT = r"^[^\u0000]*$"
Note = Annotated[
    str, Field(max_length=2_000, description="Why, for the audit log.", json_schema_extra={"pattern": TEXT})
]


class Body(BaseModel):
    """What is sent: nothing that is not known, and nothing taken for what it is not."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NoteBody(Body):
    """Why."""

    note: Note = ""
