"""Exact play of one Pasha turn's dice, for authors: what to keep, and what it comes to.

A `Plan` takes any utility over final marks (and cubes left) and gives the best expected utility,
the best action at every decision after the card, and the distribution over final marks and cubes
left under that play; rolls left, extra throw, lamp and cubes are all in it (rule 4.B).

There are 252 multisets of five dice and 462 of up to five. A level of rerolls costs 1,260 sums
over dice to come and about 1,700 comparisons over dice kept; a plan takes one level a roll and
one a cube, about 4 microseconds each, compiled. Sums run in a fixed order, so that every
machine gets the same floats.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ladder.games.pasha import board, row
from ladder.games.pasha.dice_kernels import (
    CHANGE,
    CUBE,
    NUM_KEPT,
    NUM_MULTISETS,
    STOP,
    SURE,
    kernels,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Tables(NamedTuple):
    """What no utility changes. Indices number multisets: 0..251 of five dice, then the smaller."""

    packed: Ints  # [462] the multiset as row.count reads it
    more: Ints  # [462, 6] the multiset with a die of face f + 1 added; -1 at five dice
    less_at: Ints  # [463] where in `less` a multiset's subsets with one die less begin
    less: Ints
    changes_at: Ints  # [253] the same for what a cube's change makes of five dice
    changes: Ints
    change_actions: Ints
    marks: Ints  # [252, 2] the mark, and the other one of two pairs (else the same)
    first: Floats  # [252] chance of each multiset on the first roll


@cache
def tables() -> Tables:
    """The tables, made once."""
    faces = [
        dice for size in range(5, -1, -1) for dice in combinations_with_replacement(range(6), size)
    ]
    packed = [sum(row.one(face + 1) for face in dice) for dice in faces]
    number = {multiset: i for i, multiset in enumerate(packed)}
    more = [
        [number.get(multiset + row.one(face), -1) if len(dice) < 5 else -1 for face in range(1, 7)]
        for dice, multiset in zip(faces, packed, strict=True)
    ]
    less, less_at, changes, actions, changes_at, marks = [], [0], [], [], [0], []
    for multiset in packed:
        less += [
            number[multiset - row.one(face)] for face in range(1, 7) if row.count(multiset, face)
        ]
        less_at.append(len(less))
    for multiset in packed[:NUM_MULTISETS]:
        for face in range(1, 7):
            for step in (1, -1):
                if row.count(multiset, face) and 1 <= face + step <= 6:
                    actions.append(row.cube_change(face, step))
                    changes.append(number[row.change_die(multiset, actions[-1])])
        changes_at.append(len(changes))
        best, lower = board.best_mark(multiset), board.lower_column(multiset)
        marks.append([best, board.mark(board.TWO_PAIRS, lower) if lower else best])
    as_ints = [np.array(x) for x in (packed, more, less_at, less, changes_at, changes, actions)]
    first = np.zeros(NUM_KEPT)
    first[NUM_KEPT - 1] = 1.0
    spread, _, _ = kernels()
    spread(first, as_ints[1])
    first = first[:NUM_MULTISETS].copy()
    return Tables._make([*as_ints, np.array(marks), first])


@cache
def numbers() -> dict[int, int]:
    """The number of each packed multiset."""
    return {int(multiset): i for i, multiset in enumerate(tables().packed)}


class Plan:
    """The best play of a turn's dice for a utility over final marks.

    Args:
        utility: [37] by mark, or [cubes + 1, 37] by cubes left and mark; a row of it adds what
            those cubes are worth.
        rolls: 3, or 4 with an extra throw.
        lamp: whether the turn's card is a lamp.
        cubes: cubes the seat has; taken from `utility` where that has two dimensions.
        reroll_any: table option `cube_reroll: any`; otherwise a cube rerolls one die.
        between: table option `cubes_between_rolls`.
        fewer_cubes: fill `values` for every smaller number of cubes too.
    """

    def __init__(
        self,
        utility: Any,
        *,
        rolls: int = row.ROLLS,
        lamp: bool = False,
        cubes: int = 0,
        reroll_any: bool = True,
        between: bool = False,
        fewer_cubes: bool = False,
    ) -> None:
        wanted: Floats = np.asarray(utility, np.float64)
        self.utility = wanted if wanted.ndim == 2 else np.repeat(wanted[None, :], cubes + 1, 0)
        self.cubes = len(self.utility) - 1
        self.rolls, self.has_lamp, self.between = rolls, lamp, between
        shape = (2, max(rolls, row.LAMP_ROLLS), self.cubes + 1, NUM_MULTISETS)
        self._ends: Floats = np.empty(shape[2:])
        self._levels: Floats = np.empty(shape)
        self._end_choice: Ints = np.empty(shape[2:], np.int64)
        self._level_choice: Ints = np.empty(shape, np.int64)
        _, solve, _ = kernels()
        # By cubes at the start of the turn, the expected utility before the first roll.
        self.values: Floats = solve(
            self.utility, tables(), rolls, lamp, not reroll_any, between,
            0 if between or fewer_cubes else self.cubes,
            self._ends, self._levels, self._end_choice, self._level_choice,
        )  # fmt: skip

    @property
    def value(self) -> float:
        """The expected utility before the first roll."""
        return float(self.values[self.cubes])

    def value_after(self, dice: int, rolls_left: int, *, lamp: bool | None = None) -> float:
        """The expected utility with these dice on the table and all cubes still there."""
        stage = int(self.has_lamp if lamp is None else lamp)
        return float(self._levels[stage, rolls_left, self.cubes, numbers()[dice]])

    def reroll(self, dice: int, rolls_left: int, *, cubes: int | None = None, lamp: bool) -> int:
        """The dice to roll again, packed; row.STOP for none (`lamp`: it is still to come)."""
        have = self.cubes if cubes is None else cubes
        choice = int(self._level_choice[int(lamp), rolls_left, have, numbers()[dice]])
        if choice == STOP or choice >= CHANGE:
            return row.STOP
        return dice - int(tables().packed[choice])

    def lamp(self, dice: int, *, cubes: int | None = None) -> int:
        """1 to begin anew, 0 to stay."""
        have, d = self.cubes if cubes is None else cubes, numbers()[dice]
        return int(self._levels[1, 0, have, d] > self._ends[have, d] + SURE)

    def cube(self, dice: int, cubes: int, *, rolls_left: int = 0, lamp: bool = False) -> int:
        """The cube's action with so many cubes left, or row.STOP."""
        t, d = tables(), numbers()[dice]
        if rolls_left == 0:
            choice = int(self._end_choice[cubes, d])
        else:
            choice = int(self._level_choice[int(lamp), rolls_left, cubes, d])
            if choice < CHANGE:
                return row.STOP  # a free reroll, or none
            choice -= CUBE if choice >= CUBE else 0
        if choice == STOP:
            return row.STOP
        if choice >= CHANGE:
            return int(t.change_actions[choice - CHANGE])
        return row.cube_reroll(dice - int(t.packed[choice]))

    def column(self, dice: int, cubes: int) -> int:
        """The column for two pairs."""
        best, lower = tables().marks[numbers()[dice]]
        is_lower = self.utility[cubes, lower] > self.utility[cubes, best]
        return board.mark_column(int(lower if is_lower else best))

    def distribution(self) -> Floats:
        """[cubes + 1, 37]: the chance to end with so many cubes left and this mark."""
        _, _, follow = kernels()
        result: Floats = follow(
            self.utility, tables(), self.rolls, self.has_lamp,
            self._ends, self._levels, self._end_choice, self._level_choice,
        )  # fmt: skip
        return result


@cache
def cached_plan(utility: tuple[float, ...], cubes: int = 0, rolls: int = row.ROLLS) -> Plan:
    """A `Plan` for a utility by mark given as a tuple, solved once."""
    return Plan(utility, cubes=cubes, rolls=rolls)
