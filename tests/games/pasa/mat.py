"""A mat for hand-made examples: stakes and throws as one says them, the numbers by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ladder.games.nodes import CHANCE, END, FORCED, LEGAL_AT, NODE, NUM_LEGAL, SEAT, TERMINATION
from ladder.games.pasa import GAME, PasaTable, rules
from ladder.games.pasa.table import new_state


class Mat:
    """One scripted match."""

    def __init__(self, **options: Any) -> None:
        self.state = new_state(PasaTable(**options))
        rules.start(self.state)

    @classmethod
    def holding(
        cls, piles: Sequence[int], *, thrower: int = 0, turn: int = 0, **options: Any
    ) -> Mat:
        """The mat in mid-match: these piles, this thrower, so many turns held, a new staking."""
        mat = cls(seats=len(piles), **options)
        mat.state[rules.PILES : rules.PILES + len(piles)] = piles
        mat.state[rules.THROWER] = thrower
        mat.state[rules.TURN] = turn
        mat.state[FORCED] = 0
        rules.open_staking(mat.state)
        rules.ask_next(mat.state)
        return mat

    def stake(self, *stakes: int) -> Mat:
        """The next seats put these down; each must be legal."""
        for stake in stakes:
            assert self.asks == "stake", self.asks
            assert stake in self.legal, self.legal
            rules.advance(self.state, stake)
        return self

    def stake_least(self) -> Mat:
        """Everybody left to ask puts down the least."""
        while self.asks == "stake":
            self.stake(self.legal[0])
        return self

    def throw(self, *throws: str) -> Mat:
        """The thrower throws these faces."""
        for faces in throws:
            assert self.asks == "throw", self.asks
            rules.advance(self.state, GAME.text.parse_action(self.state, f"throw {faces}"))
        return self

    @property
    def asks(self) -> str:
        """What the mat waits for: stake, throw, or nothing at the end."""
        return {END: "end", CHANCE: "throw", rules.STAKE: "stake"}[self.state[NODE]]

    @property
    def ended_by(self) -> str:
        assert self.asks == "end"
        return GAME.terminations[self.state[TERMINATION]]

    @property
    def legal(self) -> list[int]:
        assert self.asks == "stake"
        return self.state[self.state[LEGAL_AT] :][: self.state[NUM_LEGAL]]

    @property
    def seat(self) -> int:
        """The seat that is to stake."""
        assert self.asks == "stake"
        return self.state[SEAT]

    @property
    def piles(self) -> list[int]:
        return self.state[rules.PILES :][: self.state[rules.SEATS]]

    @property
    def stakes(self) -> list[int]:
        return self.state[rules.STAKES :][: self.state[rules.SEATS]]

    @property
    def thrower(self) -> int:
        return self.state[rules.THROWER]

    @property
    def cover(self) -> int:
        return self.state[rules.COVER]

    @property
    def house(self) -> int:
        return self.state[rules.HOUSE]

    @property
    def num_forced(self) -> int:
        return self.state[FORCED]

    @property
    def turns_left(self) -> int:
        return rules.turns_left(self.state)
