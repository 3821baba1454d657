"""What pairing, covariates and the sequence are worth together: matches counted until a decision.

Two leads of the bold rule against two Easy at three seats, whose exact difference is 0.523 points.
Every repetition asks twice: by the design of `ladder compare`, and by the same sequence on matches
that share no dice and are not adjusted. Measured, mean matches a candidate to a right decision:

| leads | exact difference | repetitions | paired | independent | times fewer |
|---|---|---|---|---|---|
| 35, 50 | 0.523 | 20 | 23,907 | 284,967 | 11.9 |
| 0, 5 | 0.447 | 40 | 76,549 | 338,239 | 4.4 |
"""

import numpy as np
import pytest

from bots.pasa.levels import Easy
from bots.pasa.policies import BoldUntilAhead
from ladder.exact import solve
from ladder.games.bot import bind
from ladder.lab.compare import _batches, _plan
from ladder.lab.questions import question_of_words
from ladder.lab.race import Decision, Race
from ladder.playout import compile_bots, play_compiled
from ladder.record import Segment
from ladder.stats import pasa_widest

LEADS = (35, 50)


def question(seed):
    words = [f"BoldUntilAhead:lead={lead}" for lead in LEADS]
    asked = {"matches": 4_000_000}
    return question_of_words(words, ["Easy"], "pasa", "seats=3", seed, asked)[0]


class Candidate:
    """One candidate's matches on the dice of a question."""

    def __init__(self, question, number):
        self.question = question
        self.plan, lineups = _plan(question)
        self.lineups = lineups[question.names[number]]
        self.code = compile_bots(question.game, question.bots)

    def play(self, first, count):
        """(win shares, piles as parts of all chips) of its seat."""
        asked = self.question
        segments = [
            Segment(line, digest, first, count, deal) for line, digest, deal in self.lineups
        ]
        keys = [self.plan.deal_key(segment.pairing) for segment in segments]
        record = play_compiled(asked.game, asked.table, asked.bots, self.code, segments, keys)
        own = np.repeat(np.arange(asked.table.seats), count)
        rows = np.arange(len(own))
        piles = record.scores[rows, own] / asked.game.fair_total(asked.table)
        return record.win_shares[rows, own], piles


def decided(a, b, *, is_adjusted):
    """The pair when the race is over."""
    race = Race(["a", "b"], bound=pasa_widest(3)) if is_adjusted else Race(["a", "b"])
    first = 0
    for count in _batches(a.question.budget // 3):
        (won_a, pile_a), (won_b, pile_b) = a.play(first, count), b.play(first, count)
        race.add({"a": won_a, "b": won_b}, {"a": pile_a, "b": pile_b} if is_adjusted else None)
        first += count
        if race.is_over:
            break
    return race.pairs()[0]


def exact_difference():
    shares = []
    for lead in LEADS:
        bot = bind(BoldUntilAhead, {"lead": lead})
        table = question(1).table
        seats = [[bot if place == seat else Easy for place in range(3)] for seat in range(3)]
        shares.append(sum(solve(table, s).win_share[i] for i, s in enumerate(seats)) / 3)
    return shares[0] - shares[1]


def repeat(repetitions):
    """Matches a candidate to the decision: paired, independent."""
    truth = exact_difference()
    assert truth == pytest.approx(0.005, abs=0.0005)
    paired, independent = [], []
    for number in range(repetitions):
        asked = question(10 + number)
        pair = decided(Candidate(asked, 0), Candidate(asked, 1), is_adjusted=True)
        apart = [Candidate(question(1000 + 2 * number + side), side) for side in (0, 1)]
        other = decided(*apart, is_adjusted=False)
        for found in (pair, other):
            assert found.low <= truth <= found.high
            assert found.decision is Decision.A_BETTER
        paired.append(pair.matches)
        independent.append(other.matches)
    return np.array(paired), np.array(independent)


def test_a_pair_is_decided_with_three_times_fewer_matches():
    paired, independent = repeat(2)
    assert independent.sum() >= 3 * paired.sum()


@pytest.mark.slow
def test_a_pair_is_decided_with_three_times_fewer_matches_over_twenty_repetitions():
    paired, independent = repeat(20)
    assert independent.mean() >= 3 * paired.mean()
    assert np.median(independent) >= 3 * np.median(paired)
