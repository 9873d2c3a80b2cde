"""What a server remembers of pages is bounded, by their number and by their size."""

from tickbird.web.stale_pages import StalePage, StalePageCache


def test_old_pages_make_room_for_new_ones() -> None:
    """However large they are; one that is seen again is new, and who leaves takes theirs along."""
    memory = StalePageCache()
    for number in range(40):
        memory.keep("ana", f"/{number}", b"x" * 1_000_000)
        memory.keep("ana", "/often", b"y")
    assert memory.find("ana", "/often") is not None
    known = [number for number in range(40) if memory.find("ana", f"/{number}") is not None]
    assert known == list(range(9, 40))
    memory.keep("ben", "/", b"z")
    memory.forget("ana")
    assert memory.find("ana", "/39") is None
    assert memory.find("ben", "/") is not None
    for number in range(32):
        memory.keep("ben", f"/{number}", b"x" * 999_000)
    assert memory.find("ben", "/0") is not None


def test_a_page_is_shown_with_its_age_for_an_hour() -> None:
    now = [100.0]
    memory = StalePageCache(lambda: now[0])
    memory.keep("ana", "/", b"page")
    assert memory.find("ben", "/") is None
    now[0] += 3_599.0
    assert memory.find("ana", "/") == StalePage(b"page", 3_599.0)
    now[0] += 1.0
    assert memory.find("ana", "/") is None
