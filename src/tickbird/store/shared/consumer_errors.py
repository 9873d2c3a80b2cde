"""Refusals of changes of consumer groups and dead letters, in the same words on every store."""

from __future__ import annotations

from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError


def no_group(namespace: str, group: str) -> NotFoundError:
    return NotFoundError(
        f"group {group!r}: there is none in namespace {namespace!r}.", hint="`tickbird consumers ls` lists the groups."
    )


def other_app(group: str, app: str) -> ConflictError:
    return ConflictError(
        f"group {group!r}: belongs to the app {app!r}.", hint="Choose another name for the group of this app."
    )


def scratch_name(group: str, scratch_of: str) -> ConflictError:
    return ConflictError(
        f"group {group!r}: is a scratch group of {scratch_of!r}.", hint="Delete it first, or choose another name."
    )


def name_in_use(group: str) -> ConflictError:
    return ConflictError(f"group {group!r}: exists already.", hint="Choose another name for the scratch group.")


def check_position(position: int, pruned_until: int, head: int) -> None:
    """Raise InvalidError unless the log has, or will have, the event after a position."""
    if position < pruned_until:
        raise InvalidError(
            f"position: retention has removed the events up to position {pruned_until}, so nothing can continue after"
            f" position {position}.",
            field="position",
            hint=f"Use {pruned_until} or more.",
        )
    if position > head:
        raise InvalidError(
            f"position: the log ends at position {head}, so nothing can continue after position {position}.",
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
        hint = "It is delivered after the earlier events of its key, which `tickbird events why` names; or skip it."
    return ConflictError(f"dead letter {letter_id}: is {state}, not {allowed}.", hint=hint)


def no_proposal(letter_id: int) -> ConflictError:
    return ConflictError(
        f"dead letter {letter_id}: has no repair that waits for an approval.",
        hint="`tickbird dead-letters repair` proposes one.",
    )


def own_proposal(letter_id: int, actor: str) -> ConflictError:
    return ConflictError(
        f"dead letter {letter_id}: the repair is by {actor}, who cannot approve it.", hint="Ask a second person."
    )
