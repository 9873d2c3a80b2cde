"""What a schedule would do, over HTTP: in words, with warnings and load; and 500 odd cron expressions."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.api.middleware.guard import RequestLimits
from tickbird.domain.errors import TriggerError
from tickbird.domain.forecast.preview import Preview, PreviewedTick
from tickbird.domain.forecast.tick_load import TickLoad
from tickbird.domain.time.instants import iso, to_seconds
from tickbird.domain.triggers.cron.cron import cron

PATH = "/api/v1/preview"
AFTER = "2026-11-16T07:20:00Z"


async def preview(api: Api, trigger: Any, role: Any = "viewer", **body: Any) -> Any:
    """The answer for a trigger."""
    definition = {"trigger": {"cron": trigger} if isinstance(trigger, str) else trigger, **body.pop("policies", {})}
    return await api.ask("POST", PATH, role, json={"definition": definition, "after": AFTER, **body})


async def test_a_preview_has_ticks_words_warnings_and_load(api: Api) -> None:
    await api.create("hourly")
    await api.create("nightly", trigger=cron("30 2 * * *", "Europe/Rome"))
    await api.create("elsewhere", "other", trigger=cron("* * * * *"))
    await api.create("resting")
    await api.client().schedules.pause("resting", actor="ana")
    answer = await preview(api, {"cron": "30 2 * * *", "tz": "Europe/Rome"}, count=2)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert set(found) == keys(Preview)
    assert (found["trigger_description"], found["zone"], found["after"]) == (
        "At 02:30 (Europe/Rome)",
        "Europe/Rome",
        AFTER,
    )
    assert set(found["ticks"][0]) == keys(PreviewedTick)
    assert [(tick["scheduled_for"], tick["local"]) for tick in found["ticks"]] == [
        ("2026-11-17T01:30:00Z", "2026-11-17T02:30:00+01:00"),
        ("2026-11-18T01:30:00Z", "2026-11-18T02:30:00+01:00"),
    ]
    assert [(each["code"], each["at"]) for each in found["warnings"]] == [
        ("ticks-move", "2027-03-28T01:00:00Z"),
        ("ticks-once", "2027-10-31T01:00:00Z"),
    ]
    assert set(found["load"]) == keys(TickLoad)
    assert (found["load"]["schedules"], found["load"]["complete"]) == (2, True)
    assert found["load"]["instants"][0] == {"at": "2026-11-17T01:30:00Z", "before": 1, "minute": 1, "after": 1}
    assert (await api.get("/schedules", "viewer", params={"contains": "preview"}))["items"] == []
    # Of the schedule itself nothing is counted.
    named = (await preview(api, {"cron": "30 2 * * *", "tz": "Europe/Rome"}, name="nightly")).json()
    assert (named["load"]["schedules"], named["load"]["instants"][0]["minute"]) == (1, 0)


async def test_a_preview_takes_what_a_definition_has(api: Api) -> None:
    await api.client().calendars.put("fest", {"dates": ["2026-11-18"]}, actor="ana")
    policies = {"calendars": ["fest"], "spread": "10m", "max_runs": 2, "target": {"task": "digest"}, "grace": "1h"}
    found = (await preview(api, "0 9 * * *", policies=policies, name="digest")).json()
    assert [(tick["scheduled_for"][:10], tick["skipped"]) for tick in found["ticks"]] == [
        ("2026-11-16", None),
        ("2026-11-17", None),
    ]
    late = datetime.fromisoformat(found["ticks"][0]["due_at"]) - datetime.fromisoformat("2026-11-16T09:00:00Z")
    assert timedelta(0) < late < timedelta(minutes=10)
    assert found["definition"]["closed"] == {"fest": ["2026-11-18"]}
    rolled = (await preview(api, "0 9 18 11 *", policies={"calendars": ["fest"], "roll": "next"}, count=1)).json()
    assert rolled["ticks"][0]["scheduled_for"] == "2026-11-19T09:00:00Z"
    for trigger, what in (
        ({"every": {"hours": 2}}, "Every 2 hours"),
        ({"at": "2027-01-01T09:00:00Z"}, "Once, at 2027-01-01 09:00:00 UTC"),
        ({"any_of": [{"cron": "0 9 * * *"}, {"every": {"days": 1}}]}, "At 09:00; or every day"),
    ):
        assert (await preview(api, trigger)).json()["trigger_description"] == what


@pytest.mark.parametrize(
    "body, field",
    [
        ({}, "definition"),
        ({"definition": {}}, "trigger"),
        ({"definition": []}, "definition"),
        ({"definition": {"trigger": "0 9 * * *"}}, "trigger"),
        ({"definition": {"trigger": {"cron": "0 9 30 2 *"}}}, "day of month"),
        ({"definition": {"trigger": {"cron": "0 9 * * *", "tz": "Mars/Base"}}}, "tz"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}, "color": "red"}}, "color"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}, "calendars": ["none"]}}, "calendars"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}, "spread": "x"}}, "spread"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}}, "count": 0}, "count"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}}, "count": 10_001}, "count"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}}, "after": "tomorrow"}, "after"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}}, "after": "2026-01-01T00:00:00"}, "after"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}}, "name": "a b"}, "name"),
        ({"definition": {"trigger": {"cron": "0 9 * * *"}}, "more": 1}, "more"),
    ],
)
async def test_what_cannot_be_is_refused(memory: Api, body: Any, field: str) -> None:
    answer = await memory.ask("POST", PATH, "viewer", json=body)
    words = refused(answer, 422, "invalid")
    assert answer.json()["field"] == field, words


async def test_at_most_so_many_schedules_are_looked_at(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.client.forecast.MAX_SCHEDULES", 3)
    for number in range(4):
        await memory.create(f"hourly-{number}")
    for name, complete in (("hourly-0", True), ("another", False)):
        load = (await preview(memory, "0 9 * * *", name=name)).json()["load"]
        assert (load["schedules"], load["complete"]) == (3, complete)


HOSTILE = [
    *("", " ", "\t", "\0", "* * * * *\0", "* * * *\n*", "*", "* * * *", "* * * * * * *", "* * * * * 2026"),
    *("*/0 * * * *", "*/00 * * * *", "*/1 * * * *", "*/59 * * * *", "*/60 * * * *", "*/999999 * * * *"),
    *("*/9999999 * * * *", f"*/{'9' * 900} * * * *", "0/0 * * * *", "5/ * * * *", "/5 * * * *", "*/-1 * * * *"),
    *("60 * * * *", "-1 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 32 * *", "0 0 * 0 *", "0 0 * 13 *", "0 0 * * 8"),
    *("0 0 L-40 * *", "0 0 L-3 * *", "0 0 L * *", "0 0 LW * *", "0 0 31W * *", "0 0 W * *", "0 0 15W,L * *"),
    *("0 0 * * 5#9", "0 0 * * 5#0", "0 0 * * #9", "0 0 * * #", "0 0 * * 5#5", "0 0 * * 5L", "0 0 * * L", "0 0 * * 7L"),
    *("0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 29 2 *", "0 0 29 2 */7", "0 0 31W 2 *", "0 0 30 2 1"),
    *("٣ * * * *", "１ * * * *", "0 0 * * mön", "é", "🐦 * * * *", "\u00a00 9 * * *", "0 9 * * *\u2028", "0 ９ * * *"),
    *("0 0 1 JAN *", "0 0 1 jan-mar *", "0 0 * * mon-fri", "0 0 * * FRI-MON", "0 0 * * sat-sun", "0 0 1 J *"),
    *("@yearly", "@ANNUALLY", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@reboot", "@", "@every"),
    *("@every 1h30m", "@every 0s", "@every 1d", "@every 999999999h", "@every 1h1h", "@every -1h", "@every 1.5h"),
    *("5-1 * * * *", "5-5 * * * *", "1--5 * * * *", "1- * * * *", "-5 * * * *", "1-2-3 * * * *", "1,,2 * * * *"),
    *(", * * * *", "1, * * * *", "*,1 * * * *", "1,* * * * *", "*-5 * * * *", "*5 * * * *", "** * * * *"),
    *("? * * * *", "0 0 ? * ?", "0 0 ? * 1", "0 0 1 * ?", "0 ? * * *", "H * * * *", "0 0 * * *;", "$(reboot) * * * *"),
    *("* " * 5_000, "x" * 10_000, "0" * 10_000, "* * * * *" + " " * 10_000, "1," * 5_000 + "1 * * * *"),
    ",".join(map(str, range(60))) + " * * * *",
    ",".join(map(str, range(60))) + " " + ",".join(map(str, range(24))) + " 1-31 1-12 0-7",
    ",".join(f"{n}-59" for n in range(60)) + " * * * *",
    ",".join("*/1" for _ in range(200)) + " * * * *",
    ",".join(f"{n}W" for n in range(1, 32)) + " * * * *",
    "0 0 " + ",".join(f"{n}W" for n in range(1, 32)) + " * *",
    "0 0 * * " + ",".join(f"{day}#{rank}" for day in range(7) for rank in range(1, 6)),
    "0 0 " + ",".join(map(str, range(1, 32, 2))) + " * " + ",".join(f"{day}L" for day in range(7)),
    ",".join(map(str, range(0, 60, 7))) + " " + ",".join(map(str, range(0, 60, 11))) + " * * * *",
    "00000000000000000005 * * * *",
    "0 9 * * 1-5",
    "0\t9 *  * 1-5 ",
    "59 59 23 31 12 *",
    "0 0 0 29 2 *",
    "*/7 */5 */3 */2 * *",
]


def odd(draw: random.Random, low: int, high: int, extras: list[str]) -> str:
    """A field that may or may not be one."""
    a, b = draw.randint(low, high), draw.randint(low, high)
    return draw.choice(
        [
            "*",
            str(a),
            f"{min(a, b)}-{max(a, b)}",
            f"{a}-{b}",
            f"*/{draw.choice([1, 2, 3, 5, 7, 11, 13, 40, 100])}",
            f"{a}/{draw.randint(0, 30)}",
            f"{a},{b},{draw.randint(low, high + 1)}",
            f"{min(a, b)}-{max(a, b)}/{draw.randint(0, 9)}",
            *extras,
        ]
    )


def five_hundred() -> list[str]:
    """Those that somebody thought of, and as many as are left of those that nobody did; the same each time."""
    draw = random.Random(500)
    found = dict.fromkeys(HOSTILE)
    while len(found) < 500:
        fields = [
            odd(draw, 0, 59, ["*/90", "00"]),
            odd(draw, 0, 23, ["24"]),
            odd(draw, 1, 31, ["L", "LW", "15W", "?", "L-1", "31", "30", "29"]),
            odd(draw, 1, 12, ["feb", "FEB,Apr", "2"]),
            odd(draw, 0, 7, ["mon-fri", "5#3", "5L", "1#5", "?", "sun"]),
        ]
        found[" ".join([*([odd(draw, 0, 59, [])] if draw.random() < 0.2 else []), *fields])] = None
    return list(found)


def expected(expr: str, tz: str) -> Any:
    """What the domain makes of an expression: its words and ten ticks, or what is wrong with which part of it."""
    try:
        trigger = cron(expr, tz)
    except TriggerError as error:
        return error.message, error.field
    ticks: list[str] = []
    tick = trigger.next_tick(to_seconds(datetime.fromisoformat(AFTER)))
    while tick is not None and len(ticks) < 10:
        ticks.append(iso(tick))
        tick = trigger.next_tick(tick)
    return trigger.describe(), ticks


@pytest.fixture
def without_litter() -> Iterator[None]:
    """What other tests have left in memory is not looked through meanwhile."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("without_litter")
