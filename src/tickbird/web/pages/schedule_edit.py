"""The form to create and edit schedules, with live preview, review and conflict handling."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Final
from zoneinfo import available_timezones

from starlette.responses import Response

from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError, StaleError
from tickbird.domain.schedules.codec import default_field
from tickbird.domain.schedules.definition import FIELDS
from tickbird.domain.schedules.diff import FieldDiff, differences
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.revision import HistoryEntry
from tickbird.domain.schedules.schedule import Schedule, check_readable
from tickbird.domain.targets.target import TASK
from tickbird.domain.text import check_new_name
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.trigger import FORMS
from tickbird.files.tick_diff import TickBudget, TickChanges, compare
from tickbird.web.display_clock import find_zone
from tickbird.web.forms.idempotency import IdempotentForm, form_token
from tickbird.web.forms.instants import local_value, tomorrow_at
from tickbird.web.forms.policy_fields import GROUPS
from tickbird.web.forms.schedule_draft import Draft, drawn, merged, sent
from tickbird.web.forms.target_fields import target_forms
from tickbird.web.page_request import Form, PageRequest, PageRoute
from tickbird.web.previews import Outlook, outlook

_SUGGESTED: Final = (
    ("every weekday at 9", "0 9 * * mon-fri"),
    ("first Monday of the month", "0 9 * * mon#1"),
    ("every 15 minutes in office hours", "*/15 9-17 * * mon-fri"),
    ("last day of the month", "0 18 L * *"),
    ("every night at 3", "0 3 * * *"),
    ("every 10 minutes", "every 10m"),
)
_MAX_SHOWN: Final = 10
_ECHOED: Final = ("csrf", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The state of the form of one schedule."""

    visit: PageRequest
    draft: Draft
    # None for a new schedule.
    schedule: Schedule | None = None
    # The revision that the user saw.
    revision: int = 0

    @property
    def name(self) -> str:
        return self.schedule.name if self.schedule is not None else self.draft.texts.get("name", "").strip()

    @property
    def unset(self) -> list[str]:
        """Overridden fields to reset to code."""
        overridden = self.schedule.field_overrides if self.schedule is not None else {}
        return [name for name in self.visit.form.all("unset") if name in overridden]

    @property
    def changes(self) -> Sequence[FieldDiff]:
        return differences(
            {key: value for key, value in self.draft.base.items() if key != "closed"}, self.draft.encoded
        )

    @property
    def own_zone(self) -> str:
        """The zone of the draft; UTC if it is invalid."""
        return find_zone(self.draft.texts["tz"].strip()) or "UTC"

    @property
    def command(self) -> str:
        """The equivalent command line; empty for a new schedule."""
        if self.schedule is None:
            return ""
        encoded = self.draft.encoded
        arguments = []
        for name in self.draft.touched:
            if name in self.unset:
                continue
            value = encoded[name]
            if name == "target":
                kind, what = next(iter(value.items()))
                arguments.append(f"{kind}={what if isinstance(what, str) else json.dumps(what)}")
            elif name in POLICIES and value is not None:
                arguments.append(f"{name}={POLICIES[name].text(value)}")
            elif value is not None:
                arguments.append(f"{name}={json.dumps(value)}")
        cleared = [name for name in self.draft.touched if encoded[name] is None]
        options = [part for name in (*self.unset, *cleared) for part in ("--unset", name)]
        where = [] if self.visit.namespace == "default" else ["--namespace", self.visit.namespace]
        checked = ["--if-revision", str(self.revision)]
        return shlex.join(["tickbird", "set", *options, *checked, *where, "--", self.schedule.name, *arguments])


async def new(visit: PageRequest) -> Response:
    """Create a schedule; `from` copies an existing one."""
    if visit.request.method == "POST":
        return await _posted(Sheet(visit=visit, draft=await sent(visit, {})))
    base: Mapping[str, Any] = {}
    texts = {name: visit.query[name] for name in ("name", "when", "tz", "task") if visit.query.get(name)}
    if source := visit.query.get("from"):
        copied = await visit.client.schedules.get(source)
        check_readable(copied)
        base = {name: value for name, value in copied.definition_json.items() if name not in ("v", "closed")}
        texts = {"name": f"{source}-copy", **texts}
    draft = await drawn(visit, base, {"name": "", **texts})
    return await _show(Sheet(visit=visit, draft=draft))


