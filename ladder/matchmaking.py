"""Who meets whom on a ladder: line-ups where a match tells most, as a pure function.

First everybody gets its floor of matches. What is left of the budget goes, line-up by line-up, to
the version that is least known (its sigma, shrunk by what it is already down for), together with
opponents near it in skill, little known themselves, and not met too often. Versions of one author
do not sit together. Everything follows from the arguments: equal arguments, equal line-ups.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WINDOW = 24  # neighbours in skill looked at on each side
INFORMATION = 0.4  # of one match on one of four equals, in units of 1 / beta**2
LOOKED_AT = 4  # of the worthiest so many times the seats are weighed against the pod
AGAIN = 4  # a pair that met in so many line-ups counts half
UNKNOWN_BONUS = 3.0  # how much an unknown opponent is preferred to a known one
FLOOR_BONUS = 4.0  # the same for one that has not its floor yet

Pair = tuple[int, int]


@dataclass(frozen=True)
class Candidate:
    """A version as matchmaking sees it."""

    version: str
    author: str  # '' for one of nobody's
    mu: float
    sigma: float
    matches: int = 0  # in all nights
    tonight: int = 0  # in the rounds of this night so far


@dataclass(frozen=True)
class Choice:
    """A line-up and why it was chosen."""

    lineup: tuple[int, ...]  # positions, sorted
    matches: int
    anchor: int  # for whose sake
    reason: str  # "floor" or "unknown"
    sigma: float  # of the anchor when it was chosen
    gap: float  # mean distance in mu of the others from it
    met: int  # matches of the anchor with the others before


@dataclass(frozen=True)
class Round:
    """The line-ups of a round, and remarks on what could not be done."""

    choices: tuple[Choice, ...]
    notes: tuple[str, ...]


def pick_lineups(
    candidates: Sequence[Candidate],
    met: Mapping[Pair, int],
    *,
    seats: int,
    matches: int,
    budget: int,
    floor: int,
    beta: float,
    key: bytes,
    is_apart: bool = True,
) -> Round:
    """The line-ups of one round: `budget // matches` of them, each of `matches` matches.

    `met[i, j]`, i < j, is how many matches two candidates had together lately. `key` decides
    between equals, by version, so that one more candidate changes no draw of the others.
    """
    field = _Field(candidates, met, seats, matches, beta, key, is_apart)
    left = budget // matches
    choices: list[Choice] = []
    unseatable: set[int] = set()
    waiting = [
        ((c.tonight, c.matches, field.lot[i]), i)
        for i, c in enumerate(candidates)
        if c.tonight < floor
    ]
    heapq.heapify(waiting)
    while waiting and left:
        _, anchor = heapq.heappop(waiting)
        if field.tonight[anchor] >= floor:
            continue
        choice = field.choose(anchor, "floor", floor)
        if choice is None:
            unseatable.add(anchor)
            continue
        choices.append(choice)
        left -= 1
        if field.tonight[anchor] < floor:
            order = (field.tonight[anchor], candidates[anchor].matches, field.lot[anchor])
            heapq.heappush(waiting, (order, anchor))
    short = sum(field.tonight[i] < floor for i in range(len(candidates)))
    unknown = [(-v, field.lot[i], i) for i, v in enumerate(field.variance) if i not in unseatable]
    heapq.heapify(unknown)
    while unknown and left:
        variance, lot, anchor = heapq.heappop(unknown)
        if -variance > field.variance[anchor]:  # it played since as somebody's opponent
            heapq.heappush(unknown, (-field.variance[anchor], lot, anchor))
            continue
        choice = field.choose(anchor, "unknown", floor)
        if choice is None:
            unseatable.add(anchor)
            continue
        choices.append(choice)
        left -= 1
        heapq.heappush(unknown, (-field.variance[anchor], lot, anchor))
    return Round(_merged(choices), tuple(_notes(candidates, unseatable, short, floor)))


class _Field:
    """The candidates, and what they are down for so far."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        met: Mapping[Pair, int],
        seats: int,
        matches: int,
        beta: float,
        key: bytes,
        is_apart: bool,
    ) -> None:
        self._seats, self._matches, self._noise = seats, matches, beta * beta
        self._met = dict(met)
        self._mu = [c.mu for c in candidates]
        self._author = [c.author if is_apart else "" for c in candidates]
        self.tonight = [c.tonight for c in candidates]
        self.variance = [c.sigma * c.sigma for c in candidates]
        self.lot = [_lot(key, c.version) for c in candidates]
        self._by_skill = sorted(range(len(candidates)), key=lambda i: (self._mu[i], self.lot[i]))
        self._place = {i: place for place, i in enumerate(self._by_skill)}
        self._most = max([*self.variance, 1e-9])

    def choose(self, anchor: int, reason: str, floor: int) -> Choice | None:
        """The best line-up for an anchor, noted; None where nobody may sit with it."""
        pod = self._pod(anchor, self._near(anchor), floor)
        if pod is None:
            pod = self._pod(anchor, self._by_skill, floor)
        if pod is None:
            return None
        others = pod[1:]
        choice = Choice(
            tuple(sorted(pod)), self._matches, anchor, reason, math.sqrt(self.variance[anchor]),
            sum(abs(self._mu[i] - self._mu[anchor]) for i in others) / len(others),
            sum(self._met.get(_pair(anchor, i), 0) for i in others),
        )  # fmt: skip
        self._note(pod)
        return choice

    def _near(self, anchor: int) -> Sequence[int]:
        place = self._place[anchor]
        return self._by_skill[max(0, place - WINDOW) : place + WINDOW + 1]

    def _pod(self, anchor: int, from_: Iterable[int], floor: int) -> list[int] | None:
        """The anchor and the worthiest others, one at a time; none of an author who sits there."""
        authors = {self._author[anchor]} - {""}
        worth = sorted(
            (-self._worth(anchor, i, floor), self.lot[i], i)
            for i in from_
            if i != anchor and self._author[i] not in authors
        )
        pod = [anchor]
        while len(pod) < self._seats:
            best = min(
                (
                    (minus / (1 + self._again(i, pod[1:])), lot, i)
                    for minus, lot, i in worth[: LOOKED_AT * self._seats]
                ),
                default=None,
            )
            if best is None:
                return None
            pod.append(best[2])
            author = self._author[best[2]]
            worth = [
                each
                for each in worth
                if each[2] != best[2] and not (author and self._author[each[2]] == author)
            ]
        return pod

    def _again(self, other: int, pod: Sequence[int]) -> float:
        """How often one met these lately, in units of which one halves its worth."""
        met = sum(self._met.get(_pair(other, i), 0) for i in pod)
        return met / (AGAIN * self._matches)

    def _worth(self, anchor: int, other: int, floor: int) -> float:
        """How much a match of two tells: near in skill, little known, not met too often."""
        gap = self._mu[anchor] - self._mu[other]
        spread = 2 * self._noise + self.variance[anchor] + self.variance[other]
        near = math.exp(-gap * gap / spread)
        wanted = 1 + UNKNOWN_BONUS * math.sqrt(self.variance[other] / self._most)
        if self.tonight[other] < floor:
            wanted += FLOOR_BONUS
        return near * wanted / (1 + self._again(other, [anchor]))

    def _note(self, pod: Sequence[int]) -> None:
        for position, i in enumerate(pod):
            self.tonight[i] += self._matches
            told = self._matches * INFORMATION / self._noise
            self.variance[i] = 1 / (1 / max(self.variance[i], 1e-12) + told)
            for other in pod[position + 1 :]:
                pair = _pair(i, other)
                self._met[pair] = self._met.get(pair, 0) + self._matches


