"""The cache that shares computations: callers that leave, errors, invalidation, limits and event loops."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections import defaultdict
from typing import Any

import pytest

from tickbird.single_flight_cache import SingleFlightCache, from_end, from_start


class Clock:
    """A clock that only a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Source:
    """Computes values on demand of the test, and counts."""

    def __init__(self) -> None:
        self.results: dict[str, list[asyncio.Future[str | None]]] = defaultdict(list)

    def begun(self, key: str = "a") -> int:
        return len(self.results[key])

    async def compute(self, key: str = "a") -> str | None:
        self.results[key].append(asyncio.get_running_loop().create_future())
        return await self.results[key][-1]


Cache = SingleFlightCache[str, str | None]


def ask(cache: Cache, source: Source, key: str = "a") -> asyncio.Task[str | None]:
    return asyncio.create_task(cache.get_or_compute(key, lambda: source.compute(key)))


async def let_run() -> None:
    """Until every task waits for something that the test decides."""
    for _ in range(5):
        await asyncio.sleep(0)


async def value_of(text: str) -> str:
    return text


async def unexpected() -> str:
    raise AssertionError("computed once more")


async def test_callers_share_a_computation_and_then_its_value_until_it_expires() -> None:
    clock, source = Clock(), Source()
    cache = Cache(from_end(5.0), clock=clock)
    assert not cache.is_ready_or_loading("a")
    callers = [ask(cache, source) for _ in range(3)]
    await let_run()
    assert (source.begun(), cache.is_ready_or_loading("a"), cache.get("a")) == (1, True, None)
    source.results["a"][0].set_result("first")
    assert await asyncio.gather(*callers) == ["first"] * 3
    clock.now += 4.9
    assert (await cache.get_or_compute("a", unexpected), cache.get("a")) == ("first", "first")
    # Another key has a value of its own.
    assert await cache.get_or_compute("b", lambda: value_of("other")) == "other"
    clock.now += 0.1
    assert (cache.is_ready_or_loading("a"), cache.get("a")) == (False, None)
    assert await cache.get_or_compute("a", lambda: value_of("second")) == "second"


async def test_none_is_a_value() -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    caller = ask(cache, source)
    await let_run()
    source.results["a"][0].set_result(None)
    assert await caller is None
    assert cache.is_ready_or_loading("a")
    assert await cache.get_or_compute("a", unexpected) is None


@pytest.mark.parametrize("leaver", [0, 1, 2])
async def test_a_caller_that_is_cancelled_leaves_the_computation_to_the_others(leaver: int) -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    callers = [ask(cache, source) for _ in range(3)]
    await let_run()
    callers[leaver].cancel()
    await let_run()
    assert callers[leaver].cancelled()
    source.results["a"][0].set_result("value")
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [result for result in results if not isinstance(result, BaseException)] == ["value"] * 2
    assert cache.get("a") == "value"


async def test_a_value_is_cached_although_all_callers_have_left() -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    caller = ask(cache, source)
    await let_run()
    caller.cancel()
    await let_run()
    source.results["a"][0].set_result("value")
    await let_run()
    assert cache.get("a") == "value"


async def test_an_error_goes_to_all_callers_and_is_not_cached(caplog: pytest.LogCaptureFixture) -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    callers = [ask(cache, source) for _ in range(3)]
    await let_run()
    source.results["a"][0].set_exception(KeyError("mine"))
    errors = await asyncio.gather(*callers, return_exceptions=True)
    assert [repr(error) for error in errors] == ["KeyError('mine')"] * 3
    assert not cache.is_ready_or_loading("a")
    assert not caplog.records
    assert await cache.get_or_compute("a", lambda: value_of("next")) == "next"


async def test_an_error_does_not_replace_a_value_that_is_renewed_meanwhile() -> None:
    clock, source = Clock(), Source()
    cache = Cache(from_start(5.0), clock=clock)
    cache.put("a", "before")
    clock.now += 5.0
    caller = ask(cache, source)
    await let_run()
    cache.renew("a", clock.now + 5.0)
    source.results["a"][0].set_exception(KeyError("mine"))
    with pytest.raises(KeyError):
        await caller
    assert cache.get("a") == "before"


