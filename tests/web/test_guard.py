"""The guard of all pages: login, sessions, CSRF, roles, namespaces, and an unavailable store."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest
from playwright.async_api import Browser, expect

from lab.servers import PostgresServer
from tests.web.conftest import Desk, Served, View, done, log_in, looked_at, window
from tickbird.domain.access.tokens import ROLES, Role
from tickbird.domain.triggers.every import every
from tickbird.stores import open_store
from tickbird.web.app import ROUTES


@looked_at
async def test_a_token_opens_a_session(door: Desk, guarded: Served) -> None:
    """A wrong one is refused in words; the right one leads to where one wanted to go; logging out ends it."""
    door.expected.add(401)
    page = await door.open("/audit?schedule=x")
    await expect(page).to_have_title("Log in · Tickbird")
    await page.get_by_label("Token").fill("tbk_aaaaaaaa_" + "x" * 43)
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("alert")).to_contain_text("This token is not valid")
    await door.check("login")
    await page.get_by_label("Token").fill(await guarded.token("viewer"))
    await page.get_by_role("button", name="Log in").click()
    await expect(page).to_have_url(f"{guarded.url}/audit?schedule=x")
    [cookie] = [each for each in await page.context.cookies() if each["name"] == "tickbird_session"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    assert cookie["value"].startswith("tbs_")
    await page.get_by_role("button", name="Log out").click()
    await expect(page).to_have_title("Log in · Tickbird")
    # What the browser held opens nothing any more, wherever it was copied to.
    await page.context.add_cookies([cookie])
    await door.open("/audit")
    await expect(page).to_have_title("Log in · Tickbird")


@done
async def test_a_session_ends_with_its_token_and_comes_back_to_the_page(door: Desk, guarded: Served) -> None:
    """After its session ends, a page redirects to the login and back."""
    door.expected |= {401}
    text = await guarded.token("operator")
    await log_in(door, text, "/workers")
    await guarded.client.tokens.revoke(text[4:12], actor="ben")
    # The page notices by itself, or with the next click.
    await door.page.wait_for_url(re.compile("/login"), timeout=40_000)
    await door.page.get_by_label("Token").fill(await guarded.token("operator", "ben"))
    await door.page.get_by_role("button", name="Log in").click()
    await expect(door.page).to_have_url(f"{guarded.url}/workers")


class Held:
    """Requests with a session, as a foreign program would send them."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def csrf(self) -> str:
        """Return the CSRF token of this session."""
        found = re.search(r'name="csrf" content="([0-9a-f]+)"', (await self.http.get("/audit")).text)
        assert found is not None
        return found[1]


