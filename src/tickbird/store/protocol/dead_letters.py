"""Dead letters: read them, and replay, skip or repair them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from tickbird.domain.events.dead_letters import DeadLetter, LetterChange, LetterFilter


class DeadLetterStore(Protocol):
    async def list(
        self, namespace: str, which: LetterFilter, *, after: int | None = None, limit: int = 100
    ) -> Sequence[DeadLetter]:
        """Dead letters by id, oldest first, with ids above `after`."""

    async def get(self, namespace: str, letter_id: int) -> DeadLetter:
        """One dead letter. NotFoundError if there is none."""

    async def find_by_event(self, namespace: str, position: int) -> Sequence[DeadLetter]:
        """The dead letters of one event, by group."""

    async def replay(
        self, namespace: str, letter_id: int, actor: str, *, note: str = "", now: datetime | None = None
    ) -> LetterChange:
        """Deliver a letter again as soon as possible, and count its failures from 0.

        So are those that were published together with it. ConflictError if it is neither `failed` nor `retrying`.
        """

    async def replay_group(
        self,
        namespace: str,
        group: str,
        actor: str,
        *,
        note: str = "",
        limit: int = 10_000,
        now: datetime | None = None,
    ) -> LetterChange:
        """Replay the oldest failed letters of a group."""

    async def skip(
        self, namespace: str, letter_id: int, actor: str, *, note: str = "", now: datetime | None = None
    ) -> LetterChange:
        """Skip an unresolved letter and the events that were published together with it; their keys continue."""

    async def repair(
        self, namespace: str, letter_id: int, data: Any, actor: str, *, note: str = "", now: datetime | None = None
    ) -> LetterChange:
        """Replay a letter with other data. If the namespace requires approval, the repair is only proposed."""

    async def approve(
        self, namespace: str, letter_id: int, actor: str, *, note: str = "", now: datetime | None = None
    ) -> LetterChange:
        """Replay with the proposed data. ConflictError if there is no proposal, or if it is the actor's own."""

    async def set_approval(self, namespace: str, is_required: bool, actor: str, *, now: datetime | None = None) -> None:
        """Require a second person for each repair in this namespace, or no longer."""

    async def requires_approval(self, namespace: str) -> bool:
        """True if repairs in this namespace need a second person."""
