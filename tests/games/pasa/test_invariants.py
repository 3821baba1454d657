"""What holds in every match at every table (rule 8), by random play, and against a second Pasa."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings

from ladder.games.nodes import CHANCE, END, FORCED, NODE, SEAT, TERMINATION, WAYS
from ladder.games.pasa import GAME, PasaTable, rules, text
from tests.games.pasa import plain_pasa
from tests.games.pasa.tables import lucks, options, tables

MOST_ACTIONS = 200_000  # random play ends long before
checked = settings(
    deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow]
)  # fmt: skip


@checked
@given(tables, lucks)
def test_every_match_keeps_its_chips_and_stakes_and_ends(table: PasaTable, luck: Random) -> None:
    state = GAME.new_state(table)
    GAME.start(state)
    seats = range(table.seats)
    was_out: set[int] = set()
    actions = 0
    while state[NODE] != END:
        piles = [state[rules.PILES + seat] for seat in seats]
        stakes = [state[rules.STAKES + seat] for seat in seats]
        assert sum(piles) + state[rules.HOUSE] == table.seats * table.chips
        assert min(piles) >= 0
        assert was_out <= {seat for seat in seats if piles[seat] == 0}
        was_out = {seat for seat in seats if piles[seat] == 0}
        assert stakes[state[rules.THROWER]] == 0
        assert all(stake <= pile for stake, pile in zip(stakes, piles, strict=True))
        assert sum(stakes) <= piles[state[rules.THROWER]]
        assert state[rules.COVER] == piles[state[rules.THROWER]] - sum(stakes)
        if state[NODE] == CHANCE:
            assert state[WAYS] == 64
            assert sum(stakes) > 0  # every staking has at least one stake (rule 6)
            action = luck.randrange(64)
        else:
            legal = GAME.legal(state)
            assert legal == sorted(set(legal))
            assert legal[0] > 0  # nought is never legal (rule 4)
            assert legal[-1] == min(table.most, piles[state[SEAT]], state[rules.COVER])
            assert len(legal) > 1  # forced stakes are not asked
            action = luck.choice(legal)
        GAME.advance(state, action)
        actions += 1
        assert actions < MOST_ACTIONS
    piles = [state[rules.PILES + seat] for seat in seats]
    assert sum(piles) + state[rules.HOUSE] == table.seats * table.chips
    assert (text.TERMINATIONS[state[TERMINATION]] == "one_pile") == (sum(p > 0 for p in piles) == 1)
    if not table.fifteen_cut_percent:
        assert state[rules.HOUSE] == 0


@checked
@given(options(), lucks)
def test_it_goes_step_by_step_as_the_second_pasa(chosen: dict[str, Any], luck: Random) -> None:
    table = PasaTable(**chosen)
    state = GAME.new_state(table)
    GAME.start(state)
    plain = plain_pasa.opening(
        plain_pasa.Options(
            table.seats, table.rounds, table.chips, table.most, table.sizes,
            table.first_thrower, table.fifteen_cut_percent,
        )
    )  # fmt: skip
    while True:
        kind = {END: "end", CHANCE: "throw", rules.STAKE: "stake"}[state[NODE]]
        assert kind == plain.kind()
        assert tuple(state[rules.PILES :][: table.seats]) == plain.piles
        assert rules.turns_left(state) == plain.turns_left
        assert state[rules.HOUSE] == plain.house
        if kind == "end":
            assert text.TERMINATIONS[state[TERMINATION]] == plain.ended_by
            return
        assert tuple(state[rules.STAKES :][: table.seats]) == plain.stakes
        assert state[rules.THROWER] == plain.thrower
        choices = plain.choices()
        if kind == "stake":
            assert state[SEAT] == plain.to_ask[0]
            assert GAME.legal(state) == choices
            choice: Any = luck.choice(choices)
            GAME.advance(state, choice)
        else:
            number = luck.randrange(64)
            choice = choices[number]
            assert text.faces(number) == choice
            GAME.advance(state, number)
        plain = plain.after(choice)


def test_forced_stakes_are_counted() -> None:
    state = GAME.new_state(PasaTable(seats=4, chips=3))
    GAME.start(state)
    assert state[NODE] == CHANCE
    assert state[FORCED] == 1  # seat 1 must put down 3, which leaves no cover for the others
