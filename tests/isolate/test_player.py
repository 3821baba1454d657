"""The player as the driver meets it: order, objects, batches, faults, limits, output."""

import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest

from ladder.driver import LocalPlayer, play
from ladder.errors import InfraError
from ladder.games import get_game
from ladder.isolate.verdict import Bundle, Limits, Unsettled
from ladder.record import Fault, Segment
from tests.isolate import faulty_bots
from tests.isolate.conftest import FAST, STAKE, ask, bundle, rows, source_bundle

HEAD = "from ladder.games.pasa import PasaBot\n"
TIERS = ("sandbox", "strict")


@pytest.mark.parametrize("tier", TIERS)
def test_answers_in_the_order_asked(tier, make_player):
    text = HEAD + "class Mine(PasaBot):\n    def stake(self, view):\n        return view.luck\n"
    player = make_player(source_bundle(text), tier)
    count = 300 if tier == "sandbox" else 6
    keys = [8 * lane + seat for lane in range(count) for seat in (0, 3)]
    random.Random(1).shuffle(keys)
    player.start(keys)
    for _ in range(3):
        assert ask(player, keys) == list(range(2 * count))


@pytest.mark.parametrize("tier", TIERS)
def test_posts_are_collected_in_order(tier, make_player):
    text = HEAD + "class Mine(PasaBot):\n    def stake(self, view):\n        return view.luck\n"
    player = make_player(source_bundle(text), tier)
    player.start([0, 8, 16])
    views = rows(3)
    player.post(STAKE, [0, 8], views[:2])
    player.post(STAKE, [16], views[2:])
    assert (player.collect(), player.collect()) == ([0, 1], [2])


@pytest.mark.parametrize("tier", TIERS)
def test_new_object_every_match(tier, make_player):
    text = HEAD + (
        "class Mine(PasaBot):\n    count = 0\n"
        "    def stake(self, view):\n        self.count += 1\n        return self.count\n"
    )
    player = make_player(source_bundle(text), tier)
    player.start([0, 8])
    assert [ask(player, [0, 8]), ask(player, [0]), ask(player, [0, 8])] == [[1, 1], [2], [3, 2]]
    player.start([0])
    assert ask(player, [0, 8]) == [1, 3]
    player.start([1])  # another seat of a lane: the match before is over
    assert ask(player, [1, 8]) == [1, 4]


def test_numbers_of_any_size_arrive(make_player):
    text = HEAD + "class Mine(PasaBot):\n    def stake(self, view):\n        return view.luck\n"
    player = make_player(source_bundle(text))
    player.start([0, 8])
    views = rows(2)
    for numbers in ([2**31 - 1, -(2**31)], [2**31, 5], [2**61, -(2**61)]):
        views[:, 4] = numbers
        player.post(STAKE, [0, 8], views)
        assert player.collect() == numbers


def test_params_and_policies(make_player):
    text = HEAD + (
        "class Mine(PasaBot):\n    lead: int = 3\n    bold: bool = False\n    f: float = 0.5\n"
        "    name: str = 'x'\n    @staticmethod\n    def stake(view, params):\n"
        "        return params.lead + 100 * params.bold + int(10 * params.f) + len(params.name)\n"
    )
    assert_one(make_player(source_bundle(text)), 3 + 5 + 1)
    player = make_player(source_bundle(text, lead=7, bold=True, f=1.5, name="four"))
    assert_one(player, 7 + 100 + 15 + 4)


def assert_one(player, expected):
    player.start([0])
    assert ask(player, [0]) == [expected]


@pytest.mark.parametrize("tier", TIERS)
def test_numpy_and_standard_library_work(tier, make_player):
    text = HEAD + (
        "import collections, decimal, hashlib, json, random, re, sqlite3, statistics, zlib\n"
        "import numpy as np\n"
        "class Mine(PasaBot):\n    def stake(self, view):\n"
        "        sqlite3.connect(':memory:').execute('select 1')\n"
        "        hashlib.sha3_256(b'x').hexdigest(); random.SystemRandom().random()\n"
        "        np.linalg.svd(np.ones((4, 4)))\n"
        "        return np.int32(view.least_stake)\n"
    )
    player = make_player(source_bundle(text), tier, Limits(decision_ms=3000, wall_ms=9000))
    assert_one(player, 5)


