"""Pasa, the Nepalese staking game: 2 to 6 seats, three long dice."""

from ladder.games import Game
from ladder.games.pasa import proof, rules, text
from ladder.games.pasa.profile import profile
from ladder.games.pasa.table import PasaTable, fair_total, new_state, view_width
from ladder.games.pasa.view import PasaBot, PasaView

__all__ = ["GAME", "PasaBot", "PasaTable", "PasaView"]

SUMMARY = """\
Three long dice with faces 1 2 5 6. One seat throws, every other seat stakes against it.
13 15 17 18 are paro: the thrower takes the stakes and throws on. 3 4 6 9 are tiro: the thrower
pays every stake and the dice pass. Any other total is bachyo: throw again.
A seat's cap is the least of the most stake, its own pile and the thrower's uncovered pile; it may
put down every size below the cap, or the cap. It must stake; with one choice it is not asked.
The dice go round the table `rounds` times; the match also ends when one pile is left.
The largest pile wins, a shared largest pile is a shared win."""

GAME = Game(
    name="pasa",
    version=1,
    title="Pasa, the Nepalese staking game",
    summary=SUMMARY,
    table=PasaTable,
    bot=PasaBot,
    view=PasaView,
    decisions={rules.STAKE: "stake"},
    terminations=text.TERMINATIONS,
    score_name="chips",
    score_key="piles",
    chance_name="throw",
    max_seats=rules.MAX_SEATS,
    has_hands=False,
    text=text,
    proof=proof,
    new_state=new_state,
    view_width=view_width,
    start=rules.start,
    advance=rules.advance,
    observe=rules.observe,
    score=rules.score,
    standing=rules.standing,
    num_seats=rules.num_seats,
    fair_total=fair_total,
    profile=profile,
)
