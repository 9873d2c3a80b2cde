"""`events why`: who published an event, when it got its position, and its state in each consumer group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from tickbird.domain.events.dead_letters import UNRESOLVED, DeadLetter, LetterState
from tickbird.domain.events.event import Event
from tickbird.domain.events.groups import GroupOffset
from tickbird.domain.events.topics import matches
from tickbird.domain.explain.explanation import Step, TimeFormatter
from tickbird.domain.messages import brief, count, folded
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.time.durations import duration_text

GroupVerdict = Literal[
    "not subscribed",
    # The group has read past it, and has no dead letter of it.
    "handled",
    "waits",
    "in delivery",
    "paused",
    "stopped",
    # The states of its dead letter.
    "retrying",
    "deferred",
    "failed",
    "delivered",
    "skipped",
]
# Seconds after which an event without a position means that no worker stamps.
UNSTAMPED: Final = 60.0
_DONE: Final = ("handled", "delivered", "skipped")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupExplanation:
    """The state of an event in one group."""

    group: str
    verdict: GroupVerdict
    text: str
    # A command or an instruction; empty if no action is needed.
    fix: str = ""
    # Its dead letter, and the earlier one that it waits for.
    letter_id: int | None = None
    blocked_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventExplanation:
    """The path of an event: its publisher, its position, and each consumer group."""

    event: Event
    sentence: str
    steps: tuple[Step, ...]
    groups: tuple[GroupExplanation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventContext:
    """The rows that explain an event."""

    event: Event
    now: datetime
    # The run that published it; None if it has none, or if retention has removed it.
    run: RunRecord | None = None
    # Of its partition.
    offsets: Sequence[GroupOffset] = ()
    # Its dead letters, by group.
    letters: Mapping[str, DeadLetter] = field(default_factory=dict)
    # By group, the first unresolved dead letter of its key before it.
    blockers: Mapping[str, DeadLetter] = field(default_factory=dict)
    tz: str = "UTC"


def explain_event(context: EventContext) -> EventExplanation:
    """Explain where an event came from, and where it is."""
    groups = tuple(_group(context, offset) for offset in context.offsets)
    return EventExplanation(
        event=context.event, sentence=_sentence(context, groups), steps=tuple(_steps(context)), groups=groups
    )


def first_blocker(event: Event, letters: Sequence[DeadLetter]) -> DeadLetter | None:
    """The letter that holds back an event: the first failed one of its key before it, otherwise the first one."""
    earlier = sorted(
        (letter for letter in letters if letter.state in UNRESOLVED and _position(letter.event) < _position(event)),
        key=lambda letter: _position(letter.event),
    )
    failed = [letter for letter in earlier if letter.state == "failed"]
    return next(iter(failed or earlier), None)


def _position(event: Event) -> int:
    return 0 if event.position is None else event.position


def _steps(context: EventContext) -> list[Step]:
    event = context.event
    steps = [Step(True, "published", f"{_publisher(context)}.", event.run_id, event.published_at)]
    if event.transaction_id is not None:
        text = f"Event {event.ordinal} of {event.count} that were published together: a group handles them together."
        steps.append(Step(None, "transaction", text))
    if event.position is None:
        age = (context.now - event.published_at).total_seconds()
        text = "It has no position yet. A worker assigns it within milliseconds of the commit"
        if age > UNSTAMPED:
            text += f", but has not done so for {duration_text(age)}: start `tickbird worker MODULE:APP`"
        return [*steps, Step(False if age > UNSTAMPED else None, "stamped", f"{text}.")]
    version = "" if event.key is None else f", version {event.version} of key {event.key!r}"
    text = f"It has position {event.position:,} of its namespace{version}, in partition {event.partition}."
    return [*steps, Step(True, "stamped", text, at=event.stamped_at)]


def _publisher(context: EventContext) -> str:
    event, run = context.event, context.run
    if event.run_id is None:
        return f"Published by {event.source}"
    if run is None:
        return f"Published by run {event.run_id}, which retention has removed"
    schedule = f" of schedule {run.schedule}" if run.schedule else ""
    if run.scheduled_for is not None:
        return f"Published by run {run.id} of the tick {TimeFormatter(context.tz)(run.scheduled_for)}{schedule}"
    return f"Published by run {run.id}{schedule} ({run.origin})"


def _sentence(context: EventContext, groups: Sequence[GroupExplanation]) -> str:
    event = context.event
    if event.position is None:
        return f"{event.topic} is published and not stamped yet, so no group has read it."
    readers = [group for group in groups if group.verdict != "not subscribed"]
    if not readers:
        return f"No consumer group reads {event.topic}." if groups else "This namespace has no consumer group."
    unfinished = [group for group in readers if group.verdict not in _DONE]
    if not unfinished:
        names = ", ".join(group.group for group in readers)
        return f"{event.topic} is done in every group that reads it: {names}."
    waiting = "; ".join(f"{group.group}: {group.verdict}" for group in unfinished)
    done = f"{event.topic} is done in {len(readers) - len(unfinished)} of {count(len(readers), 'group')}"
    return f"{done}. {waiting}."


def _group(context: EventContext, offset: GroupOffset) -> GroupExplanation:
    group = offset.group
    letter = context.letters.get(group)
    if letter is not None:
        return _letter(context, offset, letter)
    event, at = context.event, TimeFormatter(context.tz)
    if not matches(event.topic, offset.topics):
        return GroupExplanation(
            group=group,
            verdict="not subscribed",
            text=f"The group reads {', '.join(offset.topics)}, not {event.topic}.",
        )
    if event.position is None:
        return GroupExplanation(
            group=group, verdict="waits", text="The group reads the event as soon as the event has a position."
        )
    read = f"The group has read partition {event.partition} up to position {offset.position:,}"
    if event.position <= offset.position:
        text = f"{read}: it handled the event, or it began after it, or was moved past it."
        return GroupExplanation(group=group, verdict="handled", text=text)
    read += f", and this is position {event.position:,}"
    blocker = context.blockers.get(group)
    held = "" if blocker is None else f" Then it waits for dead letter {blocker.id} of its key ({blocker.state})."
    blocked_by = None if blocker is None else blocker.id
    if offset.state == "stopped":
        return GroupExplanation(
            group=group,
            verdict="stopped",
            text=f"The group is stopped{_why(offset.reason)}. {read}.{held}",
            fix=f"tickbird consumers resume {group}",
            blocked_by=blocked_by,
        )
    if offset.paused_until is not None and offset.paused_until > context.now:
        return GroupExplanation(
            group=group,
            verdict="paused",
            text=f"The partition is paused until {at(offset.paused_until)}{_why(brief(offset.error))}. {read}.{held}",
            fix="Repair what the error names. The group then continues by itself.",
            blocked_by=blocked_by,
        )
    if offset.is_leased:
        text = f"A worker is delivering the partition now. {read}.{held}"
        return GroupExplanation(group=group, verdict="in delivery", text=text, blocked_by=blocked_by)
    return GroupExplanation(
        group=group,
        verdict="waits",
        text=f"{read}.{held}",
        fix=f"tickbird consumers show {group}   # lag, and whether a worker delivers",
        blocked_by=blocked_by,
    )


def _letter(context: EventContext, offset: GroupOffset, letter: DeadLetter) -> GroupExplanation:
    at = TimeFormatter(context.tz)
    failed = f"It failed {'once' if letter.failures == 1 else f'{letter.failures} times'}{_why(brief(letter.error))}"
    verdict: LetterState = letter.state
    blocked_by: int | None = None
    fix = ""
    if verdict == "failed":
        text = f"{failed}, and waits for a person. Later events of its key wait for it."
        if letter.repaired_by is not None and letter.approved_by is None:
            text += f" {letter.repaired_by} has proposed a repair, which another person has to approve."
            fix = f"tickbird dead-letters approve {letter.id}"
        else:
            fix = f"tickbird dead-letters replay {letter.id}   # or repair, or skip"
    elif verdict == "retrying":
        when = "soon" if letter.retry_at is None or letter.retry_at <= context.now else f"on {at(letter.retry_at)}"
        text = f"{failed}, and is delivered again {when}."
    elif verdict == "deferred":
        blocker = context.blockers.get(offset.group)
        blocked_by = None if blocker is None else blocker.id
        if blocker is None:
            text = "It is delivered as soon as a worker is free, with the events that were published together with it."
        else:
            text = f"It waits for dead letter {blocker.id}, an earlier event of its key, which is {blocker.state}."
            fix = f"tickbird dead-letters show {blocker.id}"
    else:
        by = "" if letter.resolved_by is None else f" by {letter.resolved_by}"
        when = "" if letter.resolved_at is None else f" on {at(letter.resolved_at)}"
        times = f" after {count(letter.failures, 'failure')}" if letter.failures else ""
        text = f"It was {verdict}{by}{when}{times}{_why(letter.note)}."
    if offset.state == "stopped" and verdict in UNRESOLVED:
        text = f"The group is stopped{_why(offset.reason)}. {text}"
        fix = f"tickbird consumers resume {offset.group}"
    return GroupExplanation(
        group=offset.group,
        verdict=verdict,
        text=f"Dead letter {letter.id}: {text}",
        fix=fix,
        letter_id=letter.id,
        blocked_by=blocked_by,
    )


def _why(reason: str | None) -> str:
    text = folded(reason)
    return f" ({text})" if text else ""
