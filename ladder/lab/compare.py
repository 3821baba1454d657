"""Which of several candidates is better against one field, by how much, and how sure.

Every candidate plays the same seat, against the same field, on the same dice and the same private
random numbers; all seats in turn. What the dice depend on (the deal) is the table, the field and
the seat. After every batch the race (race.py) says what is known, who is out, and whether to stop.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from ladder import seeds
from ladder.bots import LoadedBot
from ladder.driver import as_actions
from ladder.errors import InfraError, SpecError
from ladder.execute import Setup, Workers, player_for, playing
from ladder.formats.lineup import OneLineup
from ladder.games import Game, Table
from ladder.isolate.verdict import DEFAULT_LIMITS, Limits
from ladder.lab.race import Candidate, Pair, Race
from ladder.plan import DIGEST_BYTES, Pairing, Plan, key_of_seed
from ladder.record import Record, Segment
from ladder.stats import FEW, pasa_widest, widest
from ladder.store import RunRow, Store
from ladder.tournament import walls_of

FIRST_BATCH, GROWTH, MOST_BATCH = 250, 1.5, 25_000  # matches a seat and candidate
PROFILE_MATCHES = 400
PROFILE_MATCHES_OF_STRANGERS = 40  # asked one by one in child processes
PRECISION = 0.005


@dataclass(frozen=True)
class Question:
    """What is compared."""

    name: str
    game: Game
    table: Table
    seed: int | Literal["secret"]
    names: tuple[str, ...]  # candidates, then the field
    bots: tuple[LoadedBot, ...]
    candidates: int  # how many of them are candidates
    rivals: tuple[int, ...]  # the field, one less than seats, positions in `names`
    budget: int  # matches a candidate, all seats together
    margin: float = 0.0
    precision: float = PRECISION
    confidence: float = 0.95
    on_fault: str = "forfeit"
    source: dict[str, Any] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    tier: str = "strict"  # of bots that are not trusted: the twin of a match tells its dice


@dataclass(frozen=True)
class Figures:
    """What a candidate's matches look like besides being won."""

    mean_score: float
    sd_score: float
    bust_rate: float | None  # share of matches that end with a score of 0, where that is ruin
    faults: int


@dataclass(frozen=True)
class Comparison:
    """The answer."""

    question: Question
    run: str
    candidates: list[Candidate]
    figures: dict[str, Figures]
    pairs: list[Pair]
    # Times fewer matches than on independent dice; None: too few matches to tell.
    pairing_gain: dict[tuple[str, str], float | None]
    matches: int  # played, all candidates
    needed: int  # more matches a candidate for the asked precision
    seconds: float
    profile: dict[str, Any] | None


class MirroredPlan(Plan):
    """A plan whose dice depend on the seat and the field, not on the pairing."""

    def deal_key(self, pairing: bytes) -> bytes:
        """The key of the deal that a pairing is played on."""
        return seeds.deal_key(self.key, self._deals[pairing])

    _deals: dict[bytes, bytes]


class _Sums:
    """Sums over a candidate's matches."""

    def __init__(self) -> None:
        self.n = self.busts = self.faults = 0
        self.score = self.squares = 0.0

    def add(self, scores: Any, faults: Any) -> None:
        self.n += len(scores)
        self.score += float(scores.sum())
        self.squares += float((scores.astype(float) ** 2).sum())
        self.busts += int((scores == 0).sum())
        self.faults += int(faults.sum())

    def figures(self, *, has_ruin: bool) -> Figures:
        n = max(1, self.n)
        mean = self.score / n
        spread = max(0.0, self.squares / n - mean * mean) ** 0.5
        return Figures(mean, spread, self.busts / n if has_ruin else None, self.faults)


