"""The simulation finds nothing to complain of, and finds every mistake that is put in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest

from tests.simulation.mutations import MUTATIONS, release_is_forgotten
from tickbird.testing.simulation import simulate
from tickbird.testing.simulation.__main__ import play_all, replay
from tickbird.testing.simulation.trace import describe, trace

# Few enough for every run of the tests; `./dev simulation --seeds 10000` plays more.
SEEDS = 350
PART = 50
# Each mistake shows within so many seeds.
MOST = 100


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Workers that lose their store say so, many times."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_no_seed_breaks_a_promise(first: int) -> None:
    for seed in range(first, first + PART):
        _, violations = simulate(seed)
        assert not violations, f"replay it: ./dev simulation --seed {seed}"


def test_a_seed_always_tells_the_same_story() -> None:
    def story(seed: int) -> list[str]:
        record, violations = simulate(seed)
        return [*describe(record), *trace(record, violations)]

    for seed in (3, 24, 46):
        assert story(seed) == story(seed)


@pytest.mark.parametrize("mutation, first", MUTATIONS.items(), ids=[mutation.__name__ for mutation in MUTATIONS])
def test_a_mistake_is_found(
    mutation: Callable[[pytest.MonkeyPatch], None], first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    for seed in range(first, first + MOST):
        _, violations = simulate(seed)
        if violations:
            return
    pytest.fail(f"{MOST} seeds do not show it")


def test_a_broken_promise_comes_with_the_command_that_replays_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    release_is_forgotten(monkeypatch)
    assert play_all(0, 40, processes=1) == 1
    told = capsys.readouterr()
    assert "replay it: ./dev simulation --seed " in told.out
    assert "40 of 40 seeds" in told.err
    seed = int(told.out.split("--seed ")[1].split()[0])
    assert replay(seed) == 1
    assert "!!! I10" in capsys.readouterr().out