def _pair(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def _lot(key: bytes, version: str) -> bytes:
    return hashlib.blake2b(version.encode(), key=key[:64], digest_size=8).digest()


def _merged(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """Each line-up once, its matches added up; the first reason stands."""
    merged: dict[tuple[int, ...], Choice] = {}
    for choice in choices:
        before = merged.get(choice.lineup)
        matches = choice.matches + (before.matches if before else 0)
        first = before or choice
        merged[choice.lineup] = Choice(
            first.lineup, matches, first.anchor, first.reason, first.sigma, first.gap, first.met
        )
    return tuple(merged.values())


def _notes(
    candidates: Sequence[Candidate], unseatable: set[int], short: int, floor: int
) -> Iterable[str]:
    if unseatable:
        versions = ", ".join(candidates[i].version for i in sorted(unseatable)[:5])
        yield (
            f"{len(unseatable)} versions cannot be seated: too few of other authors ({versions})"
        )
    if short - len(unseatable) > 0:
        yield f"the budget is too small: {short} versions have not the floor of {floor} matches"


def explain(choice: Choice, names: Sequence[str]) -> str:
    """Why a line-up was chosen, in one line."""
    others = ", ".join(names[i] for i in choice.lineup if i != choice.anchor)
    why = {
        "floor": f"{names[choice.anchor]} has not its floor of matches tonight",
        "unknown": f"{names[choice.anchor]} is least known (sigma {choice.sigma:.2f})",
    }[choice.reason]
    return (
        f"{why}; with {others}: {choice.gap:.2f} from it in mu on average, met {choice.met:,}"
        f" times lately; {choice.matches:,} matches"
    )
