"""The exact helpers against published probabilities, and against brute force over sorted dice."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from ladder.games.pasha import board, dice, row, words
from ladder.games.pasha.dice import Plan

FIVES = [float(mark >= board.mark(board.FIVE, 1)) for mark in range(row.NUM_MARKS)]
LADDER = [float(mark * mark) for mark in range(row.NUM_MARKS)]


def test_five_of_a_kind_within_three_rolls() -> None:
    """Rule 8: 347,897 in 7,558,272."""
    assert Plan(FIVES).value == pytest.approx(347_897 / 7_558_272, abs=1e-15)


@pytest.mark.parametrize(("rolls", "shown"), [(1, 6 / 7776), (2, 0.01263), (4, 0.1010)])
def test_five_of_a_kind_by_its_markov_chain(rolls: int, shown: float) -> None:
    """Keep the most frequent face: the chain over how many dice agree."""
    chances = {1: Fraction(1)}  # before the first roll any one die agrees with itself
    for _ in range(rolls):
        after: Counter[int] = Counter()
        for alike, chance in chances.items():
            free = 5 - alike if alike > 1 else 5
            for rolled in product(range(6), repeat=free):
                agree = alike + rolled.count(0) if alike > 1 else 0
                best = max(agree, max(Counter(rolled).values(), default=0))
                after[best] += chance / 6**free
        chances = dict(after)
    exact = float(chances[5])
    assert exact == pytest.approx(shown, rel=0.02)
    assert Plan(FIVES, rolls=rolls).value == pytest.approx(exact, abs=1e-15)


def test_one_roll() -> None:
    """Rule 8: the chances of the rows on one roll."""
    chances = Plan(LADDER, rolls=1).distribution()[0]
    by_row = [0.0] * 7
    for mark, chance in enumerate(chances):
        by_row[board.mark_row(mark)] += chance * 7776
    assert by_row == pytest.approx([720, 3600, 1800, 1200, 300, 150, 6])


def test_there_are_252_multisets() -> None:
    t = dice.tables()
    assert len(dice.numbers()) == 462
    assert sum(row.num_dice(int(packed)) == 5 for packed in t.packed) == 252
    assert t.first.sum() == pytest.approx(1)


Dice = tuple[int, ...]


def outcomes(kept: Dice) -> dict[Dice, float]:
    rolled: Counter[Dice] = Counter()
    for new in product(range(1, 7), repeat=5 - len(kept)):
        rolled[tuple(sorted(kept + new))] += 1
    return {result: n / 6 ** (5 - len(kept)) for result, n in rolled.items()}


outcomes_of = cache(outcomes)


def brute_force(
    utility: list[list[float]], *, rolls: int, lamp: bool, reroll_any: bool, between: bool
) -> float:
    """The value of a turn, written down as the rules say it."""

    def mark_value(now: Dice, cubes: int) -> float:
        packed = sum(row.one(face) for face in now)
        marks = {board.best_mark(packed)}
        if lower := board.lower_column(packed):
            marks.add(board.mark(board.TWO_PAIRS, lower))
        return max(utility[cubes][mark] for mark in marks)

    def mean(kept: Dice, after: object) -> float:
        return sum(p * after(now) for now, p in outcomes_of(kept).items())  # type: ignore[operator]

    def with_cube(now: Dice, cubes: int, after: object) -> list[float]:
        values = []
        for die in range(5):
            rest = now[:die] + now[die + 1 :]
            for face in (now[die] - 1, now[die] + 1):
                if 1 <= face <= 6:
                    values.append(after(tuple(sorted((*rest, face)))))  # type: ignore[operator]
        sizes = range(5) if reroll_any else (4,)
        for size in sizes:
            values += [mean(kept, after) for kept in set(combinations(now, size))]
        return values

    @cache
    def end(now: Dice, cubes: int) -> float:
        best = mark_value(now, cubes)
        if cubes:
            best = max(best, *with_cube(now, cubes, lambda d: end(d, cubes - 1)))
        return best

    @cache
    def rolling(now: Dice, left: int, cubes: int, has_lamp: bool) -> float:
        stop = end(now, cubes)
        if has_lamp:
            stop = max(stop, mean((), lambda d: rolling(d, 2, cubes, False)))
        if left == 0:
            return stop
        values = [stop]
        for size in range(5):
            for kept in set(combinations(now, size)):
                values.append(mean(kept, lambda d: rolling(d, left - 1, cubes, has_lamp)))
        if between and cubes:
            values += with_cube(now, cubes, lambda d: rolling(d, left, cubes - 1, has_lamp))
        return max(values)

    return mean((), lambda d: rolling(d, rolls - 1, len(utility) - 1, lamp))


@pytest.mark.parametrize(
    ("rolls", "lamp", "cubes", "reroll_any", "between"),
    [
        (2, False, 0, True, False),
        (3, True, 0, True, False),
        (2, False, 2, True, False),
        (2, False, 2, False, False),
        (2, True, 1, False, True),
    ],
)
def test_brute_force(rolls: int, lamp: bool, cubes: int, reroll_any: bool, between: bool) -> None:
    utility = [[value + 60 * c for value in LADDER] for c in range(cubes + 1)]
    plan = Plan(utility, rolls=rolls, lamp=lamp, reroll_any=reroll_any, between=between)
    exact = brute_force(utility, rolls=rolls, lamp=lamp, reroll_any=reroll_any, between=between)
    assert plan.value == pytest.approx(exact, abs=1e-9)
    reached = plan.distribution()
    assert reached.sum() == pytest.approx(1)
    assert (reached * np.array(utility)).sum() == pytest.approx(exact, abs=1e-9)


def test_the_actions_are_the_plans() -> None:
    """Following the actions of a plan by hand reaches what the plan promises."""
    plan = Plan(FIVES, cubes=2)
    assert words.dice_text(plan.reroll(words.parse_dice("4 4 4 2 1"), 2, lamp=False)) == "1 2"
    assert plan.reroll(words.parse_dice("4 4 4 4 4"), 2, lamp=False) == row.STOP
    assert plan.cube(words.parse_dice("4 4 4 4 5"), 2) == row.cube_change(5, -1)
    assert plan.cube(words.parse_dice("4 4 4 4 4"), 2) == row.STOP
    assert plan.value_after(words.parse_dice("4 4 4 4 6"), 0) == 1
    lit = Plan(LADDER, lamp=True)
    assert lit.lamp(words.parse_dice("1 2 3 4 5")) == 1
    assert lit.lamp(words.parse_dice("6 6 6 6 6")) == 0
    assert lit.column(words.parse_dice("2 2 5 5 1"), 0) == 5
    spend = Plan([[0.0] * 37, [-mark for mark in LADDER]])
    assert spend.column(words.parse_dice("2 2 5 5 1"), 1) == 2


def test_cached_plans_are_one_object() -> None:
    assert dice.cached_plan(tuple(FIVES)) is dice.cached_plan(tuple(FIVES))


@pytest.mark.parametrize("lamp", [False, True])
def test_fewer_cubes_come_along(lamp: bool) -> None:
    utility = [[value + 90 * c for value in LADDER] for c in range(4)]
    every = Plan(utility, lamp=lamp, fewer_cubes=True)
    for cubes in range(4):
        alone = Plan(utility[: cubes + 1], lamp=lamp)
        assert every.values[cubes] == pytest.approx(alone.value, abs=1e-9)


def test_cubes_between_rolls_gain_nothing() -> None:
    """A cube can always wait until the free rolls are over, so the option changes no value."""
    utility = [[value + 60 * c for value in LADDER] for c in range(4)]
    for lamp in (False, True):
        for reroll_any in (False, True):
            after = Plan(utility, lamp=lamp, reroll_any=reroll_any)
            between = Plan(utility, lamp=lamp, reroll_any=reroll_any, between=True)
            assert between.value == pytest.approx(after.value, abs=1e-9)
