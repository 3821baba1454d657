"""A second Pasa, written from the rules' text alone, slow and plain; shares no code with Ladder.

A position is a value; `choices` lists what may happen next and `after` gives the next position.
Forced stakes are taken on the way, as the rules say (rule 4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

PARO = {13, 15, 17, 18}
TIRO = {3, 4, 6, 9}
FACES = [1, 2, 5, 6]


@dataclass(frozen=True)
class Options:
    seats: int = 4
    rounds: int = 2
    chips: int = 500
    most: int = 50
    sizes: tuple[int, ...] = (5, 10, 20, 50)
    first_thrower: int = 0
    cut_percent: int = 0


@dataclass(frozen=True)
class Position:
    options: Options
    piles: tuple[int, ...]
    thrower: int
    turns_left: int
    stakes: tuple[int, ...]
    to_ask: tuple[int, ...]  # seats still to stake
    house: int = 0
    ended_by: str = ""

    def kind(self) -> str:
        if self.ended_by:
            return "end"
        return "stake" if self.to_ask else "throw"

    def cap(self) -> int:
        seat = self.to_ask[0]
        cover = self.piles[self.thrower] - sum(self.stakes)
        return min(self.options.most, self.piles[seat], cover)

    def choices(self) -> list[object]:
        """Legal stakes, or the 64 throws as triples, first die fastest; none at the end."""
        kind = self.kind()
        if kind == "end":
            return []
        if kind == "stake":
            cap = self.cap()
            return [size for size in self.options.sizes if size < cap] + [cap]
        return [(a, b, c) for c in FACES for b in FACES for a in FACES]

    def after(self, choice: object) -> Position:
        if isinstance(choice, tuple):
            return _settled(self, sum(choice))
        assert isinstance(choice, int)
        return _pass_over(_put_down(self, choice))


def opening(options: Options) -> Position:
    """The first position in which somebody has something to do."""
    piles = (options.chips,) * options.seats
    turns = options.seats * options.rounds
    return _staking(Position(options, piles, options.first_thrower, turns, (), ()))


def _staking(p: Position) -> Position:
    n = p.options.seats
    order = tuple((p.thrower + step) % n for step in range(1, n))
    return _pass_over(replace(p, stakes=(0,) * n, to_ask=order))


def _put_down(p: Position, stake: int) -> Position:
    stakes = list(p.stakes)
    stakes[p.to_ask[0]] = stake
    return replace(p, stakes=tuple(stakes), to_ask=p.to_ask[1:])


def _pass_over(p: Position) -> Position:
    """Seats that sit out, and forced stakes."""
    while p.to_ask and len(p.choices()) == 1:
        cap = p.cap()
        p = _put_down(p, cap) if cap > 0 else replace(p, to_ask=p.to_ask[1:])
    return p


def _settled(p: Position, total: int) -> Position:
    if total not in PARO | TIRO:
        return p
    piles = list(p.piles)
    for seat, stake in enumerate(p.stakes):
        won = stake if total in PARO else -stake
        piles[p.thrower] += won
        piles[seat] -= won
    kept = p.options.cut_percent * sum(p.stakes) // 100 if total == 15 else 0
    piles[p.thrower] -= kept
    p = replace(p, piles=tuple(piles), house=p.house + kept)
    if sum(pile > 0 for pile in piles) == 1:
        return replace(p, ended_by="one_pile")
    if total in TIRO:
        p = _passed_on(p)
        while p.turns_left and p.piles[p.thrower] == 0:
            p = _passed_on(p)
        if p.turns_left == 0:
            return replace(p, ended_by="rounds")
    return _staking(p)


def _passed_on(p: Position) -> Position:
    return replace(p, thrower=(p.thrower + 1) % p.options.seats, turns_left=p.turns_left - 1)
