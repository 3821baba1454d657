"""Pasha, the board game: 2 to 5 seats, five dice, nine cards each, cubes and bonus tiles."""

from ladder.games import Game
from ladder.games.pasha import proof, row, rules, scoring, text
from ladder.games.pasha.table import PashaTable, new_state, view_width
from ladder.games.pasha.view import PashaBot, PashaView

__all__ = ["GAME", "PashaBot", "PashaTable", "PashaView"]

SUMMARY = """\
Nine rounds. Each turn: play a card from the hand (a set is -1 -1 -1 1 2 3 4 5 7, three decks of
three), roll five dice up to three times keeping what you like, then spend cubes: reroll dice or
turn one die by one. Mark the best combination: pair, two pairs, three, full house, four, five of
a kind; within a row the higher column wins, on one space the later disc.
The worst seat takes every -1 played, the others share the cards, the best the highest. The best
in a column takes its bonus tiles. One value of card gives a fourth roll, one a fresh start.
Points: cards, tiles, one for each cube left. Most points win; ties go by cubes, then are shared."""

GAME = Game(
    name="pasha",
    version=1,
    title="Pasha, the board game of dice and cards",
    summary=SUMMARY,
    table=PashaTable,
    bot=PashaBot,
    view=PashaView,
    decisions={
        row.CARD: "card",
        row.REROLL: "reroll",
        row.LAMP: "lamp",
        row.CUBE: "cube",
        row.COLUMN: "column",
    },
    terminations=text.TERMINATIONS,
    score_name="points",
    score_key="scores",
    chance_name="roll",
    max_seats=row.MAX_SEATS,
    has_hands=True,
    text=text,
    proof=proof,
    new_state=new_state,
    view_width=view_width,
    start=rules.start,
    advance=rules.advance,
    observe=rules.observe,
    score=scoring.score,
    standing=scoring.standing,
    num_seats=row.num_seats,
)
