"""One match as a plain loop over `start` and `advance`, interpreted: what all play must equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ladder import seeds
from ladder.bots import LoadedBot, load_word
from ladder.driver import LocalPlayer, play
from ladder.games import Game, Table
from ladder.games.bot import bind, params_tuple, policy_of
from ladder.games.nodes import CHANCE, END, LUCK, NODE, SEAT, TERMINATION, WAYS
from ladder.record import Record, Segment

KEY = seeds.deal_key(seeds.run_key(2026), b"a deal of the tests")


@dataclass
class PlainMatch:
    """What one match came to."""

    actions: list[int] = field(default_factory=list)
    chances: list[int] = field(default_factory=list)  # the throws or rolls among them
    decisions: int = 0
    digest: int = 0
    scores: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    termination: int = -1


def play_plainly(
    game: Game, table: Table, bots: Sequence[LoadedBot], key: bytes = KEY, repetition: int = 0
) -> PlainMatch:
    """Play one match, a bot a seat."""
    asked = [_asker(game, bot) for bot in bots]
    source = seeds.new_source(key, repetition, table.seats)
    match = PlainMatch(digest=seeds.digest_start())
    state = game.new_state(table)
    spare = [0] * game.view_width(table)
    game.start(state)
    while state[NODE] != END:
        if state[NODE] == CHANCE:
            action = seeds.draw(source, state[WAYS])
            match.chances.append(action)
        else:
            state[LUCK] = seeds.draw_luck(source, state[SEAT])
            seen = list(game.observe(state, spare))[: game.view_width(table)]
            action = asked[state[SEAT]](state[NODE], game.view(seen))
            assert action in game.legal(state)
            match.decisions += 1
        match.actions.append(action)
        match.digest = seeds.digest_add(match.digest, action)
        game.advance(state, action)
    match.termination = state[TERMINATION]
    match.scores = [game.score(state, seat) for seat in range(table.seats)]
    standings = [game.standing(state, seat) for seat in range(table.seats)]
    match.places = [1 + sum(other > own for other in standings) for own in standings]
    return match


def _asker(game: Game, loaded: LoadedBot) -> Callable[[int, Any], int]:
    """(decision kind, view) -> the bot's answer."""
    params = dict(loaded.params)
    made = bind(loaded.bot, params)()

    def ask(kind: int, view: Any) -> int:
        policy = policy_of(loaded.bot, game.decisions[kind])
        if policy is not None:
            return int(policy(view, params_tuple(loaded.bot, params)))
        return int(getattr(made, game.decisions[kind])(view))

    return ask


def loaded(game: Game, words: Sequence[str]) -> list[LoadedBot]:
    """Bots by their words, the same object for the same word."""
    known = {word: load_word(word, game.name, is_trusted=True) for word in words}
    return [known[word] for word in words]


def play_many(
    game: Game,
    table: Table,
    words: Sequence[str],
    matches: int,
    *,
    lineups: Sequence[Sequence[int]] | None = None,
    first: int = 0,
    key: bytes = KEY,
    on_fault: str = "forfeit",
    lanes: int = 64,
) -> Record:
    """The driver's record: `matches` of each line-up (positions in `words`), all from one key."""
    bots = loaded(game, words)
    lineups = [range(len(words))] if lineups is None else lineups
    segments = [Segment(tuple(lineup), b"", first, matches) for lineup in lineups]
    players = [LocalPlayer(game, bot.bot, dict(bot.params)) for bot in bots]
    return play(
        game, table, players, segments, [key] * len(segments), on_fault=on_fault, lanes=lanes
    )