async def edit(visit: PageRequest) -> Response:
    """Edit a schedule; only fields that the user changed are updated."""
    schedule = await visit.client.schedules.get(visit.schedule_name)
    # The form has no inputs for a target or trigger that this process does not know.
    check_readable(schedule)
    if visit.request.method != "POST":
        texts = {name: visit.query[name] for name in ("when", "tz") if visit.query.get(name)}
        draft = await drawn(visit, schedule.definition_json, texts)
        return await _show(Sheet(visit=visit, draft=draft, schedule=schedule, revision=schedule.revision))
    text = visit.form.text("revision")
    seen = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else schedule.revision
    base = schedule.definition_json if seen >= schedule.revision else await _definition_at(visit, schedule, seen)
    sheet = Sheet(visit=visit, draft=await sent(visit, base), schedule=schedule, revision=seen)
    return await _posted(sheet)


async def preview(visit: PageRequest) -> Response:
    """Render the preview of the current input."""
    name, schedule = visit.form.text("of"), None
    if name:
        schedule = await visit.client.schedules.get(name)
    draft = await sent(visit, schedule.definition_json if schedule is not None else {})
    sheet = Sheet(visit=visit, draft=draft, schedule=schedule)
    shown = await outlook(visit, draft, sheet.name, schedule)
    draft.wrong.clear()
    return visit.render("preview_part.html", sheet=sheet, draft=draft, outlook=shown)


async def _definition_at(visit: PageRequest, schedule: Schedule, revision: int) -> Mapping[str, Any]:
    records = await visit.client.revisions.list(schedule.name, before=revision + 1, limit=1)
    return records[0].definition if records else schedule.definition_json


async def _posted(sheet: Sheet) -> Response:
    visit, draft, step = sheet.visit, sheet.draft, sheet.visit.form.text("step")
    if sheet.schedule is None:
        try:
            check_new_name(sheet.name, "name")
        except InvalidError as error:
            draft.refuse(error)
    if step == "edit":
        draft.wrong.clear()
        return await _show(sheet)
    if draft.wrong:
        refused = (form for form in target_forms() if not visit.may(form.role))
        return await _show(sheet, 403 if any(form.inputs[0] in draft.wrong for form in refused) else 422)
    if sheet.schedule is not None and sheet.revision < sheet.schedule.revision:
        return await _conflict(sheet)
    seen = await outlook(visit, draft, sheet.name, sheet.schedule)
    try:
        # Errors that depend on several fields.
        if seen.wrong:
            raise InvalidError(seen.wrong, field=_field_of(seen.wrong))
        if step == "save":
            return await _save(sheet)
    except StaleError:
        return await _conflict(sheet)
    except InvalidError as error:
        draft.refuse(error)
        return await _show(sheet, 422, seen)
    except (ConflictError, NotFoundError) as error:
        draft.wrong["name" if sheet.schedule is None else ""] = str(error)
        return await _show(sheet, 409, seen)
    if sheet.schedule is not None and not draft.touched and not sheet.unset:
        draft.wrong[""] = "You have not changed anything yet."
        return await _show(sheet, 422, seen)
    return visit.render(
        "edit_review.html", sheet=sheet, draft=draft, outlook=seen, ticks=_ticks(sheet, seen), echoed=_echo(visit.form)
    )


def _field_of(text: str) -> str:
    field = text.partition(":")[0]
    return field if field.isidentifier() else ""


def _echo(form: Form) -> list[tuple[str, str]]:
    """Return the fields of the form, so that the review page can send them again."""
    return [(name, value) for name in form.names() if name not in _ECHOED for value in form.all(name)]


def _ticks(sheet: Sheet, seen: Outlook) -> TickChanges | None:
    """Compare the ticks of the next days; None without a preview."""
    if seen.preview is None:
        return None
    definition, visit, before = seen.preview.definition, sheet.visit, sheet.schedule
    if before is None:
        after = Schedule(0, visit.namespace, sheet.name, 1, "active", definition)
    else:
        # A new definition reactivates an ended or parked schedule.
        state = "active" if before.state in ("ended", "parked") and before.pause is None else before.state
        after = replace(before, definition=definition, state=state)
    return compare(before, after, to_seconds(visit.clock.now), TickBudget())


