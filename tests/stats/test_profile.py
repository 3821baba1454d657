"""How candidates stake, told of any bot: trusted or contained, sound or faulty."""

import pytest

from ladder.execute import Workers
from ladder.lab import compare
from ladder.lab.questions import question_of_words

BOT = """\
from ladder.games.pasa import PasaBot


class Mine(PasaBot):
    def __init__(self):
        self.asked = 0

    def stake(self, view):
        self.asked += 1
        {body}
"""


@pytest.fixture
def profile_of(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "PROFILE_MATCHES", 6)
    monkeypatch.setattr(compare, "PROFILE_MATCHES_OF_STRANGERS", 6)

    def profile(body, *, trusts_all):
        (tmp_path / "mine.py").write_text(BOT.format(body=body))
        question, _ = question_of_words(
            [f"{tmp_path}/mine.py:Mine", "Most"], ["Least"], "pasa", "seats=2,rounds=1,chips=60",
            5, {"matches": 500}, trusts_all=trusts_all,
        )  # fmt: skip
        return compare.compare(question, Workers(0)).profile

    return profile


ALTERNATES = "return view.legal[self.asked % 2]"


def test_a_stranger_has_the_profile_of_the_same_bot_trusted(profile_of):
    contained = profile_of(ALTERNATES, trusts_all=False)
    assert contained == profile_of(ALTERNATES, trusts_all=True)
    assert contained["stakes"]["Mine"]["mean_stake_by_lead"]


def test_by_hand(profile_of):
    """The least stake always is 5; who stakes the most differs wherever there is a choice."""
    found = profile_of("return view.least_stake", trusts_all=True)
    assert set(found["stakes"]["Mine"]["mean_stake_by_lead"].values()) == {5.0}
    apart = [row["share_of_decisions"] for row in found["differences"] if row["a"] == "Mine"]
    assert sum(apart) == pytest.approx(1)


@pytest.mark.parametrize("trusts_all", [True, False])
@pytest.mark.parametrize("body", ["raise ValueError", "return 'five'", "return 7"])
def test_where_a_bot_faults_its_default_move_counts(body, trusts_all, profile_of):
    found = profile_of(body, trusts_all=trusts_all)
    assert set(found["stakes"]["Mine"]["mean_stake_by_lead"].values()) == {5.0}


def test_nor_does_it_matter_that_its_process_dies(profile_of):
    found = profile_of("import os; os._exit(3)", trusts_all=False)
    assert set(found["stakes"]["Mine"]["mean_stake_by_lead"].values()) == {5.0}
