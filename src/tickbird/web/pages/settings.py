"""Settings: caller, display options and system information."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from starlette.responses import Response

from tickbird.domain.time.zones import zone
from tickbird.version import VERSION
from tickbird.web.display_clock import CHOICE, MINE, find_zone
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.timezone import keep

_KINDS: Final = {"postgresql": "PostgreSQL", "postgres": "PostgreSQL", "sqlite": "SQLite", "redis": "Redis"}
# Seconds. Information about the store rarely changes.
_FRESH: Final = 10.0


async def settings(visit: PageRequest) -> Response:
    return await _page(visit)


async def _page(visit: PageRequest, *, typed: str | None = None, wrong: str = "") -> Response:
    client, caller = visit.client, visit.caller
    return visit.render(
        "settings.html",
        status=422 if wrong else 200,
        version=VERSION,
        session=await client.store.sessions.find(caller.session_id) if caller.session_id else None,
        token=await client.store.tokens.find(caller.token_id) if caller.token_id else None,
        store=await visit.readings.share(("", "store"), lambda: _store(visit), fresh=_FRESH),
        mine=visit.clock.mine if typed is None else typed,
        wrong=wrong,
    )


async def _store(visit: PageRequest) -> dict[str, Any]:
    store = visit.client.store
    kind = urlsplit(store.url).scheme.partition("+")[0]
    return {
        "kind": _KINDS.get(kind, kind),
        "url": store.url,
        "schema": await store.schema_version(),
        "zones": await visit.client.system.zone_data(),
        "identity": await visit.client.system.identity(),
    }


async def choose_zone(visit: PageRequest) -> Response:
    """Save the zone for display; an unknown zone saves nothing."""
    choice, mine = visit.form.text("zone"), visit.form.text("mine")
    if mine and find_zone(mine) is None:
        hint = "Write, for example, Europe/Rome or UTC."
        return await _page(visit, typed=mine[:100], wrong=f"{mine[:60]!r} is not a time zone. {hint}")
    answer = visit.done(visit.url("/settings"), "The time zone is saved for this browser.")
    if choice in ("schedule", "mine", "utc"):
        keep(visit, answer, CHOICE, choice)
    if mine:
        keep(visit, answer, MINE, zone(mine).name)
    return answer


ROUTES: Final = (
    PageRoute("/settings", settings),
    PageRoute("/settings/zone", choose_zone, methods=("POST",)),
)
