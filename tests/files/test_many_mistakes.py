"""A file with twenty mistakes tells of twenty, each where it stands, in every spelling."""

from __future__ import annotations

import re

import pytest

from tickbird.files.mistakes import DocumentError
from tickbird.files.reading import Format
from tickbird.files.shape import read_bytes

TOML = "".join(f'[schedules.s{number}]\ncron = "99 * * * *"\ntask = "work"\nretires = 3\n' for number in range(10))
YAML = "schedules:\n" + "".join(
    f'  s{number}:\n    cron: "99 * * * *"\n    task: work\n    retires: 3\n' for number in range(10)
)
JSON = (
    '{"app": "shop",\n"schedules": {\n'
    + ",\n".join(f'"s{number}": {{\n"cron": "99 * * * *",\n"task": "work",\n"retires": 3}}' for number in range(10))
    + "\n}}\n"
)


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
    told = [str(mistake) for mistake in caught.value.mistakes]
    assert len(told) == 20
    places = [re.match(rf"shop\.{spelling}:(\d+):(\d+): schedule s(\d): ", line) for line in told]
    assert all(places), told
    found = sorted((int(place[1]), int(place[2]), int(place[3])) for place in places if place)
    assert found[0] == (*first, 0)
    # Two of each schedule, the second two lines below, where the wrong key stands.
    lines = [line for line, _, _ in found]
    assert lines == [first[0] + 4 * number + below for number in range(10) for below in (0, 2)]
    assert sum("did you mean retries?" in line for line in told) == 10