@pytest.mark.parametrize("tier", TIERS)
def test_compiled_dice_plans_work(tier, make_player):
    """Compiled by the zygote; the child could not."""
    text = HEAD + (
        "from ladder.games.pasha.dice import Plan\n"
        "class Mine(PasaBot):\n    def stake(self, view):\n"
        "        plan = Plan([float(m * m) for m in range(37)], cubes=2, lamp=True)\n"
        "        return int(plan.distribution().sum() * 1000 + 0.5)\n"
    )
    player = make_player(source_bundle(text), tier, Limits(decision_ms=1000, wall_ms=9000))
    assert_one(player, 1000)


def test_bundle_of_several_files(make_player):
    main = (
        HEAD
        + "from mine.deep import table\nimport beside\n"
        + ("class Mine(PasaBot):\n    def stake(self, view):\n        return table.N + beside.N\n")
    )
    files = (
        ("mine/__init__.py", main.encode()),
        ("mine/deep/table.py", b"from . import number\nN = number.N"),
        ("mine/deep/number.py", b"N = 40"),
        ("beside.py", b"N = 2"),
    )
    assert_one(make_player(Bundle("mine", files, "Mine")), 42)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1/0", "ZeroDivisionError"),
        ("class Other: pass", "no attribute 'Mine'"),
        ("import no_such_module", "no_such_module"),
        ("def broken(:", "SyntaxError"),
        ("import sys; sys.exit(4)", "exited with code 4"),
        ("while True: pass", "ms of CPU time, 300 allowed"),
        ("import time; time.sleep(60)", "no answer after"),
        ("x = bytearray(10 << 30)", "MemoryError"),
        ("import os; os.system('true'); open('/etc/passwd')", "Error: [Errno"),
        ("import os; os.abort()", "SIGABRT"),
    ],
)
@pytest.mark.parametrize("tier", TIERS)
def test_will_not_load(text, told, tier, make_player):
    limits = Limits(start_ms=300, memory_mb=256)
    player = make_player(source_bundle(text), tier, limits)
    player.start([0, 8])
    answers = ask(player, [0, 8])
    assert [answer.cause for answer in answers] == ["init_failed"] * 2
    assert told in answers[0].detail + answers[0].traceback
    player.start([0])
    assert ask(player, [0])[0].cause == "init_failed"


def test_fault_tells_the_author(make_player):
    player = make_player(bundle("Raises"))
    player.start([0])
    (fault,) = ask(player, [0])
    assert fault.detail == "KeyError: 'no such key'"
    assert 'return secret_plan["no such key"]' in fault.traceback
    assert "ladder/isolate" not in fault.traceback


def test_timeout_tells_limit_and_measure(make_player):
    player = make_player(bundle("Loop"))
    player.start([0])
    (fault,) = ask(player, [0])
    assert fault.cause == "timeout_cpu"
    assert "60 allowed" in fault.detail


def test_one_match_faults_and_the_others_go_on(make_player):
    text = HEAD + (
        "class Mine(PasaBot):\n    def stake(self, view):\n"
        "        return 1 // (view.luck - 1) + 9\n"
    )
    player = make_player(source_bundle(text))
    player.start([0, 8, 16])
    first, fault, last = ask(player, [0, 8, 16])
    assert (first, fault.cause, last) == (8, "exception", 10)


def test_lost_child_takes_only_its_own_matches(make_player):
    """Two seats of a match have two children; the death of one leaves the other's answers."""
    text = HEAD + (
        "import os\nclass Mine(PasaBot):\n    def stake(self, view):\n"
        "        os._exit(1) if view.luck == 3 else None\n        return 10 + view.luck\n"
    )
    player = make_player(source_bundle(text))
    player.start([0, 1, 8, 9])
    with pytest.raises(Unsettled) as lost:
        ask(player, [0, 1, 8, 9])
    assert sorted(lost.value.keys) == [1, 9]
    assert lost.value.answers == [10, None, 12, None]
    assert ask(player, [0, 8]) == [10, 11]
    player.start([9])
    assert ask(player, [9]) == [10]


