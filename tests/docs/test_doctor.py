"""The page about `doctor` describes every check."""

from __future__ import annotations

import re
from pathlib import Path

from tickbird.domain.doctor.checks.registry import CHECKS

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"


def test_every_check_is_described() -> None:
    described = set(re.findall(r"^\| `([a-z ,`-]+)` \|", PAGE.read_text(), re.MULTILINE))
    names = {name.strip("` ") for cell in described for name in cell.split(",")}
    assert set(CHECKS) - names == set()
