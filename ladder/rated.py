"""From stored runs to a rated table, and what the ratings answer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from ladder.errors import SpecError, StoreError
from ladder.games import Table, get_game
from ladder.rate import (
    check_prediction,
    disagreements,
    pair_rows,
    rate_all,
    rate_in_sequence,
    spread_of_order,
)
from ladder.ratings.patterns import EMPTY, Ratings, linked_groups
from ladder.ratings.questions import PredictiveCheck, Spread, better_matrix
from ladder.record import Ints
from ladder.spec import RatingPart
from ladder.standings import Row, rank, tally
from ladder.store import Results, RunRow, Store

HELD_OUT_EVERY = 5  # one repetition in five is held out of the predictive check


@dataclass(frozen=True)
class Rated:
    """A table, the model behind it, and remarks on what it does not show."""

    label: str  # the run, or a digest of the runs
    rows: list[Row]
    results: Results
    ratings: Ratings
    part: RatingPart
    notes: list[str]

    def pairs(self, only: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The matrix of who beats whom, a row a pair; of all bots or of these."""
        return pair_rows(self.results, self.ratings, self.part, only)


@dataclass(frozen=True)
class Selection:
    """Stored runs whose results are rated together, and of which bots."""

    runs: tuple[RunRow, ...]
    bots: tuple[str, ...] = ()  # only matches among these; none: all

    @property
    def label(self) -> str:
        """The run's id, or a digest of several and of the bots chosen."""
        if len(self.runs) == 1 and not self.bots:
            return self.runs[0].run
        text = " ".join([*(run.run for run in self.runs), "|", *self.bots])
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def table_of_run(run: RunRow) -> Table:
    """The table a stored run was played at."""
    return get_game(run.game).table.model_validate(run.spec.get("table", {}))


def rating_of_run(run: RunRow) -> RatingPart:
    """What a stored run's spec says of rating."""
    return RatingPart.model_validate(run.spec.get("rating", {}))


def select(
    store: Store,
    words: Sequence[str] = (),
    *,
    since: datetime | None = None,
    game: str | None = None,
    table: dict[str, Any] | None = None,
    bots: Sequence[str] = (),
) -> Selection:
    """The runs that match every condition; no condition at all: the latest run.

    A word is a run's id, the beginning of one, or a name. Raises: StoreError where nothing does.
    """
    runs = store.runs()
    if not runs:
        raise StoreError(f"{store.path}: holds no runs")
    if not words and since is None and game is None and not table:
        return Selection((_latest(runs),), tuple(bots))
    chosen = [find_run(store, word, runs) for word in words] if words else runs
    chosen = [run for run in chosen if since is None or run.started_at >= since]
    chosen = [run for run in chosen if game is None or run.game == game]
    if table:
        chosen = [run for run in chosen if _has_options(table_of_run(run), table)]
    if not chosen:
        raise StoreError(f"{store.path}: none of its {len(runs)} runs is of that kind")
    if len({run.game for run in chosen}) > 1:
        raise SpecError("runs of different games cannot be rated together; choose with --game")
    return Selection(tuple({run.run: run for run in chosen}.values()), tuple(bots))


def _has_options(table: Table, wanted: dict[str, Any]) -> bool:
    options = table.model_dump(mode="json")
    return all(options.get(name) == value for name, value in wanted.items())


def find_run(store: Store, word: str | None, runs: Sequence[RunRow] | None = None) -> RunRow:
    """The run of an id, its beginning, or a name (its latest); None: the latest of all."""
    runs = store.runs() if runs is None else runs
    if not runs:
        raise StoreError(f"{store.path}: holds no runs")
    if word is None:
        return _latest(runs)
    found = [run for run in runs if word in (run.run, run.name)]
    found = found or [run for run in runs if run.run.startswith(word)]
    if not found:
        names = ", ".join(f"{run.run} {run.name}" for run in runs[-5:])
        raise StoreError(f"{store.path}: has no run {word!r}; the latest are {names}")
    return found[-1]


def _latest(runs: Sequence[RunRow]) -> RunRow:
    """The latest run that is rated; where none is, the latest."""
    rated = [run for run in runs if run.spec.get("rated", True)]
    return (rated or list(runs))[-1]


def rate_selection(
    store: Store, selection: Selection, part: RatingPart, expected: dict[str, float]
) -> Rated:
    """Rate the runs of a selection together. Raises: SpecError."""
    parts = [store.results(run.run, table_of_run(run).seats) for run in selection.runs]
    results = _only(_merged(parts), selection.bots)
    names = [name for name, _ in results.entrants]
    if part.method == "online":
        lineups, places = _in_order(store, selection, results)
        ratings = rate_in_sequence(lineups, places, names, part)
    else:
        ratings = rate_all(_finishes(results), names, part)
    rows = rank(
        results.entrants, ratings.mu.tolist(), ratings.sigma.tolist(), tally(results), expected
    )
    rows = _with_order(rows, ratings, results)
    return Rated(
        selection.label, rows, results, ratings, part, _notes(selection, results, ratings, part)
    )


def write_rated(store: Store, rated: Rated) -> None:
    """Keep the ratings in the store."""
    rows = [
        (row.bot, row.version, row.mu, row.sigma, row.tally.share.matches, row.tally.share.mean)
        for row in rated.rows
    ]
    store.write_ratings(rated.label, rows, rank_by=rated.part.rank_by, at=datetime.now(UTC))


