"""A stored match again, move by move from its seed, in words of the game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ladder.bots import LoadedBot
from ladder.driver import Player
from ladder.errors import StoreError
from ladder.execute import player_for
from ladder.games import Game, Table, get_game
from ladder.games.nodes import CHANCE
from ladder.isolate.verdict import DEFAULT_LIMITS, Limits
from ladder.rated import find_run
from ladder.spec import tier_and_limits
from ladder.store import Store
from ladder.store.archive import StoredMatch, StoredPairing
from ladder.walk import Step, Walk, close_all


@dataclass(frozen=True)
class Move:
    """A step in words, and the table after it."""

    step: Step
    seat: int | None  # None: nobody's, as when the first player is drawn
    bot: str
    action: str  # as a line of a script
    words: str
    table: str  # how the table stands after it; "" where that is as before
    values: dict[str, Any]  # the state after it


@dataclass
class Replay:
    """A stored match being played again; iterate over `moves` once."""

    match: StoredMatch
    game: Game
    walk: Walk

    def moves(self) -> Iterator[Move]:
        """The match, a move at a time."""
        names = self.match.pairing.names
        try:
            yield from told_moves(self.game, self.walk, names)
        finally:
            close_all(self.walk.players)

    @property
    def is_same(self) -> bool | None:
        """Whether it came out as it is stored; None where the run kept counts alone."""
        if self.match.digest is None:
            return None
        return (
            self.walk.digest == self.match.digest
            and tuple(self.walk.scores) == self.match.scores
            and tuple(self.walk.places) == self.match.places
        )


def told_moves(game: Game, walk: Walk, names: Sequence[str]) -> Iterator[Move]:
    """The steps of a walk in words."""
    text, shown = game.text, ""
    for step in walk:
        before = list(step.before)
        seat = step.seat if step.node != CHANCE else text.chance_seat(before)
        words = text.move_text(before, step.action)
        if step.fault:
            words = f"faults ({step.fault.cause}: {step.fault.detail}) and so {words}"
        table = text.table_text(walk.state)
        yield Move(
            step, seat, "" if seat is None else names[seat],
            text.action_text(before, step.action), words,
            table if table != shown else "", text.state_values(walk.state),
        )  # fmt: skip
        shown = table


def game_and_table(pairing: StoredPairing) -> tuple[Game, Table]:
    """What a pairing was played by. Raises: StoreError where the game has changed since."""
    game = get_game(pairing.game)
    if pairing.game_version != game.version:
        raise StoreError(
            f"the match was played by version {pairing.game_version} of {game.name};"
            f" this Ladder has version {game.version} and cannot play it again"
        )
    return game, game.table.model_validate(pairing.table)


def load_versions(
    store: Store, versions: Sequence[str], *, trusts_all: bool = False
) -> dict[str, LoadedBot]:
    """Bots of the store by version; what is not as shipped plays in children, unless trusted."""
    bots = {version: store.stored_bot(version) for version in dict.fromkeys(versions)}
    return {version: replace(bot, is_trusted=trusts_all).load() for version, bot in bots.items()}


def seated_players(
    game: Game,
    bots: dict[str, LoadedBot],
    versions: Sequence[str],
    tier: str = "sandbox",
    limits: Limits = DEFAULT_LIMITS,
) -> list[Player]:
    """A player a seat; a version that has several seats has one player.

    With other limits than it was played with a match may come out otherwise.
    """
    made = {
        version: player_for(game, bots[version], tier, limits)
        for version in dict.fromkeys(versions)
    }
    return [made[version] for version in versions]


def open_replay(
    store: Store, word: str, run: str | None = None, *, trusts_all: bool = False
) -> Replay:
    """A stored match ready to be played again. Raises: SpecError, StoreError."""
    of_run = find_run(store, run).run if run else None
    match = store.match(word, of_run)
    pairing = match.pairing
    game, table = game_and_table(pairing)
    bots = load_versions(store, pairing.versions, trusts_all=trusts_all)
    tier, limits = tier_and_limits(find_run(store, match.run).spec)
    players = seated_players(game, bots, pairing.versions, tier, limits)
    walk = Walk(game, table, players, pairing.deal_key, match.repetition, pairing.on_fault)
    return Replay(match, game, walk)