@pytest.mark.parametrize("tier", TIERS)
def test_the_match_after_a_conviction_has_a_child_of_its_own(tier, make_player):
    text = HEAD + (
        "import os\nclass Mine(PasaBot):\n    def stake(self, view):\n"
        "        os._exit(1) if view.luck == 0 else None\n        return 10 + view.luck\n"
    )
    player = make_player(source_bundle(text), tier)
    player.start([0])
    assert ask(player, [0])[0].cause == "crash"
    assert ask(player, [0])[0].cause == "crash"  # that match is over for it
    player.start([0])
    player.post(STAKE, [0], rows(2)[1:])
    assert player.collect() == [11]


@pytest.mark.parametrize("tier", TIERS)
def test_our_own_delay_convicts_nobody(tier, make_player):
    """The wall clock runs while we attend; meanwhile the bot waits for us to take its output."""
    player = make_player(bundle("PrintsMuch"), tier)
    player.start([0])
    player.post(STAKE, [0], rows(1))
    time.sleep(3 * FAST.wall_ms / 1e3)
    assert isinstance(player.collect()[0], int)


def test_posts_behind_a_lost_child_are_unsettled_too(make_player):
    player = make_player(bundle("OsExit"))
    player.start([0, 8])
    player.post(STAKE, [0], rows(1))
    player.post(STAKE, [8], rows(1))
    for _ in range(2):
        with pytest.raises(Unsettled):
            player.collect()


def test_output_is_kept_and_capped(make_player):
    text = HEAD + (
        "import sys\nclass Mine(PasaBot):\n    def stake(self, view):\n"
        "        print('thinking', view.luck)\n        print('x' * 5000, file=sys.stderr)\n"
        "        return 5\n"
    )
    player = make_player(source_bundle(text), limits=Limits(output_kb=2))
    player.start([0])
    player.post(STAKE, [0], rows(1))
    time.sleep(0.3)  # both the print and the answer are there when we look
    player.collect()
    ask(player, [0])
    text = player.output.text()
    assert text.startswith("thinking 0\nxxx")
    assert "bytes more" in text
    assert len(text) < 2300


def test_many_slow_but_honest_decisions(make_player):
    """A frame's budget is one decision's: frames grow only as far as the bot is quick."""
    text = HEAD + (
        "import time\nclass Mine(PasaBot):\n    def stake(self, view):\n"
        "        end = time.process_time() + 0.01\n"
        "        while time.process_time() < end:\n            pass\n        return 5\n"
    )
    player = make_player(source_bundle(text), limits=Limits(decision_ms=60))
    keys = [8 * lane for lane in range(40)]
    player.start(keys)
    assert ask(player, keys) == [5] * 40


def test_many_slow_constructors(make_player):
    text = HEAD + (
        "import time\nclass Mine(PasaBot):\n    def __init__(self):\n"
        "        end = time.process_time() + 0.01\n"
        "        while time.process_time() < end:\n            pass\n        self.n = 7\n"
        "    def stake(self, view):\n        return self.n\n"
    )
    player = make_player(source_bundle(text), limits=Limits(start_ms=150))
    keys = [8 * lane for lane in range(40)]
    player.start(keys)
    assert ask(player, keys) == [7] * 40


@pytest.mark.parametrize("bot", ["OsExit", "Loop", "Leak"])
def test_unsettled_matches_are_settled_one_by_one(bot, make_player):
    player = make_player(bundle(bot))
    player.start([0, 1, 8])
    with pytest.raises(Unsettled) as lost:
        ask(player, [0, 1, 8])
    for key in lost.value.keys:
        again = player.fresh()
        again.start([key])
        assert isinstance(ask(again, [key])[0], Fault)
        again.close()


@pytest.mark.parametrize("tier", TIERS)
def test_same_matches_as_in_process(tier, make_player):
    """Bit for bit, beside a bot that faults in every match."""
    game = get_game("pasa")
    table = game.table(seats=3)
    lineups = [(0, 1, 2), (2, 0, 1), (0, 1, 0)]
    each = 40 if tier == "sandbox" else 3
    segments = [Segment(lineup, bytes(32), 0, each) for lineup in lineups]
    keys = [bytes([n]) * 32 for n in range(3)]
    names = ("Honest", "Raises", "Honest")
    local = [LocalPlayer(game, getattr(faulty_bots, name), {}) for name in names]
    apart = [make_player(bundle(name), tier, Limits()) for name in names]
    expected = play(game, table, local, segments, keys)
    got = play(game, table, apart, segments, keys, lanes=32)
    assert np.array_equal(got.digest, expected.digest)
    assert np.array_equal(got.scores, expected.scores)
    assert np.array_equal(got.faults, expected.faults)
    causes = {(r.row, r.seat, r.fault.cause, r.fault.detail) for r in got.fault_rows}
    assert causes == {(r.row, r.seat, r.fault.cause, r.fault.detail) for r in expected.fault_rows}


