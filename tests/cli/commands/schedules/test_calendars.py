"""`tickbird calendar`: put, preview, ls, show, rm."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


def test_calendar_create_show_and_delete(cli: Cli) -> None:
    assert "Calendar fest is stored" in cli.ok("calendar", "put", "fest", "--date", "12-25", "--weekday", "sun").out
    assert cli.ok("calendar", "ls").out.splitlines()[1].startswith("fest")
    assert "weekends" in cli.ok("calendar", "ls").out
    shown = cli.ok("calendar", "show", "fest", "--json").json
    assert (shown["closed"], shown["changed_by"], shown["revision"]) == (["sun", "12-25"], "ana", 1)
    assert "12-25" in cli.ok("calendar", "show", "fest").out
    assert cli.ok("calendar", "rm", "fest", "--json").json == {"deleted": "fest"}
    assert cli("calendar", "show", "fest").code == 3


def test_calendar_preview_from_json_changes_nothing(cli: Cli) -> None:
    document = '{"dates": ["2030-12-24/2030-12-26"], "include": ["2030-12-25"]}'
    told = cli.ok("calendar", "preview", "fest", "--file", document, "--json").json
    assert told["closed"] == ["2030-12-24", "2030-12-25", "2030-12-26", "+2030-12-25"]
    assert (told["stored"], told["schedules"], told["effects"]) == (False, 0, [])
    assert cli.ok("calendar", "ls", "--json").json == {"calendars": []}


@pytest.mark.parametrize(
    "args, code, said",
    [
        (("put", "fest"), 2, "closes no days"),
        (("put", "fest", "--date", "never"), 2, "'never' is not a date"),
        (("put", "fest", "--years", "2026-2027"), 2, "Give --country too"),
        (("put", "fest", "--country", "DE", "--years", "soon"), 2, "Write 2026-2036"),
        (("put", "fest", "--file", "{}", "--date", "12-25"), 2, "cannot be combined"),
        (("put", "weekends", "--date", "12-25"), 2, "built in"),
        (("rm", "fest"), 3, "there is no calendar 'fest'"),
    ],
)
def test_calendar_errors_are_one_sentence(cli: Cli, args: tuple[str, ...], code: int, said: str) -> None:
    answer = cli("calendar", *args)
    assert answer.code == code
    assert said in answer.err
