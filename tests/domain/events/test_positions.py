"""Positions that readers outside the store remember."""

from __future__ import annotations

import pytest

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.events.positions import EventPosition, as_position


def test_a_position_is_a_number_or_has_an_incarnation() -> None:
    assert as_position(7) == as_position("7") == EventPosition(7)
    assert as_position("5:7") == as_position(EventPosition(7, 5)) == EventPosition(7, 5)
    assert [str(as_position(text)) for text in ("7", "5:7", "5:0")] == ["7", "5:7", "5:0"]


@pytest.mark.parametrize(
    "wrong", ["", "x", "5:", ":7", "5:7:9", "-1", " 7", "\u0667", "7\n", "9" * 19, -1, 2**63, True, None]
)
def test_anything_else_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidError, match="is not a position"):
        as_position(wrong)  # type: ignore[arg-type]


def test_a_position_is_refused_by_another_incarnation_and_a_shorter_log() -> None:
    as_position("5:7").check(5, 7)
    as_position(7).check(5)
    with pytest.raises(ConflictError, match=r"incarnation 5 .* incarnation 6: .* Start again from a time"):
        as_position("5:7").check(6)
    with pytest.raises(ConflictError, match=r"the log ends at position 6. .* Start again from a time"):
        as_position(7).check(5, 6)