async def test_500_odd_cron_expressions_are_right_or_refused_with_a_reason(memory: Api) -> None:
    await memory.create("hourly")
    api = Api(memory.store, RequestLimits(per_second=1_000_000, burst=1_000_000))
    zones = ["UTC", "Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]
    right = refusals = 0
    exprs = five_hundred()
    assert len(exprs) == 500
    for number, expr in enumerate(exprs):
        tz = zones[number % len(zones)]
        began = time.process_time()
        answer = await preview(api, {"cron": expr, "tz": tz})
        spent = time.process_time() - began
        assert spent < 0.1, (expr[:60], spent)
        found = answer.json()
        if answer.status_code == 200:
            ticks = [each["scheduled_for"] for each in found["ticks"]]
            assert (found["trigger_description"], ticks) == expected(expr, tz)
            assert all(matches(expr, each["local"]) for each in found["ticks"] if tz == "UTC"), expr
            right += 1
        else:
            refused(answer, 422, "invalid")
            assert (found["detail"], found["field"]) == expected(expr, tz)
            assert 10 < len(found["detail"]) < 300, expr
            refusals += 1
    assert min(right, refusals) > 100, (right, refusals)
    await api.app.state.authority.settle()


def matches(expr: str, local: str) -> bool:
    """Does a tick lie in the month, hour and minute that plain fields name? The others are told apart elsewhere."""
    at = datetime.fromisoformat(local).astimezone(UTC)
    fields = expr.split()
    if expr.lstrip().startswith("@"):
        return True
    minute, hour, _, month, _ = fields[-5:]
    named = ((minute, at.minute), (hour, at.hour), (month, at.month))
    return all(int(text) == value for text, value in named if text.isdigit())