def compare(
    question: Question,
    workers: Workers,
    store: Store | None = None,
    report: Callable[[int, int, Race], None] = lambda done, budget, race: None,
) -> Comparison:
    """Play until the race is over or the budget spent.

    Raises: SpecError, StoreError, InfraError.
    """
    begun = time.monotonic()
    table, seats = question.table, question.table.seats
    total = question.game.fair_total(table)
    plan, lineups = _plan(question)
    race = Race(
        list(question.names[: question.candidates]),
        alpha=1 - question.confidence,
        margin=question.margin,
        bound=pasa_widest(seats) if total else widest,
    )
    sums = {name: _Sums() for name in race.names}
    crossed = _Crossed(race.names)
    run = _begin(question, plan, store)
    played = first = 0
    setup = Setup.of(plan, question.bots, is_compiled=workers.compile != "never")
    with playing(setup, workers) as pool:
        for count in _batches(question.budget // seats):
            active = race.active()
            chunks = [
                [
                    Segment(lineup, digest, first, count, deal)
                    for lineup, digest, deal in lineups[name]
                ]
                for name in active
            ]
            if store is not None:
                _want(store, run, plan, chunks, first + count, workers.record)
            records = _in_order(pool.play(iter(chunks)), chunks)
            won, scores = {}, {}
            for name, chunk, record in zip(active, chunks, records, strict=True):
                if store is not None:
                    store.append(seeds.run_key_id(plan.key), record, chunk, keep=workers.record)
                own = np.repeat(np.arange(seats), count), np.arange(seats * count)
                won[name] = record.win_shares[own[1], own[0]]
                scores[name] = record.scores[own[1], own[0]]
                sums[name].add(scores[name], record.faults[own[1], own[0]])
                played += len(record)
            crossed.add(won)
            race.add(won, {n: s / total for n, s in scores.items()} if total else None)
            first += count
            report(first * seats, question.budget, race)
            if race.is_over:
                break
    if store is not None:
        store.finish_run(run, store.progress(run)[1])
    return Comparison(
        question=question,
        run=run,
        candidates=race.candidates(),
        figures={n: s.figures(has_ruin=bool(total)) for n, s in sums.items()},
        pairs=race.pairs(),
        pairing_gain=crossed.gains(),
        matches=played,
        needed=race.needed(question.precision),
        seconds=time.monotonic() - begun,
        profile=_profile(question),
    )


class _Crossed:
    """How much less a difference varies on the same dice than on independent ones."""

    def __init__(self, names: Sequence[str]) -> None:
        self._sums = {(a, b): np.zeros(6) for i, a in enumerate(names) for b in names[i + 1 :]}

    def add(self, won: Mapping[str, Any]) -> None:
        for (a, b), sums in self._sums.items():
            if a in won and b in won:
                x, y = won[a], won[b]
                sums += (len(x), x.sum(), y.sum(), x @ x, y @ y, x @ y)

    def gains(self) -> dict[tuple[str, str], float | None]:
        return {pair: _gain(*sums) for pair, sums in self._sums.items()}


def _gain(n: float, x: float, y: float, xx: float, yy: float, xy: float) -> float | None:
    if n < FEW:
        return None
    apart = xx - x * x / n + yy - y * y / n
    together = apart - 2 * (xy - x * y / n)
    return float(apart / together) if together > 1e-9 else None


def _batches(per_seat: int) -> Iterator[int]:
    """Matches a seat in each batch: small first, so that an easy question is answered at once."""
    size, left = float(FIRST_BATCH), per_seat
    while left > 0:
        count = min(left, int(size))
        yield count
        left -= count
        size = min(size * GROWTH, MOST_BATCH)


def _in_order(played: Any, chunks: Sequence[list[Segment]]) -> list[Record]:
    """Records in the order of the chunks, whatever order they came in."""
    found: dict[int, Record] = {}
    for chunk, record, _ in played:
        if isinstance(record, Exception):
            raise record
        found[id(chunk)] = record
    return [found[id(chunk)] for chunk in chunks]


def _plan(question: Question) -> tuple[MirroredPlan, dict[str, list[tuple[Any, bytes, bytes]]]]:
    """The plan, and by candidate the (line-up, pairing, deal) of each seat it sits in."""
    versions = tuple(bot.version for bot in question.bots)
    seats = question.table.seats
    plan = MirroredPlan(
        question.game, question.table, question.on_fault, key_of_seed(question.seed),
        versions, question.names, OneLineup(question.rivals, seats), None,
        question.limits, question.tier,
        frozenset(i for i, bot in enumerate(question.bots) if not bot.is_trusted),
    )  # fmt: skip
    against = [versions[i] for i in question.rivals]
    lineups: dict[str, list[tuple[Any, bytes, bytes]]] = {}
    deals: dict[bytes, bytes] = {}
    for number, name in enumerate(question.names[: question.candidates]):
        lineups[name] = []
        for seat in range(seats):
            deal = _deal(question, against, seat)
            lineup = (*question.rivals[:seat], number, *question.rivals[seat:])
            ours = plan.digest_of(lineup)
            digest = hashlib.blake2b(ours + deal, digest_size=DIGEST_BYTES).digest()
            deals[digest] = deal
            lineups[name].append((lineup, digest, deal))
    object.__setattr__(plan, "_deals", deals)
    return plan, lineups


def _deal(question: Question, rivals: Sequence[str], seat: int) -> bytes:
    game = question.game
    parts = ["mirrored", game.name, game.version, question.table.canonical(), list(rivals), seat]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=DIGEST_BYTES).digest()