def order_spread_of(store: Store, selection: Selection, rated: Rated) -> Spread:
    """How far each mu moves when the matches are rated one by one in other orders."""
    names = [name for name, _ in rated.results.entrants]
    lineups, places = _in_order(store, selection, rated.results)
    return spread_of_order(lineups, places, names, rated.part)


def prediction_of(store: Store, selection: Selection, rated: Rated) -> PredictiveCheck:
    """How well a rating of four matches in five foretells who wins the fifth."""
    names = [name for name, _ in rated.results.entrants]
    lineups, places = _in_order(store, selection, rated.results)
    is_held_out = np.arange(len(lineups)) % HELD_OUT_EVERY == 0
    ones = np.ones(len(lineups), np.int64)
    seen, held_out = (
        (lineups[rows], places[rows], ones[rows]) for rows in (~is_held_out, is_held_out)
    )
    return check_prediction(seen, held_out, names, rated.part)


def _finishes(results: Results) -> tuple[Ints, Ints, Ints]:
    return results.lineups, results.places, results.counts


def _padded(rows: Ints, seats: int, fill: int) -> Ints:
    return np.pad(rows, ((0, 0), (0, seats - rows.shape[1])), constant_values=fill)


def _merged(parts: Sequence[Results]) -> Results:
    """Several runs' results as one: an entrant is a name with a version."""
    found = {entrant for part in parts for entrant in part.entrants}
    # By version, so that the order of a spec moves no last bit of a rating.
    entrants = tuple(sorted(found, key=lambda entrant: (entrant[1], entrant[0])))
    seats = max(part.lineups.shape[1] for part in parts)
    faults = np.zeros(len(entrants), np.int64)
    lineups = []
    for part in parts:
        places = np.array([entrants.index(entrant) for entrant in part.entrants], np.int64)
        np.add.at(faults, places, part.faults)
        lineups.append(_padded(places[part.lineups], seats, EMPTY))
    return Results(
        entrants,
        np.concatenate(lineups),
        np.concatenate([_padded(part.places, seats, 0) for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([_padded(part.scores, seats, 0) for part in parts]),
        faults,
    )


def _only(results: Results, bots: Sequence[str]) -> Results:
    """The matches among these bots. Raises: SpecError for a bot that is not there."""
    if not bots:
        return results
    names = [name for name, _ in results.entrants]
    if unknown := [bot for bot in bots if bot not in names]:
        raise SpecError(
            *(f"--bot: no bot {bot!r}; there are {', '.join(names)}" for bot in unknown)
        )
    chosen = [position for position, name in enumerate(names) if name in bots]
    rows = np.isin(results.lineups, [*chosen, EMPTY]).all(axis=1)
    place = np.full(len(names) + 1, EMPTY)
    place[chosen] = range(len(chosen))
    return Results(
        tuple(results.entrants[i] for i in chosen),
        place[results.lineups[rows]],
        results.places[rows],
        results.counts[rows],
        results.scores[rows],
        results.faults[chosen],
    )


def _in_order(store: Store, selection: Selection, results: Results) -> tuple[Ints, Ints]:
    """Every match in canonical order, runs by their start. Raises: SpecError for a summary."""
    seats = results.lineups.shape[1]
    lineups, places = [], []
    index = {entrant: position for position, entrant in enumerate(results.entrants)}
    for run in selection.runs:
        of_run, place = store.matches_in_order(run.run, table_of_run(run).seats)
        positions = np.array([index.get(entrant, -2) for entrant in run.entrants], np.int64)
        of_run = positions[of_run]
        kept = (of_run >= 0).all(axis=1)
        lineups.append(_padded(of_run[kept], seats, EMPTY))
        places.append(_padded(place[kept], seats, 0))
    both = np.concatenate(lineups), np.concatenate(places)
    if len(both[0]) != int(results.counts.sum()):
        raise SpecError(
            "this needs every match, and a run of `record: summary` keeps none; rate it in batch"
        )
    return both


def _with_order(rows: list[Row], ratings: Ratings, results: Results) -> list[Row]:
    """Each row with the probability that its bot is truly better than the next one's."""
    better = better_matrix(ratings)
    index = {entrant: position for position, entrant in enumerate(results.entrants)}
    places = [index[row.bot, row.version] for row in rows]
    above = [float(better[a, b]) for a, b in pairwise(places)]
    return [replace(row, above_next=p) for row, p in zip(rows, [*above, None], strict=True)]


def _notes(selection: Selection, results: Results, ratings: Ratings, part: RatingPart) -> list[str]:
    names = [name for name, _ in results.entrants]
    notes = [
        f"run {run.run} ({run.name}) is not finished: this is its table so far"
        for run in selection.runs
        if run.finished_at is None
    ]
    if not len(results.counts):
        return [*notes, "no matches yet: every bot has the prior"]
    groups = len(np.unique(linked_groups(results.lineups, len(names))))
    if groups > 1:
        notes.append(f"{groups} groups of bots never met: order between groups means nothing")
    if not ratings.is_converged:
        notes.append(
            "the ratings did not settle: more matches, or fewer one-sided ones, would help"
        )
    for a, b in disagreements(_finishes(results), names, part):
        notes.append(f"ranked by placing instead of by winner, {b} is above {a}")
    return notes
