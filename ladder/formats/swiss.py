"""Swiss: rounds of pods of entrants that did equally well so far, rematches avoided.

Points are win shares. Where the field does not fill the pods, the lowest who had fewest byes sit
out, and get what an equal would have won. Ties are broken by the mean points of the opponents met
(Buchholz), then by the mean score, then by lot.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ladder.formats import Lineup
from ladder.formats.staged import Line, PodResult, Stage, shown_result


class SwissPods:
    """Swiss rounds; `lot`, an order by chance, makes the first round and breaks the last ties."""

    tie_break_names = ("mean points of opponents", "mean score", "lot")

    def __init__(self, lot: Sequence[int], seats: int, matches: int, rounds: int) -> None:
        self._lot, self._seats, self._matches, self._rounds = list(lot), seats, matches, rounds
        self._place = {entrant: place for place, entrant in enumerate(lot)}

    @property
    def most_matches(self) -> int:
        """Matches of all rounds."""
        return self._rounds * (len(self._lot) // self._seats) * self._matches

    def next_pods(self, stages: Sequence[Stage]) -> list[Lineup]:
        """The pods of the next round; none after the last."""
        if len(stages) == self._rounds:
            return []
        tally = _Tally(self, stages)
        order = sorted(self._lot, key=tally.key)
        idle = len(order) % self._seats
        # The lowest sit out, nobody a second time before all others have.
        sit_out = sorted(order, key=lambda e: (tally.byes[e], -order.index(e)))[:idle]
        waiting = [entrant for entrant in order if entrant not in sit_out]
        pods = []
        while waiting:
            pod = [waiting.pop(0)]
            while len(pod) < self._seats:
                chosen = min(
                    waiting, key=lambda e: (sum(tally.met(e, p) for p in pod), waiting.index(e))
                )
                waiting.remove(chosen)
                pod.append(chosen)
            pods.append(pod)
        return [tuple(sorted(pod)) for pod in _repaired(pods, tally)]

    def ranking(self, stages: Sequence[Stage], names: Sequence[str]) -> list[Line]:
        """Everybody by points and tie-breaks, with the path there."""
        tally = _Tally(self, stages)
        order = sorted(self._lot, key=tally.key)
        return [
            Line(
                rank,
                entrant,
                tally.points[entrant],
                (tally.opponents(entrant), tally.mean_score(entrant)),
                tuple(
                    f"round {number}: {self._shown(stage, entrant, names)}"
                    for number, stage in enumerate(stages, 1)
                ),
            )
            for rank, entrant in enumerate(order, 1)
        ]

    def _shown(self, stage: Stage, entrant: int, names: Sequence[str]) -> str:
        for pod in stage:
            if entrant in pod.lineup:
                return shown_result(pod, entrant, self._matches, names)
        return f"a bye, {self._matches / self._seats:.1f} of {self._matches:,}"


def _repaired(pods: list[list[int]], tally: _Tally) -> list[list[int]]:
    """The pods with members exchanged, lowest pods first, where that saves a rematch."""

    def rematches(pod: Sequence[int]) -> int:
        return sum(tally.met(a, b) for at, a in enumerate(pod) for b in pod[at + 1 :])

    for number in range(len(pods) - 1, 0, -1):
        for other in range(number - 1, -1, -1):
            for at, i in product(range(len(pods[number])), range(len(pods[other]))):
                one, two = list(pods[number]), list(pods[other])
                before = rematches(one) + rematches(two)
                if not before:
                    break
                one[at], two[i] = two[i], one[at]
                if rematches(one) + rematches(two) < before:
                    pods[number], pods[other] = one, two
    return pods


class _Tally:
    """What everybody did so far."""

    def __init__(self, swiss: SwissPods, stages: Sequence[Stage]) -> None:
        entrants = swiss._lot
        self.points = dict.fromkeys(entrants, 0.0)
        self.byes = dict.fromkeys(entrants, 0)
        self._scores: dict[int, int] = dict.fromkeys(entrants, 0)
        self._pods: dict[int, list[PodResult]] = {entrant: [] for entrant in entrants}
        self._place = swiss._place
        self._each = swiss._matches
        for stage in stages:
            seated = set()
            for pod in stage:
                for at, entrant in enumerate(pod.lineup):
                    seated.add(entrant)
                    self.points[entrant] += pod.points[at]
                    self._scores[entrant] += pod.scores[at]
                    self._pods[entrant].append(pod)
            for entrant in entrants:
                if entrant not in seated:
                    self.byes[entrant] += 1
                    self.points[entrant] += swiss._matches / swiss._seats

    def met(self, a: int, b: int) -> int:
        """Rounds in which two sat together."""
        return sum(b in pod.lineup for pod in self._pods[a])

    def opponents(self, entrant: int) -> float:
        """Mean points of the opponents met."""
        met = [o for pod in self._pods[entrant] for o in pod.lineup if o != entrant]
        return sum(self.points[o] for o in met) / len(met) if met else 0.0

    def mean_score(self, entrant: int) -> float:
        """Mean score of the matches played."""
        played = len(self._pods[entrant]) * self._each
        return self._scores[entrant] / played if played else 0.0

    def key(self, entrant: int) -> tuple[float, float, float, int]:
        """Sorts the best first; rounded, so that the order of additions decides nothing."""
        return (
            -round(self.points[entrant], 6),
            -round(self.opponents(entrant), 6),
            -self.mean_score(entrant),
            self._place[entrant],
        )
