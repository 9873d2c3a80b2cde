"""Errors about consumer groups and dead letters, with the same text on every store."""

from __future__ import annotations

from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError


def no_group(namespace: str, group: str) -> NotFoundError:
    return NotFoundError(
        f"there is no consumer group {group!r} in namespace {namespace!r}.",
        hint="`tickbird consumers ls` lists the groups.",
    )


def other_app(group: str, app: str) -> ConflictError:
    return ConflictError(
        f"group {group!r}: belongs to the app {app!r}.", hint="Choose another name for the group of this app."
    )


def scratch_name(group: str, scratch_of: str) -> ConflictError:
    return ConflictError(
        f"group {group!r}: is a scratch group of {scratch_of!r}.",
        hint="Delete the scratch group, or choose another name.",
    )


def name_in_use(group: str) -> ConflictError:
    return ConflictError(f"group {group!r}: exists already.", hint="Choose another name for the scratch group.")


def check_position(position: int, pruned_until: int, head: int) -> None:
    """Raise InvalidError unless the log has, or will have, the event after a position."""
    if position < pruned_until:
        raise InvalidError(
            f"position: retention has removed the events up to position {pruned_until}, so no group can continue after"
            f" position {position}.",
            field="position",
            hint=f"Use {pruned_until} or more.",
        )
    if position > head:
        raise InvalidError(
            f"position: the log ends at position {head}, so no group can continue after position {position}.",
            field="position",
            hint=f"Use {head} or less.",
        )


def lost_events(group: str, lost_after: int, pruned_until: int) -> ConflictError:
    return ConflictError(
        f"group {group!r}: retention has removed events after position {lost_after} that it has not read.",
        hint=f"Move it to position {pruned_until} or later with `tickbird consumers seek`.",
    )


def wrong_state(letter_id: int, state: str, allowed: str) -> ConflictError:
    hint = f"`tickbird dead-letters show {letter_id}` has its event and its last change."
    if state == "deferred":
        hint = "It waits for earlier events of its key: `tickbird events why` names them. Wait, or skip it."
    return ConflictError(f"dead letter {letter_id}: is {state}, not {allowed}.", hint=hint)


def no_proposal(letter_id: int) -> ConflictError:
    return ConflictError(
        f"dead letter {letter_id}: has no proposed repair.", hint="Propose one with `tickbird dead-letters repair`."
    )


def own_proposal(letter_id: int, actor: str) -> ConflictError:
    return ConflictError(
        f"dead letter {letter_id}: {actor} proposed the repair and cannot approve it.", hint="Ask another person."
    )
