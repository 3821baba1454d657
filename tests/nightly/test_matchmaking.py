"""Matchmaking: pure, fair, apart, and worth its while."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.matchmaking import Candidate, Round, explain, pick_lineups
from tests.nightly.model import at_random, by_ladder, season

BETA = 25 / 6


def field_of(count: int, seed: int = 1, authors: int = 0) -> list[Candidate]:
    luck = Random(seed)
    return [
        Candidate(
            f"v{i:05}", f"a{luck.randrange(authors)}" if authors else "",
            luck.gauss(25, 3), luck.choice([0.2, 0.4, 8.3]), luck.randrange(5000),
        )
        for i in range(count)
    ]  # fmt: skip


def pick(candidates: list[Candidate], met: Any = None, **changes: Any) -> Round:
    options = {
        "seats": 4, "matches": 20, "budget": 2000, "floor": 40, "beta": BETA, "key": b"k",
        **changes,
    }  # fmt: skip
    return pick_lineups(candidates, met or {}, **options)


def matches_of(round_: Round) -> Counter[int]:
    played: Counter[int] = Counter()
    for choice in round_.choices:
        played.update(dict.fromkeys(choice.lineup, choice.matches))
    return played


@settings(max_examples=40)
@given(st.integers(4, 40), st.integers(0, 60), st.integers(2, 6), st.integers(0, 10**6))
def test_what_holds_of_every_round(count: int, floor: int, seats: int, seed: int) -> None:
    if count < seats:
        return
    candidates = field_of(count, seed, authors=12)
    budget = 4 * count * seats
    round_ = pick(candidates, seats=seats, matches=seats, budget=budget, floor=floor)
    assert sum(choice.matches for choice in round_.choices) <= budget
    assert len({choice.lineup for choice in round_.choices}) == len(round_.choices)
    for choice in round_.choices:
        assert list(choice.lineup) == sorted(set(choice.lineup))
        assert len(choice.lineup) == seats
        assert choice.anchor in choice.lineup
        assert choice.matches % seats == 0
        authors = [candidates[i].author for i in choice.lineup]
        assert len(set(authors)) == seats, "two of one author"


def test_the_floor_is_everybodys_and_the_rest_goes_to_the_unknown() -> None:
    candidates = [Candidate(f"v{i:02}", "", 25.0, 8.3 if i < 3 else 0.2) for i in range(30)]
    played = matches_of(pick(candidates, budget=1000))
    assert min(played[i] for i in range(30)) >= 40
    unknown = [played[i] for i, c in enumerate(candidates) if c.sigma > 8]
    known = [played[i] for i, c in enumerate(candidates) if c.sigma < 1]
    assert np.mean(unknown) > 2 * np.mean(known)


def test_opponents_are_near_in_skill() -> None:
    candidates = field_of(60)
    spread = np.std([c.mu for c in candidates])
    gaps = [choice.gap for choice in pick(candidates, floor=0).choices]
    assert np.mean(gaps) < spread / 2


def test_a_pair_that_met_often_meets_less() -> None:
    candidates = [Candidate(f"v{i}", "", 25.0, 1.0) for i in range(12)]
    met = dict.fromkeys([(0, 1), (0, 2), (0, 3)], 10_000)
    for choice in pick(candidates, met, budget=400, floor=0).choices:
        if 0 in choice.lineup:
            assert not {1, 2, 3} & set(choice.lineup)


def test_meetings_of_a_night_are_spread() -> None:
    candidates = [Candidate(f"v{i}", "", 25.0, 1.0) for i in range(12)]
    pairs: Counter[tuple[int, int]] = Counter()
    for choice in pick(candidates, budget=6000, floor=0).choices:
        for pair in combinations(choice.lineup, 2):
            pairs[pair] += choice.matches
    counts = [pairs[pair] for pair in combinations(range(12), 2)]
    assert min(counts) > 0
    assert max(counts) <= 3 * np.mean(counts)


def test_names_of_one_author_may_sit_together_if_the_spec_says_so() -> None:
    candidates = [Candidate(f"v{i}", "anna", 25.0, 1.0) for i in range(5)]
    apart = pick(candidates)
    assert apart.choices == ()
    assert "5 versions cannot be seated: too few of other authors" in apart.notes[0]
    assert len(pick(candidates, is_apart=False).choices) > 0


def test_a_budget_below_the_floor_rotates_and_says_so() -> None:
    candidates = [Candidate(f"v{i:02}", "", 25.0, 1.0, matches=100 * (i % 3)) for i in range(30)]
    round_ = pick(candidates, budget=60, floor=40)
    assert "the budget is too small" in round_.notes[0]
    anchors = {choice.anchor for choice in round_.choices}
    assert all(candidates[i].matches == 0 for i in anchors), "who played least waits least"


def test_equal_arguments_give_equal_line_ups_and_another_key_others() -> None:
    candidates = [Candidate(f"v{i}", "", 25.0, 1.0) for i in range(20)]
    assert pick(candidates) == pick(candidates)
    assert pick(candidates, key=b"x") != pick(candidates)


def test_the_order_of_candidates_changes_no_line_up() -> None:
    candidates = field_of(20)
    turned = candidates[::-1]

    def versions(among: list[Candidate]) -> set[tuple[frozenset[str], int]]:
        return {
            (frozenset(among[i].version for i in c.lineup), c.matches) for c in pick(among).choices
        }

    assert versions(candidates) == versions(turned)


def test_every_choice_is_explained_in_one_line() -> None:
    candidates = field_of(10)
    names = [c.version for c in candidates]
    for choice in pick(candidates).choices:
        line = explain(choice, names)
        assert line.startswith(names[choice.anchor])
        assert "\n" not in line
        assert ("floor" in line) == (choice.reason == "floor")


def test_ten_thousand_versions_are_planned_in_seconds() -> None:
    candidates = field_of(10_000, authors=3000)
    begun = time.process_time()
    round_ = pick(candidates, budget=200_000, floor=20)
    assert len(round_.choices) == 10_000
    played = matches_of(round_)
    assert min(played[i] for i in range(10_000)) >= 20
    assert time.process_time() - begun < 30  # 3 s on a core of its own


def test_it_needs_fewer_matches_than_random_play_for_the_same_error() -> None:
    ours, played = season(by_ladder, seed=1, nights=8, budget=1000, floor=40)
    theirs, _ = season(at_random, seed=1, nights=8, budget=1500, floor=40)
    assert np.mean(ours) < np.mean(theirs)
    assert min(min(night) for night in played) >= 40


@pytest.mark.slow
@pytest.mark.full_size
def test_how_many_fewer_matches(record_property: Any) -> None:
    """Over eight seasons, random play needs more than twice as many."""
    ours = np.mean(
        [np.mean(season(by_ladder, seed=s, nights=12, budget=1000, floor=40)[0]) for s in range(8)]
    )
    twice = np.mean(
        [np.mean(season(at_random, seed=s, nights=12, budget=2000, floor=40)[0]) for s in range(8)]
    )
    assert ours < twice