async def _save(sheet: Sheet) -> Response:
    visit, draft = sheet.visit, sheet.draft
    where = visit.schedule(sheet.name)
    if sheet.schedule is None:
        once, message = IdempotentForm(visit, f"create {sheet.name}"), f"{sheet.name} is created."
        before = await once.begin()
        if before is not None and before.status is not None:
            # A repeated submission: the first one created it.
            return visit.done(where, message)
        fields = draft.fields
        trigger, target = fields.pop("trigger"), fields.pop("target")
        payload = fields.pop("payload", {})
        try:
            await visit.client.schedules.create(
                sheet.name,
                trigger,
                target.spec or target.name,
                actor=visit.actor,
                payload=payload,
                unknown_task_ok=True,
                **fields,
            )
        except (InvalidError, ConflictError):
            if before is None:
                await once.refused()
            raise
        await once.done(sheet.name)
        return visit.done(where, message)
    unset = sheet.unset
    fields = {name: value for name, value in draft.touched.items() if name not in unset}
    after = await visit.client.schedules.update(
        sheet.schedule.name, actor=visit.actor, revision=sheet.revision, unset=unset, **fields
    )
    return visit.done(where, f"{sheet.name} is saved as revision {after.revision}.")


async def _conflict(sheet: Sheet) -> Response:
    """Show the form again with the user's changes on top of the newer revision, and the changes of others."""
    visit, schedule = sheet.visit, sheet.schedule
    assert schedule is not None
    current = await visit.client.schedules.get(schedule.name)
    entries = await visit.client.revisions.history(schedule.name, limit=_MAX_SHOWN)
    meanwhile = [entry for entry in entries if entry.revision.revision > sheet.revision]
    theirs = {change.path[0] for entry in meanwhile for change in entry.changes or ()}
    draft = await merged(visit, sheet.draft, current.definition_json)
    stored = {name: value for name, value in current.definition_json.items() if name in FIELDS}
    if meanwhile and not sheet.unset and sheet.draft.encoded == stored:
        # The stored definition already has these values, for example after a repeated submission.
        where = visit.schedule(schedule.name)
        return visit.done(
            where, f"{schedule.name} already has these values since revision {meanwhile[-1].revision.revision}."
        )
    again = replace(sheet, draft=draft, schedule=current, revision=current.revision)
    both = sorted(theirs & sheet.draft.touched.keys())
    return await _show(again, 412, meanwhile=meanwhile, both=both)


async def _show(
    sheet: Sheet,
    status: int = 200,
    seen: Outlook | None = None,
    *,
    meanwhile: Sequence[HistoryEntry] = (),
    both: Sequence[str] = (),
) -> Response:
    visit = sheet.visit
    workers = await visit.client.workers.list()
    return visit.render(
        "edit.html",
        status=status,
        sheet=sheet,
        draft=sheet.draft,
        outlook=seen or await outlook(visit, sheet.draft, sheet.name, sheet.schedule),
        groups=GROUPS,
        forms=list(FORMS.values()),
        zones=_zones(),
        tasks=sorted({name for worker in workers for kind, name in worker.targets if kind == TASK})[:1_000],
        target_forms=target_forms(),
        suggested=[*_SUGGESTED, ("once, tomorrow at 9", f"at {_tomorrow(visit, sheet.own_zone)}")],
        meanwhile=meanwhile,
        both=both,
        defaults=default_field,
        once=form_token(visit),
    )


def _tomorrow(visit: PageRequest, tz: str) -> str:
    try:
        return local_value(tomorrow_at(9, visit.clock.now, tz), tz)
    except (InvalidError, OverflowError):
        at: datetime = tomorrow_at(9, visit.clock.now, "UTC")
        return f"{local_value(at, 'UTC')}Z"


@cache
def _zones() -> Sequence[str]:
    """Return the time zones, without aliases and special zones."""
    excluded = ("Etc/", "posix/", "right/", "SystemV/")
    return [*sorted(name for name in available_timezones() if "/" in name and not name.startswith(excluded)), "UTC"]


ROUTES: Final = (
    PageRoute("/preview", preview, "editor", ("POST",)),
    PageRoute("/schedules/new", new, "editor", ("GET", "POST")),
    PageRoute("/schedules/{name:path}/edit", edit, "editor", ("GET", "POST")),
)
