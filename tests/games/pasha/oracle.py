"""A second reading of the rules, over text lines and Python objects: what a match came to."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ladder.games.pasha import PashaTable

ROWS = ["pair", "two pairs", "three", "full house", "four", "five"]
SHAPES = {
    (2, 1, 1, 1): "pair",
    (2, 2, 1): "two pairs",
    (3, 1, 1): "three",
    (3, 2): "full house",
    (4, 1): "four",
    (5,): "five",
}


class Oracle:
    """Plays a list of text lines at a table; strict about what it understands."""

    def __init__(self, table: PashaTable, lines: list[str]) -> None:
        self.table, self.lines = table, list(lines)
        seats = table.seats
        self.cubes = [5] * seats
        self.pile: list[list[int]] = [[] for _ in range(seats)]
        self.tile_points = [0] * seats
        self.white = 6
        self.discarded = 0
        self.plays: list[list[int]] = [[] for _ in range(seats)]
        self.leaders: list[int] = []
        first = self.table.first_player
        if first is None:
            first = int(self.next("first"))
        self.hands: list[list[int]] = []
        self.decks: list[list[list[int]]] = []
        for seat in range(seats):
            who, _, cards = self.next("deck").partition(" ")
            assert int(who) == seat
            decks = [[int(card) for card in deck.split()] for deck in cards.split("|")]
            self.hands.append(decks[0])
            self.decks.append(decks[1:])
        coming = []
        for letter in "ABC":
            mine = [tile for tile in table.tiles if tile.set == letter]
            order = self.next("tiles").split()[1:]
            coming += [next(t for t in mine if t.column == int(column)) for column in order]
        above: list[Any] = []
        for tile in coming:
            above.append(tile)
            self.leaders.append(first)
            order_of_turns = [(first + i) % seats for i in range(seats)]
            results = [(*self.turn(seat), i, seat) for i, seat in enumerate(order_of_turns)]
            first = self.score(sorted(results, reverse=True), above)
        assert not self.lines

    def next(self, word: str) -> str:
        line = self.lines.pop(0)
        first, _, rest = line.partition(" ")
        assert first == word, (line, word)
        return rest

    def peek(self, word: str) -> bool:
        return bool(self.lines) and self.lines[0].split()[0] == word

    def turn(self, seat: int) -> tuple[int, int]:
        hand = self.hands[seat]
        card = int(self.next("play")) if len(set(hand)) > 1 else hand[0]
        hand.remove(card)
        self.plays[seat].append(card)
        if not hand and self.decks[seat]:
            self.hands[seat] = self.decks[seat].pop(0)
        special = self.table.special_cards.get(card)
        dice = self.rolls(seat, 4 if special == "extra_throw" else 3)
        if special == "lamp" and self.next("lamp") == "yes":
            dice = self.rolls(seat, 3)
        dice = self.use_cubes(seat, dice)
        groups = sorted(((n, face) for face, n in Counter(dice).items()), reverse=True)
        shape = SHAPES.get(tuple(n for n, _ in groups))
        if shape is None:
            return (-1, 0)
        column = groups[0][1]
        if shape == "two pairs":
            column = int(self.next("column"))
            assert column in (groups[0][1], groups[1][1])
        return (ROWS.index(shape), column)

    def rolls(self, seat: int, most: int) -> list[int]:
        dice = self.roll([])
        for left in range(most - 1, 0, -1):
            if self.table.cubes_between_rolls:
                dice = self.use_cubes(seat, dice)
            assert left > 0
            if self.peek("stop"):
                self.next("stop")
                break
            dice = self.roll(self.without(dice, self.next("reroll")))
        return dice

    def roll(self, kept: list[int]) -> list[int]:
        rolled = [int(face) for face in self.next("roll").split()]
        assert len(kept) + len(rolled) == 5
        return kept + rolled

    def without(self, dice: list[int], faces: str) -> list[int]:
        dice = list(dice)
        for face in faces.split():
            dice.remove(int(face))
        return dice

    def use_cubes(self, seat: int, dice: list[int]) -> list[int]:
        while self.cubes[seat] > 0:
            if self.peek("stop"):
                self.next("stop")
                break
            what = self.next("cube")
            self.cubes[seat] -= 1
            if what.startswith("reroll"):
                faces = what.removeprefix("reroll ")
                assert self.table.cube_reroll == "any" or len(faces) == 1
                dice = self.roll(self.without(dice, faces))
            else:
                to = int(what[0]) + (1 if what[1] == "+" else -1)
                assert 1 <= to <= 6
                dice = [*self.without(dice, what[0]), to]
        return dice

    def score(self, ranked: list[tuple[int, int, int, int]], above: list[Any]) -> int:
        seats = [seat for *_, seat in ranked]
        cards = sorted((plays[-1] for plays in self.plays), reverse=True)
        good = [card for card in cards if card > 0]
        for seat, card in zip(seats, good, strict=False):
            self.pile[seat].append(card)
        self.pile[seats[-1]] += [card for card in cards if card < 0]
        for tile in sorted(above, key=lambda tile: tile.column):
            takers = [seat for place, column, _, seat in ranked if column == tile.column]
            if takers:
                above.remove(tile)
                self.take(takers[0], tile)
        return seats[0]

    def take(self, seat: int, tile: Any) -> None:
        if tile.effect == "points":
            self.tile_points[seat] += tile.amount
        elif tile.effect == "cubes":
            amount = min(tile.amount, self.white)
            self.white -= amount
            self.cubes[seat] += amount
        else:
            self.discarded += self.pile[seat].count(-1)
            self.pile[seat] = [card for card in self.pile[seat] if card > 0]

    @property
    def scores(self) -> list[int]:
        parts = zip(self.pile, self.tile_points, self.cubes, strict=True)
        return [sum(pile) + tiles + cubes for pile, tiles, cubes in parts]
