"""The cache of stale pages is bounded by number and by size."""

from tickbird.web.stale_pages import StalePage, StalePageCache


def test_old_pages_make_room_for_new_ones() -> None:
    """However large they are; one that is seen again is new, and who leaves takes theirs along."""
    memory = StalePageCache()
    for number in range(40):
        memory.put("ana", f"/{number}", b"x" * 1_000_000)
        memory.put("ana", "/often", b"y")
    assert memory.get("ana", "/often") is not None
    known = [number for number in range(40) if memory.get("ana", f"/{number}") is not None]
    assert known == list(range(9, 40))
    memory.put("ben", "/", b"z")
    memory.drop_caller("ana")
    assert memory.get("ana", "/39") is None
    assert memory.get("ben", "/") is not None
    for number in range(32):
        memory.put("ben", f"/{number}", b"x" * 999_000)
    assert memory.get("ben", "/0") is not None


def test_a_page_is_shown_with_its_age_for_an_hour() -> None:
    now = [100.0]
    memory = StalePageCache(lambda: now[0])
    memory.put("ana", "/", b"page")
    assert memory.get("ben", "/") is None
    now[0] += 3_599.0
    assert memory.get("ana", "/") == StalePage(b"page", 3_599.0)
    now[0] += 1.0
    assert memory.get("ana", "/") is None