@pytest.fixture
async def held(guarded: Served) -> AsyncIterator[Held]:
    """An admin's session."""
    async with httpx.AsyncClient(base_url=guarded.url, timeout=30) as http:
        answer = await http.post("/login", data={"token": await guarded.token("admin"), "next": "/audit"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/audit")
        yield Held(http)


async def test_no_page_opens_without_a_session(guarded: Served) -> None:
    """Any path and method redirects to the login, also with a token as header or cookie."""
    text = await guarded.token("admin")
    for given in ({}, {"Authorization": f"Bearer {text}"}, {"Cookie": f"tickbird_session={text}"}):
        async with httpx.AsyncClient(base_url=guarded.url, headers=given) as http:
            for each in ROUTES:
                path = re.sub(r"\{[^}]*\}", "7", each.path)
                for method in each.methods:
                    answer = await http.request(method, path)
                    assert (answer.status_code, answer.headers["location"][:12]) == (303, "/login?next="), each.path


@pytest.mark.parametrize("role", ROLES[:3])
async def test_every_page_refuses_lower_roles(guarded: Served, role: Role) -> None:
    """Actions above the role are refused, by GET and by a valid form."""
    async with httpx.AsyncClient(base_url=guarded.url, timeout=30) as http:
        await http.post("/login", data={"token": await guarded.token(role)})
        csrf = await Held(http).csrf()
        for each in ROUTES:
            if ROLES.index(each.role) > ROLES.index(role):
                path = re.sub(r"\{[^}]*\}", "7", each.path)
                for method in each.methods:
                    answer = await http.request(method, path, data={"csrf": csrf} if method == "POST" else None)
                    assert (answer.status_code, each.path) == (403, each.path)
                    assert f"requires the role {each.role}" in answer.text


async def test_forms_of_others_change_nothing(guarded: Served, held: Held) -> None:
    """Forms without CSRF token, from another site, of another type, too large or unreadable are refused."""
    csrf = await held.csrf()
    for data, headers, status in (
        ({"zone": "utc"}, {}, 403),
        ({"csrf": "0" * 32}, {}, 403),
        ({"csrf": csrf}, {"Origin": "https://evil.example"}, 403),
        ({"csrf": csrf}, {"Origin": "null"}, 403),
        ({"csrf": csrf}, {"Origin": "http://["}, 403),
        ({"csrf": csrf, "x": "y" * 6_000_001}, {}, 413),
    ):
        answer = await held.http.post("/zone", data=data, headers=headers)
        assert answer.status_code == status, (data.keys(), headers)
        assert "set-cookie" not in answer.headers
    answer = await held.http.post("/zone", json={"csrf": csrf})
    assert answer.status_code == 415
    form = {"Content-Type": "application/x-www-form-urlencoded", "X-CSRF": csrf}
    assert (await held.http.post("/zone", content=b"zone=%ff%fe", headers=form)).status_code == 422
    assert (await held.http.post("/zone", content="zone=ü".encode(), headers=form)).status_code == 422
    # GET changes nothing, and leads nowhere.
    assert (await held.http.get("/zone")).status_code == 404
    assert (await held.http.post("/zone", data={"csrf": csrf, "zone": "utc"})).status_code == 303


@pytest.mark.parametrize(
    "to",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\n/x", "http://[", "//["],
)
async def test_the_log_in_leads_nowhere_else(guarded: Served, to: str) -> None:
    """For any value of `next`."""
    async with httpx.AsyncClient(base_url=guarded.url) as http:
        assert (await http.get("/login", params={"next": to})).status_code == 200
        answer = await http.post("/login", data={"token": await guarded.token("viewer"), "next": to})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        csrf = await Held(http).csrf()
        answer = await http.post("/zone", data={"csrf": csrf, "zone": "utc", "back": to})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_malformed_requests_are_refused_with_a_message(guarded: Served, held: Held) -> None:
    """Forms that cannot be read, addresses that are none, and methods that no page takes."""
    async with httpx.AsyncClient(base_url=guarded.url) as http:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        for body, status in ((b"token=%ff", 422), (b"\xff", 422), (b"token=" + b"x" * 10_001, 413)):
            assert (await http.post("/login", content=body, headers=form)).status_code == status
        answer = await http.post("/zone", headers={"Referer": "http://["})
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2F")
        answer = await http.get("/runs", headers={"HX-Request": "true", "HX-Current-URL": "http://["})
        assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/login?next=%2F")
    for method in ("OPTIONS", "PUT", "DELETE"):
        answer = await held.http.request(method, "/runs")
        assert (answer.status_code, {*answer.headers["allow"].split(", ")}) == (405, {"GET", "HEAD"})
    # Who asks only what would come is not kept waiting for it.
    answer = await held.http.head("/live")
    assert (answer.status_code, answer.headers["content-type"][:17]) == (200, "text/event-stream")


async def test_responses_have_security_headers(guarded: Served, held: Held) -> None:
    """All responses have a strict policy; pages are not cached, files are cached forever."""
    for path in ("/", "/login", "/nothing/there", "/static/x/y.js", "/healthz", "/metrics", "/api/v1/nothing"):
        answer = await held.http.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert (answer.headers["x-content-type-options"], answer.headers["cache-control"]) == ("nosniff", "no-store")
    page = (await held.http.get("/")).text
    assert not re.search(r"<[^>]+\s(style|on[a-z]+)=", page)
    for file in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        answer = await held.http.get(file)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True)


async def test_namespaces_are_apart(guarded: Served) -> None:
    """A token of one namespace sees no other namespace; a token of two can choose."""
    for name in ("shop", "lab"):
        client = guarded.client.in_namespace(name)
        await client.schedules.create(f"of-{name}", every(hours=1), "report", actor="ana", unknown_task_ok=True)
    async with httpx.AsyncClient(base_url=guarded.url) as http:
        await http.post("/login", data={"token": await guarded.token("viewer", namespaces=["shop"])})
        assert "of-shop" in (await http.get("/audit")).text
        answer = await http.get("/audit?ns=lab")
        assert (answer.status_code, "of-lab" in answer.text) == (403, False)
    async with httpx.AsyncClient(base_url=guarded.url) as http:
        await http.post("/login", data={"token": await guarded.token("viewer", namespaces=["shop", "lab"])})
        assert "of-lab" in (await http.get("/audit")).text
        page = (await http.get("/audit?ns=shop")).text
        assert "of-shop" in page
        assert 'href="/workers?ns=shop"' in page


async def test_without_tokens_only_this_machine_is_served(served: Served) -> None:
    """Another host name, or a form of another site, is refused; valid requests are not."""
    async with httpx.AsyncClient(base_url=served.url) as http:
        assert (await http.get("/", headers={"Host": "evil.example"})).status_code == 403
        assert (await http.get("/login")).status_code == 303
        assert (await http.post("/login", data={"token": "any"})).status_code == 303
        csrf = await Held(http).csrf()
        assert (await http.post("/zone", data={"zone": "utc"})).status_code == 403
        assert (await http.post("/zone", data={"csrf": csrf}, headers={"Origin": "http://x.test"})).status_code == 403
        assert (await http.post("/zone", data={"csrf": csrf, "zone": "utc"})).status_code == 303


async def test_a_store_that_is_away_and_comes_back(browser: Browser) -> None:
    """An open page turns grey and reports it; a reload shows the cached page with its age."""
    with PostgresServer() as server:
        url = server.create_database()
        store = open_store(url, within=2.0)
        await store.migrate()
        await store.open()
        async with Served(store) as site:
            await site.client.schedules.create("nightly", every(hours=1), "report", actor="ana", unknown_task_ok=True)
            context, desk = await window(browser, site.url, View("postgres", True, False))
            desk.expected |= {503}
            await log_in(desk, await site.token("viewer"), "/audit")
            await expect(desk.page.get_by_role("link", name="nightly")).to_be_visible()
            server.stop()
            await expect(desk.page.locator("body[data-stale]")).to_have_count(1, timeout=60_000)
            await expect(desk.page.locator("#stale")).to_contain_text("Not live: this page is")
            answer = await desk.page.reload()
            assert answer is not None
            assert answer.status == 503
            await expect(desk.page.get_by_text(re.compile(r"This page is .* old"))).to_be_visible()
            await expect(desk.page.get_by_role("link", name="nightly")).to_be_visible()
            # A page that nobody has seen has nothing to show, and says so.
            other = await context.new_page()
            await other.goto(f"{site.url}/workers")
            await expect(other.get_by_text("The store cannot be used at the moment.")).to_be_visible()
            server.start()
            await expect(desk.page.locator("body[data-stale]")).to_have_count(0, timeout=60_000)
            await expect(other.get_by_role("heading", name="Workers")).to_be_visible(timeout=60_000)
            await context.close()
        await store.close()


async def test_login_returns_to_the_requested_page(guarded: Served, held: Held) -> None:
    """With all that was asked of it: also from a form, or from a part of a page; and a slash too many is no matter."""
    shown = {"Referer": f"{guarded.url}/schedules?q=a%26b&state=paused"}
    part = {"HX-Request": "true", "HX-Current-URL": f"{guarded.url}/runs/7?attempt=2"}
    async with httpx.AsyncClient(base_url=guarded.url) as http:
        answer = await http.post("/bulk/pause", headers=shown)
        assert answer.headers["location"] == "/login?next=%2Fschedules%3Fq%3Da%2526b%26state%3Dpaused"
        answer = await http.get("/runs/7/cancel", headers=part)
        assert answer.headers["hx-redirect"] == "/login?next=%2Fruns%2F7%3Fattempt%3D2"
    for given, meant in (
        ("/schedules/?q=x", "/schedules?q=x"),
        ("/runs/", "/runs"),
        ("/bulk/pause", "/schedules"),
        ("//evil.example/", "/evil.example"),
    ):
        answer = await held.http.get(f"{guarded.url}{given}")
        assert (answer.status_code, answer.headers["location"]) == (303, meant)


async def test_input_survives_the_end_of_the_session(door: Desk, guarded: Served) -> None:
    """A form that is sent after the session has ended is as it was, once one is logged in again."""
    text = await guarded.token("editor")
    await log_in(door, text, "/schedules/new")
    page = door.page
    # What is shown as one types would lead to the log-in itself, before the form is sent.
    await page.route("**/preview", lambda route: route.fulfill(status=204))
    await page.get_by_label("Name", exact=True).fill("nightly")
    await page.get_by_label("Description").fill("half a sentence,\nand more")
    await page.context.clear_cookies()
    await page.get_by_role("button", name="Review…").click()
    await page.get_by_label("Token").fill(text)
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_label("Name", exact=True)).to_have_value("nightly")
    await expect(page.get_by_label("Description")).to_have_value("half a sentence,\nand more")
    # Only this once.
    await door.open("/schedules/new")
    await expect(page.get_by_label("Name", exact=True)).to_have_value("")


async def test_the_menu_marks_the_place_that_a_page_belongs_to(held: Held) -> None:
    """Also where its address does not begin with it."""
    for path, place in (
        ("/", "Now"),
        ("/runs", "Runs"),
        ("/backfills", "Runs"),
        ("/held", "Runs"),
        ("/settings/tokens", "Settings"),
        ("/logout/everywhere", "Settings"),
    ):
        page = (await held.http.get(path)).text
        assert re.findall(r'aria-current="page">(\w+)', page) == [place], path
