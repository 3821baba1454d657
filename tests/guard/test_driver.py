"""The driver where bots are in child processes: hostile ones beside honest ones."""

import numpy as np
import pytest

from ladder.driver import LocalPlayer, play
from ladder.errors import BotFaultError
from ladder.games import get_game
from ladder.isolate.verdict import Limits
from ladder.record import Segment
from tests.isolate import faulty_bots
from tests.isolate.conftest import bundle, make_player, nurseries, source_bundle  # noqa: F401

GAME = get_game("pasa")
TABLE = GAME.table(seats=3, rounds=1, chips=200)
LINEUPS = [(0, 1, 2), (2, 0, 1), (0, 2, 0), (1, 1, 0)]
KEYS = [bytes([n]) * 32 for n in range(len(LINEUPS))]
LIMITS = Limits(decision_ms=60, wall_ms=300, memory_mb=256)
# Ends its process in about one match in eight, by the luck of its first decision.
MOODY = (
    "import os\nfrom ladder.games.pasa import PasaBot\n"
    "class Mine(PasaBot):\n    def stake(self, view):\n"
    "        if view.luck % 16 == 3:\n            os._exit(3)\n"
    "        return view.least_stake\n"
)


def segments(each):
    return [Segment(lineup, bytes(32), 5, each) for lineup in LINEUPS]


def honest_rows(each, bot):
    """Rows of the matches in which a bot does not sit."""
    seats = [bot in lineup for lineup in LINEUPS for _ in range(each)]
    return [row for row, sits in enumerate(seats) if not sits]


@pytest.mark.parametrize("tier", ["sandbox", "strict"])
@pytest.mark.parametrize("hostile", ["OsExit", pytest.param("Leak", marks=pytest.mark.slow)])
def test_hostile_beside_honest(hostile, tier, make_player):  # noqa: F811
    each = 4 if tier == "sandbox" else 2
    local = [LocalPlayer(GAME, faulty_bots.Honest, {}) for _ in range(3)]
    expected = play(GAME, TABLE, local, segments(each), KEYS)
    players = [make_player(bundle(name), tier, LIMITS) for name in ("Honest", hostile, "Honest")]
    got = play(GAME, TABLE, players, segments(each), KEYS)
    rows = honest_rows(each, 1)
    assert np.array_equal(got.digest[rows], expected.digest[rows])
    assert np.array_equal(got.places[rows], expected.places[rows])
    blamed = {(row.row, row.seat) for row in got.fault_rows}
    lineups = [lineup for lineup in LINEUPS for _ in range(each)]
    assert blamed == {(r, s) for r, line in enumerate(lineups) for s in range(3) if line[s] == 1}
    assert len(got.fault_rows) == len(blamed) == got.faults.sum()
    causes = {"OsExit": {"crash"}, "Leak": {"memory", "timeout_cpu"}}  # a leak takes time too
    assert {row.fault.cause for row in got.fault_rows} <= causes[hostile]


def test_convictions_do_not_depend_on_lanes(make_player):  # noqa: F811
    """The same faults at the same decisions, however many matches go down together."""
    found = []
    for lanes in (1, 7, 1000):
        players = [
            make_player(source, "sandbox", LIMITS)
            for source in (bundle("Honest"), source_bundle(MOODY), bundle("Honest"))
        ]
        record = play(GAME, TABLE, players, segments(6), KEYS, lanes=lanes)
        rows = sorted((f.row, f.seat, f.decision, f.fault.cause) for f in record.fault_rows)
        found.append((rows, record.digest.tolist(), record.places.tolist()))
        assert 0 < len(rows) < 18
    assert found[0] == found[1] == found[2]


def test_abort_names_the_match(make_player):  # noqa: F811
    players = [make_player(source_bundle(MOODY), "sandbox", LIMITS), make_player(bundle("Honest"))]
    alone = [Segment((0, 1, 1), bytes(32), 0, 40)]
    with pytest.raises(BotFaultError) as stopped:
        play(GAME, TABLE, players, alone, KEYS[:1], on_fault="abort")
    assert stopped.value.cause == "crash"
    row = stopped.value.row
    again = [Segment((0, 1, 1), bytes(32), row, 1)]
    with pytest.raises(BotFaultError) as lone:
        play(GAME, TABLE, players, again, KEYS[:1], on_fault="abort")
    assert lone.value.decision == stopped.value.decision
