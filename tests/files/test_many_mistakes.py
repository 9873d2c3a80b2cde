"""A file with twenty mistakes tells of twenty, each where it stands, in every spelling."""

from __future__ import annotations

import json
import re

import pytest

from tickbird.files.diagnostics import DocumentError
from tickbird.files.document import read_bytes
from tickbird.files.loader import Format

TOML = "".join(f'[schedules.s{number}]\ncron = "99 * * * *"\ntask = "work"\nretires = 3\n' for number in range(10))
YAML = "schedules:\n" + "".join(
    f'  s{number}:\n    cron: "99 * * * *"\n    task: work\n    retires: 3\n' for number in range(10)
)
JSON = (
    '{"app": "shop",\n"schedules": {\n'
    + ",\n".join(f'"s{number}": {{\n"cron": "99 * * * *",\n"task": "work",\n"retires": 3}}' for number in range(10))
    + "\n}}\n"
)


COMMAND = {
    "program": "relative",
    "args": ["-a", 5, "b\0"],
    "env": {"A B": "x", "TICKBIRD_X": "x", "GOOD": {"env": "B C"}, "NUMBER": 5, "FINE": "x"},
    "success": [300],
    "user": "a b",
    "folder": "here",
    "input": 5,
    "fodler": "/",
}
ODD = """{"schedules": {
"a": {"cron": "0 3 * * *", "command": COMMAND,
"retries": NaN, "priority": -Infinity, "max_runs": 1e999},
"b": {"any_of": [], "command": {"shell": " "}}}}"""


def test_every_error_of_a_command_is_reported() -> None:
    with pytest.raises(DocumentError) as caught:
        read_bytes(ODD.replace("COMMAND", json.dumps(COMMAND, indent=1)).encode(), "x.json", "json")
    told = [str(diagnostic) for diagnostic in caught.value.diagnostics]
    for words in (
        "x.json:3:13: schedule a: command: program: 'relative' is not an absolute path",
        "x.json:6:3: schedule a: command: args: '5' cannot be passed",
        "x.json:7:3: schedule a: command: args: 'b\\x00' cannot be passed",
        "x.json:10:10: schedule a: command: env: 'A B' is not a valid variable name",
        "x.json:11:17: schedule a: command: env: TICKBIRD_X is reserved for Tickbird",
        "x.json:12:11: schedule a: command: env: 'B C' is not a valid variable name",
        "x.json:15:13: schedule a: command: env: NUMBER must be a text",
        "x.json:18:13: schedule a: command: success must contain whole numbers",
        "x.json:21:10: schedule a: command: user: 'a b' is not a user name",
        "x.json:22:12: schedule a: command: folder: 'here' is not an absolute path",
        "x.json:23:11: schedule a: command: input cannot be passed to a program",
        "x.json:24:2: schedule a: 'fodler' is not a field of a command. Did you mean folder?",
        "x.json:26:12: NaN cannot be stored as a number. Put it in quotes.",
        "x.json:26:29: -Infinity cannot be stored as a number. Put it in quotes.",
        "x.json:26:52: 1e999 is too large.",
        "x.json:27:17: schedule b: any_of must be a list of 1 to 32 objects",
        "x.json:27:42: schedule b: command: shell must be a non-empty text",
    ):
        assert [line for line in told if line.startswith(words)], (words, told)


@pytest.mark.parametrize(
    "text,spelling,first",
    [
        (f'app = "shop"\n{TOML}', "toml", (3, 8)),
        (f"app: shop\n{YAML}", "yaml", (4, 11)),
        (JSON, "json", (4, 9)),
    ],
)
def test_twenty_mistakes_are_twenty_messages(text: str, spelling: Format, first: tuple[int, int]) -> None:
    with pytest.raises(DocumentError) as caught:
        read_bytes(text.encode(), f"shop.{spelling}", spelling)
    told = [str(diagnostic) for diagnostic in caught.value.diagnostics]
    assert len(told) == 20
    places = [re.match(rf"shop\.{spelling}:(\d+):(\d+): schedule s(\d): ", line) for line in told]
    assert all(places), told
    found = sorted((int(place[1]), int(place[2]), int(place[3])) for place in places if place)
    assert found[0] == (*first, 0)
    # Two of each schedule, the second two lines below, where the wrong key stands.
    lines = [line for line, _, _ in found]
    assert lines == [first[0] + 4 * number + below for number in range(10) for below in (0, 2)]
    assert sum("Did you mean retries?" in line for line in told) == 10
