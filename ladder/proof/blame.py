"""Why a stored match does not come out again, and by whose doing.

The store keeps a digest of a match's actions, not the actions. So the match is played again, in
fresh processes and after the matches that came before it: where two of those plays differ, the seat
of the first differing action is to blame.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from ladder.bots import PortableBot
from ladder.driver import Player
from ladder.execute import player_for
from ladder.games import get_game
from ladder.games.nodes import CHANCE
from ladder.store.archive import StoredPairing, match_id
from ladder.walk import Walk, close_all

FRESH = 3  # plays in processes of their own
BEFORE = 200  # earlier matches of its pairing that a match is played after ...
AT_LEAST = 20  # ... and if there are not so many, later ones


@dataclass(frozen=True)
class Trace:
    """One play of a match: (seat, or -1 at chance; action in words) by move, and its digest."""

    moves: tuple[tuple[int, str], ...]
    digest: int


@dataclass(frozen=True)
class Blame:
    """What was found out about a match."""

    match: str
    cause: str  # nondeterministic, remembers, stored, unexplained
    seat: int | None
    bot: str | None
    version: str | None
    move: int | None
    detail: str


def trace(
    bots: Sequence[PortableBot],
    pairing: StoredPairing,
    repetition: int,
    after: Sequence[int] = (),
) -> Trace:
    """Play a match, a bot a seat, in this process, after these other repetitions."""
    game = get_game(pairing.game)
    table = game.table.model_validate(pairing.table)
    loaded = [bot.load() for bot in bots]
    players: list[Player] = []
    for seat, bot in enumerate(loaded):
        known = pairing.versions.index(pairing.versions[seat])
        players.append(players[known] if known < seat else player_for(game, bot))
    try:
        for number in (*after, repetition):
            walk = Walk(game, table, players, pairing.deal_key, number, pairing.on_fault)
            steps = list(walk)
    finally:
        close_all(players)
    moves = []
    for step in steps:
        action = game.text.action_text(list(step.before), step.action)
        fault = f" ({step.fault.cause}: {step.fault.detail})" if step.fault else ""
        moves.append((-1 if step.node == CHANCE else step.seat, action + fault))
    return Trace(tuple(moves), walk.digest)


def find_blame(
    bots: Sequence[PortableBot],
    pairing: StoredPairing,
    repetition: int,
    stored_digest: int,
    *,
    is_row_sound: bool,
    suspects: Sequence[int],
) -> Blame:
    """Who or what made a match come out otherwise.

    `is_row_sound`: whether the stored rows agree with the sums kept beside them; `suspects` are
    the seats of bots that are more than a function of their view.
    """
    name = match_id(pairing.pairing_id, repetition)

    def blame(cause: str, seat: int | None, move: int | None, detail: str) -> Blame:
        bot = pairing.names[seat] if seat is not None else None
        version = pairing.versions[seat] if seat is not None else None
        return Blame(name, cause, seat, bot, version, move, detail)

    def by_chance(plays: Sequence[Trace]) -> Blame | None:
        found = next(filter(None, (first_difference(plays[0], other) for other in plays[1:])), None)
        if found is None:
            return None
        move, seat, one, two = found
        return blame(
            "nondeterministic", seat, move,
            f"played twice from one seed, move {move} was {one!r} and then {two!r}:"
            " hidden randomness, a clock, or something outside the match",
        )  # fmt: skip

    alone = _plays(bots, pairing, repetition, FRESH)
    if random := by_chance(alone):
        return random
    if alone[0].digest == stored_digest and is_row_sound:
        return blame(
            "remembers", suspects[0] if len(suspects) == 1 else None, None,
            "comes out as stored when played alone, but not among others: a bot keeps something"
            " from match to match",
        )  # fmt: skip
    # The first repetitions have few before them; any others show as well what is remembered.
    others = range(max(0, repetition - BEFORE), repetition)
    if len(others) < AT_LEAST:
        others = range(repetition + 1, repetition + 1 + AT_LEAST)
    for count in (len(others), 7, 1):  # what is remembered may come to the same after some
        before = tuple(others[-count:])
        [after] = _plays(bots, pairing, repetition, 1, before)
        found = first_difference(alone[0], after)
        if found is None:
            continue
        alone += _plays(bots, pairing, repetition, FRESH)
        again = [after, *_plays(bots, pairing, repetition, FRESH, before)]
        if random := by_chance(alone) or by_chance(again):
            return random
        move, seat, one, two = found
        return blame(
            "remembers", seat, move,
            f"move {move} is {one!r} when the match is played alone and {two!r} after"
            f" {count} others: the bot keeps something from match to match",
        )  # fmt: skip
    if not is_row_sound:
        return blame(
            "stored", None, None,
            "every play comes out alike, and the stored rows do not agree with the sums kept"
            " beside them: the store was changed",
        )  # fmt: skip
    suspect = suspects[0] if len(suspects) == 1 else None
    named = ", ".join(dict.fromkeys(pairing.names[s] for s in suspects)) or "none of the bots"
    return blame(
        "unexplained", suspect, None,
        "every play now comes out alike, but not as it was stored: something outside the match"
        f" has changed since; able to do that: {named}",
    )  # fmt: skip


def first_difference(one: Trace, two: Trace) -> tuple[int, int, str, str] | None:
    """(move, seat, action, other action) where two plays part; None where they do not."""
    for number, (a, b) in enumerate(zip(one.moves, two.moves, strict=False), 1):
        if a != b:
            return number, a[0], a[1], b[1]
    return None


def _plays(
    bots: Sequence[PortableBot],
    pairing: StoredPairing,
    repetition: int,
    count: int,
    after: tuple[int, ...] = (),
) -> list[Trace]:
    """So many plays of a match, each in a process of its own."""
    with ProcessPoolExecutor(
        min(count, 2), mp_context=get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        asked = [pool.submit(trace, tuple(bots), pairing, repetition, after) for _ in range(count)]
        return [each.result() for each in asked]