def test_zygote_killed(make_player, nurseries):
    player = make_player(bundle("Honest"))
    player.start([0])
    assert not isinstance(ask(player, [0])[0], Fault)
    player._nursery._process.kill()
    player._nursery._process.wait()
    with pytest.raises(InfraError):
        ask(player, [0])
    again = make_player(bundle("Honest"))
    again.start([0])
    assert not isinstance(ask(again, [0])[0], Fault)


def test_child_killed_from_outside_is_nobodys_fault(make_player):
    player = make_player(bundle("Sleep"), limits=Limits(wall_ms=20_000))
    player.start([0])
    player.post(STAKE, [0], rows(1))
    time.sleep(0.2)
    player._served[0].child.kill()
    with pytest.raises(InfraError, match="killed from outside"):
        player.collect()


def test_descriptors_and_memory_are_given_back(make_player):
    player = make_player(bundle("Honest"), "strict")

    def some_matches():
        for _ in range(10):
            keys = [8 * lane for lane in range(4)]
            player.start(keys)
            ask(player, keys)
            player.finish(keys)

    some_matches()
    before = len(os.listdir("/proc/self/fd"))
    some_matches()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.slow
def test_a_busy_machine_convicts_nobody(make_player):
    """A bot at 40 % of its budget, beside eight processes that want the CPU."""
    text = HEAD + (
        "import time\nclass Mine(PasaBot):\n    def stake(self, view):\n"
        "        end = time.process_time() + 0.02\n"
        "        while time.process_time() < end:\n            pass\n        return 5\n"
    )
    spin = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
    burners = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(8)]
    try:
        player = make_player(source_bundle(text), limits=Limits(decision_ms=50, wall_ms=200))
        player.start([0])
        assert [ask(player, [0]) for _ in range(60)] == [[5]] * 60
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


@pytest.mark.slow
def test_overshoot_of_deadlines(make_player, capsys):
    """Reported, not asserted."""
    found = {}
    for bot in ("Loop", "LoopDeaf", "Sleep"):
        limit = FAST.wall_ms if bot == "Sleep" else FAST.decision_ms
        over = []
        for _ in range(5):
            player = make_player(bundle(bot), "strict")
            player.start([0])
            player.post(STAKE, [0], rows(1))
            player._served[0].finish_loading()
            start = time.monotonic()
            assert isinstance(player.collect()[0], Fault)
            over.append((time.monotonic() - start) * 1e3 - limit)
        found[bot] = f"median {sorted(over)[2]:.1f} ms, most {max(over):.1f} ms"
    with capsys.disabled():
        print(f"\novershoot of deadlines, wall: {found}")


@pytest.mark.slow
def test_two_thousand_matches_leave_nothing(make_player, nurseries):
    """Flat memory and descriptors, ours and the zygote's."""
    game = get_game("pasa")
    table = game.table()
    segments = [Segment((0, 1, 0, 1), bytes(32), 0, 200)]

    def some_matches(number):
        players = [make_player(bundle("Honest"), limits=Limits()) for _ in range(2)]
        play(game, table, players, segments, [number.to_bytes(32, "little")])
        for player in players:
            player.close()
        return resident(os.getpid()), resident(nurseries.get(strict=False)._process.pid)

    some_matches(0)
    before = some_matches(1), len(os.listdir("/proc/self/fd"))
    for number in range(2, 12):
        after = some_matches(number), len(os.listdir("/proc/self/fd"))
    assert after[1] == before[1]
    assert after[0][0] - before[0][0] < 3000
    assert after[0][1] - before[0][1] < 500


def resident(pid):
    """KiB of memory a process holds."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
