"""Dead letters: read them, and decide what happens to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from tickbird.client.base import ClientBase
from tickbird.client.consumers import Consumers, GroupName
from tickbird.client.parameters import MAX_ID, Note
from tickbird.domain.events.dead_letters import (
    UNRESOLVED,
    DeadLetter,
    LetterChange,
    LetterFilter,
    LetterState,
    no_such_letter,
)
from tickbird.domain.events.event import MAX_KEY, check_data
from tickbird.domain.text import check_name
from tickbird.wire.operations import admin, editor, operator, viewer
from tickbird.wire.parameters import Meta

# "unresolved" and "all" are several states.
StateFilter = Literal["unresolved", "all", "retrying", "deferred", "failed", "delivered", "skipped"]
# The maximum number of letters that one request replays.
MAX_REPLAYED: Final = 10_000


def check_letter_id(letter_id: int) -> None:
    if not 0 < letter_id <= MAX_ID:
        raise no_such_letter(letter_id)


LetterId = Annotated[int, Meta(ge=1, le=MAX_ID, check=check_letter_id)]
_LETTER: Final = {"keys": {"letter_id": "id"}}


def states_of(state: StateFilter) -> tuple[LetterState, ...] | None:
    if state == "all":
        return None
    return UNRESOLVED if state == "unresolved" else (state,)


class DeadLetters(ClientBase):
    """Events that a consumer group could not handle, or that wait for an earlier one of their key."""

    @viewer.get("list_dead_letters", "/dead-letters", "List dead letters", page=lambda letter: letter.id)
    async def list(
        self,
        group: Annotated[
            str | None,
            Meta(
                parse=lambda name: name if name is None else check_name(name, "group"),
                max_length=200,
                description="Only of this group.",
            ),
        ] = None,
        state: Annotated[StateFilter, Meta(description="Only in this state.")] = "unresolved",
        key: Annotated[str | None, Meta(max_length=MAX_KEY, description="Only of events with this key.")] = None,
        *,
        after: int = 0,
        limit: int = 100,
    ) -> Sequence[DeadLetter]:
        """List dead letters with their events, oldest first."""
        which = LetterFilter(group=group, states=states_of(state), key=key)
        return await self._store.dead_letters.list(self._namespace, which, after=after or None, limit=limit)

    @viewer.get("get_dead_letter", "/dead-letters/{id}", "Get a dead letter", **_LETTER)
    async def get(self, letter_id: LetterId) -> DeadLetter:
        """Get one dead letter: its event, the last error, and who decided what."""
        check_letter_id(letter_id)
        return await self._store.dead_letters.get(self._namespace, letter_id)

    @operator.post(
        "replay_dead_letter", "/dead-letters/{id}/replay", "Replay a dead letter", audit="replay_dead_letter", **_LETTER
    )
    async def replay(self, letter_id: LetterId, *, actor: str, note: Note = "") -> LetterChange:
        """Deliver a letter again, with all retries; then the events that wait for it.

        The letters of events that were published together with it are replayed too. 409 if it is neither failed nor
        retrying.
        """
        check_letter_id(letter_id)
        return await self._store.dead_letters.replay(self._namespace, letter_id, actor, note=note)

    @operator.post(
        "replay_consumer", "/consumers/{group}/replay", "Replay the failed letters of a group", audit="replay_group"
    )
    async def replay_group(
        self,
        group: GroupName,
        *,
        actor: str,
        note: Note = "",
        limit: Annotated[int, Meta(ge=1, le=MAX_REPLAYED, description="The maximum number.")] = MAX_REPLAYED,
    ) -> LetterChange:
        """Replay the oldest failed letters of a group."""
        replay = self._store.dead_letters.replay_group(self._namespace, group, actor, note=note, limit=limit)
        return await self._noun(Consumers).of_group(group, replay)

    @operator.post(
        "skip_dead_letter", "/dead-letters/{id}/skip", "Skip a dead letter", audit="skip_dead_letter", **_LETTER
    )
    async def skip(self, letter_id: LetterId, *, actor: str, note: Note = "") -> LetterChange:
        """Never deliver a letter; later events of its key continue.

        The letters of events that were published together with it are skipped too. 409 if it is resolved.
        """
        check_letter_id(letter_id)
        return await self._store.dead_letters.skip(self._namespace, letter_id, actor, note=note)

    @editor.post(
        "repair_dead_letter", "/dead-letters/{id}/repair", "Repair a dead letter", audit="repair_dead_letter", **_LETTER
    )
    async def repair(
        self,
        letter_id: LetterId,
        data: Annotated[Any, Meta(check=check_data, description="Replaces the data of the event for this group.")],
        *,
        actor: str,
        note: Note = "",
    ) -> LetterChange:
        """Replay a letter with other data; the event itself and other groups keep the original.

        If the namespace requires approval, the repair is only proposed. 409 if the letter is neither failed nor
        retrying.
        """
        check_letter_id(letter_id)
        check_data(data)
        return await self._store.dead_letters.repair(self._namespace, letter_id, data, actor, note=note)

    @editor.post(
        "approve_repair", "/dead-letters/{id}/approve", "Approve a repair", audit="approve_dead_letter", **_LETTER
    )
    async def approve(self, letter_id: LetterId, *, actor: str, note: Note = "") -> LetterChange:
        """Replay a letter with the data that another person has proposed; 409 without such a proposal."""
        check_letter_id(letter_id)
        return await self._store.dead_letters.approve(self._namespace, letter_id, actor, note=note)

    @viewer.get("get_repair_approval", "/repair-approval", "Get whether repairs need approval", envelope="required")
    async def requires_approval(self) -> bool:
        """Get whether each repair in this namespace needs the approval of a second person."""
        return await self._store.dead_letters.requires_approval(self._namespace)

    @admin.put(
        "set_repair_approval",
        "/repair-approval",
        "Set whether repairs need approval",
        envelope="required",
        audit="set_approval",
        keys={"is_required": "required"},
    )
    async def set_approval(self, is_required: bool, *, actor: str) -> bool:
        """Require the approval of a second person for each repair in this namespace, or no longer."""
        await self._store.dead_letters.set_approval(self._namespace, is_required, actor)
        return is_required
