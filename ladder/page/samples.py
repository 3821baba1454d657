"""What a sample of matches shows: how scores grow, and how bots decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ladder.games import Game, Table
from ladder.games.nodes import CHANCE
from ladder.walk import Step, Walk, close_all

LEAD_STEP = 50  # chips a column of the stake profile


@dataclass(frozen=True)
class Trajectory:
    """The mean score of a bot at one point of its matches, over its seats in the sample."""

    bot: str
    at: int  # turns (Pasa) or rounds (Pasha) played
    mean: float
    low: float  # the middle half of them
    high: float


@dataclass(frozen=True)
class ProfileCell:
    """How a bot decided in one kind of situation."""

    bot: str
    across: str
    down: str
    value: float
    decisions: int


@dataclass(frozen=True)
class Sample:
    """What was seen in so many matches."""

    matches: int
    unit: str  # what `at` counts
    trajectories: list[Trajectory]
    profile: list[ProfileCell]
    profile_title: str
    across: str
    down: str
    value: str


def sample_of(
    game: Game, wanted: Sequence[str], walks: Iterable[tuple[Sequence[str], Walk]]
) -> Sample:
    """Play matches and keep what they show of the wanted bots."""
    scores: dict[tuple[str, int], list[int]] = defaultdict(list)
    cells: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    note = {"pasa": _note_stake, "pasha": _note_mark}[game.name]
    matches = 0
    for names, walk in walks:
        matches += 1
        at = -1
        for step in walk:
            now = _progress(game, walk.table, step.before)
            if now != at:
                at = now
                for seat, name in enumerate(names):
                    if name in wanted:
                        scores[name, at].append(game.score(step.before, seat))
            note(game, names, wanted, step, walk.state, cells)
        for seat, name in enumerate(names):
            if name in wanted:
                scores[name, at + 1].append(walk.scores[seat])
        close_all(walk.players)
    trajectories = [_trajectory(bot, at, values) for (bot, at), values in sorted(scores.items())]
    profile = [
        ProfileCell(bot, across, down, sum(values) / len(values), len(values))
        for (bot, across, down), values in sorted(cells.items())
    ]
    if game.name == "pasha":
        return Sample(
            matches, "rounds played", trajectories, _as_shares(profile),
            "What they mark", "row of the board", "", "share of turns",
        )  # fmt: skip
    return Sample(
        matches, "turns played", trajectories, profile, "How much they stake",
        "lead, chips", "turns left", "stake / most legal",
    )  # fmt: skip


def _progress(game: Game, table: Table, state: Sequence[int]) -> int:
    """Turns or rounds played."""
    values = game.text.state_values(state)
    if game.name == "pasha":
        return int(values["rounds_played"])
    return table.seats * int(table.model_dump()["rounds"]) - int(values["turns_left"])


def _trajectory(bot: str, at: int, values: list[int]) -> Trajectory:
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return Trajectory(
        bot, at, sum(values) / len(values), ordered[quarter], ordered[len(ordered) - 1 - quarter]
    )


Cells = dict[tuple[str, str, str], list[float]]


def _note_stake(
    game: Game, names: Sequence[str], wanted: Sequence[str], step: Step, after: Sequence[int],
    cells: Cells,
) -> None:  # fmt: skip
    """A stake at Pasa, as a part of the most that was legal, by lead and turns left."""
    if step.node == CHANCE or names[step.seat] not in wanted:
        return
    values = game.text.state_values(step.before)
    piles = values["piles"]
    lead = piles[step.seat] - max(p for seat, p in enumerate(piles) if seat != step.seat)
    column = max(-4, min(4, round(lead / LEAD_STEP))) * LEAD_STEP
    legal = game.legal(step.before)
    key = (names[step.seat], f"{column:+d}" if column else "0", str(values["turns_left"]))
    cells[key].append(step.action / max(legal))


def _note_mark(
    game: Game, names: Sequence[str], wanted: Sequence[str], step: Step, after: Sequence[int],
    cells: Cells,
) -> None:  # fmt: skip
    """The row of the board that a disc of Pasha was put on."""
    before, now = game.text.state_values(step.before), game.text.state_values(after)
    marks = list(now["marks"])
    if now["rounds_played"] > before["rounds_played"]:  # the discs of the round are off again
        seat = step.seat
        told = game.text.told(step.before, step.action)
        marks = [None] * len(marks)
        marks[seat] = told or _mark_of(before["dice"])
    for seat, mark in enumerate(marks):
        if mark and mark != before["marks"][seat] and names[seat] in wanted:
            cells[names[seat], mark.rstrip(" 123456") or mark, ""].append(1.0)


def _mark_of(faces: Sequence[int]) -> str:
    from ladder.games.pasha import board
    from ladder.games.pasha.words import mark_text, parse_dice

    return mark_text(board.best_mark(parse_dice(" ".join(map(str, faces)))))


def _as_shares(profile: list[ProfileCell]) -> list[ProfileCell]:
    total: dict[str, int] = defaultdict(int)
    for cell in profile:
        total[cell.bot] += cell.decisions
    return [
        ProfileCell(c.bot, c.across, c.down, c.decisions / total[c.bot], c.decisions)
        for c in profile
    ]
