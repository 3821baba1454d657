"""The compiled half of dice.py: backward and forward induction over multisets of dice.

`t` is dice.py's `Tables`; other arguments are arrays of floats (values, chances) and ints (choices)
as `Plan` lays them out.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from functools import cache
from typing import Any

import numpy as np

from ladder.jit import compiled, outlined

NUM_MULTISETS = 252
NUM_KEPT = 462  # multisets of up to five dice; the 252 of five come first
# A plan's choices: STOP, the multiset kept, CHANGE + which of the changes, and between rolls, where
# a cube's reroll is told from a free one, CUBE + the multiset kept.
STOP = -1
CHANGE = 1000
CUBE = 10_000
SURE = 1e-12  # a gain below this is rounding


@outlined
def spread(chances, more):
    """Roll what is missing: move the chances of kept dice to the multisets of five."""
    for i in range(NUM_KEPT - 1, NUM_MULTISETS - 1, -1):
        share = chances[i] / 6
        for face in range(6):
            chances[more[i, face]] += share


@outlined
def expect(values, more, kept):
    """kept[i]: the expected value when the dice of multiset i are kept and the rest rolled."""
    for i in range(NUM_MULTISETS):
        kept[i] = values[i]
    for i in range(NUM_MULTISETS, NUM_KEPT):
        total = 0.0
        for face in range(6):
            total += kept[more[i, face]]
        kept[i] = total / 6


@outlined
def raise_by_reroll(kept, t, only_one, best, source, values, choice):
    """Where keeping some dice and rolling the rest beats `values`, put it there.

    The best subset of some dice is the dice themselves or the best subset of one die less, so no
    subset is looked at twice; `best` and `source` are room for that. `only_one`: four dice stay.
    """
    for i in range(NUM_KEPT - 1, NUM_MULTISETS - 1, -1):
        best[i] = kept[i]
        source[i] = i
        if not only_one:
            for k in range(t.less_at[i], t.less_at[i + 1]):
                j = t.less[k]
                if best[j] > best[i] + SURE:
                    best[i] = best[j]
                    source[i] = source[j]
    for d in range(NUM_MULTISETS):
        for k in range(t.less_at[d], t.less_at[d + 1]):
            j = t.less[k]
            if best[j] > values[d] + SURE:
                values[d] = best[j]
                choice[d] = source[j]


@outlined
def spend(before, kept, t, only_one, best, source, values, choice):
    """Where one cube beats `values`, put it there; `before` is what one cube less is worth."""
    for d in range(NUM_MULTISETS):
        for k in range(t.changes_at[d], t.changes_at[d + 1]):
            if before[t.changes[k]] > values[d] + SURE:
                values[d] = before[t.changes[k]]
                choice[d] = CHANGE + k
    raise_by_reroll(kept, t, only_one, best, source, values, choice)


def solve(
    utility, t, rolls, lamp, only_one, between, lowest, ends, levels, end_choice, level_choice
):
    """Fill the values and choices of a plan by backward induction; the lamp's values too.

    ends[c, d]: rolling is over, the lamp is gone, c cubes are left. levels[l, r, c, d]: r rolls
    are left, l = 1 while the lamp is to come; at r = 0 the lamp is asked.
    `lowest`: the smallest number of cubes to have at a roll that is looked at.
    Returns the value before the first roll, by cubes.
    """
    cubes = utility.shape[0] - 1
    kept = np.empty(NUM_KEPT)
    best = np.empty(NUM_KEPT)
    source = np.empty(NUM_KEPT, np.int64)
    for c in range(cubes + 1):
        for d in range(NUM_MULTISETS):
            ends[c, d] = max(utility[c, t.marks[d, 0]], utility[c, t.marks[d, 1]])
            end_choice[c, d] = STOP
        if c > 0:
            expect(ends[c - 1], t.more, kept)
            spend(ends[c - 1], kept, t, only_one, best, source, ends[c], end_choice[c])
    start = np.zeros(cubes + 1)
    for stage in range(2):  # without the lamp, then with it
        if stage == 1 and not lamp:
            break
        total = rolls if stage == 1 or not lamp else 3
        for c in range(lowest, cubes + 1):
            for d in range(NUM_MULTISETS):
                levels[stage, 0, c, d] = max(ends[c, d], start[c]) if stage == 1 else ends[c, d]
        for r in range(1, total):
            for c in range(lowest, cubes + 1):
                values = levels[stage, r, c]
                values[:] = levels[stage, 0, c]
                level_choice[stage, r, c, :] = STOP
                expect(levels[stage, r - 1, c], t.more, kept)
                raise_by_reroll(kept, t, False, best, source, values, level_choice[stage, r, c])
                if between and c > 0:
                    expect(levels[stage, r, c - 1], t.more, kept)
                    spent = np.full(NUM_MULTISETS, STOP)
                    less = levels[stage, r, c - 1]
                    spend(less, kept, t, only_one, best, source, values, spent)
                    for d in range(NUM_MULTISETS):
                        if spent[d] >= CHANGE:
                            level_choice[stage, r, c, d] = spent[d]
                        elif spent[d] != STOP:
                            level_choice[stage, r, c, d] = CUBE + spent[d]
        for c in range(lowest, cubes + 1):
            expect(levels[stage, total - 1, c], t.more, kept)
            start[c] = kept[NUM_KEPT - 1]
    return start


def follow(utility, t, rolls, lamp, ends, levels, end_choice, level_choice):
    """The chances of every final mark and number of cubes left, by forward induction."""
    cubes = utility.shape[0] - 1
    result = np.zeros((cubes + 1, utility.shape[1]))
    over = np.zeros((cubes + 1, NUM_KEPT))  # rolling is over, the lamp is gone
    mass = np.zeros((cubes + 1, NUM_KEPT))
    mass[cubes, :NUM_MULTISETS] = t.first
    for stage in range(1 if lamp else 0, -1, -1):
        ended = np.zeros((cubes + 1, NUM_KEPT))
        total = rolls if stage == 1 or not lamp else 3
        for r in range(total - 1, 0, -1):
            rolled = np.zeros((cubes + 1, NUM_KEPT))
            for c in range(cubes, -1, -1):
                again = np.zeros(NUM_KEPT)  # dice that a cube rolls again, with one cube less
                for d in range(NUM_MULTISETS):
                    chance = mass[c, d]
                    if chance == 0.0:
                        continue
                    k = level_choice[stage, r, c, d]
                    if k == STOP:
                        ended[c, d] += chance
                    elif k < CHANGE:
                        rolled[c, k] += chance
                    elif k < CUBE:
                        mass[c - 1, t.changes[k - CHANGE]] += chance
                    else:
                        again[k - CUBE] += chance
                if c > 0:
                    spread(again, t.more)
                    for d in range(NUM_MULTISETS):
                        mass[c - 1, d] += again[d]
            for c in range(cubes + 1):
                spread(rolled[c], t.more)
            mass = rolled
        for c in range(cubes + 1):
            relit = 0.0
            for d in range(NUM_MULTISETS):
                chance = mass[c, d] + ended[c, d]
                if stage == 1 and levels[1, 0, c, d] > ends[c, d] + SURE:
                    relit += chance
                else:
                    over[c, d] += chance
            for d in range(NUM_MULTISETS):
                mass[c, d] = relit * t.first[d]
            for i in range(NUM_MULTISETS, NUM_KEPT):
                mass[c, i] = 0.0
    for c in range(cubes, -1, -1):
        again = np.zeros(NUM_KEPT)
        for d in range(NUM_MULTISETS):
            k = end_choice[c, d]
            if k == STOP:
                lower = utility[c, t.marks[d, 1]] > utility[c, t.marks[d, 0]]
                result[c, t.marks[d, 1 if lower else 0]] += over[c, d]
            elif k < CHANGE:
                again[k] += over[c, d]
            else:
                over[c - 1, t.changes[k - CHANGE]] += over[c, d]
        if c > 0:
            spread(again, t.more)
            for d in range(NUM_MULTISETS):
                over[c - 1, d] += again[d]
    return result


@cache
def kernels() -> tuple[Any, Any, Any]:
    """(spread, solve, follow), compiled or loaded from the cache."""
    source = "games/pasha/dice_kernels.py"
    return tuple(compiled(kernel, source) for kernel in (spread, solve, follow))
