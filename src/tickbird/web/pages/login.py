"""Login with a token, and logout."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tickbird.api.app import Clients
from tickbird.api.auth.auth import Authority
from tickbird.api.problems import Problem
from tickbird.client.sessions import open_session
from tickbird.domain.errors import TickbirdError
from tickbird.web.guard import SESSION, PageGuard, check_origin, problem_from, problem_page
from tickbird.web.page_request import PageRequest, own_path, read_form
from tickbird.web.rendering import render

_MAX_FORM_LENGTH: Final = 10_000


class Login:
    """The pages that open and close sessions."""

    def __init__(self, guard: PageGuard, api: Any) -> None:
        self._guard = guard
        self._authority: Authority = api.state.authority
        self._clients: Clients = api.state.clients

    async def show(self, request: Request) -> Response:
        if self._guard.tokenless:
            return RedirectResponse(_root(request) + own_path(request.query_params.get("next", "")), 303)
        return self._page(request, own_path(request.query_params.get("next", "")))

    async def enter(self, request: Request) -> Response:
        """Open a session, and redirect to the requested page."""
        try:
            return await self._enter(request)
        except (Problem, TickbirdError, TimeoutError) as error:
            return problem_page(request, problem_from(error), None)

    async def _enter(self, request: Request) -> Response:
        check_origin(request)
        self._guard.check_lookup(request)
        form = read_form(await self._guard.body(request, _MAX_FORM_LENGTH))
        to = own_path(form.text("next"))
        if self._guard.tokenless:
            return RedirectResponse(_root(request) + to, 303)
        try:
            caller = await self._authority.caller(f"Bearer {form.text('token')}")
            user_agent = request.headers.get("user-agent", "")
            opened, text = await open_session(self._clients("default").store, caller.token_id, user_agent=user_agent)
        except Problem:
            message = "This token is not valid: it is unknown, expired or revoked."
            return self._page(request, to, message, 401)
        except TickbirdError:
            return self._page(request, to, "The store is unavailable. Try again.", 503)
        answer = RedirectResponse(_root(request) + to, 303)
        answer.set_cookie(
            SESSION,
            text,
            max_age=max(0, int((opened.expires_at - opened.opened_at).total_seconds())),
            path=_root(request) or "/",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return answer

    def _page(self, request: Request, to: str, wrong: str = "", status: int = 200) -> Response:
        context = {"root": _root(request), "next": to, "wrong": wrong}
        return HTMLResponse(render("login.html", context), status)

    async def leave(self, visit: PageRequest) -> Response:
        await self._authority.close(visit.caller)
        self._guard.forget(visit.request)
        return _to_login(visit)

    async def leave_everywhere(self, visit: PageRequest) -> Response:
        """Confirm, then close all sessions of the token."""
        token_id = visit.caller.token_id
        if visit.tokenless:
            raise Problem(409, "no-session", "This server needs no login.", hint="Close the window.")
        if visit.request.method == "POST":
            await visit.client.sessions.close_for_token(token_id, actor=visit.actor)
            self._guard.forget_all(token_id)
            return _to_login(visit)
        token = await visit.client.store.tokens.find(token_id)
        return visit.render("logout_everywhere.html", sessions=token.sessions if token else 0)


def _to_login(visit: PageRequest) -> Response:
    answer = visit.done(f"{visit.root}/login")
    answer.delete_cookie(SESSION, path=visit.root or "/")
    return answer


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", ""))
