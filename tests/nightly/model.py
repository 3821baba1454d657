"""A ladder of versions whose strength is known, played by the model the ratings assume.

Performances are normal around the true mu, the best one wins; so a night costs milliseconds, and
the error of a rating can be measured exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from ladder.matchmaking import Candidate, Choice, pick_lineups
from ladder.ratings.online import rate_online
from ladder.ratings.settings import RatingSettings

SETTINGS = RatingSettings(tau=0.01, draw_probability=0.01, rank_by="winner")
SEATS, EACH = 4, 20
Pick = Callable[[Sequence[Candidate], dict[tuple[int, int], int], int, int, bytes], list[Choice]]


@dataclass
class Model:
    """The state of a simulated ladder."""

    luck: np.random.Generator
    truth: list[float] = field(default_factory=list)
    mu: list[float] = field(default_factory=list)
    sigma: list[float] = field(default_factory=list)
    born: list[int] = field(default_factory=list)
    alive: list[int] = field(default_factory=list)
    matches: list[int] = field(default_factory=list)
    met: dict[tuple[int, int], int] = field(default_factory=dict)

    def arrive(self, night: int, truth: float) -> None:
        self.alive.append(len(self.truth))
        self.truth.append(truth)
        self.mu.append(SETTINGS.mu)
        self.sigma.append(SETTINGS.sigma)
        self.born.append(night)
        self.matches.append(0)

    def night(self, number: int, pick: Pick, budget: int, floor: int, rounds: int) -> list[int]:
        """Play a night; the matches of each version that is alive."""
        tonight = dict.fromkeys(self.alive, 0)
        for round_ in range(rounds):
            field_ = [
                Candidate(f"{i:04}", "", self.mu[i], self.sigma[i], self.matches[i], tonight[i])
                for i in self.alive
            ]
            place = {i: at for at, i in enumerate(self.alive)}
            met = {
                (place[a], place[b]): n
                for (a, b), n in self.met.items()
                if a in place and b in place
            }
            key = b"%d %d" % (number, round_)
            for choice in pick(field_, met, budget // rounds, floor, key):
                lineup = [self.alive[at] for at in choice.lineup]
                self.play(lineup, choice.matches)
                for at, i in enumerate(lineup):
                    tonight[i] += choice.matches
                    self.matches[i] += choice.matches
                    for j in lineup[at + 1 :]:
                        pair = (min(i, j), max(i, j))
                        self.met[pair] = self.met.get(pair, 0) + choice.matches
        return list(tonight.values())

    def play(self, lineup: Sequence[int], matches: int) -> None:
        performances = self.luck.normal(
            [self.truth[i] for i in lineup], SETTINGS.beta, (matches, len(lineup))
        )
        places = 2 - (performances == performances.max(axis=1, keepdims=True))
        lineups = np.tile(np.arange(len(lineup)), (matches, 1))
        rated = rate_online(
            lineups, places.astype(np.int64), len(lineup), settings=SETTINGS,
            prior_mu=np.array([self.mu[i] for i in lineup]),
            prior_sigma=np.array([self.sigma[i] for i in lineup]),
        )  # fmt: skip
        for at, i in enumerate(lineup):
            self.mu[i], self.sigma[i] = float(rated.mu[at]), float(rated.sigma[at])

    def young_errors(self, night: int, nights: int = 3) -> list[float]:
        """How far the young versions' mu is from the truth, both counted from the field's mean."""
        shift = np.mean([self.mu[i] - self.truth[i] for i in self.alive])
        return [
            abs(self.mu[i] - self.truth[i] - shift)
            for i in self.alive
            if night - self.born[i] < nights
        ]


def by_ladder(field_, met, budget, floor, key):  # type: ignore[no-untyped-def]
    """The ladder's matchmaking."""
    return list(
        pick_lineups(
            field_, met, seats=SEATS, matches=EACH, budget=budget, floor=floor,
            beta=SETTINGS.beta, key=key,
        ).choices
    )  # fmt: skip


def at_random(field_, met, budget, floor, key):  # type: ignore[no-untyped-def]
    """Pods of a shuffled field, as the format `random` draws them."""
    luck = Random(key)
    choices: list[Choice] = []
    order: list[int] = []
    for _ in range(budget // EACH):
        if len(order) < SEATS:
            order = luck.sample(range(len(field_)), len(field_))
        pod, order = order[:SEATS], order[SEATS:]
        choices.append(Choice(tuple(sorted(pod)), EACH, pod[0], "random", 0.0, 0.0, 0))
    return choices


def season(
    pick: Pick, *, seed: int, nights: int, budget: int, floor: int, rounds: int = 4
) -> tuple[list[float], list[list[int]]]:
    """A season with two newcomers a night: the errors of the young, the matches by night."""
    luck = np.random.default_rng(seed)
    model = Model(luck)
    for _ in range(24):
        model.arrive(-9, float(luck.normal(25, 3)))
    for night in range(3):  # the field settles before anything is measured
        model.night(night - 9, pick, 4000, 0, rounds)
    errors: list[float] = []
    played: list[list[int]] = []
    for night in range(nights):
        for _ in range(2):
            model.arrive(night, float(luck.normal(25, 3)))
        if len(model.alive) > 30:
            del model.alive[:2]
        played.append(model.night(night, pick, budget, floor, rounds))
        errors += model.young_errors(night)
    return errors, played
