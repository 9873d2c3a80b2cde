"""Tokens: admins create, list and revoke them, within the namespaces of their own token."""

from __future__ import annotations

import re
import shlex
from datetime import datetime, timedelta
from typing import Any, Final

from starlette.responses import Response

from tickbird.domain.access.tokens import ROLES, TokenRecord, check_role
from tickbird.domain.errors import ClosedNamespaceError, InvalidError
from tickbird.web.forms.field_errors import without_field
from tickbird.web.forms.idempotency import IdempotentForm, form_token
from tickbird.web.guard import PageGuard
from tickbird.web.page_request import PageRequest, PageRoute

_PAGE: Final = 100
# The permissions of each role.
MAY: Final = {
    "viewer": "view everything",
    "operator": "also pause, resume, run, skip, backfill, retry and cancel",
    "editor": "also create, change and delete schedules",
    "admin": "also create and revoke tokens, close sessions and drain workers",
}
# Options for the expiry: days from now, `never` or `pick`.
ENDS: Final = (("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"), ("never", "never"), ("pick", "at…"))
_FIELDS: Final = ("name", "role", "namespaces", "ends", "ends_at")
# Names are separated by commas or white space.
_SEPARATORS: Final = re.compile(r"[\s,]+")


async def tokens(visit: PageRequest) -> Response:
    """List the tokens whose namespaces the caller can access, by id."""
    after, ended = visit.query.get("after", ""), visit.query.get("ended") == "1"
    rows = await visit.own_client.tokens.list(
        within=visit.namespaces, live=not ended, after=after[:60], limit=_PAGE + 1
    )
    return visit.render(
        "tokens.html",
        tokens=rows[:_PAGE],
        ended=ended,
        more=visit.here(after=rows[_PAGE - 1].id) if len(rows) > _PAGE else None,
        first=visit.here(after=None) if after else None,
    )


async def create(visit: PageRequest) -> Response:
    """Show the form, then the new token. Only this response contains it."""
    typed, once = _typed(visit), IdempotentForm(visit, "create_token")
    if not visit.is_sent:
        return _form(visit, typed)
    if (before := await once.begin()) is not None:
        # A repeated submission, such as a reload. The token was only in the first response.
        made_before = await visit.own_client.store.tokens.find(before.body)
        return visit.render("token_again.html", status=409, token=made_before)
    try:
        everything = "everything" in visit.form
        token, text = await visit.own_client.tokens.create(
            typed["name"],
            check_role(typed["role"]),
            actor=visit.actor,
            namespaces=None if everything else [name for name in _SEPARATORS.split(typed["namespaces"]) if name],
            all_namespaces=everything,
            expires_at=_end(visit, typed),
            within=visit.namespaces,
        )
    except (InvalidError, ClosedNamespaceError) as error:
        await once.refused()
        field = error.field if isinstance(error, InvalidError) else "namespaces"
        where = {"expires_at": "ends_at", "namespace": "namespaces"}.get(field, field or "name")
        return _form(visit, typed, {where: without_field(error, field)}, 422)
    await once.done(token.id)
    # Responses to forms are not cached, neither here nor in the browser.
    return visit.render("token_made.html", token=token, text=text)


def _typed(visit: PageRequest) -> dict[str, str]:
    """Return the input, or the initial values."""
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
            raise InvalidError("expires_at: no date is set. Enter a date and a time.", field="expires_at")
        return visit.clock.read(typed["ends_at"], "expires_at")
    if ends not in dict(ENDS):
        raise InvalidError(
            f"expires_at: {ends[:60]!r} is not one of the options.", field="expires_at", hint="Choose one."
        )
    return (visit.clock.now + timedelta(days=int(ends))).replace(microsecond=0)


def _command(visit: PageRequest, typed: dict[str, str], *, everything: bool) -> str:
    """Build the equivalent command line from the input so far."""
    named = ",".join(name for name in _SEPARATORS.split(typed["namespaces"]) if name)
    role = typed["role"] if typed["role"] in ROLES else "viewer"
    name = typed["name"] or "NAME"
    parts = ["tickbird", "token", "create", *([] if name.startswith("-") else [name]), "--role", role]
    parts += ["--all-namespaces"] if everything else ["--namespace", named] if named else []
    ends = typed["ends"]
    until = f"{typed['ends_at'].replace('T', ' ')} {visit.clock.zone()}" if ends == "pick" and typed["ends_at"] else ""
    parts += ["--expires", f"{ends}d"] if ends.isdigit() else ["--expires", until] if until else []
    return shlex.join([*parts, "--", name] if name.startswith("-") else parts)


async def revoke(visit: PageRequest) -> Response:
    """Confirm, then revoke a token."""
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
    """Drop a token or session from the caches, so that this server refuses it at once."""
    state: Any = visit.request.app.state
    guard: PageGuard = state.gate
    guard.forget_all(key)


ROUTES: Final = (
    PageRoute("/settings/tokens", tokens, "admin"),
    PageRoute("/settings/tokens/new", create, "admin", ("GET", "POST")),
    PageRoute("/settings/tokens/{token}/revoke", revoke, "admin", ("GET", "POST")),
)
