"""What a server remembers of pages is bounded, by their number and by their size."""

from tickbird.web.stale_pages import StalePageCache


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
