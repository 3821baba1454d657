"""A person at the terminal, against bots or others at the same keyboard.

Nothing at the Pasa mat is hidden; a hand at Pasha is, so between two people the screen is handed
over. The throw is read before chips move. A finished match can be saved as a script, or stored: a
person's decisions then stand there as a bot that makes them again, so the match replays like any.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ladder import seeds
from ladder.bots import LoadedBot, load, load_word
from ladder.driver import Player
from ladder.errors import IllegalActionError, ParseError, SpecError
from ladder.execute import player_for
from ladder.formats.lineup import OneLineup
from ladder.games import Game, Table
from ladder.games.nodes import CHANCE
from ladder.lineup import table_options
from ladder.plan import Plan
from ladder.proof.replays import Move, told_moves
from ladder.record import Ints, Record, Segment
from ladder.spec import make_table
from ladder.store import RunRow, Store
from ladder.walk import Walk, close_all

DEFAULT_BOT = "Easy"


class LeftError(Exception):
    """A person left the table."""


@dataclass(frozen=True)
class Terminal:
    """How to talk to the people at the table."""

    write: Callable[[str], None]
    read: Callable[[str], str | None]  # a line for a prompt; None: nobody is there any more
    pause: Callable[[], None]  # between reading a throw and moving chips
    clear: Callable[[], None]  # what was on the screen is for nobody else's eyes


@dataclass
class Person:
    """A player that asks a person."""

    game: Game
    name: str
    seat: int
    terminal: Terminal
    table: _Table
    lanes: int = 1
    _actions: list[int] = field(default_factory=list)

    def start(self, keys: Sequence[int]) -> None:
        """Nothing to make ready."""

    def finish(self, keys: Sequence[int]) -> None:
        """Nothing to put away."""

    def fresh(self) -> Person:
        """People cannot be asked again as if nothing had been."""
        return self

    def post(self, kind: int, keys: Sequence[int], rows: Ints) -> None:
        """Ask until the answer is legal."""
        state = self.table.state()
        self.table.hand_over(self.seat)
        hand = getattr(self.game.view(rows[0].tolist()), "hand", ())
        held = f"; your hand: {' '.join(map(str, hand))}" if hand else ""
        legal = self.game.legal(state)
        words = [self.game.text.action_text(state, action) for action in legal]
        self.terminal.write(
            f"{self.name}: {self.game.text.node_text(state).removeprefix(f'seat {self.seat} ')}"
            f"{held}\n  {_listed(words)}"
        )
        self._actions.append(self._ask(state, legal, words))

    def _ask(self, state: list[int], legal: list[int], words: list[str]) -> int:
        while True:
            line = self.terminal.read(f"{self.name}> ")
            if line is None or line.strip().lower() in ("q", "quit", "exit"):
                raise LeftError
            said = line.strip()
            if not said:
                continue
            if said == "?":
                self.terminal.write("  " + _listed(words, most=len(words)))
                continue
            try:
                return self._understood(state, legal, words, said)
            except (ParseError, IllegalActionError) as error:
                self.terminal.write(f"  {error}")

    def _understood(self, state: list[int], legal: list[int], words: list[str], said: str) -> int:
        """An action in words; or without its first word where all have the same; or (n)."""
        if said.startswith("(") or said.startswith("#"):
            number = said.strip("(#) ")
            if number.isdecimal() and 1 <= int(number) <= len(legal):
                return legal[int(number) - 1]
        first = {word.partition(" ")[0] for word in words}
        if len(first) == 1 and said.partition(" ")[0] not in first:
            said = f"{first.pop()} {said}"
        return self.game.text.parse_action(state, said)

    def collect(self) -> list[Any]:
        """The answer."""
        return [self._actions.pop()]

    def close(self) -> None:
        """Nothing to put away."""


def _listed(words: Sequence[str], most: int = 12) -> str:
    """Legal actions with numbers."""
    shown = ", ".join(f"({n}) {word}" for n, word in enumerate(words[:most], 1))
    more = len(words) - most
    return shown + (f", and {more} more: ? lists them" if more > 0 else "")


@dataclass
class _Table:
    """Who looks at the screen, and the match on it."""

    game: Game
    terminal: Terminal
    num_people: int
    names: list[str]
    walk: Walk | None = None
    seen_by: int | None = None

    def state(self) -> list[int]:
        assert self.walk is not None
        return self.walk.state

    def hand_over(self, seat: int) -> None:
        """Let another person come to the screen, where hands are hidden."""
        if not self.game.has_hands or self.num_people < 2 or self.seen_by == seat:
            self.seen_by = seat
            return
        self.terminal.clear()
        self.seen_by = seat
        if self.terminal.read(f"-- {self.names[seat]}'s turn; others look away; Enter --") is None:
            raise LeftError


@dataclass(frozen=True)
class Seating:
    """Who sits where: people first."""

    game: Game
    table: Table
    names: list[str]
    bots: dict[int, LoadedBot]  # by seat


def seat_all(game: Game, bots: Sequence[str], people: Sequence[str], options: str) -> Seating:
    """People and bots at a table; bots Easy fill what `seats=` leaves. Raises: SpecError."""
    given = table_options(options)
    seats = given.get("seats")
    words = list(bots)
    if seats is None and len(people) + len(words) < 2:
        seats = game.table.model_fields["seats"].default
    for person in people:
        if not person.strip() or not person.isprintable():
            raise SpecError(f"--person: should be a printable name (got {person!r})")
    if isinstance(seats, int):
        make_table(game, {**given, "seats": seats})  # before so many are seated
        words += [DEFAULT_BOT] * (seats - len(people) - len(words))
    table = make_table(game, {**given, "seats": seats or len(people) + len(words)})
    if len(people) + len(words) != table.seats:
        raise SpecError(
            f"--table: seats={table.seats}, but {len(people)} people and {len(words)} bots are"
            " given, one a seat"
        )
    loaded = [load_word(word, game.name) for word in words]
    names = list(people)
    for word in words:
        name = word.rpartition("/")[2]
        same = sum(other == name or other.startswith(f"{name} ") for other in names)
        names.append(f"{name} {same + 1}" if same else name)
    return Seating(game, table, names, dict(enumerate(loaded, len(people))))


@dataclass
class Played:
    """A match that was played to its end."""

    seating: Seating
    walk: Walk
    moves: list[Move]

    def script(self) -> str:
        """The match as a file for `ladder replay --actions`."""
        table = self.seating.table
        options = table.model_dump(mode="json")
        usual = type(table)(seats=table.seats).model_dump(mode="json")
        shown = {"seats": table.seats} | {k: v for k, v in options.items() if v != usual[k]}
        words = " ".join(f"{k}={json.dumps(v, separators=(',', ':'))}" for k, v in shown.items())
        lines = [f"{self.seating.game.name} {words}  # {', '.join(self.seating.names)}"]
        return "\n".join([*lines, *(move.action for move in self.moves)]) + "\n"


def play_match(seating: Seating, terminal: Terminal, seed: int | None) -> Played:
    """Play one match. Raises: LeftError where a person leaves."""
    game, names = seating.game, seating.names
    key = os.urandom(32) if seed is None else seeds.run_key(seed)
    people = [seat for seat in range(len(names)) if seat not in seating.bots]
    table = _Table(game, terminal, len(people), names)
    players: list[Player] = []
    for seat, name in enumerate(names):
        bot = seating.bots.get(seat)
        players.append(
            Person(game, name, seat, terminal, table) if bot is None else player_for(game, bot)
        )
    walk = table.walk = Walk(game, seating.table, players, key, 0)
    seats = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(names))
    terminal.write(f"{game.title}\n{seats}")
    moves = []
    try:
        for move in told_moves(game, walk, names):
            moves.append(move)
            _tell(game, move, terminal)
    finally:
        close_all(players)
    ends = ", ".join(
        f"{name} {score}{' wins' if place == 1 else ''}"
        for name, score, place in zip(names, walk.scores, walk.places, strict=True)
    )
    terminal.write(f"end ({walk.termination}): {ends}")
    return Played(seating, walk, moves)


def _tell(game: Game, move: Move, terminal: Terminal) -> None:
    """A move; a throw is read first, and then its chips move."""
    who = "" if move.seat is None else f"seat {move.seat} ({move.bot}) "
    told, words = "", move.words
    if move.step.node == CHANCE:
        if game.has_hands and move.action.startswith(("deck", "tiles")):
            return  # what is dealt is not for every eye
        told = game.text.told(move.step.before, move.step.action)
    if told and told in words:
        end = words.index(told) + len(told)
        terminal.write(f"{who}{words[:end]}")
        terminal.pause()
        words = words[end:].lstrip(", ")
        if words and move.table:
            terminal.write(f"  {words}")
    else:
        terminal.write(f"{who}{words}")
    if move.table:
        terminal.write(f"  {move.table}")


class _PlayedPlan(Plan):
    """A plan whose dice were thrown before its line-up was known."""

    deal: bytes

    def deal_key(self, pairing: bytes) -> bytes:
        """The key that the match was played with."""
        return self.deal


def store_match(played: Played, store: Store) -> str:
    """Keep a finished match, unrated; gives its run. Raises: StoreError."""
    seating, walk = played.seating, played.walk
    game, names = seating.game, seating.names
    with TemporaryDirectory() as folder:
        bots = [
            seating.bots.get(seat) or _as_bot(played, seat, Path(folder))
            for seat in range(len(names))
        ]
    key = os.urandom(32)
    versions = tuple(bot.version for bot in bots)
    plan = _PlayedPlan(
        game, seating.table, "forfeit", key, versions, tuple(names),
        OneLineup(list(range(len(names))), len(names)),
    )  # fmt: skip
    object.__setattr__(plan, "deal", walk.key)
    pairing = plan.pairings(0)[0]
    # Seats were taken as people sat down, not by version as a plan seats its line-ups.
    lineup = tuple(range(len(names)))
    pairing = type(pairing)(lineup, plan.digest_of(lineup), 1)
    now = datetime.now(UTC)
    run = key.hex()[:12]
    spec = {
        "name": "play", "game": game.name, "table": seating.table.model_dump(mode="json"),
        "rated": False, "entrants": names,
    }  # fmt: skip
    entrants = tuple(zip(names, versions, strict=True))
    key_id = seeds.run_key_id(key)
    store.create()
    row = RunRow(run, "play", game.name, spec, key_id, now, None, None, entrants)
    store.begin_run(plan, row, bots)
    store.want(run, plan, [pairing])
    segment = Segment(lineup, pairing.digest, 0, 1)
    store.append(key_id, _record_of(walk), [segment])
    store.finish_run(run, store.progress(run)[1])
    return run


def _record_of(walk: Walk) -> Record:
    """One match as a record; its bots' faults as counts."""
    record = Record.empty(1, walk.table.seats)
    record.chances[0], record.decisions[0] = walk.chances, walk.decisions
    record.termination[0] = walk.game.terminations.index(walk.termination)
    record.digest[0] = walk.digest
    record.scores[0], record.places[0] = walk.scores, walk.places
    record.faults[0] = np.array(walk.faults)
    return record


def _as_bot(played: Played, seat: int, folder: Path) -> LoadedBot:
    """A person's decisions of this match as a bot that makes them again."""
    game = played.seating.game
    base = game.bot.__name__
    actions = [m.step.action for m in played.moves if m.seat == seat and m.step.decision]
    methods = "".join(
        f"\n    def {method}(self, view):\n        return next(self.rest)\n"
        for method in game.decisions.values()
    )
    path = folder / "person.py"
    path.write_text(
        f'"""One match by {json.dumps(played.seating.names[seat])[1:-1]}."""\n\n'
        f"from ladder.games.{game.name} import {base}\n\n\n"
        f"class Person({base}):\n"
        f'    """Decides as a person did, once."""\n\n'
        f"    def __init__(self):\n        self.rest = iter({actions})\n{methods}",
        encoding="utf-8",
    )
    return load(f"{path}:Person", {}, game.name, is_trusted=True)
