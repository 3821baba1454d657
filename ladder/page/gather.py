"""What a report says, read out of the store: plain values for charts and page."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np

from ladder.errors import LadderError
from ladder.games import Game, Table, get_game
from ladder.isolate.verdict import Limits
from ladder.page.samples import Sample, sample_of
from ladder.proof.replays import game_and_table, load_versions, seated_players
from ladder.rated import Rated, find_run, rate_selection, rating_of_run, select, table_of_run
from ladder.spec import tier_and_limits
from ladder.standings import Row
from ladder.stats import share_interval
from ladder.store import NightStore, RunRow, Store
from ladder.store.archive import StoredPairing
from ladder.store.nights import NightEntrant, NightRow
from ladder.walk import Walk

SAMPLED = {"pasa": 200, "pasha": 24}  # matches played again for trajectories and profiles
FAVOURITES = 8  # bots that those are drawn for
PACKAGES = ("pasa-ladder", "numpy", "numba", "duckdb", "pyarrow", "altair")


@dataclass(frozen=True)
class Adjusted:
    """A win share, plain and with the luck of the dice taken out."""

    bot: str
    plain: float
    plain_low: float
    plain_high: float
    adjusted: float
    adjusted_low: float
    adjusted_high: float
    gain: float  # how many times fewer matches the same error takes


@dataclass
class Facts:
    """All of a report."""

    run: RunRow
    game: Game
    table: Table
    rated: Rated
    matches: int
    digest: str
    history: list[dict[str, Any]]  # at, bot, mu, sigma
    adjusted: list[Adjusted]
    sample: Sample | None
    faults: list[dict[str, Any]]
    about: list[tuple[str, str]]
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The bots, best first."""
        return [row.bot for row in self.rated.rows]


def gather(store: Store, run: str | None, ladder: str | None) -> Facts:
    """Read everything a report says. Raises: StoreError, SpecError."""
    nights = _nights(store, ladder)
    found = find_run(store, nights[-1][0].run if nights else ladder or run)
    rated = rate_selection(
        store, select(store, [found.run]), rating_of_run(found), found.spec.get("expect", {})
    )
    if nights:
        rated = replace(rated, rows=_of_night(rated.rows, nights))
    matches, digest = store.progress(found.run)
    pairings = store.pairings(found.run)
    table = table_of_run(found)
    notes = list(rated.notes)
    game = get_game(found.game)
    sample = None
    try:
        best = [row.bot for row in rated.rows[:FAVOURITES]]
        sample = _sampled(store, pairings, best, *tier_and_limits(found.spec))
    except LadderError as error:
        notes.append(f"no match could be played again: {error}")
    fair = game.proof.fair_score(game.new_state(table))
    adjusted = [] if fair is None else _adjusted(store, found.run, rated, fair)
    return Facts(
        found, game, table, rated, matches, digest,
        _by_night(nights) or _history(store, found, by_name=ladder is not None), adjusted, sample,
        store.fault_kinds(found.run), _about(store, found, matches, digest), notes,
    )  # fmt: skip


Nights = list[tuple[NightRow, NightEntrant]]


def _nights(store: Store, ladder: str | None) -> Nights:
    """Every version in every rated night of a ladder; none where it is no ladder's name."""
    if ladder is None or not store.path.exists():
        return []
    nights = NightStore(store.path)
    return nights.history(ladder, ()) if ladder in nights.ladders() else []


def _by_night(nights: Nights) -> list[dict[str, Any]]:
    """Ratings as the nights ended."""
    return [
        {"at": night.started_at, "bot": entrant.name, "mu": entrant.mu, "sigma": entrant.sigma}
        for night, entrant in nights
        if entrant.mu is not None and entrant.sigma is not None
    ]


