"""trigger --wait, on a real worker, on the store and by way of a server."""

from __future__ import annotations

import asyncio
import json

from tests.cli.conftest import Cli
from tests.client.http.servers import make_token, serving

APP = """
    from tickbird import Run, Tickbird, cron

    bird = Tickbird(app="shop")


    @bird.task(schedule=cron("0 9 1 1 *"))
    async def digest(run: Run, fail: bool = False) -> int:
        run.log.info("looking around")
        if fail:
            raise ValueError("no data")
        return 7
"""


def test_the_end_of_a_run_is_waited_for(cli: Cli) -> None:
    cli.write("shop", APP)
    cli.ok("sync", "shop:bird")
    assert cli.url is not None
    token = asyncio.run(make_token(cli.url, "operator", "default"))
    worker = cli.start("worker", "shop:bird")
    try:
        with serving(cli.url) as server:
            away = {"TICKBIRD_URL": "", "TICKBIRD_SERVER": server, "TICKBIRD_TOKEN": token}
            for env in ({}, away):
                said = cli("trigger", "digest", "--wait", "60", **env)
                assert said.code == 0, said
                first, last = said.out.splitlines()
                assert first.endswith(" INFO looking around")
                assert " of digest succeeded after " in last
                said = cli("trigger", "digest", "--payload", '{"fail": true}', "--wait", **env)
                assert (said.code, "of digest failed after" in said.out) == (1, True)
                assert said.out.endswith(": ValueError: no data\n")
                told = json.loads(cli("trigger", "digest", "--wait", "--json", **env).out)
                assert (told["run"]["status"], told["run"]["result"]) == ("succeeded", 7)
                assert [line["text"] for line in told["lines"]] == ["looking around"]
    finally:
        worker.terminate()
        worker.communicate(timeout=60)


def test_wait_timeout_keeps_the_run_queued(shop: Cli) -> None:
    for more in ((), ("--json",)):
        said = shop("trigger", "etl", "--wait", "1s", *more)
        assert (said.code, bool(said.out)) == (1, bool(more))
        if more:
            # What was made is told beside what went wrong.
            assert said.json["error"]["kind"] == "failed"
            assert f"run {said.json['run']['id']} " in said.json["error"]["text"]
        assert "stays queued until one does" in said.err or "waits until" in said.err
        assert "after 1 s of waiting. Wait again, or inspect it with `tickbird runs " in said.err
    assert "--wait requires NAME" in shop.refused(2, "trigger", "--all", "--wait", "--yes")
    assert "'soon'" in shop.refused(2, "trigger", "etl", "--wait", "soon")
    assert shop.refused(2, "trigger", "etl", "--wait", "-1")
