"""What the exact solver takes: policies, their params, and the declared use of their luck.

A policy that uses `view.luck` is a mixture. It says how many equally likely cases there are by a
class attribute beside its stake::

    @staticmethod
    def luck_ways(view, params):
        return view.num_legal       # or simply: luck_ways: ClassVar[int] = 2

which promises that the stake depends on `luck` only through `luck % luck_ways`. The solver asks the
policy once for each of the cases. (2**31 is not a multiple of every number of cases: the mixture
played differs from the one declared by less than `ways` / 2**31.)
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ladder.errors import SpecError
from ladder.games.bot import param_types, params_tuple, policy_of
from ladder.games.nodes import CHANCE, LEGAL_AT, LUCK, NODE, NUM_LEGAL
from ladder.games.pasa import rules
from ladder.games.pasa.table import PasaTable, new_state
from ladder.games.pasa.view import PasaBot, PasaView
from ladder.policy.compile import CompiledPolicy, compile_policy, param_row
from ladder.policy.source import NotCompilableError, read_policy
from ladder.seeds import LUCK_BITS

BEST: Literal["best"] = "best"
Seat = type[PasaBot] | Literal["best"]


@dataclass(frozen=True)
class Policy:
    """A policy as the solver asks it."""

    name: str
    stake: Callable[..., int]
    luck_ways: Callable[..., int] | None  # None: it does not use its luck
    params: Any  # a named tuple
    compiled: CompiledPolicy
    compiled_ways: CompiledPolicy | None
    reads_mat: bool  # whether it can see the stakes that were put down before its own

    def ways(self, view: PasaView) -> int:
        """How many equally likely cases its luck makes here."""
        return self.luck_ways(view, self.params) if self.luck_ways else 1


def policy_for(bot: type[PasaBot]) -> Policy:
    """The policy of a bot class, its params those bound to the class, compiled.

    Raises: SpecError for a bot that is not a compilable function of the view, or whose mixture is
    not declared.
    """
    name = bot.__name__
    stake = policy_of(bot, "stake")
    if stake is None:
        raise SpecError(
            f"{name}: its stake is a method, so it may remember within a match; exact values need"
            " a policy, a static method stake(view, params)"
        )
    declared = getattr(bot, "luck_ways", None)
    ways = _constant(declared) if isinstance(declared, int) else declared
    fields = tuple(param_types(bot).items())
    try:
        compiled = compile_policy("pasa", stake, fields)
        compiled_ways = compile_policy("pasa", ways, fields) if ways else None
        reads = read_policy(stake).reads | (read_policy(ways).reads if ways else set())
        params = params_tuple(bot, {})
        param_row(params._asdict())
    except NotCompilableError as error:
        raise SpecError(f"{name}: cannot be compiled: {error}") from None
    if compiled.reads_luck and ways is None:
        raise SpecError(
            f"{name}: it uses view.luck without saying how many equally likely cases that makes;"
            " declare luck_ways(view, params), with the stake depending on view.luck % luck_ways"
            " only"
        )
    reads_mat = bool(reads & {"cover", "stakes"})
    return Policy(name, stake, ways, params, compiled, compiled_ways, reads_mat)


_CONSTANT = """\
def luck_ways(view, params):
    return {ways}
"""


def _constant(ways: int) -> Callable[..., int]:
    """The function that always gives `ways`, with a source that can be read."""
    name = f"<luck_ways {ways}>"
    text = _CONSTANT.format(ways=ways)
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, name, "exec"), scope)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    made: Callable[..., int] = scope["luck_ways"]
    return made


def check_luck(policy: Policy, table: PasaTable, *, positions: int = 200) -> None:
    """Try the declaration of a policy on random positions of a table.

    Raises: SpecError where two values of `luck` that are equal modulo `luck_ways` give two stakes.
    """
    if policy.luck_ways is None:
        return  # its source does not mention luck
    draws = random.Random(0)  # the same positions every time: a refusal can be looked into
    for row in random_positions(table, draws, positions):
        row[LUCK] = 0
        ways = policy.ways(PasaView(row))
        if ways < 1:
            raise SpecError(f"{policy.name}: luck_ways must be at least 1 (got {ways})")
        for _ in range(3):
            luck = draws.getrandbits(LUCK_BITS)
            stakes = []
            for row[LUCK] in (luck, luck % ways):
                stakes.append(policy.stake(PasaView(row), policy.params))
            if stakes[0] != stakes[1]:
                raise SpecError(
                    f"{policy.name}: luck_ways is {ways}, but luck {luck} stakes {stakes[0]} and"
                    f" luck {luck % ways} stakes {stakes[1]} in the same position"
                )


def random_positions(table: PasaTable, draws: random.Random, positions: int) -> Iterator[list[int]]:
    """State rows of a table at random decisions, for trying policies out."""
    found = 0
    for _ in range(20 * positions):
        row = new_state(table)
        rules.start(row)
        row[rules.TURN] = draws.randrange(table.seats * table.rounds)
        row[rules.THROWER] = (table.first_thrower + row[rules.TURN]) % table.seats
        cuts = sorted(
            draws.randrange(table.seats * table.chips + 1) for _ in range(table.seats - 1)
        )
        ends = [0, *cuts, table.seats * table.chips]
        for seat in range(table.seats):
            row[rules.PILES + seat] = ends[seat + 1] - ends[seat]
        rules.open_staking(row)
        rules.ask_next(row)
        while row[NODE] != CHANCE and draws.random() < 0.6:
            rules.advance(row, row[row[LEGAL_AT] + draws.randrange(row[NUM_LEGAL])])
        if row[NODE] != CHANCE:
            yield row
            found += 1
            if found == positions:
                return


def line_up(table: PasaTable, seats: Sequence[Seat]) -> list[Policy | None]:
    """The policies of a line-up, None where a seat is `best`.

    Raises: SpecError, with every problem, for a line-up or a table that cannot be solved.
    """
    problems = []
    if len(seats) != table.seats:
        problems.append(f"exact: one policy a seat (got {len(seats)} for {table.seats} seats)")
    if table.seats > 4:
        problems.append(f"table.seats: exact values are computed at 2 to 4 (got {table.seats})")
    if table.fifteen_cut_percent:
        problems.append(
            "table.fifteen_cut_percent: exact values need all chips to stay in play, so 0"
            f" (got {table.fifteen_cut_percent})"
        )
    policies: list[Policy | None] = []
    made: dict[type[PasaBot], Policy] = {}
    for bot in seats:
        if not isinstance(bot, type):
            policies.append(None)
            continue
        try:
            if bot not in made:
                made[bot] = policy_for(bot)
                check_luck(made[bot], table)
            policies.append(made[bot])
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(*dict.fromkeys(problems))
    return policies
