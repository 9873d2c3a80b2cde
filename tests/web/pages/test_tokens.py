"""Tokens and their sessions in the browser: made, shown once, listed, revoked and closed, within one's namespaces."""

import re

import httpx
from playwright.async_api import Browser, expect

from tests.web.conftest import Desk, Served, View, done, log_in, looked_at
from tests.web.test_guard import Held
from tickbird.client.sessions import open_session

HOSTILE = '<img src=x onerror="alert(1)">\u202e"\'&'


@looked_at
async def test_tokens_are_listed_with_all_that_is_known(desk: Desk, served: Served) -> None:
    """Names are texts; ended ones show when asked; without a token needed, it says so and still makes them."""
    page = await desk.open("/settings/tokens")
    await expect(page.get_by_text("No live tokens yet.")).to_be_visible()
    await expect(page.get_by_text("This machine needs no token.")).to_be_visible()
    text = await served.token("admin", HOSTILE)
    await open_session(served.client.store, text[4:12], user_agent=HOSTILE)
    gone = await served.token("viewer", "gone")
    await served.client.tokens.revoke(gone[4:12], actor="ben")
    await page.reload()
    row = page.locator("tbody tr")
    await expect(row).to_have_count(1)
    for word in ("<img src=x", "live", "admin", "default", "never", "by ada", text[4:12]):
        await expect(row).to_contain_text(word)
    await page.get_by_role("link", name="Show ended too").click()
    await expect(page.locator("tbody tr", has_text="gone")).to_contain_text("revoked")
    await desk.check("tokens")
    await page.get_by_role("link", name=f"1 sessions of {text[4:12]}").click()
    await expect(page.locator("tbody tr")).to_contain_text("<img src=x")
    await desk.check("sessions")


@done
async def test_the_keyboard_alone_makes_a_token(door: Desk, guarded: Served) -> None:
    """Refused where something is wrong, with nothing lost; its text is on that answer, and nowhere afterwards."""
    door.expected.add(422)
    await log_in(door, await guarded.token("admin"), "/settings/tokens")
    page = door.page
    await page.get_by_role("link", name="New token").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await page.keyboard.type("deploy-bot")
    await page.keyboard.press("Tab")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Tab")
    await page.keyboard.press("ControlOrMeta+a")
    await page.keyboard.type("shop")
    await page.keyboard.press("Enter")
    # An admin of one namespace hands out no other.
    await expect(page.get_by_role("alert")).to_contain_text(
        "a token can only have namespaces of the token that creates it"
    )
    await expect(page.get_by_label("Name", exact=True)).to_have_value("deploy-bot")
    await expect(page.get_by_label("operator")).to_be_checked()
    await door.check("token-new")
    await page.get_by_label("Namespaces").focus()
    await page.keyboard.press("ControlOrMeta+a")
    await page.keyboard.type("default")
    await page.keyboard.press("Tab")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Copy it now: it is not shown again.")).to_be_visible()
    text = await page.locator("#token-text").inner_text()
    await door.check("token-made")
    assert re.fullmatch(r"tbk_[a-z2-7]{8}_[A-Za-z0-9_-]{43}", text)
    assert text not in page.url
    made = await guarded.client.store.tokens.find(text[4:12])
    assert made is not None
    assert (made.name, made.role, made.namespaces, made.sessions) == ("deploy-bot", "operator", ("default",), 0)
    assert made.expires_at is not None
    assert round((made.expires_at - made.created_at).total_seconds() / 86_400) == 30
    secret = text[13:]
    for each in await page.context.cookies():
        assert secret not in each["value"]
    # Before the same address is opened again, which would hide it.
    pages = guarded.app.state.gate._memory._pages.drop_values(lambda _: True)
    assert pages
    assert not any(secret.encode() in page.body for page in pages)
    await page.get_by_role("link", name="I have copied it").click()
    await expect(page.locator("tbody tr", has_text="deploy-bot")).to_have_count(1)
    for path in ("/settings/tokens", "/settings/tokens/new", f"/settings/tokens/{made.id}/sessions", "/audit"):
        await door.open(path)
        assert secret not in await page.content()


async def test_every_end_that_is_offered(served: Served) -> None:
    """Invalid ends are refused at their field; the response must not be cached."""
    async with httpx.AsyncClient(base_url=served.url) as http:
        csrf = await Held(http).csrf()
        form = {"csrf": csrf, "name": "x", "role": "viewer", "namespaces": "default", "ends_at": ""}
        for ends, at, days in (("90", "", 90), ("365", "", 365), ("never", "", None), ("pick", "2100-01-01T00:00", 0)):
            answer = await http.post("/settings/tokens/new", data={**form, "ends": ends, "ends_at": at})
            assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
            text = re.search(r"tbk_([a-z2-7]{8})_", answer.text)
            assert text is not None
            made = await served.client.store.tokens.find(text[1])
            assert made is not None
            end = made.expires_at
            if days:
                assert end is not None
                assert round((end - made.created_at).total_seconds() / 86_400) == days
            else:
                assert (end and end.isoformat()) == (None if days is None else "2100-01-01T00:00:00+00:00")
        for wrong in (
            {"ends": "pick"},
            {"ends": "pick", "ends_at": "2001-01-01T00:00"},
            {"ends": "pick", "ends_at": "soon"},
            {"ends": "7"},
            {"ends": "never", "role": "root"},
            {"ends": "never", "name": ""},
            {"ends": "never", "name": "a\x00b"},
            {"ends": "never", "name": "x" * 101},
            {"ends": "never", "namespaces": ""},
            {"ends": "never", "namespaces": "a/b c"},
            {"ends": "never", "everything": "1"},
        ):
            answer = await http.post("/settings/tokens/new", data={**form, **wrong})
            assert (answer.status_code, "tbk_" in answer.text.replace("tbk_…", "")) == (422, False), wrong
            assert 'role="alert"' in answer.text
        assert len(await served.client.tokens.list()) == 4


