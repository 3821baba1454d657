"""The compiled half of the driver: steps many matches side by side, each to its next decision.

Matches live in *lanes*. One call of `step` applies the chosen actions, rolls on through chance,
forced moves and the moves of forfeited seats, writes finished matches into the record, refills
their lanes, and leaves the decisions that are due, sorted by the bot and kind asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ladder import seeds
from ladder.games import Game, get_game
from ladder.games.nodes import CHANCE, END, LEGAL_AT, LUCK, NODE, NUM_LEGAL, SEAT, TERMINATION, WAYS
from ladder.jit import compiled, rule
from ladder.record import Record

Ints = NDArray[np.int64]

# A lane's counters.
ROW, SEGMENT, DIGEST, CHANCES, DECISIONS, FORFEITS = range(6)
LANE_SIZE = 6

MAX_KINDS = 8
NO_ANSWER = -(2**62)


@rule
def is_legal(state: Any, action: int, is_drawn: int) -> bool:
    """Whether an action is among the node's legal ones.

    A search that ends where it finds suits a bot that mostly wants the same; for one that draws,
    whose choice the processor cannot guess, it is quicker to look at all.
    """
    at = state[LEGAL_AT]
    found = False
    for i in range(state[NUM_LEGAL]):
        found |= state[at + i] == action
        if not is_drawn and found:
            return True
    return found


@rule
def place_of(standings: Any, seat: int) -> int:
    """1 + the number of seats that stand higher."""
    place = 1
    for other in range(len(standings)):
        if standings[other] > standings[seat]:
            place += 1
    return place


# Seats that forfeited stand below all others, the first to forfeit lowest.
FORFEITED = -(2**62)


@cache
def stepper(game_name: str) -> tuple[Any, Any]:
    """(step, illegal) for a game, compiled or loaded from the cache."""
    game = get_game(game_name)
    sources = ("stepper.py", "rows.py", "games/nodes.py", f"games/{game_name}/")
    return compiled(_make_step(game), *sources), compiled(_make_illegal(), *sources)


def _make_illegal() -> Any:
    def illegal(states: Any, lanes: Any, actions: Any, wrong: Any) -> int:
        """Write the positions of actions that are not legal to `wrong`; return how many."""
        count = 0
        for i in range(len(lanes)):
            if not is_legal(states[lanes[i]], actions[i], 0):
                wrong[count] = i
                count += 1
        return count

    return illegal


@dataclass(frozen=True)
class Loop:
    """What every compiled loop around a game is made of, as rules."""

    load: Any
    run: Any
    write: Any


@cache
def loop_of(game_name: str) -> Loop:
    """The rules that load, run and write a match of a game."""
    game = get_game(game_name)
    start, advance, score, standing = game.start, game.advance, game.score, game.standing

    @rule
    def load(
        lane: Any, state: Any, source: Any, forfeits: Any, blank: Any, segments: Any, keys: Any,
        cursor: Any,
    ) -> bool:  # fmt: skip
        """Start the next match of the segments in a lane; False: there is none."""
        if cursor[0] >= segments[len(keys), 0]:
            return False
        while cursor[0] >= segments[cursor[1] + 1, 0]:
            cursor[1] += 1
        row, segment = cursor[0], cursor[1]
        cursor[0] += 1
        repetition = segments[segment, 1] + row - segments[segment, 0]
        seeds.seed_source(source, keys[segment], repetition, len(forfeits))
        for i in range(len(state)):
            state[i] = blank[i]
        for seat in range(len(forfeits)):
            forfeits[seat] = 0
        lane[ROW] = row
        lane[SEGMENT] = segment
        lane[DIGEST] = seeds.digest_start()
        lane[CHANCES] = 0
        lane[DECISIONS] = 0
        lane[FORFEITS] = 0
        start(state)
        return True

    @rule
    def run(
        state: Any, source: Any, lane: Any, forfeits: Any, reads_luck: Any, answer: int
    ) -> None:
        """Run a match to the next decision of a seat that still decides, or to the end.

        `answer` is the action for the decision that the match stands at, NO_ANSWER at its start.
        A seat whose bot never reads its luck has none drawn: its stream is its own.
        """
        while state[NODE] != END:
            action = answer
            if state[NODE] == CHANCE:
                action = seeds.draw(source, state[WAYS])
                lane[CHANCES] += 1
            elif answer == NO_ANSWER:
                seat = state[SEAT]
                if reads_luck[seat]:
                    state[LUCK] = seeds.draw_luck(source, seat)
                lane[DECISIONS] += 1
                if forfeits[seat] == 0:
                    return
                action = state[state[LEGAL_AT]]
            answer = NO_ANSWER
            lane[DIGEST] = seeds.digest_add(lane[DIGEST], action)
            advance(state, action)

    @rule
    def write(
        state: Any, lane: Any, forfeits: Any, standings: Any,
        chances: Any, decisions: Any, termination: Any, digest: Any, scores: Any, places: Any,
    ) -> None:  # fmt: skip
        """Write a finished match into its row of the record.

        Columns one by one: taking them out of a tuple would count references at every match.
        """
        row = lane[ROW]
        chances[row] = lane[CHANCES]
        decisions[row] = lane[DECISIONS]
        termination[row] = state[TERMINATION]
        digest[row] = lane[DIGEST]
        for seat in range(len(standings)):
            scores[row, seat] = score(state, seat)
            if forfeits[seat] > 0:
                standings[seat] = FORFEITED + forfeits[seat]
            else:
                standings[seat] = standing(state, seat)
        for seat in range(len(standings)):
            places[row, seat] = place_of(standings, seat)

    return Loop(load, run, write)


def _make_step(game: Game) -> Any:
    observe = game.observe
    loop = loop_of(game.name)
    load, run, write = loop.load, loop.run, loop.write
    from ladder import rows  # by module: numba's cache cannot name an intrinsic

    def step(
        live: Any,  # lanes to step; afterwards the lanes that wait, sorted by bot and kind
        actions: Any,  # by lane
        lanes: Any,  # counters by lane; ROW < 0: nothing in it yet
        states: Any,
        sources: Any,
        forfeits: Any,
        blank: Any,  # the state row before `start`
        segments: Any,  # (first row, first repetition) by segment, and an end row
        keys: Any,  # the deal's key words by segment
        players: Any,  # bot index by segment and seat
        reads_luck: Any,  # by seat
        cursor: Any,  # [next row, its segment]
        columns: Any,
        due: Any,  # out: the views that are due
        groups: Any,  # out: (bot, kind, first position, count)
        started: Any,  # out: lanes whose match began in this step
    ) -> tuple[int, int, int]:
        chances, decisions, termination, digest, scores, places = columns
        seats = players.shape[1]
        standings = np.zeros(seats, np.int64)
        spare = np.zeros(due.shape[1], np.int64)
        waiting = np.zeros(len(live), np.int64)
        num_waiting = 0
        num_started = 0
        num_bots = groups.shape[0] // MAX_KINDS
        counts = np.zeros(num_bots * MAX_KINDS + 1, np.int64)
        for i in range(len(live)):
            n = live[i]
            lane, state, source = rows.row(lanes[n]), rows.row(states[n]), rows.row(sources[n])
            forfeit = rows.row(forfeits[n])
            is_new = False
            answer = actions[n]
            while True:
                if lane[ROW] < 0:
                    if not load(lane, state, source, forfeit, blank, segments, keys, cursor):
                        break
                    is_new = True
                    answer = NO_ANSWER
                run(state, source, lane, forfeit, reads_luck, answer)
                if state[NODE] != END:
                    break
                write(
                    state, lane, forfeit, standings,
                    chances, decisions, termination, digest, scores, places,
                )  # fmt: skip
                lane[ROW] = -1
            if lane[ROW] < 0:
                continue
            if is_new:
                started[num_started] = n
                num_started += 1
            waiting[num_waiting] = n
            num_waiting += 1
            bot = players[lane[SEGMENT], state[SEAT]]
            counts[bot * MAX_KINDS + state[NODE] + 1] += 1
        num_groups = 0
        for group in range(num_bots * MAX_KINDS):
            if counts[group + 1] > 0:
                groups[num_groups, 0] = group // MAX_KINDS
                groups[num_groups, 1] = group % MAX_KINDS
                groups[num_groups, 2] = counts[group]
                groups[num_groups, 3] = counts[group + 1]
                num_groups += 1
            counts[group + 1] += counts[group]
        for i in range(num_waiting):
            n = waiting[i]
            state = states[n]
            bot = players[lanes[n, SEGMENT], state[SEAT]]
            group = bot * MAX_KINDS + state[NODE]
            at = counts[group]
            counts[group] = at + 1
            live[at] = n
            seen = observe(state, spare)
            for j in range(due.shape[1]):
                due[at, j] = seen[j]
        return num_waiting, num_groups, num_started

    return step


def columns_of(record: Record) -> tuple[Ints, ...]:
    """The columns that `step` writes."""
    return (
        record.chances,
        record.decisions,
        record.termination,
        record.digest,
        record.scores,
        record.places,
    )
