"""Swiss and knockout: who meets whom, whatever the field's size, and the way to the ranking."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from ladder.execute import Progress
from ladder.formats import Lineup
from ladder.formats.knockout import KnockoutPods
from ladder.formats.staged import PodResult, Stage, Staged
from ladder.formats.swiss import SwissPods
from tests.running import run_text

NAMES = [f"e{i:02}" for i in range(80)]


def by_strength(pod: Lineup) -> PodResult:
    """The lower position wins all, the next ones a little."""
    points = tuple(10.0 / (place + 1) for place in range(len(pod)))
    return PodResult(pod, points, tuple(-entrant for entrant in pod))


def by_luck(luck: Random) -> object:
    def result(pod: Lineup) -> PodResult:
        points = tuple(luck.random() for _ in pod)
        return PodResult(pod, points, tuple(luck.randrange(100) for _ in pod))

    return result


def play(format_: Staged, result: object = by_strength, most: int = 500) -> list[Stage]:
    stages: list[Stage] = []
    while pods := format_.next_pods(stages):
        assert len({e for pod in pods for e in pod}) == sum(map(len, pods)), "two pods at once"
        stages.append([result(pod) for pod in sorted(pods)])  # type: ignore[operator]
        assert len(stages) < most
    return stages


# --- swiss


@pytest.mark.parametrize(("entrants", "seats"), [(4, 4), (8, 4), (11, 4), (13, 3), (7, 2), (30, 6)])
def test_swiss_rounds(entrants: int, seats: int) -> None:
    format_ = SwissPods(range(entrants), seats, 12, 5)
    stages = play(format_, by_luck(Random(entrants)))
    assert len(stages) == 5
    played = [sum(e in pod.lineup for s in stages for pod in s) for e in range(entrants)]
    assert max(played) - min(played) <= 1, "byes go round"
    assert sum(len(s) for s in stages) * 12 == format_.most_matches
    ranking = format_.ranking(stages, NAMES)
    assert sorted(line.entrant for line in ranking) == list(range(entrants))
    points = [line.points for line in ranking]
    assert points == sorted(points, reverse=True)
    assert all(len(line.path) == 5 for line in ranking)


def test_swiss_avoids_rematches() -> None:
    stages = play(SwissPods(range(16), 4, 4, 4), by_luck(Random(2)))
    met = [pair for s in stages for pod in s for pair in combinations(pod.lineup, 2)]
    assert len(met) - len(set(met)) <= 8  # of 96; none is not always possible
    heads_up = play(SwissPods(range(16), 2, 4, 5), by_luck(Random(2)))
    met = [pod.lineup for s in heads_up for pod in s]
    assert len(set(met)) == len(met)


def test_swiss_pods_are_of_equals_so_far() -> None:
    stages = play(SwissPods(range(16), 4, 4, 2))
    winners = {pod.lineup[0] for pod in stages[0]}
    assert tuple(sorted(winners)) in [pod.lineup for pod in stages[1]]


def test_a_bye_is_worth_an_equals_share() -> None:
    format_ = SwissPods(range(5), 4, 8, 1)
    (line,) = [x for x in format_.ranking(play(format_), NAMES) if "bye" in x.path[0]]
    assert line.points == 2.0
    assert line.path == ("round 1: a bye, 2.0 of 8",)


# --- knockout


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("best_of", [1, 3])
def test_a_knockout_of_any_size_ends_with_everybody_ranked(seats: int, best_of: int) -> None:
    for advance in range(1, seats):
        for entrants in range(seats, 30):
            format_ = KnockoutPods(range(entrants), seats, 12, advance=advance, best_of=best_of)
            stages = play(format_, by_luck(Random(entrants)))
            assert sum(len(s) for s in stages) * 12 <= format_.most_matches
            ranking = format_.ranking(stages, NAMES)
            assert sorted(line.entrant for line in ranking) == list(range(entrants))
            assert all(len(pod.lineup) == seats for s in stages for pod in s)
            assert ranking[0].path[-1].startswith("last pod: place 1")


def test_the_best_win_a_knockout_of_strength() -> None:
    for entrants in range(4, 40):
        format_ = KnockoutPods(range(entrants), 4, 4, advance=2, best_of=1)
        ranking = format_.ranking(play(format_), NAMES)
        assert [line.entrant for line in ranking[:2]] == [0, 1]


def test_byes_go_to_the_best_seeds() -> None:
    format_ = KnockoutPods(range(7), 4, 4, advance=2, best_of=1)
    first = format_.next_pods([])
    assert first == [(3, 4, 5, 6)]
    ranking = format_.ranking(play(format_), NAMES)
    assert ranking[0].path[0] == "round 1: a bye"


def test_a_full_knockout_is_a_tree() -> None:
    format_ = KnockoutPods(range(16), 4, 4, advance=2, best_of=1)
    sizes = [len(stage) for stage in play(format_)]
    assert sizes == [4, 2, 1]
    heads_up = KnockoutPods(range(8), 2, 4, advance=1, best_of=1)
    assert [pod.lineup for pod in play(heads_up)[0]] == [(0, 7), (1, 6), (2, 5), (3, 4)]


def test_a_pod_stops_once_it_is_decided() -> None:
    format_ = KnockoutPods(range(2), 2, 4, advance=1, best_of=5)
    assert len(play(format_)) == 3
    (one, other) = format_.ranking(play(format_), NAMES)
    assert one.path == ("last pod: place 1, 3 of 3 sets, 30.0 of 12 with e01",)
    assert other.entrant == 1


# --- as runs

CUP = """\
name: cup
game: pasa
table: {{seats: 3, rounds: 1, chips: 100}}
seed: 7
entrants: [Easy, Hard, Uniform, Least, Most, Medium, Master]
format: {{{words}}}
"""
KINDS = {
    "swiss": "kind: swiss, rounds: 3, matches: 12",
    "knockout": "kind: knockout, matches: 12, best_of: 3",
    "seeded by rating": "kind: knockout, matches: 12, seeding: rating",
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_cup_goes_on_as_if_nothing_had_been(kind: str, tmp_path: Path) -> None:
    text = CUP.format(words=KINDS[kind])
    whole = run_text(text, tmp_path / "whole.duckdb")
    db = tmp_path / "parts.duckdb"
    reports = 0

    def stop(progress: Progress) -> None:
        nonlocal reports
        reports += 1
        if reports % 5 == 0:
            raise KeyboardInterrupt

    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            run_text(text, db, stop, chunk=7)
    parts = run_text(text, db, chunk=5)
    assert (parts.digest, parts.ranking) == (whole.digest, whole.ranking)
    again = run_text(text, db)
    assert (again.played, again.digest, again.ranking) == (0, whole.digest, whole.ranking)
    assert [line.rank for line in whole.ranking] == list(range(1, 8))


def test_a_summary_of_a_cup_is_the_same_cup(tmp_path: Path) -> None:
    text = CUP.format(words=KINDS["swiss"])
    whole = run_text(text, tmp_path / "whole.duckdb")
    short = run_text(text + "record: summary\n", tmp_path / "short.duckdb")
    assert (short.digest, short.ranking) == (whole.digest, whole.ranking)
    assert run_text(text + "record: summary\n", tmp_path / "short.duckdb").played == 0


def test_the_order_of_entrants_changes_no_swiss(tmp_path: Path) -> None:
    text = CUP.format(words=KINDS["swiss"])
    turned = text.replace("Easy, Hard, Uniform", "Uniform, Easy, Hard")
    one, other = run_text(text, tmp_path / "1.duckdb"), run_text(turned, tmp_path / "2.duckdb")
    assert one.digest == other.digest
    assert [line.bot for line in one.ranking] == [line.bot for line in other.ranking]


def test_a_challenge_leaves_stored_ratings_alone(tmp_path: Path) -> None:
    from ladder.store import Store

    text = CUP.format(words="kind: round_robin, matches: 3") + "rated: false\n"
    outcome = run_text(text, tmp_path / "x.duckdb")
    assert len(outcome.rows) == 7
    assert Store(tmp_path / "x.duckdb").query("SELECT count(*) FROM ratings") == [(0,)]
