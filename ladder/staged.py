"""Plays a format in stages: what the results so far say, then what the store lacks of that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ladder.bots import LoadedBot
from ladder.execute import Progress, Workers, execute
from ladder.formats import Lineup
from ladder.formats.listed import ListedLineups
from ladder.formats.staged import Line, PodResult, Stage
from ladder.plan import Plan
from ladder.store import Results, Store

Totals = dict[Lineup, tuple[list[float], list[int]]]  # win shares and scores, by line-up


@dataclass
class Staged:
    """What a staged run came to."""

    plan: Plan  # with the line-ups of all stages
    ranking: list[Line]
    played: int = 0
    play_s: float = 0.0
    store_s: float = 0.0


def play_stages(
    plan: Plan,
    bots: Sequence[LoadedBot],
    store: Store,
    run: str,
    workers: Workers,
    report: Callable[[Progress], None],
) -> Staged:
    """Play stage after stage. Raises: as `execute`."""
    format_ = plan.stages
    assert format_ is not None
    done = Staged(plan, [])
    wanted: dict[Lineup, int] = {}
    stages: list[Stage] = []
    before: Totals = {}
    each = plan.lineups[0][1]
    while pods := format_.next_pods(stages):
        for pod in pods:
            wanted[pod] = wanted.get(pod, 0) + each
        # No stages in it: this is what there is to play now, all of it known.
        done.plan = replace(plan, lineups=ListedLineups(wanted, len(plan.names)), stages=None)
        progress = Progress(report, done.plan.num_matches)
        execute(done.plan, bots, store, run, workers, progress)
        done.played += progress.played
        done.play_s += progress.play_s
        done.store_s += progress.store_s
        totals = _totals(store.results_of(done.plan))
        stages.append([_since(totals, before, pod) for pod in sorted(pods)])
        before = totals
    done.ranking = format_.ranking(stages, plan.names)
    return done


def _totals(results: Results) -> Totals:
    totals: Totals = {}
    is_first = results.places == 1
    shares = is_first / is_first.sum(axis=1, keepdims=True)
    rows = zip(
        results.lineups.tolist(), shares.tolist(), results.scores.tolist(),
        results.counts.tolist(), strict=True,
    )  # fmt: skip
    for seated, share, scores, count in rows:
        lineup = tuple(sorted(seated))
        points, sums = totals.setdefault(lineup, ([0.0] * len(lineup), [0] * len(lineup)))
        for seat, entrant in enumerate(seated):
            at = lineup.index(entrant)
            points[at] += share[seat] * count
            sums[at] += scores[seat]
    return totals


def _since(totals: Totals, before: Totals, pod: Lineup) -> PodResult:
    """What a pod did in the last stage alone."""
    points, scores = totals[pod]
    old_points, old_scores = before.get(pod, ([0.0] * len(pod), [0] * len(pod)))
    return PodResult(
        pod,
        tuple(new - old for new, old in zip(points, old_points, strict=True)),
        tuple(new - old for new, old in zip(scores, old_scores, strict=True)),
    )
