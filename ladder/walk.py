"""One match, action by action, interpreted: for reading it, proving it, and playing it by hand.

The same loop as the compiled stepper's `run` and the same verdicts as the driver's, one match at a
time, with every action to look at. Slow (a few hundred matches a second) and plain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ladder import seeds
from ladder.driver import Player, as_actions, illegal_fault
from ladder.errors import BotFaultError
from ladder.games import Game, Table
from ladder.games.nodes import CHANCE, END, LUCK, NODE, SEAT, TERMINATION, WAYS
from ladder.record import Fault
from ladder.stepper import FORFEITED


@dataclass(frozen=True)
class Step:
    """One action of a match and the node it was taken at."""

    number: int  # of the action, from 1
    node: int  # CHANCE, or the kind of decision
    seat: int  # the seat that decided; at a chance node the one the node is about
    action: int
    ways: int  # at a chance node, how many outcomes there were; else 0
    decision: int  # the number of the decision in its match, from 1; 0 at a chance node
    before: tuple[int, ...]  # the state the action was taken in
    fault: Fault | None = None  # then the action is the default move


@dataclass
class Walk:
    """A match under way: iterate over it once, then read what it came to.

    `players` stand by seat; a player that sits in several seats may be given several times.
    """

    game: Game
    table: Table
    players: Sequence[Player]
    key: bytes  # of the deal
    repetition: int
    on_fault: str = "forfeit"
    state: list[int] = field(default_factory=list)
    digest: int = 0
    chances: int = 0
    decisions: int = 0
    forfeits: list[int] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[Step]:
        """Play the match, a step at a time; the state has moved on when a step is given.

        Raises: BotFaultError where a bot faults and `on_fault` is "abort".
        """
        game, seats = self.game, self.table.seats
        self.forfeits, self.faults = [0] * seats, [0] * seats
        self.digest, self.chances, self.decisions = seeds.digest_start(), 0, 0
        self.state = state = list(game.new_state(self.table))
        source = seeds.new_source(self.key, self.repetition, seats)
        for player, own in self._seated():
            player.start(own)
        game.start(state)
        number = 0
        while state[NODE] != END:
            number += 1
            before, fault, ways, decision = tuple(state), None, 0, 0
            if state[NODE] == CHANCE:
                ways = state[WAYS]
                action = seeds.draw(source, ways)
                self.chances += 1
            else:
                seat = state[SEAT]
                state[LUCK] = seeds.draw_luck(source, seat)
                self.decisions += 1
                decision = self.decisions
                before = tuple(state)
                action, fault = self._decide(seat)
            self.digest = seeds.digest_add(self.digest, action)
            game.advance(state, action)
            yield Step(number, before[NODE], before[SEAT], action, ways, decision, before, fault)
        for player, own in self._seated():
            player.finish(own)

    def _seated(self) -> list[tuple[Player, list[int]]]:
        """Each player with all its seats: of one match it is told in one call."""
        seats: dict[int, list[int]] = {}
        for seat, player in enumerate(self.players):
            seats.setdefault(id(player), []).append(seat)
        return [(self.players[own[0]], own) for own in seats.values()]

    def _decide(self, seat: int) -> tuple[int, Fault | None]:
        """The action of the seat whose turn it is, judged; with its fault, if it made one."""
        legal = self.game.legal(self.state)
        if self.forfeits[seat]:
            return legal[0], None
        width = self.game.view_width(self.table)
        seen = list(self.game.observe(self.state, [0] * width))[:width]
        player = self.players[seat]
        player.post(self.state[NODE], [seat], np.array([seen], np.int64))
        answers = player.collect()
        actions, faults = as_actions(answers)
        fault = faults.get(0)
        if fault is None and int(actions[0]) in legal:
            return int(actions[0]), None
        fault = fault or illegal_fault(answers[0], legal)
        self.faults[seat] += 1
        if self.on_fault == "forfeit":
            self.forfeits[seat] = 1 + max(self.forfeits)
        elif self.on_fault == "abort":
            raise BotFaultError(0, seat, self.decisions, fault.cause, fault.detail, fault.traceback)
        return legal[0], fault

    @property
    def is_over(self) -> bool:
        """Whether the match has ended."""
        return bool(self.state) and self.state[NODE] == END

    @property
    def termination(self) -> str:
        """Why the match ended."""
        return self.game.terminations[self.state[TERMINATION]]

    @property
    def scores(self) -> list[int]:
        """By seat, as they stand."""
        return [self.game.score(self.state, seat) for seat in range(self.table.seats)]

    @property
    def places(self) -> list[int]:
        """By seat; who forfeited stands below all others, the first to forfeit lowest."""
        standings = [
            FORFEITED + forfeit if forfeit else self.game.standing(self.state, seat)
            for seat, forfeit in enumerate(self.forfeits)
        ]
        return [1 + sum(other > own for other in standings) for own in standings]

    @property
    def win_share(self) -> list[float]:
        """By seat: each first place's part of the win."""
        places = self.places
        return [1 / places.count(1) if place == 1 else 0.0 for place in places]


def walk_through(walk: Walk) -> list[Step]:
    """All steps of a match, and the players closed."""
    try:
        return list(walk)
    finally:
        close_all(walk.players)


def close_all(players: Sequence[Any]) -> None:
    """Close each player once, however many seats it has."""
    for player in {id(player): player for player in players}.values():
        player.close()
