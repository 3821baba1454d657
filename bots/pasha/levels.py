"""Four levels of Pasha, Easy to Master; each adds ideas to the one before."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bots.pasha.last_round import win_chances
from bots.pasha.prospects import Prospects, prospects, rolls_of
from bots.pasha.worth import Floats, Weights, worth_of_marks
from ladder.games.pasha import PashaBot, PashaView
from ladder.games.pasha.board import FULL_HOUSE, best_mark, mark_row
from ladder.games.pasha.dice import Plan
from ladder.games.pasha.row import (
    NUM_MARKS,
    STOP,
    card_value,
    change_die,
    count,
    cube_change,
    play,
    reroll_all_but,
)


class Easy(PashaBot):
    """Goes for as many dice of one face as it can get; a cube now and then for one more."""

    @staticmethod
    def reroll(view: PashaView, params: Any) -> int:
        """Keep the most frequent face, the higher one if there are two; stop at a full house."""
        if mark_row(view.mark) >= FULL_HOUSE:
            return STOP
        keep = 6
        for face in range(5, 0, -1):
            if count(view.dice, face) > count(view.dice, keep):
                keep = face
        return reroll_all_but(view.dice, keep)

    @staticmethod
    def cube(view: PashaView, params: Any) -> int:
        """Change one die where that makes a better row, while cubes last for every other round."""
        if view.rolls_left > 0 or view.cubes < view.rounds_left // 2:
            return STOP
        best = mark_row(view.mark)
        chosen = STOP
        for face in range(1, 7):
            if count(view.dice, face) > 0:
                for step in range(-1, 2, 2):
                    if 1 <= face + step <= 6:
                        action = cube_change(face, step)
                        row = mark_row(best_mark(change_die(view.dice, action)))
                        if row > best:
                            best = row
                            chosen = action
        return chosen


class _Planner(PashaBot):
    """Base of the levels that follow an exact plan of their dice, made once a turn."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._turn = -1

    def plan(self, view: PashaView, card: int) -> Plan:
        """The plan of a turn with this card; `view` is one of that turn."""
        raise NotImplementedError

    def _planned(self, view: PashaView) -> Plan:
        if self._plan is None or self._turn != view.rounds_left:
            self._plan, self._turn = self.plan(view, view.played[view.seat]), view.rounds_left
        return self._plan

    def reroll(self, view: PashaView) -> int:
        """As planned."""
        lamp = bool(view.lamp_left)
        plan = self._planned(view)
        return plan.reroll(view.dice, view.rolls_left, cubes=view.cubes, lamp=lamp)

    def lamp(self, view: PashaView) -> int:
        """As planned."""
        return self._planned(view).lamp(view.dice, cubes=view.cubes)

    def cube(self, view: PashaView) -> int:
        """As planned."""
        lamp = bool(view.lamp_left)
        plan = self._planned(view)
        return plan.cube(view.dice, view.cubes, rolls_left=view.rolls_left, lamp=lamp)

    def column(self, view: PashaView) -> int:
        """As planned."""
        return self._planned(view).column(view.dice, view.cubes)


class Medium(_Planner):
    """Exact dice and cubes for the round as it stands: cards on the table, marks to beat.

    A cube has a fixed price; tiles are not looked at. Cards go from high to low.
    """

    price: float = 2.0
    tiles: float = 0.0

    def plan(self, view: PashaView, card: int) -> Plan:
        """For the expected card of each rank."""
        cube_worth: Floats = self.price * np.arange(view.cubes + 2, dtype=np.float64)
        weights = Weights(rivals=0.0, tiles=self.tiles)
        later = np.array(usual_marks())
        cells = np.array(view)
        marks = worth_of_marks(cells, card, view.cubes, later, cube_worth, weights)
        return plan_of(view, card, marks)


@cache
def usual_marks() -> tuple[float, ...]:
    """The chances of each mark for a seat that rolls as well as it can and spends no cube."""
    aim = [float(mark * mark) for mark in range(NUM_MARKS)]
    return tuple(Plan(aim).distribution()[0].tolist())


class Hard(Medium):
    """Medium, and the tiles above a mark's column count by the chance to take them."""

    tiles: float = 1.0


def plan_of(view: PashaView, card: int, marks: Any) -> Plan:
    """The plan of a turn with this card for what the marks are worth."""
    return Plan(
        marks,
        rolls=rolls_of(card, view.extra_cards),
        lamp=bool((view.lamp_cards >> play(card)) & 1),
        reroll_any=bool(view.reroll_any),
        between=bool(view.cubes_between_rolls),
    )


class Master(_Planner):
    """Plans card, dice and cubes together; every idea has a param that turns it off."""

    lookahead: float = 1.0  # choose the card by what each is worth now, against usually
    rivals: float = 1.0  # what a rival does not get counts too
    tiles: float = 1.0
    lead: float = 1.0  # what it costs to play first in the next round
    cube_price: float = 0.0  # a fixed price instead of the exact worth of a cube
    to_win: bool = True  # in the last round plan for winning, not for points

    def plan(self, view: PashaView, card: int) -> Plan:
        """For everything that a mark brings; the tables of averages are made once a process."""
        return self._plan_for(view, np.array(view), card)

    def _plan_for(self, view: PashaView, cells: Any, card: int) -> Plan:
        usual = self._prospects(view)
        cubes = view.cubes
        if self.to_win and view.rounds_left == 1:
            return plan_of(view, card, win_chances(cells, cubes, usual.later))
        if self.cube_price > 0:
            cube_worth: Floats = self.cube_price * np.arange(cubes + 2, dtype=np.float64)
        else:
            cube_worth = usual.cube_worth[view.rounds_left - 1]
        weights = Weights(self.rivals, self.tiles, self.lead if view.rounds_left > 1 else 0.0)
        marks = worth_of_marks(cells, card, cubes, usual.later, cube_worth, weights)
        return plan_of(view, card, marks)

    def _prospects(self, view: PashaView) -> Prospects:
        return prospects(
            view.seats, view.extra_cards, view.lamp_cards, view.reroll_any,
            view.cubes_between_rolls, Weights(self.rivals, self.tiles, self.lead),
        )  # fmt: skip

    def card(self, view: PashaView) -> int:
        """The card whose plan is worth most above what a plan with it usually is."""
        if not self.lookahead:
            return view.legal[0]
        usual = self._prospects(view).card_worth
        cells = np.array(view)
        best, gain = view.legal[0], -1e9
        for action in view.legal:
            value = card_value(action)
            plan = self._plan_for(view, cells, value)
            now = plan.value - self.lookahead * usual[value]
            if now > gain:
                best, gain, self._plan = action, now, plan
        self._turn = view.rounds_left
        return best
