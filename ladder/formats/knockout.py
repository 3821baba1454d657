"""Knockout: pods from which so many go on, until one pod is left; the best seeds have byes.

A pod plays up to `best_of` sets and stops once its order can no longer change who goes on. Within
it: sets won, then points (win shares), then score, then seed. Whatever the size of the field, the
first rounds cut it down to one that full pods halve (or quarter ...) down to a last pod; until
then the lowest seeds play and the others wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ladder.formats import Lineup
from ladder.formats.staged import Line, PodResult, Stage, shown_result


@dataclass
class _Pod:
    """A pod of a round; members by seed, `through` of them go on."""

    members: list[int]
    through: int
    sets: list[PodResult] = field(default_factory=list)

    @property
    def lineup(self) -> Lineup:
        return tuple(sorted(self.members))


@dataclass
class _Round:
    """A round: its pods, and who waits."""

    pods: list[_Pod]
    byes: list[int]


class KnockoutPods:
    """A knockout of entrants given in the order of their seeds."""

    tie_break_names = ("sets", "points", "score", "seed")

    def __init__(
        self, seeds: Sequence[int], seats: int, matches: int, *, advance: int, best_of: int
    ) -> None:
        self._seeds, self._seats, self._matches = list(seeds), seats, matches
        self._advance, self._best_of = advance, best_of
        self._seed = {entrant: place for place, entrant in enumerate(seeds)}

    @property
    def most_matches(self) -> int:
        """Matches if every pod plays all its sets."""
        pods, field_size = 0, len(self._seeds)
        while True:
            playing, cut = self._cut(field_size)
            pods += playing
            if field_size == self._seats:
                return pods * self._best_of * self._matches
            field_size -= cut

    def next_pods(self, stages: Sequence[Stage]) -> list[Lineup]:
        """The pods that play a set next; none when the last pod is decided."""
        *_, last = self._rounds(stages)
        return [pod.lineup for pod in last.pods if not self._is_decided(pod)]

    def ranking(self, stages: Sequence[Stage], names: Sequence[str]) -> list[Line]:
        """Everybody: the last pod in its order, then who fell out later before who fell earlier."""
        rounds = list(self._rounds(stages))
        fallen: list[list[int]] = []
        for round_ in rounds[:-1]:
            out = [
                (place, self._seed[entrant], entrant)
                for pod in round_.pods
                for place, entrant in enumerate(self._order(pod))
                if place >= pod.through
            ]
            fallen.append([entrant for _, _, entrant in sorted(out)])
        last = self._order(rounds[-1].pods[0])
        order = [*last, *(entrant for group in reversed(fallen) for entrant in group)]
        return [
            Line(
                rank, entrant, self._points(rounds, entrant), (float(self._seed[entrant] + 1),),
                tuple(self._path(rounds, entrant, names)),
            )
            for rank, entrant in enumerate(order, 1)
        ]  # fmt: skip

    def _cut(self, size: int) -> tuple[int, int]:
        """How many pods a field of that size plays in a round, and how many fall out."""
        seats, advance = self._seats, self._advance
        if size == seats:
            return 1, 0
        target = seats
        while target % advance == 0 and target // advance * seats <= size:
            target = target // advance * seats
        if target == size:
            return size // seats, size // seats * (seats - advance)
        cut = size - target
        pods = min(-(-cut // (seats - advance)), size // seats)
        return pods, min(cut, pods * (seats - advance))

    def _rounds(self, stages: Sequence[Stage]) -> Iterator[_Round]:
        """The rounds so far, the one that is being played last."""
        alive = list(self._seeds)
        left = list(stages)
        while True:
            round_ = self._drawn(alive)
            while left and any(not self._is_decided(pod) for pod in round_.pods):
                results = {result.lineup: result for result in left.pop(0)}
                for pod in round_.pods:
                    if not self._is_decided(pod):
                        pod.sets.append(results[pod.lineup])
            yield round_
            if len(alive) == self._seats or any(not self._is_decided(p) for p in round_.pods):
                return
            through = [e for pod in round_.pods for e in self._order(pod)[: pod.through]]
            alive = sorted([*round_.byes, *through], key=lambda e: self._seed[e])

    def _drawn(self, alive: Sequence[int]) -> _Round:
        """The pods of a round: seeds dealt out to and fro, so that the best meet last."""
        num_pods, cut = self._cut(len(alive))
        playing = alive[len(alive) - num_pods * self._seats :]
        pods: list[list[int]] = [[] for _ in range(num_pods)]
        for place, entrant in enumerate(playing):
            turn, at = divmod(place, num_pods)
            pods[num_pods - 1 - at if turn % 2 else at].append(entrant)
        drawn = []
        for members in pods:
            falls = min(cut, self._seats - self._advance)
            cut -= falls
            drawn.append(_Pod(members, self._seats - falls))
        return _Round(drawn, list(alive[: len(alive) - len(playing)]))

    def _is_decided(self, pod: _Pod) -> bool:
        left = self._best_of - len(pod.sets)
        if not pod.sets or not left:
            return not left
        won = self._sets_won(pod)
        order = self._order(pod)
        places = [won[entrant] for entrant in order]
        if pod.through == len(places):  # the last pod: until its first place is safe
            return places[0] > places[1] + left
        return places[pod.through - 1] > places[pod.through] + left

    def _sets_won(self, pod: _Pod) -> dict[int, int]:
        won = dict.fromkeys(pod.members, 0)
        for result in pod.sets:
            best = min(
                range(len(result.lineup)),
                key=lambda at: (
                    -round(result.points[at], 6), -result.scores[at],
                    self._seed[result.lineup[at]],
                ),
            )  # fmt: skip
            won[result.lineup[best]] += 1
        return won

    def _order(self, pod: _Pod) -> list[int]:
        """The members of a pod, the best first."""
        won = self._sets_won(pod)
        points = dict.fromkeys(pod.members, 0.0)
        scores = dict.fromkeys(pod.members, 0)
        for result in pod.sets:
            for at, entrant in enumerate(result.lineup):
                points[entrant] += result.points[at]
                scores[entrant] += result.scores[at]
        return sorted(
            pod.members,
            key=lambda e: (-won[e], -round(points[e], 6), -scores[e], self._seed[e]),
        )

    def _points(self, rounds: Sequence[_Round], entrant: int) -> float:
        return sum(
            result.points[result.lineup.index(entrant)]
            for round_ in rounds
            for pod in round_.pods
            if entrant in pod.members
            for result in pod.sets
        )

    def _path(self, rounds: Sequence[_Round], entrant: int, names: Sequence[str]) -> Iterator[str]:
        for number, round_ in enumerate(rounds, 1):
            what = "last pod" if number == len(rounds) else f"round {number}"
            if entrant in round_.byes:
                yield f"{what}: a bye"
            for pod in round_.pods:
                if entrant in pod.members:
                    place = self._order(pod).index(entrant) + 1
                    won = self._sets_won(pod)[entrant]
                    sets = f", {won} of {len(pod.sets)} sets" if self._best_of > 1 else ""
                    total = _added(pod.sets)
                    shown = shown_result(total, entrant, len(pod.sets) * self._matches, names)
                    yield f"{what}: place {place}{sets}, {shown}"


def _added(results: Sequence[PodResult]) -> PodResult:
    """Several sets of a pod as one."""
    columns = zip(*(result.points for result in results), strict=True)
    scores = zip(*(result.scores for result in results), strict=True)
    return PodResult(
        results[0].lineup,
        tuple(sum(column) for column in columns),
        tuple(sum(column) for column in scores),
    )
