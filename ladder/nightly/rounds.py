"""The rounds of a night: line-ups chosen by what is known, played, rated, chosen anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ladder.bots import LoadedBot
from ladder.execute import Progress, Workers, execute
from ladder.formats import Lineup
from ladder.formats.listed import ListedLineups
from ladder.matchmaking import Candidate, Choice, Pair, Round, pick_lineups
from ladder.plan import Plan
from ladder.rate import settings_of
from ladder.ratings.online import rate_online
from ladder.ratings.patterns import Ratings
from ladder.spec import DEFAULT_A_SEAT, RatingPart
from ladder.spec.formats import Ladder
from ladder.store import NightEntrant, NightRow, NightStore, Results

MET_NIGHTS = 5  # nights back in which a meeting counts as lately


@dataclass
class Played:
    """What a night has come to so far."""

    plan: Plan
    ratings: Ratings
    results: Results | None = None
    quarantined: set[int] = field(default_factory=set)
    rounds: int = 0
    seconds: float = 0.0
    notes: dict[str, None] = field(default_factory=dict)  # in the order they came up


def line_matches(format_: Ladder, seats: int) -> int:
    """Matches of one line-up."""
    return format_.matches or DEFAULT_A_SEAT * seats


class Rounds:
    """Plays the rounds of one night; every line-up follows from spec, night and store."""

    def __init__(
        self,
        store: NightStore,
        night: NightRow,
        plan: Plan,
        entrants: Sequence[NightEntrant],
        format_: Ladder,
        rating: RatingPart,
    ) -> None:
        self._store, self._night, self._base = store, night, plan
        self._entrants, self._format, self._rating = entrants, format_, rating
        self._seats = plan.table.seats
        self._each = line_matches(format_, self._seats)
        self._wanted: dict[Lineup, int] = {}
        self._met = self._meetings()
        self._state = Played(plan, self._prior())

    def play(
        self,
        bots: Sequence[LoadedBot],
        workers: Workers,
        report: Callable[[Progress], None],
        explain: Callable[[Choice], None],
    ) -> Played:
        """Play until the budget is spent. Raises: as `execute`."""
        begun = time.monotonic()
        state = self._state
        while (budget := self._budget(state)) >= self._each:
            chosen = self.choose(budget)
            if not chosen.choices:
                break
            for choice in chosen.choices:
                explain(choice)
                self._wanted[choice.lineup] = self._wanted.get(choice.lineup, 0) + choice.matches
            state.plan = self._plan()
            progress = Progress(report, state.plan.num_matches)
            execute(state.plan, bots, self._store, self._night.run, workers, progress)
            state.rounds += 1
            state.seconds = self._night.seconds + time.monotonic() - begun
            self._store.note_round(
                self._night, rounds=max(state.rounds, self._night.rounds), seconds=state.seconds
            )
            self._rate()
        return state

    def choose(self, budget: int) -> Round:
        """The next round's line-ups, with positions among all entrants of the night."""
        state = self._state
        tonight = self._tonight()
        active = [i for i in range(len(self._entrants)) if i not in state.quarantined]
        place = {entrant: position for position, entrant in enumerate(active)}
        candidates = [
            Candidate(
                self._entrants[i].version, self._entrants[i].author,
                float(state.ratings.mu[i]), float(state.ratings.sigma[i]),
                self._entrants[i].matches_before, tonight[i],
            )
            for i in active
        ]  # fmt: skip
        met = self._met | {}
        for lineup, matches in self._wanted.items():
            _add_pairs(met, lineup, matches)
        among = {(place[a], place[b]): n for (a, b), n in met.items() if a in place and b in place}
        chosen = pick_lineups(
            candidates, among, seats=self._seats, matches=self._each, budget=budget,
            floor=self._format.floor, beta=self._rating.beta,
            key=self._base.key + b"%d" % state.rounds, is_apart=self._format.keep_apart,
        )  # fmt: skip
        state.notes |= dict.fromkeys(chosen.notes)
        return Round(
            tuple(
                replace(
                    choice,
                    lineup=tuple(sorted(active[i] for i in choice.lineup)),
                    anchor=active[choice.anchor],
                )
                for choice in chosen.choices
            ),
            chosen.notes,
        )

    def _budget(self, state: Played) -> int:
        """Matches of the next round; 0 when the night is over."""
        active = len(self._entrants) - len(state.quarantined)
        if active < self._seats:
            return 0
        floors = 0
        if state.rounds == 0:  # the floor comes first, whatever ends the night
            lineups = -(-active // self._seats) * -(-self._format.floor // self._each)
            floors = (lineups + active // 8) * self._each
        limit = self._format.budget
        if limit.matches is not None:
            left = limit.matches - sum(self._wanted.values())
            rounds_left = self._format.rounds - state.rounds
            return min(left, max(floors, left // rounds_left)) if rounds_left > 0 else 0
        assert limit.minutes is not None
        is_over = state.seconds >= 60 * limit.minutes and state.rounds >= self._night.rounds
        return 0 if is_over and state.rounds else max(floors, active * self._each)

    def _plan(self) -> Plan:
        return replace(self._base, lineups=ListedLineups(self._wanted, len(self._entrants)))

    def _prior(self) -> Ratings:
        mu = np.array([row.mu_before for row in self._entrants], np.float64)
        sigma = np.array([row.sigma_before for row in self._entrants], np.float64)
        return Ratings(mu, sigma, np.zeros(len(mu), np.int64), 0.0)

    def _rate(self) -> None:
        """Rate the night so far, and take out who faulted too often."""
        state, prior = self._state, self._prior()
        lineups, places = self._store.matches_of(state.plan)
        state.ratings = rate_online(
            lineups, places, len(self._entrants), settings=settings_of(self._rating),
            prior_mu=prior.mu, prior_sigma=prior.sigma,
        )  # fmt: skip
        state.results = self._store.results_of(state.plan)
        faulty = np.flatnonzero(state.results.faults >= self._format.quarantine)
        state.quarantined = {int(i) for i in faulty}

    def _tonight(self) -> list[int]:
        counts = [0] * len(self._entrants)
        for lineup, matches in self._wanted.items():
            for entrant in lineup:
                counts[entrant] += matches
        return counts

    def _meetings(self) -> dict[Pair, int]:
        """How often two of tonight's entrants met in the nights before."""
        before = [
            night.run
            for night in self._store.nights(self._night.ladder)
            if night.finished_at is not None and night.night < self._night.night
        ]
        place = {row.version: position for position, row in enumerate(self._entrants)}
        met: dict[Pair, int] = {}
        for versions, matches in self._store.meetings(before[-MET_NIGHTS:]):
            there = sorted({place[v] for v in versions if v in place})
            _add_pairs(met, there, matches)
        return met


def _add_pairs(met: dict[Pair, int], lineup: Sequence[int], matches: int) -> None:
    for position, a in enumerate(lineup):
        for b in lineup[position + 1 :]:
            met[a, b] = met.get((a, b), 0) + matches
