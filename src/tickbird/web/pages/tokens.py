"""Tokens: made, listed and revoked by admins, each within the namespaces of their own token."""

from __future__ import annotations

import re
import shlex
from datetime import datetime, timedelta
from typing import Any, Final

from starlette.responses import Response

from tickbird.domain.access.tokens import ROLES, TokenRecord, check_role
from tickbird.domain.errors import ClosedNamespaceError, InvalidError
from tickbird.web.forms.idempotency import IdempotentForm, form_token
from tickbird.web.guard import PageGuard
from tickbird.web.page_request import PageRequest, PageRoute

_PAGE: Final = 100
# What each may do, in a line.
MAY: Final = {
    "viewer": "view everything",
    "operator": "also pause, resume, run, skip, backfill, retry and cancel",
    "editor": "also create, change and delete schedules",
    "admin": "also create and revoke tokens, close sessions and drain workers",
}
# What is offered as its end: days from now on, or one of two words.
ENDS: Final = (("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"), ("never", "never"), ("pick", "at…"))
_FIELDS: Final = ("name", "role", "namespaces", "ends", "ends_at")
# As a browser's list of names is typed: parted by commas, white space or lines.
_BETWEEN: Final = re.compile(r"[\s,]+")


async def tokens(visit: PageRequest) -> Response:
    """Those that open nothing but what one's own opens, by id."""
    after, ended = visit.query.get("after", ""), visit.query.get("ended") == "1"
    found = await visit.own_client.tokens.list(
        within=visit.namespaces, live=not ended, after=after[:60], limit=_PAGE + 1
    )
    return visit.render(
        "tokens.html",
        tokens=found[:_PAGE],
        ended=ended,
        more=visit.here(after=found[_PAGE - 1].id) if len(found) > _PAGE else None,
        first=visit.here(after=None) if after else None,
    )


async def create(visit: PageRequest) -> Response:
    """Ask what it is to open, then show the text of the new one: on this answer alone."""
    typed, once = _typed(visit), IdempotentForm(visit, "create_token")
    if not visit.is_sent:
        return _form(visit, typed)
    if (before := await once.begin()) is not None:
        # Sent again, by a reload for example: the text was on the first answer, and is nowhere to be read from.
        made_before = await visit.own_client.store.tokens.find(before.body)
        return visit.render("token_again.html", status=409, token=made_before)
    try:
        everything = "everything" in visit.form
        made, text = await visit.own_client.tokens.create(
            typed["name"],
            check_role(typed["role"]),
            actor=visit.actor,
            namespaces=None if everything else [name for name in _BETWEEN.split(typed["namespaces"]) if name],
            all_namespaces=everything,
            expires_at=_end(visit, typed),
            within=visit.namespaces,
        )
    except (InvalidError, ClosedNamespaceError) as error:
        await once.refused()
        field = error.field if isinstance(error, InvalidError) else "namespaces"
        where = {"expires_at": "ends_at", "namespace": "namespaces"}.get(field, field or "name")
        return _form(visit, typed, {where: str(error).removeprefix(f"{field}: ")}, 422)
    await once.done(made.id)
    # The answer to a form is never remembered, and neither may a browser keep it.
    return visit.render("token_made.html", token=made, text=text)


def _typed(visit: PageRequest) -> dict[str, str]:
    """What stands in the form: what was sent, or what is offered at first."""
    if visit.request.method == "POST":
        return {name: visit.form.text(name)[:10_000] for name in _FIELDS}
    own = visit.namespaces
    first = ", ".join((visit.namespace,) if own is None else own)
    return {"name": "", "role": "viewer", "namespaces": first, "ends": "90", "ends_at": ""}


def _form(
    visit: PageRequest, typed: dict[str, str], wrong: dict[str, str] | None = None, status: int = 200
) -> Response:
    everything = "everything" in visit.form
    return visit.render(
        "token_new.html",
        status=status,
        typed=typed,
        wrong=wrong or {},
        everything=everything,
        roles=MAY,
        ends=ENDS,
        once=form_token(visit),
        command=_command(visit, typed, everything=everything),
    )


def _end(visit: PageRequest, typed: dict[str, str]) -> datetime | None:
    ends = typed["ends"]
    if ends == "never":
        return None
    if ends == "pick":
        if not typed["ends_at"]:
            raise InvalidError("expires_at: is missing. Enter a date and a time.", field="expires_at")
        return visit.clock.read(typed["ends_at"], "expires_at")
    if ends not in dict(ENDS):
        raise InvalidError(f"expires_at: {ends[:60]!r} is not offered.", field="expires_at", hint="Choose one.")
    return (visit.clock.now + timedelta(days=int(ends))).replace(microsecond=0)


def _command(visit: PageRequest, typed: dict[str, str], *, everything: bool) -> str:
    """The same by the command line, as far as the form says it yet."""
    named = ",".join(each for each in _BETWEEN.split(typed["namespaces"]) if each)
    role = typed["role"] if typed["role"] in ROLES else "viewer"
    name = typed["name"] or "NAME"
    parts = ["tickbird", "token", "create", *([] if name.startswith("-") else [name]), "--role", role]
    parts += ["--all-namespaces"] if everything else ["--namespace", named] if named else []
    ends = typed["ends"]
    until = f"{typed['ends_at'].replace('T', ' ')} {visit.clock.zone()}" if ends == "pick" and typed["ends_at"] else ""
    parts += ["--expires", f"{ends}d"] if ends.isdigit() else ["--expires", until] if until else []
    return shlex.join([*parts, "--", name] if name.startswith("-") else parts)


async def revoke(visit: PageRequest) -> Response:
    """Say what it ends, then end it."""
    token = await visit.own_client.tokens.get(visit.param("token"), within=visit.namespaces)
    own = token.id == visit.caller.token_id
    if visit.request.method == "POST":
        await visit.own_client.tokens.revoke(token.id, actor=visit.actor)
        forget(visit, token.id)
        return visit.done(visit.url("/settings/tokens"), f"Token {token.id} ({token.name}) is revoked{_ended(token)}.")
    return visit.render(
        "token_revoke.html", token=token, own=own, command=f"tickbird token revoke {shlex.quote(token.id)}"
    )


def _ended(token: TokenRecord) -> str:
    return f", which ends {token.sessions} open session{'' if token.sessions == 1 else 's'}" if token.sessions else ""


def forget(visit: PageRequest, key: str) -> None:
    """A token or a session has ended: this server refuses it at once, and shows nothing of it any more."""
    state: Any = visit.request.app.state
    gate: PageGuard = state.gate
    gate.forget_all(key)


ROUTES: Final = (
    PageRoute("/settings/tokens", tokens, "admin"),
    PageRoute("/settings/tokens/new", create, "admin", ("GET", "POST")),
    PageRoute("/settings/tokens/{token}/revoke", revoke, "admin", ("GET", "POST")),
)
