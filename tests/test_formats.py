"""Formats and plans: seats shared fairly, counts known beforehand, no pairing tied to its place."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from ladder.plan import Plan
from tests.running import planned

BOTS = [
    "Easy", "Medium", "Hard", "Master", "Least", "Most", "Uniform", "CopyTheLeader",
    "LastTurnGambler", "FractionOfPile", "BoldUntilAhead",
]  # fmt: skip

FORMATS = {
    "round robin": "kind: round_robin, matches: {n}",
    "round robin with self-play": "kind: round_robin, self_play: true, matches: {n}",
    "gauntlet": "kind: gauntlet, challengers: [Easy, Medium], matches: {n}",
    "gauntlet with a small field": (
        "kind: gauntlet, challengers: [Easy], field: [Hard], matches: {n}"
    ),
    "gauntlet with a shared field": (
        "kind: gauntlet, challengers: [Easy, Hard], field: [Hard, Medium, Easy], matches: {n}"
    ),
    "random": "kind: random, rounds: 5, matches: {n}",
}


def plan(
    words: str, *, seats: int = 4, entrants: list[str] | None = None, matches: int | None = None
) -> Plan:
    """The plan of a format at so many seats."""
    chosen = BOTS[:7] if entrants is None else entrants
    text = (
        f"name: x\ngame: pasa\nseed: 3\ntable: {{seats: {seats}}}\n"
        f"entrants: [{', '.join(chosen)}]\n"
        f"format: {{{words.format(n=matches or 3 * seats)}}}\n"
    )
    return planned(text)[1]


def seat_counts(plan: Plan) -> dict[str, list[int]]:
    """Matches of each entrant by seat."""
    counts: dict[str, list[int]] = {}
    for pairing in plan:
        for seat, entrant in enumerate(pairing.lineup):
            by_seat = counts.setdefault(plan.names[entrant], [0] * plan.table.seats)
            by_seat[seat] += pairing.repetitions
    return counts


def pairings(plan: Plan) -> dict[bytes, tuple[int, tuple[str, ...]]]:
    """Digest: repetitions and names by seat."""
    found = {p.digest: (p.repetitions, tuple(plan.names[i] for i in p.lineup)) for p in plan}
    assert len(found) == sum(1 for _ in plan), "a pairing twice"
    return found


@pytest.mark.parametrize("seats", [2, 3, 4, 6])
@pytest.mark.parametrize("name", FORMATS)
def test_every_entrant_gets_every_seat_equally_often(name: str, seats: int) -> None:
    for by_seat in seat_counts(plan(FORMATS[name], seats=seats)).values():
        assert len(set(by_seat)) == 1


@pytest.mark.parametrize("seats", [2, 3, 4, 6])
@pytest.mark.parametrize("name", FORMATS)
def test_counts_are_known_before_a_match_is_played(name: str, seats: int) -> None:
    made = plan(FORMATS[name], seats=seats)
    counts: Counter[int] = Counter()
    total = 0
    for pairing in made:
        total += pairing.repetitions
        for entrant in set(pairing.lineup):
            counts[entrant] += pairing.repetitions
    assert made.num_matches == total
    assert made.matches_of_each() == [counts[i] for i in range(len(made.names))]


@pytest.mark.parametrize("name", FORMATS)
def test_matches_are_those_of_one_line_up_over_its_rotations(name: str) -> None:
    made = plan(FORMATS[name], matches=40)
    for index in range(len(made.lineups)):
        lineup, matches = made.lineups[index]
        assert list(lineup) == sorted(lineup)
        assert sum(p.repetitions for p in made.pairings(index)) == matches
        assert matches % 40 == 0


def test_round_robin_is_every_choice_of_entrants_by_hand() -> None:
    made = plan(FORMATS["round robin"], entrants=BOTS[:5])
    assert len(made.lineups) == 5  # 5 choose 4
    assert made.num_matches == 5 * 12
    assert made.matches_of_each() == [4 * 12] * 5


def test_self_play_adds_the_line_ups_that_repeat_an_entrant() -> None:
    made = plan("kind: round_robin, self_play: true, matches: {n}", seats=2, entrants=BOTS[:3])
    assert [made.lineups[i][0] for i in range(6)] == [
        (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2),
    ]  # fmt: skip


def test_a_gauntlets_challengers_do_not_meet() -> None:
    made = plan("kind: gauntlet, challengers: [Easy, Hard], matches: {n}")
    for _, names in pairings(made).values():
        assert ("Easy" in names) != ("Hard" in names)
    assert len(made.lineups) == 2 * comb(5, 3)


def test_a_field_of_one_fills_the_other_seats() -> None:
    made = plan("kind: gauntlet, challengers: [Hard], field: [Easy], matches: {n}")
    assert {tuple(sorted(names)) for _, names in pairings(made).values()} == {
        ("Easy", "Easy", "Easy", "Hard")
    }
    assert len(pairings(made)) == 4  # one a seat of Hard


@pytest.mark.parametrize("entrants", [4, 5, 6, 7, 11])
def test_random_pods_give_every_entrant_equally_many(entrants: int) -> None:
    made = plan("kind: random, rounds: 7, matches: {n}", entrants=BOTS[:entrants])
    assert len(set(made.matches_of_each())) == 1
    for _, names in pairings(made).values():
        assert len(set(names)) == 4


def test_random_pods_mix() -> None:
    made = plan("kind: random, rounds: 30, matches: {n}", entrants=BOTS[:8])
    pods = [names for _, names in pairings(made).values()]
    met = {frozenset(pair) for names in pods for pair in combinations(names, 2)}
    assert len(met) == comb(8, 2)


@pytest.mark.parametrize(
    "name",
    [name for name in FORMATS if name != "random"],  # whose draw is another then
)
def test_an_entrant_more_changes_no_other_pairing(name: str) -> None:
    before = pairings(plan(FORMATS[name], entrants=BOTS[:6]))
    after = pairings(plan(FORMATS[name], entrants=[*BOTS[:3], "Uniform", *BOTS[3:6]]))
    assert {d: pairing for d, pairing in after.items() if "Uniform" not in pairing[1]} == before


@pytest.mark.parametrize("name", FORMATS)
def test_the_order_of_entrants_changes_nothing(name: str) -> None:
    there = pairings(plan(FORMATS[name], entrants=BOTS[:7]))
    back = pairings(plan(FORMATS[name], entrants=BOTS[6::-1]))
    assert there == back


def test_a_name_is_no_part_of_a_pairing() -> None:
    named = plan(
        "kind: round_robin, matches: {n}", seats=2, entrants=["{bot: Easy, name: z}", "Hard"]
    )
    plain = plan("kind: round_robin, matches: {n}", seats=2, entrants=["Easy", "Hard"])
    assert set(pairings(named)) == set(pairings(plain))


def test_what_a_pairing_is_made_of() -> None:
    """Table, fault rule, seats and params make another pairing; more matches do not."""
    base = "name: x\ngame: pasa\nseed: 3\ntable: {seats: 2}\nentrants: [Easy, Hard]\n"
    form = "format: {kind: round_robin, matches: 4}\n"
    plain = set(pairings(planned(base + form)[1]))
    for changed in (
        base.replace("seats: 2", "seats: 2, chips: 501") + form,
        base + form + "limits: {on_fault: default}\n",
        base.replace("Hard", "'Hard:per_turn=74'") + form,
    ):
        assert not plain & set(pairings(planned(changed)[1]))
    assert set(pairings(planned(base + form.replace("4", "8"))[1])) == plain
    assert set(pairings(planned(base.replace("seed: 3", "seed: 4") + form)[1])) == plain


def test_a_plan_of_a_million_line_ups_is_made_at_once_and_read_lazily() -> None:
    entrants = ", ".join(f"'Hard:per_turn={i}'" for i in range(80))
    text = (
        f"name: x\ngame: pasa\nseed: 3\nentrants: [{entrants}]\n"
        "format: {kind: round_robin, matches: 4}\n"
    )
    made = planned(text)[1]
    assert len(made.lineups) == comb(80, 4) == 1_581_580
    assert made.num_matches == 4 * comb(80, 4)
    assert made.lineups[len(made.lineups) - 1][0] == (76, 77, 78, 79)
    assert made.matches_of_each() == [4 * comb(79, 3)] * 80
