"""A quick table of a bot against each level: one candidate, the other seats of one level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ladder import seeds
from ladder.bots import LoadedBot, available, load_word
from ladder.driver import LANES
from ladder.execute import Setup, play_chunk
from ladder.formats.lineup import OneLineup
from ladder.games import Game
from ladder.plan import Plan
from ladder.record import Record, Segment
from ladder.stats import share_interval

COMPILED_MATCHES, PYTHON_MATCHES = 4000, 400
LEVELS = ("Easy", "Medium", "Hard", "Master")
KEY = seeds.run_key(0)


def quick_table(
    loaded: LoadedBot,
    game: Game,
    matches: int | None,
    is_compiled: bool,
    find: Callable[[str, str, str], None],
    write: Callable[..., None],
) -> None:
    """Play the levels twice over; say what the candidate won, and whether it played the same."""
    names = [listing.name for listing in available(game.name)[0] if listing.name in LEVELS]
    rows: list[dict[str, Any]] = []
    for level in sorted(names, key=LEVELS.index):
        plan, bots, chunk = _planned(loaded, level, game, matches, is_compiled)
        setup = Setup.of(plan, bots, is_compiled=is_compiled)
        record, seconds = play_chunk(setup, chunk, LANES)
        assert isinstance(record, Record)
        rows.append(_row(level, record, chunk, seconds))
        faults = [f for f in record.fault_rows if _seat_of(chunk)[f.row] == f.seat]
        if faults:
            each = faults[0].fault
            find(
                "plays", "fault",
                f"{len(faults):,} faults against {level}, the first: {each.cause}:"
                f" {each.detail}\n{each.traceback}".rstrip(),
            )  # fmt: skip
        if level == names[0]:
            again, _ = play_chunk(setup, chunk, LANES)
            assert isinstance(again, Record)
            if not np.array_equal(again.digest, record.digest):
                row = int(np.flatnonzero(again.digest != record.digest)[0])
                find("plays", "fault", f"match {row} played again came out differently")
    write(about={"table": rows})
    shown = ", ".join(f"{100 * row['win_share']:.1f} % against {row['level']}" for row in rows)
    find("plays", "ok", f"won {shown} ({rows[0]['matches']:,} matches each, an equal's share"
         f" {100 / rows[0]['seats']:.1f} %)")  # fmt: skip


def _planned(
    loaded: LoadedBot, level: str, game: Game, matches: int | None, is_compiled: bool
) -> tuple[Plan, list[LoadedBot], list[Segment]]:
    table = game.table()  # type: ignore[call-arg]
    wanted = matches or (COMPILED_MATCHES if is_compiled else PYTHON_MATCHES)
    wanted = -(-wanted // table.seats) * table.seats
    bots = [loaded, load_word(level, game.name)]
    plan = Plan(
        game=game, table=table, on_fault="forfeit", key=KEY,
        versions=("candidate", "level"), names=("candidate", level),
        lineups=OneLineup([0] + [1] * (table.seats - 1), wanted),
    )  # fmt: skip
    chunk = [Segment(p.lineup, p.digest, 0, p.repetitions) for p in plan]
    return plan, bots, chunk


def _seat_of(chunk: list[Segment]) -> Any:
    """The candidate's seat, by match."""
    return np.repeat([s.lineup.index(0) for s in chunk], [s.count for s in chunk])


def _row(level: str, record: Record, chunk: list[Segment], seconds: float) -> dict[str, Any]:
    seats = _seat_of(chunk)
    shares = record.win_shares[np.arange(len(record)), seats]
    mean = float(shares.mean())
    low, high = share_interval(mean, float(shares.var()), len(record))
    return {
        "level": level,
        "seats": record.places.shape[1],
        "matches": len(record),
        "win_share": mean,
        "win_share_low": low,
        "win_share_high": high,
        "matches_per_s": len(record) / max(seconds, 1e-9),
    }
