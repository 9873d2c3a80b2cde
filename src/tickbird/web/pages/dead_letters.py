"""Dead letters: events that a group could not handle, and those that wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast, get_args

from starlette.responses import Response

from tickbird.client.dead_letters import StateFilter
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.events.dead_letters import UNRESOLVED, DeadLetter, LetterState
from tickbird.domain.messages import brief
from tickbird.web.forms.field_errors import without_field
from tickbird.web.forms.payload_schema import as_json
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.consumers import group_path, read_groups
from tickbird.web.pages.run import command
from tickbird.web.pages.run_log import without_colours
from tickbird.web.pages.runs import read_number

_PAGE: Final = 50
# Waiting events are counted up to this number.
_MAX_WAITING: Final = 100
STATES: Final[dict[LetterState, tuple[str, str]]] = {
    "retrying": ("late", "It failed, and will be delivered again automatically."),
    "deferred": ("held", "It waits for an earlier event of its key, or for one that was published together with it."),
    "failed": ("failed", "It waits for a person: replay, repair or skip it."),
    "delivered": ("succeeded", "It was handled."),
    "skipped": ("skipped", "A person skipped it, or moved its group."),
}
CHOICES: Final[tuple[str, ...]] = ("unresolved", *get_args(LetterState), "all")


def letter_path(letter_id: int) -> str:
    return f"/events/dead-letters/{letter_id}"


async def letters(visit: PageRequest) -> Response:
    """Oldest first, because the oldest failed letter of a key holds back the others."""
    query = {name: visit.query.get(name, "") for name in ("group", "state", "key")}
    state, wrong = query["state"] or "unresolved", dict[str, str]()
    after = read_number(visit.query.get("after")) or 0
    if state not in CHOICES:
        wrong["state"] = f"{state[:60]!r} is not a state. Use one of {', '.join(CHOICES)}."

    async def read() -> Sequence[DeadLetter]:
        return await visit.client.dead_letters.list(
            query["group"] or None, cast("StateFilter", state), query["key"] or None, after=after, limit=_PAGE + 1
        )

    page: Sequence[DeadLetter] = ()
    try:
        if not wrong:
            page = await visit.readings.share((visit.namespace, "letters", *query.values(), after), read)
    except InvalidError as error:
        wrong[error.field] = without_field(error, error.field)
    options = [word for name in query if query[name] for word in (f"--{name}", query[name])]
    groups = await read_groups(visit) if visit.has("consumers") else []
    chosen = next((row for row in groups if row.group.name == query["group"]), None)
    return visit.render(
        "events/letters.html",
        status=422 if wrong else 200,
        letters=page[:_PAGE],
        groups=groups,
        chosen=chosen,
        query=query,
        state=state,
        choices=CHOICES,
        icons={name: icon for name, (icon, _) in STATES.items()},
        wrong=wrong,
        is_narrow=any(query.values()),
        needs_approval=await visit.client.dead_letters.requires_approval(),
        group_path=group_path,
        next_page=visit.here(after=page[_PAGE - 1].id) if len(page) > _PAGE else None,
        first_page=visit.here(after=None) if after else None,
        command=command(visit, "dead-letters", "ls", *options),
    )


@dataclass(frozen=True, slots=True)
class LetterPageData:
    letter: DeadLetter
    # Deferred letters of its key in its group, at most _MAX_WAITING + 1.
    waiting: Sequence[DeadLetter]
    needs_approval: bool

    @property
    def is_unresolved(self) -> bool:
        return self.letter.state in UNRESOLVED

    @property
    def is_proposed(self) -> bool:
        """True if a repair waits for the approval of a second person."""
        letter = self.letter
        return letter.state == "failed" and letter.repaired_by is not None and letter.approved_by is None

    @property
    def waiting_count(self) -> str:
        return str(len(self.waiting)) if len(self.waiting) <= _MAX_WAITING else f"{_MAX_WAITING}+"


async def letter(visit: PageRequest) -> Response:
    letter_id = letter_number(visit)
    data = await visit.readings.share((visit.namespace, "letter", letter_id), lambda: read_letter(visit, letter_id))
    found = data.letter
    return visit.render(
        "events/letter.html",
        data=data,
        letter=found,
        event=found.event,
        shape=STATES[found.state][0],
        meaning=STATES[found.state][1],
        error=without_colours(found.error or ""),
        summary=brief(found.error),
        original=as_json(found.event.data, 2),
        proposed=None if found.repaired_by is None else as_json(found.repair, 2),
        group_path=group_path,
        command=command(visit, "dead-letters show", found.id),
    )


async def read_letter(visit: PageRequest, letter_id: int) -> LetterPageData:
    client = visit.client.dead_letters
    found = await client.get(letter_id)
    waiting: Sequence[DeadLetter] = ()
    if found.event.key is not None and found.state in UNRESOLVED:
        waiting = await client.list(found.group, "deferred", found.event.key, limit=_MAX_WAITING + 1)
    return LetterPageData(found, [other for other in waiting if other.id != found.id], await client.requires_approval())


def letter_number(visit: PageRequest) -> int:
    """The id of the letter in the path."""
    number = visit.number("id")
    if number is None:
        raise NotFoundError(f"Dead letter {visit.param('id')[:60]!r} does not exist.", hint="Use the id of a letter.")
    return number


ROUTES: Final = (PageRoute("/events/dead-letters", letters), PageRoute("/events/dead-letters/{id}", letter))
