"""How a Pasa bot stakes: by lead and by turns left, forced stakes, and where bots differ.

Plays a sample of matches with the rules as they stand, since what is counted here (a forced
stake, the same position put to another bot) is not in any record.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ladder import seeds
from ladder.games.nodes import CHANCE, END, LUCK, NODE, SEAT, WAYS
from ladder.games.pasa import rules
from ladder.games.pasa.table import PasaTable, new_state
from ladder.games.pasa.view import PasaView

Ask = Callable[[PasaView], int]
LEADS = (-200, -100, -50, 0, 1, 51, 101, 201)  # lower ends of the groups of leads


def lead_group(lead: int) -> str:
    """
    The group of a lead, in chips.

    >>> lead_group(-300), lead_group(0), lead_group(60)
    ('below -200', '0 to 0', '51 to 100')
    """
    if lead < LEADS[0]:
        return f"below {LEADS[0]}"
    low = max(end for end in LEADS if end <= lead)
    higher = [end for end in LEADS if end > low]
    return f"{low} to {higher[0] - 1}" if higher else f"{low} and more"


class _Sample:
    """What was seen of one candidate."""

    def __init__(self) -> None:
        self.by_lead: dict[str, list[int]] = defaultdict(list)
        self.by_turns: dict[int, list[int]] = defaultdict(list)
        self.forced = self.chosen = 0
        self.differs: Counter[tuple[str, str, int]] = Counter()
        self.positions: Counter[tuple[str, int]] = Counter()


def profile(
    table: PasaTable,
    candidates: Mapping[str, Callable[[], Ask]],
    field: Sequence[Callable[[], Ask]],
    key: bytes,
    matches: int,
) -> dict[str, Any]:
    """Each candidate in every seat of `matches` matches, against the field, on the same dice.

    A candidate or field bot is a maker: called once a match, it gives the bot's stake function.
    """
    samples = {name: _Sample() for name in candidates}
    for number in range(matches):
        seat = number % table.seats
        for name, sample in samples.items():
            _play(table, name, candidates, field, seat, number, key, sample)
    order = ["below -200", *(lead_group(low) for low in LEADS)]
    return {
        "stakes": {
            name: {
                "mean_stake_by_lead": {g: _mean(s.by_lead[g]) for g in order if g in s.by_lead},
                "mean_stake_by_turns_left": {t: _mean(v) for t, v in sorted(s.by_turns.items())},
                "forced_share": s.forced / max(1, s.forced + s.chosen),
            }
            for name, s in samples.items()
        },
        "differences": _differences(samples),
    }


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)


def _play(
    table: PasaTable,
    name: str,
    candidates: Mapping[str, Callable[[], Ask]],
    field: Sequence[Callable[[], Ask]],
    own: int,
    number: int,
    key: bytes,
    sample: _Sample,
) -> None:
    asks = {other: make() for other, make in candidates.items()}
    rest = [make() for make in field]
    seated = [*rest[:own], asks[name], *rest[own:]]
    source = seeds.new_source(key, number, table.seats)
    state = new_state(table)
    rules.start(state)
    asked = False
    while state[NODE] != END:
        if state[NODE] == CHANCE:
            if state[rules.STAKES + own] and not asked:
                sample.forced += 1
            asked = True  # once a staking
            before = state[rules.STAKES : rules.STAKES + table.seats]
            rules.advance(state, seeds.draw(source, state[WAYS]))
            if state[rules.STAKES : rules.STAKES + table.seats] != before:
                asked = False
            continue
        seat = state[SEAT]
        state[LUCK] = seeds.draw_luck(source, seat)
        view = PasaView(state)
        answer = seated[seat](view)
        action = answer if answer in view.legal else view.least_stake
        if seat == own:
            asked = True
            _note(sample, view, action, name, asks)
        rules.advance(state, action)


def _note(sample: _Sample, view: PasaView, action: int, name: str, asks: Mapping[str, Ask]) -> None:
    group = lead_group(view.lead)
    sample.chosen += 1
    sample.by_lead[group].append(action)
    sample.by_turns[view.turns_left].append(action)
    sample.positions[group, view.turns_left] += 1
    for other, ask in asks.items():
        if other != name and ask(view) != action:
            sample.differs[other, group, view.turns_left] += 1


def _differences(samples: Mapping[str, _Sample]) -> list[dict[str, Any]]:
    """Where two candidates would stake differently, the commonest positions first."""
    rows: list[dict[str, Any]] = []
    for name, sample in samples.items():
        for (other, group, turns), times in sample.differs.items():
            rows.append(
                {
                    "a": name,
                    "b": other,
                    "lead": group,
                    "turns_left": turns,
                    "share_of_decisions": times / max(1, sample.chosen),
                    "share_there": times / sample.positions[group, turns],
                }
            )
    rows.sort(key=lambda r: (-r["share_of_decisions"], r["a"], r["b"], r["lead"], r["turns_left"]))
    return rows
