"""A schedule with forms, and the values that the forms stored."""

from playwright.async_api import Locator, Page

from tests.web.conftest import Served
from tests.web.histories import a_worker, make
from tests.web.test_actions_run import manual_runs


def form_of(page: Page) -> Locator:
    """The form in the dialog."""
    return page.get_by_role("dialog", name="Action")


async def on_schedule(served: Served) -> str:
    await a_worker(served)
    await make(served)
    return "/schedules/nightly"


async def run_limit(served: Served) -> object:
    return [dict(run.payload).get("limit") for run in await manual_runs(served)]


async def pause_note(served: Served) -> object:
    pause = (await served.client.schedules.get("nightly")).pause
    return pause and (pause.note, pause.until)