def _of_night(rows: list[Row], nights: Nights) -> list[Row]:
    """The table with the ladder's ratings, which look back further than its latest night."""
    last = nights[-1][0].night
    ended = {(e.name, e.version): e for night, e in nights if night.night == last}
    found = []
    for row in rows:
        entrant = ended.get((row.bot, row.version))
        if entrant is None or entrant.mu is None or entrant.sigma is None:
            continue
        found.append(replace(row, mu=entrant.mu, sigma=entrant.sigma, above_next=None))
    found.sort(key=lambda row: (-row.conservative, -row.mu, row.bot))
    return [replace(row, rank=rank) for rank, row in enumerate(found, 1)]


def _history(store: Store, run: RunRow, *, by_name: bool) -> list[dict[str, Any]]:
    """Every rating that was written for this run, or for runs of its name, in order of time."""
    named = [other.run for other in store.runs() if other.name == run.name]
    rows = store.rating_history([*named, run.name] if by_name else [run.run])
    return [{"at": at, "bot": bot, "mu": mu, "sigma": sigma} for at, bot, mu, sigma in rows]


def _adjusted(store: Store, run: str, rated: Rated, fair: int) -> list[Adjusted]:
    """Win shares with the final pile as control variate: its true mean is known for any bot.

    Every stake is fair (14 ways against 14), so a mean pile above the chips dealt is luck, and
    the part of the win share that goes with it is taken off (Glasserman, Monte Carlo Methods in
    Financial Engineering, 4.1).
    """
    moments = store.win_moments(run)
    found = []
    for row in rated.rows:
        of_bot = moments.get((row.bot, row.version))
        if of_bot is None or of_bot[0] < 2:
            continue
        seats, mean_win, var_win, mean_score, var_score, together = of_bot
        slope = together / var_score if var_score > 0 else 0.0
        left = max(0.0, var_win - slope * together)
        adjusted = mean_win - slope * (mean_score - fair)
        half = 1.96 * sqrt(left / seats)
        low, high = share_interval(mean_win, var_win / seats, int(seats))
        gain = var_win / left if left > 0 else nan
        found.append(
            Adjusted(row.bot, mean_win, low, high, adjusted, adjusted - half, adjusted + half, gain)
        )
    return found


def _sampled(
    store: Store,
    pairings: Sequence[StoredPairing],
    wanted: list[str],
    tier: str,
    limits: Limits,
) -> Sample | None:
    """Some matches of the best bots, played again."""
    chosen = [pairing for pairing in pairings if set(pairing.names) & set(wanted)]
    if not chosen:
        return None
    game, table = game_and_table(chosen[0])
    draw = np.random.default_rng(1)
    count = SAMPLED.get(game.name, 24)
    picked = [chosen[i] for i in draw.integers(len(chosen), size=count)]
    versions = [version for pairing in picked for version in pairing.versions]
    bots = load_versions(store, versions)

    def walks() -> Any:
        for pairing in picked:
            repetition = int(draw.integers(pairing.repetitions))
            players = seated_players(game, bots, pairing.versions, tier, limits)
            yield (
                pairing.names,
                Walk(game, table, players, pairing.deal_key, repetition, pairing.on_fault),
            )

    return sample_of(game, wanted, walks())


def _about(store: Store, run: RunRow, matches: int, digest: str) -> list[tuple[str, str]]:
    """The run's facts, as lines of a table."""
    took = "not finished"
    if run.finished_at is not None:
        seconds = (run.finished_at - run.started_at).total_seconds()
        took = f"{run.finished_at:%Y-%m-%d %H:%M:%S} UTC, {seconds:,.0f} s after its start"
    machine = f"{platform.system()} {platform.machine()}, Python {sys.version.split()[0]}"
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES if _version(name))
    return [
        ("Run", f"{run.run} ({run.name})"),
        ("Game", run.game),
        ("Matches", f"{matches:,}"),
        ("Results digest", digest),
        ("Digest noted at the end", run.digest or "none: not finished"),
        ("Run key", run.key_id),
        ("Started", f"{run.started_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("Finished", took),
        ("Store", store.path.name),
        ("Report made", f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"),
        ("Report made on", machine),
        ("Versions", versions),
    ]  # fmt: skip


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def is_number(value: float) -> bool:
    """Whether a value can be drawn."""
    return isfinite(value)