def _begin(question: Question, plan: Plan, store: Store | None) -> str:
    entrants = tuple(zip(question.names, plan.versions, strict=True))
    seed = seeds.run_key_id(plan.key) if question.seed == "secret" else question.seed
    parts = [question.name, seed, question.table.canonical(), entrants, question.rivals]
    run = hashlib.blake2b(json.dumps(["compare", *parts]).encode(), digest_size=6).hexdigest()
    if store is not None:
        store.create()
        row = RunRow(
            run, question.name, question.game.name, question.source,
            seeds.run_key_id(plan.key), datetime.now(UTC), None, None, entrants,
        )  # fmt: skip
        store.begin_run(plan, row, question.bots)
        store.keep_key(run, run, plan.key, is_secret=question.seed == "secret")
        store.note_walls(run, *walls_of(plan))
    return run


def _want(
    store: Store, run: str, plan: Plan, chunks: Sequence[list[Segment]], upto: int, keep: str
) -> None:
    pairings = [Pairing(s.lineup, s.pairing, upto) for chunk in chunks for s in chunk]
    store.want(run, plan, pairings, keep=keep)


def _profile(question: Question) -> dict[str, Any] | None:
    """How the candidates decide, from a sample; None where the game has no such thing."""
    if question.game.profile is None:
        return None
    is_quick = all(bot.is_trusted for bot in question.bots)
    with ExitStack() as stack:
        asked = [
            _Asked(question, i, stack) for i in (*range(question.candidates), *question.rivals)
        ]
        named = dict(zip(question.names, asked[: question.candidates], strict=False))
        key = seeds.deal_key(key_of_seed(question.seed), b"profile")
        try:
            found: dict[str, Any] = question.game.profile(
                question.table, named, asked[question.candidates :], key,
                PROFILE_MATCHES if is_quick else PROFILE_MATCHES_OF_STRANGERS,
            )  # fmt: skip
        except InfraError:
            return None  # no child is to be had; the comparison stands without
    return found


class _Asked:
    """A bot of one decision a turn, asked one view at a time; its default move where it faults."""

    def __init__(self, question: Question, number: int, stack: ExitStack) -> None:
        [self._kind] = question.game.decisions
        bot = question.bots[number]
        self._player = player_for(question.game, bot, question.tier, question.limits)
        stack.callback(self._player.close)

    def __call__(self) -> Callable[[Any], int]:
        """Begin a match."""
        self._player.start([0])
        return self._ask

    def _ask(self, view: Any) -> int:
        self._player.post(self._kind, [0], np.array([view]))
        actions, faults = as_actions(self._player.collect())
        return int(view.legal[0]) if faults else int(actions[0])


def check_question(question: Question) -> None:
    """Raises: SpecError for a comparison that cannot be made."""
    problems = []
    seats = question.table.seats
    if question.candidates < 2:
        problems.append(f"candidates: at least two are compared (got {question.candidates})")
    if len(question.rivals) != seats - 1:
        problems.append(
            f"against: a table of {seats} needs {seats - 1} other bots (got {len(question.rivals)})"
        )
    if question.budget < seats * FIRST_BATCH:
        problems.append(
            f"matches: at least {seats * FIRST_BATCH} a candidate (got {question.budget})"
        )
    versions = [bot.version for bot in question.bots[: question.candidates]]
    for position, version in enumerate(versions):
        if version in versions[:position]:
            first = question.names[versions.index(version)]
            problems.append(
                f"candidates: {question.names[position]} is the same bot as {first}: same source,"
                " class and params, so the difference is exactly 0"
            )
    if problems:
        raise SpecError(*problems)
