"""Scripts of text lines played on the engine, and random play."""

from __future__ import annotations

import random
from typing import Any

from ladder.games.nodes import CHANCE, END, LEGAL_AT, NODE, NUM_LEGAL, SEAT, WAYS
from ladder.games.pasha import GAME, row, scoring, text, words

HIGH_FIRST = "7 5 4 | 3 2 1 | -1 -1 -1"
NAMES = {row.CARD: "card", row.REROLL: "reroll", row.LAMP: "lamp", row.CUBE: "cube"}


class Script:
    """A match driven by text lines; decks and tiles are dealt from the arguments."""

    def __init__(
        self,
        *decks: str,
        seats: int = 2,
        tiles: dict[str, str] | None = None,
        table_tiles: Any = None,
        **options: Any,
    ) -> None:
        options.setdefault("first_player", 0)
        if table_tiles:
            options["tiles"] = table_tiles
        self.table = GAME.table(seats=seats, **options)
        self.state = GAME.new_state(self.table)
        GAME.start(self.state)
        dealt = [*decks, *[HIGH_FIRST] * seats][:seats]
        self.do(*(f"deck {seat} {deck}" for seat, deck in enumerate(dealt)))
        columns: dict[str, list[int]] = {"A": [], "B": [], "C": []}
        for tile in self.table.tiles:
            columns[tile.set].append(tile.column)
        for letter, known in columns.items():
            order = (tiles or {}).get(letter) or " ".join(map(str, known))
            self.do(f"tiles {letter} {order}")

    def do(self, *lines: str) -> Script:
        for line in lines:
            GAME.advance(self.state, text.parse_action(self.state, line))
        return self

    def turn(self, card: int, dice: str, *lines: str) -> Script:
        """Play a card (where it is asked), roll these dice, stop, and use no lamp and no cube."""
        if self.asked == "card":
            self.do(f"play {card}")
        self.do(f"roll {dice}", "stop")
        if self.asked == "lamp":
            self.do("lamp no")
        if self.asked == "cube":
            self.do("stop")
        return self.do(*lines)

    @property
    def asked(self) -> str:
        node = self.state[NODE]
        return "end" if node == END else "roll" if node == CHANCE else NAMES.get(node, "column")

    @property
    def legal(self) -> list[str]:
        at = self.state[LEGAL_AT]
        legal = self.state[at : at + self.state[NUM_LEGAL]]
        return [text.action_text(self.state, action) for action in legal]

    @property
    def seat(self) -> int:
        return int(self.state[SEAT])

    def row(self, at: int) -> list[int]:
        return list(self.state[at : at + self.table.seats])

    @property
    def marks(self) -> list[str]:
        return [words.mark_text(mark) if mark >= 0 else "" for mark in self.row(row.MARKS)]

    @property
    def scores(self) -> list[int]:
        return [scoring.score(self.state, seat) for seat in range(self.table.seats)]

    @property
    def tiles(self) -> list[int]:
        """Columns of the tiles above the board, oldest first."""
        tiles = self.state[row.ABOVE : row.ABOVE + row.NUM_TILES]
        return [row.tile_column(tile) for tile in tiles if tile]

    def view(self) -> Any:
        spare = [0] * GAME.view_width(self.table)
        return GAME.view(GAME.observe(self.state, spare)[: row.VIEW_WIDTH])


def random_match(seed: int, **options: Any) -> tuple[list[int], list[int], list[str]]:
    """A match of uniform play: the final state, its actions and its lines."""
    rng = random.Random(seed)
    state = GAME.new_state(GAME.table(**options))
    GAME.start(state)
    actions, lines = [], []
    while state[NODE] != END:
        actions.append(random_action(state, rng))
        lines.append(text.action_text(state, actions[-1]))
        GAME.advance(state, actions[-1])
    return state, actions, lines


def random_action(state: list[int], rng: random.Random) -> int:
    if state[NODE] == CHANCE:
        return rng.randrange(state[WAYS])
    return rng.choice(state[state[LEGAL_AT] : state[LEGAL_AT] + state[NUM_LEGAL]])