@done
async def test_a_token_is_revoked_with_its_sessions(door: Desk, guarded: Served, browser: Browser, view: View) -> None:
    """The page shows the number of sessions; they end at once; revoking the own token shows a warning and logs out."""
    door.expected.add(401)
    mine, theirs = await guarded.token("admin"), await guarded.token("viewer", "ben")
    await log_in(door, mine, "/settings/tokens")
    async with httpx.AsyncClient(base_url=guarded.url) as one, httpx.AsyncClient(base_url=guarded.url) as two:
        await one.post("/login", data={"token": theirs})
        await two.post("/login", data={"token": theirs})
        page = await door.open(f"/settings/tokens/{theirs[4:12]}/sessions")
        await page.get_by_role("link", name="Close…").first.click()
        await page.get_by_role("button", name="Close session").click()
        await expect(page.locator("tbody tr")).to_have_count(1)
        assert sorted([(await each.get("/settings")).status_code for each in (one, two)]) == [200, 303]
        await one.post("/login", data={"token": theirs})
        page = await door.open("/settings/tokens")
        row = page.locator(f"#token-{theirs[4:12]}")
        await row.get_by_role("link", name="Revoke…").click()
        await expect(
            page.get_by_text(re.compile(r"2 open sessions end with it|3 open sessions end with it"))
        ).to_be_visible()
        await door.check("token-revoke")
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_text("is revoked, which ends")).to_be_visible()
        assert [(await each.get("/settings")).status_code for each in (one, two)] == [303, 303]
    await page.locator(f"#token-{mine[4:12]}").get_by_role("link", name="Revoke…").click()
    await expect(page.get_by_text("This is your own token.")).to_be_visible()
    await page.get_by_role("button", name="Revoke").click()
    await expect(page).to_have_title("Log in · Tickbird")


async def test_an_admin_of_one_namespace_knows_of_no_other(guarded: Served) -> None:
    """Tokens and sessions of others, or of more than one's own, are neither seen nor ended; an editor sees none."""
    other = guarded.client.in_namespace("lab")
    foreign, _ = await other.tokens.create("theirs", "admin", actor="ada")
    wide, _ = await other.tokens.create("wide", "admin", actor="ada", all_namespaces=True)
    both, _ = await other.tokens.create("both", "viewer", actor="ada", namespaces=["default", "lab"])
    session, _ = await open_session(other.store, foreign.id)
    own, _ = await guarded.client.tokens.create("own", "viewer", actor="ada")
    async with httpx.AsyncClient(base_url=guarded.url, timeout=30) as http:
        await http.post("/login", data={"token": await guarded.token("admin")})
        csrf = await Held(http).csrf()
        page = (await http.get("/settings/tokens?ended=1")).text
        assert [each in page for each in (own.id, foreign.id, wide.id, both.id)] == [True, False, False, False]
        for each in (foreign, wide, both):
            for path in ("revoke", "sessions", "sessions/close", f"sessions/{session.id}/close"):
                where = f"/settings/tokens/{each.id}/{path}"
                assert (await http.get(where)).status_code == 404
                if path != "sessions":
                    assert (await http.post(where, data={"csrf": csrf})).status_code == 404
        # Nor by way of a token that one may know of.
        where = f"/settings/tokens/{own.id}/sessions/{session.id}/close"
        assert (await http.post(where, data={"csrf": csrf})).status_code == 404
        for path in ("/doctor", "/leader/resign"):
            assert (await http.get(path)).status_code == 403
    for each in (foreign, wide, both):
        found = await other.store.tokens.find(each.id)
        assert found is not None
        assert found.state == "live"
    assert [each.id for each in await other.sessions.list_for_token(foreign.id, live=True)] == [session.id]
    async with httpx.AsyncClient(base_url=guarded.url, timeout=30) as http:
        await http.post("/login", data={"token": await guarded.token("editor")})
        csrf = await Held(http).csrf()
        for path in ("/settings/tokens", "/settings/tokens/new", f"/settings/tokens/{own.id}/revoke", "/doctor"):
            assert (await http.get(path)).status_code == 403
        assert (await http.post("/settings/tokens/new", data={"csrf": csrf, "name": "x"})).status_code == 403
        assert (await http.post(f"/settings/tokens/{own.id}/revoke", data={"csrf": csrf})).status_code == 403
