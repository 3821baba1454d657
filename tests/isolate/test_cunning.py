"""Further attacks: each contained, each blamed on the bot that made it."""

from pathlib import Path

import pytest

from ladder.isolate.verdict import Bundle, Limits, Unsettled
from ladder.record import Fault
from tests.isolate.conftest import ask

SOURCE = (Path(__file__).parent / "cunning_bots.py").read_bytes()
VERDICTS = {
    "FeignsOurFault": "ok",
    "ExitsAsIfNotLocked": "crash",
    "RaisesItsLimits": "ok",
    "WritesItsMemory": "ok",
    "ReadsAhead": "ok",
    "TracesTheLoop": "ok",
    "ChangesTheLoop": "protocol",  # more answers than questions
    "EvilIndex": "ok",
    "PrintsIntoItsAnswers": "protocol",
    "ClosesAndSwaps": "crash",
    "TakesAllDescriptors": "ok",
    "PrintsControls": "ok",
    "ClaimsOurFault": "protocol",
    "LeavesThingsBehind": "ok",
    "CallsTheKernelByHand": "ok",
}
PATIENT = Limits(decision_ms=2000, wall_ms=5000)


def cunning(name, source=SOURCE):
    return Bundle("cunning_bots", (("cunning_bots.py", source),), name)


def asked_once(player):
    player.start([0])
    (answer,) = ask(player, [0])
    return answer


@pytest.mark.parametrize("tier", ["sandbox", "strict"])
@pytest.mark.parametrize("name", VERDICTS)
def test_contained(name, tier, make_player):
    player = make_player(cunning(name), tier, PATIENT)
    answer = asked_once(player)
    assert (answer.cause if isinstance(answer, Fault) else "ok") == VERDICTS[name], answer
    assert "ESCAPED" not in str(answer)
    assert not {"\x1b", "\x00", "\u202e"} & set(player.output.text())


def test_an_integer_counts_as_what_it_was_made(make_player):
    assert asked_once(make_player(cunning("EvilIndex"), limits=PATIENT)) == 5


def test_a_bot_that_ends_while_it_is_loaded_is_to_blame(make_player):
    """Even with the exit code that says the child was not locked down."""
    player = make_player(cunning("Any", b"import os\nos._exit(78)\n"), limits=PATIENT)
    assert asked_once(player).cause == "init_failed"


def test_what_an_object_does_at_its_end_convicts_nobody_else(make_player):
    """Its child may serve another of its matches by then: that one is played again, alone."""
    player = make_player(cunning("LeavesThingsBehind"), limits=Limits(decision_ms=60))
    assert asked_once(player) == 5
    player.finish([0])
    player.start([8])
    with pytest.raises(Unsettled):
        ask(player, [8])
    assert asked_once(player.fresh()) == 5
