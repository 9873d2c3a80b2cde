"""The simulation finds nothing to complain of, and finds every mistake that is put in."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from random import Random

import pytest

from lab.simulation import simulate
from lab.simulation.faulty_store import TIMED
from lab.simulation.scenario import make_scenario
from lab.simulation.seeds import Played, chunks, explain, new_pool, play, play_all, replay
from lab.simulation.trace import describe, trace
from tests.simulation.mutations import FEATURES, LEASE, MUTATIONS, PLANNER, SEEN, STORE, release_is_forgotten
from tickbird.domain.errors import SchemaError
from tickbird.engine.engine import Engine

# Few enough for every run of the tests; `./dev simulation --seeds 10000` plays more.
SEEDS = 1_200
PART = 50
# Each bug shows within this many seeds: most in the first ten; bugs of leases need several faults at once.
MAX_COUNT = 500


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence the log: workers that lose their store log it many times."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


Player = Callable[[list[range]], Iterable[Played]]


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    """Plays on all cores; in this process if the tests already use all of them."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        yield lambda parts: map(play, parts)
        return
    with new_pool(os.cpu_count() or 1) as pool:
        yield lambda parts: pool.map(play, parts)


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_no_seed_breaks_a_promise(player: Player, first: int) -> None:
    played = list(player(chunks(first, PART)))
    assert sum(part.seeds for part in played) == PART
    broken = [explain(seed, text) for part in played for seed, text in part.failures]
    assert not broken, "\n".join(broken)


def test_a_seed_is_deterministic() -> None:
    def story(seed: int) -> list[str]:
        record, violations = simulate(seed)
        return [*describe(record), *trace(record, violations)]

    for seed in (3, 24, 46):
        assert story(seed) == story(seed)


def test_every_verb_uses_the_simulated_clock() -> None:
    """A verb that reads the real clock looks like a jump, so that workers stop planning."""
    verbs = {call.verb for seed in range(12) for call in simulate(seed)[0].calls if "now" in call.options}
    assert "planning.plan_due" in verbs
    assert verbs - TIMED == set()


def test_there_are_three_mutations_each_of_planner_store_and_leases() -> None:
    assert min(len(PLANNER), len(STORE), len(LEASE)) >= 3
    assert {*PLANNER, *STORE, *LEASE} <= set(MUTATIONS)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[mutation.__name__ for mutation in MUTATIONS])
def test_a_mistake_is_found(mutation: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutation(monkeypatch)
    for seed in (SEEN.get(mutation, 0), *range(MAX_COUNT)):
        if mutation in FEATURES and not getattr(make_scenario(seed, Random(f"scenario {seed}")), FEATURES[mutation]):
            continue
        _, violations = simulate(seed)
        if violations:
            return
    pytest.fail(f"{MAX_COUNT} seeds do not show it")


def test_workers_that_cannot_start_are_reported_and_not_restarted_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(self: Engine) -> None:
        raise SchemaError("the store is of another version;", hint="migrate it.")

    monkeypatch.setattr(Engine, "run", refuse)
    told = "no worker can start although there are no faults: the store is of another version; migrate it."
    # With several workers, which all give up at the same instant.
    for seed in (1, 4, 7):
        record, violations = simulate(seed)
        assert told in [violation.text for violation in violations]
        assert len(record.hosts) < 1_000


def test_a_broken_promise_is_printed_with_its_replay_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    release_is_forgotten(monkeypatch)
    assert play_all(0, 5, processes=1) == 1
    told = capsys.readouterr()
    assert "replay it: ./dev simulation --seed " in told.out
    assert "5 of 5 seeds" in told.err
    seed = int(told.out.split("--seed ")[1].split()[0])
    assert replay(seed) == 1
    assert "!!! " in capsys.readouterr().out
