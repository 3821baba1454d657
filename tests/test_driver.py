"""The driver equals a plain loop, whatever the lanes; a bot's fault is its own and no other's."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

from ladder.bots import available
from ladder.driver import as_actions
from ladder.errors import BotFaultError
from ladder.games import GAMES, get_game
from ladder.interrupts import is_asked, stoppable
from ladder.record import Record
from tests.plain_play import KEY, loaded, play_many, play_plainly

PASA = get_game("pasa")
FAULTY = "tests/faulty_bots.py:"

# class: cause, what the detail says
FAULTS = {
    "Raises": ("exception", "ValueError: I do not like this mat"),
    "RaisesOnce": ("exception", "RuntimeError: the third time"),
    "PolicyRaises": ("exception", "ZeroDivisionError"),
    "IllegalStake": ("illegal", "returned 51 (int); legal are [5, 10, 20, 50]"),
    "Nought": ("illegal", "returned 0 (int); legal are [5, 10, 20, 50]"),
    "Negative": ("illegal", "returned -5 (int); legal are [5, 10, 20, 50]"),
    "Float": ("illegal", "returned 5.0 (float), not an integer"),
    "Nothing": ("illegal", "returned None (NoneType), not an integer"),
    "TrueStake": ("illegal", "returned True (bool), not an integer"),
    "NumpyBool": ("illegal", "returned np.True_ (bool), not an integer"),
    "Words": ("illegal", "returned 'five' (str), not an integer"),
    "HugeInteger": ("illegal", f"returned {10**30} (int), out of any range"),
    "WholeList": ("illegal", "returned (5, 10, 20, 50) (tuple), not an integer"),
    "NumpyArray": ("illegal", "returned array([ 5, 10, 20, 50]) (ndarray), not an integer"),
    "Exits": ("exception", "SystemExit: 3"),
    "Interrupts": ("exception", "KeyboardInterrupt: I want to go home"),
    "InterruptsInInit": ("init_failed", "KeyboardInterrupt"),
    "GeneratorExits": ("exception", "GeneratorExit"),
    "RaisesUnprintable": ("exception", "_Odd, whose text raises"),
    "Recurses": ("exception", "RecursionError: maximum recursion depth exceeded"),
    "RaisesInInit": ("init_failed", "RuntimeError: not today"),
    "InitWantsMore": ("init_failed", "missing 1 required positional argument: 'friend'"),
    "RaisesInRepr": ("illegal", "returned an object whose repr raises (_Unshowable)"),
    "RaisesInClass": ("illegal", "not an integer"),
    "WritesToView": ("exception", "AttributeError"),
    "NotAMethod": ("exception", "TypeError: 'int' object is not callable"),
}
HARMLESS = ("NumpyInteger", "IndexObject", "Wasteful", "Prints")

TABLES: list[dict[str, Any]] = [
    {"seats": 4},
    {"seats": 2, "chips": 60, "rounds": 5},
    {"seats": 6, "chips": 120, "least": 3, "most": 70, "fifteen_cut_percent": 33},
    {"seats": 3, "chips": 100, "first_thrower": 2, "sizes": [5, 6, 50]},
]


# --- parity with the plain loop


@pytest.mark.parametrize("options", TABLES, ids=str)
def test_every_shipped_pasa_bot_plays_as_in_a_plain_loop(options: dict[str, Any]) -> None:
    listings, _ = available("pasa")
    names = [listing.name for listing in listings]
    table = PASA.table(**options)
    seats = table.seats
    rounds = -(-len(names) // seats)
    lineups = [[(seats * i + k) % len(names) for k in range(seats)] for i in range(rounds)]
    record = play_many(PASA, table, names, 5, lineups=lineups, first=3)
    _assert_plain(record, table, names, lineups, 5, first=3)
    assert record.faults.sum() == 0


@pytest.mark.parametrize("game_name", GAMES)
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_any_games_bots_play_as_in_a_plain_loop(game_name: str, seats: int) -> None:
    game = get_game(game_name)
    names = [listing.name for listing in available(game_name)[0]][: 2 * seats]
    table = game.table(seats=seats)
    lineups = [[i % len(names) for i in range(start, start + seats)] for start in range(seats)]
    record = play_many(game, table, names, 2, lineups=lineups)
    for row, lineup in enumerate(each for each in lineups for _ in range(2)):
        bots = loaded(game, [names[i] for i in lineup])
        plain = play_plainly(game, table, bots, repetition=row % 2)
        assert record.scores[row].tolist() == plain.scores
        assert int(record.digest[row]) == plain.digest


def test_bots_that_remember_play_as_in_a_plain_loop() -> None:
    names = [f"{FAULTY}Counts", "Easy"]
    table = PASA.table(seats=4)
    lineups = [[0, 1, 0, 1], [0, 0, 1, 1]]
    record = play_many(PASA, table, names, 30, lineups=lineups, lanes=7)
    _assert_plain(record, table, names, lineups, 30)


def _assert_plain(
    record: Record, table: Any, names: list[str], lineups: Any, matches: int, first: int = 0
) -> None:
    rows = iter(range(len(record)))
    for lineup in lineups:
        for repetition in range(first, first + matches):
            row = next(rows)
            bots = loaded(PASA, [names[i] for i in lineup])
            plain = play_plainly(PASA, table, bots, repetition=repetition)
            assert int(record.digest[row]) == plain.digest
            assert record.scores[row].tolist() == plain.scores
            assert record.places[row].tolist() == plain.places
            assert int(record.chances[row]) == len(plain.chances)
            assert int(record.decisions[row]) == plain.decisions
            assert int(record.termination[row]) == plain.termination


@pytest.mark.parametrize("lanes", [1, 2, 33, 1000])
def test_lanes_change_nothing(lanes: int) -> None:
    names = ["Easy", "Uniform", f"{FAULTY}Counts", f"{FAULTY}RaisesOnce"]
    lineups = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 1, 1]]
    table = PASA.table()
    one = play_many(PASA, table, names, 70, lineups=lineups, lanes=64)
    other = play_many(PASA, table, names, 70, lineups=lineups, lanes=lanes)
    _assert_same(one, other)
    assert _fault_places(one) == _fault_places(other)


def _assert_same(one: Record, other: Record) -> None:
    for column in (
        "chances", "decisions", "termination", "digest", "scores", "places", "faults",
    ):  # fmt: skip
        assert np.array_equal(getattr(one, column), getattr(other, column)), column


def _fault_places(record: Record) -> list[tuple[int, int, int, str, str]]:
    rows = record.fault_rows
    return sorted((f.row, f.seat, f.decision, f.fault.cause, f.fault.detail) for f in rows)


def test_a_segment_is_the_same_wherever_it_starts() -> None:
    names = ["Easy", "Hard", "Uniform", "Medium"]
    whole = play_many(PASA, PASA.table(), names, 40)
    part = play_many(PASA, PASA.table(), names, 15, first=25)
    assert np.array_equal(whole.digest[25:], part.digest)


# --- dice and luck


def test_the_dice_do_not_depend_on_the_stakes() -> None:
    """Rule 8: up to where the matches end, the same throws to any bots."""
    table = PASA.table()
    for repetition in range(20):
        throws = [
            play_plainly(PASA, table, loaded(PASA, [name] * 4), repetition=repetition).chances
            for name in ("Least", "Most", "Uniform")
        ]
        shortest = min(map(len, throws))
        assert shortest > 5
        assert len({tuple(seen[:shortest]) for seen in throws}) == 1


def test_a_bot_that_draws_1000_extra_random_numbers_changes_nothing() -> None:
    quiet = play_many(PASA, PASA.table(), ["Least", "Easy", "Uniform", "Easy"], 10)
    busy = play_many(PASA, PASA.table(), [f"{FAULTY}Wasteful", "Easy", "Uniform", "Easy"], 10)
    _assert_same(quiet, busy)


def test_what_a_bot_prints_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    play_many(PASA, PASA.table(seats=2), [f"{FAULTY}Prints", "Easy"], 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "I stake the least" in err


# --- faults


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("on_fault", ["forfeit", "default"])
def test_a_fault_is_recorded_and_charged_to_its_seat_alone(name: str, on_fault: str) -> None:
    names = [f"{FAULTY}{name}", "Least", "Easy"]
    record = play_many(PASA, PASA.table(), names, 6, lineups=[[1, 0, 2, 2]], on_fault=on_fault)
    assert record.faults[:, [0, 2, 3]].sum() == 0
    assert record.faults[:, 1].sum() == len(record.fault_rows) > 0
    cause, detail = FAULTS[name]
    for row in record.fault_rows:
        assert row.seat == 1
        assert row.fault.cause == cause
        assert row.decision >= 1
    assert any(detail in row.fault.detail for row in record.fault_rows)
    if cause != "illegal":
        assert all("line " in row.fault.traceback for row in record.fault_rows)
    if on_fault == "forfeit":
        assert record.faults[:, 1].max() == 1  # not asked again
        assert (record.places[record.faults[:, 1] == 1, 1] == 4).all()


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_an_integer_is_no_fault(name: str) -> None:
    names = [f"{FAULTY}{name}", "Easy"]
    record = play_many(PASA, PASA.table(), names, 5, lineups=[[0, 1, 1, 1]])
    assert record.faults.sum() == 0
    _assert_same(
        record, play_many(PASA, PASA.table(), ["Least", "Easy"], 5, lineups=[[0, 1, 1, 1]])
    )


@pytest.mark.parametrize("on_fault", ["forfeit", "default"])
@pytest.mark.parametrize("name", ["Raises", "IllegalStake", "RaisesInInit", "Nothing"])
def test_a_bot_that_always_faults_stakes_the_least(name: str, on_fault: str) -> None:
    lineups = [[0, 1, 1, 1], [1, 1, 0, 1]]
    faulty = play_many(
        PASA, PASA.table(), [f"{FAULTY}{name}", "Easy"], 8, lineups=lineups, on_fault=on_fault
    )
    least = play_many(PASA, PASA.table(), ["Least", "Easy"], 8, lineups=lineups)
    assert np.array_equal(faulty.digest, least.digest)
    assert np.array_equal(faulty.scores, least.scores)
    if on_fault == "default":
        assert np.array_equal(faulty.places, least.places)
        assert faulty.faults.max() > 1  # asked and counted every time


def test_the_others_places_close_up_over_a_seat_that_forfeited() -> None:
    record = play_many(PASA, PASA.table(), [f"{FAULTY}Raises", "Easy"], 30, lineups=[[1, 0, 1, 1]])
    for places, scores in zip(record.places.tolist(), record.scores.tolist(), strict=True):
        assert places[1] == 4
        others = [0, 2, 3]
        for seat in others:
            assert places[seat] == 1 + sum(scores[o] > scores[seat] for o in others)


def test_of_two_that_forfeit_the_first_is_last() -> None:
    names = [f"{FAULTY}Raises", f"{FAULTY}RaisesOnce", "Easy"]
    record = play_many(PASA, PASA.table(), names, 20, lineups=[[2, 0, 2, 1]])
    both = record.faults[:, 3] == 1
    assert both.any()
    assert (record.places[both, 1] == 4).all()
    assert (record.places[both, 3] == 3).all()


def test_a_fault_after_the_third_decision_leaves_the_first_two_alone() -> None:
    record = play_many(
        PASA, PASA.table(seats=2), [f"{FAULTY}RaisesOnce", "Least"], 10, lineups=[[0, 1]]
    )
    for row in record.fault_rows:
        assert row.decision > 2


def test_other_matches_of_the_chunk_are_as_without_the_faulty_bot() -> None:
    names = [f"{FAULTY}PolicyRaises", f"{FAULTY}Exits", "Easy", "Uniform", f"{FAULTY}Counts"]
    clean = [[2, 3, 4, 2], [4, 4, 3, 2]]
    faulty = [[0, 2, 3, 4], [1, 0, 4, 4]]
    alone = play_many(PASA, PASA.table(), names, 20, lineups=clean)
    mixed = play_many(PASA, PASA.table(), names, 20, lineups=[faulty[0], *clean, faulty[1]])
    assert np.array_equal(mixed.digest[20:60], alone.digest)
    assert np.array_equal(mixed.scores[20:60], alone.scores)
    assert mixed.faults[20:60].sum() == 0


@pytest.mark.parametrize("name", ["Raises", "Float", "RaisesInInit"])
def test_abort_raises_the_fault(name: str) -> None:
    names = [f"{FAULTY}{name}", "Easy"]
    with pytest.raises(BotFaultError) as error:
        play_many(PASA, PASA.table(), names, 5, lineups=[[1, 1, 0, 1]], on_fault="abort")
    assert error.value.seat == 2
    assert error.value.cause == FAULTS[name][0]
    assert error.value.exit_code == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("swallows", [False, True])
def test_a_signal_inside_a_bot_is_no_fault(
    number: int, swallows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def interrupted(view: Any, params: Any) -> int:
        try:
            asked.append(1)
            signal.raise_signal(number)
        except BaseException:
            if not swallows:
                raise
        return int(view.least_stake)

    bots = loaded(PASA, ["Least", "Easy"])
    monkeypatch.setattr(bots[0].bot, "stake", staticmethod(interrupted))
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), stoppable(signal.SIGTERM):
        play_many(PASA, PASA.table(seats=2), ["Least", "Easy"], 500)
    assert len(asked) <= 500  # of the 1,000 first decisions
    assert signal.getsignal(number) == before
    assert not is_asked()


def test_answers_are_taken_in_their_order() -> None:
    answers = [5, np.int64(10), 2**70, None, np.uint8(20), True]
    actions, faults = as_actions(answers)
    assert sorted(faults) == [2, 3, 5]
    assert [int(actions[i]) for i in (0, 1, 4)] == [5, 10, 20]


def test_the_key_of_these_tests_is_a_key() -> None:
    assert len(KEY) == 32