async def test_an_error_without_waiting_callers_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    caller = ask(cache, source)
    await let_run()
    caller.cancel()
    cache.drop("a")
    await let_run()
    source.results.pop("a")[0].set_exception(KeyError("mine"))
    with caplog.at_level(logging.ERROR, "asyncio"):
        await let_run()
        del caller
        gc.collect()
    assert not caplog.records


async def test_a_computation_that_is_cancelled_is_not_cached() -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    caller = ask(cache, source)
    await let_run()
    source.results["a"][0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert await cache.get_or_compute("a", lambda: value_of("next")) == "next"


async def test_a_value_that_is_dropped_while_it_is_computed_is_not_cached() -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    before = ask(cache, source)
    await let_run()
    cache.drop("a")
    assert not cache.is_ready_or_loading("a")
    after = ask(cache, source)
    await let_run()
    assert source.begun() == 2
    source.results["a"][0].set_result("old")
    assert await before == "old"
    assert (cache.get("a"), cache.is_ready_or_loading("a")) == (None, True)
    source.results["a"][1].set_result("new")
    assert await after == "new"
    assert cache.get("a") == "new"


async def test_the_newer_of_two_computations_is_cached_if_it_ends_first() -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    before = ask(cache, source)
    await let_run()
    cache.drop("a")
    after = ask(cache, source)
    await let_run()
    for place, text in ((1, "new"), (0, "old")):
        source.results["a"][place].set_result(text)
        await let_run()
    assert (await before, await after, cache.get("a")) == ("old", "new", "new")


async def test_keys_are_dropped_with_their_computations_and_no_others() -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    cache.put("a1", "cached")
    cache.put("b1", "cached")
    callers = [ask(cache, source, key) for key in ("a2", "b2")]
    await let_run()
    cache.drop_keys(lambda key: key.startswith("a"))
    assert {key: cache.is_ready_or_loading(key) for key in ("a1", "a2", "b1", "b2")} == {
        "a1": False,
        "a2": False,
        "b1": True,
        "b2": True,
    }
    for key in ("a2", "b2"):
        source.results[key][0].set_result("result")
    assert await asyncio.gather(*callers) == ["result"] * 2
    assert (cache.get("a2"), cache.get("b2")) == (None, "result")


async def test_values_are_dropped_with_all_that_is_computed() -> None:
    clock, source = Clock(), Source()
    cache = Cache(from_end(5.0), clock=clock)
    cache.put("expired", "drop")
    clock.now += 5.0
    cache.put("a", "drop")
    cache.put("b", "keep")
    caller = ask(cache, source, "c")
    await let_run()
    assert cache.drop_values(lambda value: value == "drop") == ["drop", "drop"]
    source.results["c"][0].set_result("keep")
    assert await caller == "keep"
    assert [cache.get(key) for key in ("a", "b", "c")] == [None, "keep", None]


async def test_a_value_that_is_put_outlives_a_computation_that_began_before() -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()
    caller = ask(cache, source)
    await let_run()
    cache.put("a", "put")
    source.results["a"][0].set_result("computed")
    assert await caller == "computed"
    assert cache.get("a") == "put"


async def test_from_the_start_a_slow_computation_lives_no_longer_and_is_not_joined_for_longer() -> None:
    clock, source = Clock(), Source()
    cache = Cache(from_start(5.0), clock=clock)
    first = ask(cache, source)
    await let_run()
    clock.now += 4.0
    joined = ask(cache, source)
    await let_run()
    assert source.begun() == 1
    clock.now += 2.0
    assert not cache.is_ready_or_loading("a")
    second = ask(cache, source)
    await let_run()
    assert source.begun() == 2
    source.results["a"][0].set_result("slow")
    assert (await first, await joined, cache.get("a")) == ("slow", "slow", None)
    clock.now += 4.0
    source.results["a"][1].set_result("quick")
    assert (await second, cache.get("a")) == ("quick", "quick")
    clock.now += 1.0
    assert cache.get("a") is None


async def test_from_end_a_slow_computation_is_joined_and_cached_as_long_as_a_fast_one() -> None:
    clock, source = Clock(), Source()
    cache = Cache(from_end(5.0), clock=clock)
    callers = [ask(cache, source)]
    await let_run()
    clock.now += 60.0
    callers.append(ask(cache, source))
    await let_run()
    source.results["a"][0].set_result("slow")
    assert await asyncio.gather(*callers) == ["slow"] * 2
    clock.now += 4.9
    assert cache.get("a") == "slow"
    clock.now += 0.1
    assert cache.get("a") is None


async def test_a_caller_may_state_the_lifetime() -> None:
    clock = Clock()
    cache = Cache(from_end(5.0), clock=clock)
    await cache.get_or_compute("a", lambda: value_of("value"), from_end(50.0))
    clock.now += 49.0
    assert cache.get("a") == "value"


async def test_a_value_is_renewed_also_after_it_has_expired() -> None:
    clock = Clock()
    cache = Cache(from_start(5.0), clock=clock)
    cache.put("a", "value")
    cache.put("none", None)
    clock.now += 6.0
    for key in ("a", "none", "unknown"):
        cache.renew(key, clock.now + 2.0)
    cache.renew("a", clock.now + 1.0)
    clock.now += 1.9
    assert (cache.get("a"), cache.is_ready_or_loading("none"), cache.is_ready_or_loading("unknown")) == (
        "value",
        False,
        False,
    )
    clock.now += 0.1
    assert cache.get("a") is None


def test_the_least_recently_used_values_are_evicted() -> None:
    by_count = Cache(from_end(5.0), max_entries=2, clock=Clock())
    by_size = Cache(from_end(5.0), max_bytes=8, size_of=lambda value: len(value or ""), clock=Clock())
    for cache in (by_count, by_size):
        cache.put("a", "1234")
        cache.put("b", "1234")
        assert cache.get("a") == "1234"
        cache.put("c", "1234")
        assert [cache.get(key) for key in "abc"] == ["1234", None, "1234"]
    assert by_size.size == 8
    assert (by_size.drop("a"), by_size.size) == ("1234", 4)
    assert (by_size.drop("a"), by_size.size) == (None, 4)


async def test_a_timer_drops_expired_values() -> None:
    cache = SingleFlightCache[str, str](from_end(0.01), size_of=len, drop_expired=True)
    await cache.get_or_compute("a", lambda: value_of("value"))
    async with asyncio.timeout(60):
        while cache.size:  # noqa: ASYNC110 - a timer of this loop drops it
            await asyncio.sleep(0.005)


async def test_a_timer_leaves_the_next_value_alone() -> None:
    clock = Clock()
    cache = SingleFlightCache[str, str](from_end(0.01), drop_expired=True, clock=clock)
    await cache.get_or_compute("a", lambda: value_of("first"))
    clock.now += 1.0
    await cache.get_or_compute("a", lambda: value_of("second"))
    await asyncio.sleep(0.03)
    assert cache.get("a") == "second"


def test_an_event_loop_uses_values_of_another_and_waits_for_its_own_computations_only() -> None:
    cache, source = Cache(from_end(5.0), clock=Clock()), Source()

    async def first() -> asyncio.Task[Any]:
        await cache.get_or_compute("value", lambda: value_of("shared"))
        caller = ask(cache, source)
        await let_run()
        return caller

    async def second() -> None:
        assert await cache.get_or_compute("value", unexpected) == "shared"
        assert not cache.is_ready_or_loading("a")
        assert await cache.get_or_compute("a", lambda: value_of("own")) == "own"

    one, other = asyncio.new_event_loop(), asyncio.new_event_loop()
    try:
        caller = one.run_until_complete(first())
        other.run_until_complete(second())
        source.results["a"][0].set_result("late")
        assert one.run_until_complete(caller) == "late"
    finally:
        one.close()
        other.close()
    assert cache.get("a") == "own"
