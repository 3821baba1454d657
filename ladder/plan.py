"""Spec -> plan: a lazily indexed sequence of line-ups, and the pairings each one is played as.

Identity (what makes a match the same match) is decided here and nowhere else: a pairing is game,
table, fault rule and the bot versions by seat. Nothing depends on an entrant's name or place in
the spec, so adding or moving one changes no other match.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

from ladder import formats, seeds
from ladder.errors import SpecError
from ladder.formats.gauntlet import GauntletLineups
from ladder.formats.knockout import KnockoutPods
from ladder.formats.lineup import OneLineup
from ladder.formats.random_pods import RandomLineups, shuffled
from ladder.formats.round_robin import RoundRobinLineups
from ladder.formats.staged import FirstLineups, Staged
from ladder.formats.swiss import SwissPods
from ladder.games import Game, Table
from ladder.isolate.verdict import DEFAULT_LIMITS, Limits
from ladder.spec import Spec
from ladder.spec.formats import (
    Compare,
    Gauntlet,
    Knockout,
    Ladder,
    Lineup,
    RandomPods,
    RoundRobin,
    Swiss,
)

DIGEST_BYTES = 16


@dataclass(frozen=True)
class Pairing:
    """A line-up in its seats, and how many repetitions of it are wanted."""

    lineup: formats.Lineup  # entrant positions by seat
    digest: bytes
    repetitions: int


@dataclass(frozen=True)
class Plan:
    """What a spec asks to be played."""

    game: Game
    table: Table
    on_fault: str
    key: bytes  # the run key
    versions: tuple[str, ...]  # by entrant
    names: tuple[str, ...]
    lineups: formats.Lineups  # of the first stage, where there are stages
    stages: Staged | None = None
    limits: Limits = DEFAULT_LIMITS
    tier: str = "sandbox"
    strangers: frozenset[int] = frozenset()  # entrants that are not trusted

    @cached_property
    def num_matches(self) -> int:
        """Matches in all; at most, where they depend on results."""
        if self.stages is not None:
            return self.stages.most_matches
        if isinstance(self.lineups, RoundRobinLineups):
            return len(self.lineups) * self.lineups[0][1]
        return sum(self.lineups[i][1] for i in range(len(self.lineups)))

    def matches_of_each(self) -> list[int]:
        """Matches by entrant, known before anything is played."""
        counts = self.lineups.matches_of_each()
        return [*counts, *([0] * (len(self.names) - len(counts)))]

    def pairings(self, index: int) -> list[Pairing]:
        """The seat rotations of the index-th line-up; a bot that repeats makes fewer of them."""
        lineup, matches = self.lineups[index]
        ordered = sorted(lineup, key=lambda entrant: self.versions[entrant])
        counts: dict[formats.Lineup, int] = {}
        seats = self.table.seats
        for turn in range(seats):
            seated = tuple(ordered[turn:] + ordered[:turn])
            counts[seated] = counts.get(seated, 0) + matches // seats
        return [Pairing(seated, self.digest_of(seated), n) for seated, n in counts.items()]

    def __iter__(self) -> Iterator[Pairing]:
        for index in range(len(self.lineups)):
            yield from self.pairings(index)

    def deal_key(self, pairing: bytes) -> bytes:
        """The key of a pairing's dice and luck."""
        return seeds.deal_key(self.key, pairing)

    def digest_of(self, lineup: Sequence[int]) -> bytes:
        """The identity of the pairing of a seated line-up."""
        # What may convict a bot is part of the match, where it was chosen and somebody is bound.
        is_bound = self.limits != DEFAULT_LIMITS and not self.strangers.isdisjoint(lineup)
        return pairing_digest(
            self.game, self.table, self.on_fault, [self.versions[entrant] for entrant in lineup],
            limits=self.limits if is_bound else None,
        )  # fmt: skip


def pairing_digest(
    game: Game,
    table: Table,
    on_fault: str,
    versions: Sequence[str],
    *,
    limits: Limits | None = None,
) -> bytes:
    """The identity of a pairing: 16 bytes."""
    parts: list[Any] = [game.name, game.version, table.canonical(), on_fault, list(versions)]
    parts += [asdict(limits)] if limits is not None else []
    text = json.dumps(parts, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).digest()


def key_of_seed(seed: int | Literal["secret"]) -> bytes:
    """The run key of a spec's seed; of a secret one, a key that was never there before."""
    return secrets.token_bytes(seeds.KEY_BYTES) if seed == "secret" else seeds.run_key(seed)


def make_plan(spec: Spec, key: bytes | None = None, *, seeded: Sequence[int] | None = None) -> Plan:
    """The plan of a spec; without a run key, from its seed or, if that is secret, a new one.

    `seeded` gives the entrants in the order of their seeds.
    """
    key = key_of_seed(spec.seed) if key is None else key
    stages = _stages(spec, key, seeded)
    return Plan(
        game=spec.game,
        table=spec.table,
        on_fault=spec.limits.on_fault,
        key=key,
        versions=tuple(entrant.loaded.version for entrant in spec.entrants),
        names=tuple(entrant.name for entrant in spec.entrants),
        lineups=_lineups(spec, key) if stages is None else _first(spec, stages),
        stages=stages,
        limits=spec.limits.of_children,
        tier=spec.tier,
        strangers=frozenset(
            i for i, entrant in enumerate(spec.entrants) if not entrant.loaded.is_trusted
        ),
    )


def _stages(spec: Spec, key: bytes, seeded: Sequence[int] | None) -> Staged | None:
    """The format, if it is one in stages."""
    chosen, seats = spec.format, spec.table.seats
    if isinstance(chosen, Swiss):
        # By version, so that the order of the entrants in the spec draws no other lot.
        order = sorted(range(len(spec.entrants)), key=lambda i: spec.entrants[i].loaded.version)
        deal = seeds.deal_key(key, b"swiss")
        lot = [order[place] for place in shuffled(len(order), deal, 0)]
        return SwissPods(lot, seats, chosen.matches, chosen.rounds)
    if isinstance(chosen, Knockout):
        order = list(seeded) if seeded is not None else list(range(len(spec.entrants)))
        return KnockoutPods(
            order, seats, chosen.matches,
            advance=chosen.advance or max(1, seats // 2), best_of=chosen.best_of,
        )  # fmt: skip
    return None


def _first(spec: Spec, stages: Staged) -> formats.Lineups:
    assert isinstance(spec.format, Swiss | Knockout)
    return FirstLineups(stages, spec.format.matches, len(spec.entrants))


def _lineups(spec: Spec, key: bytes) -> formats.Lineups:
    if isinstance(spec.format, Compare):
        raise SpecError(f"{spec.path}: is a comparison; play it with: ladder compare {spec.path}")
    chosen, entrants, seats = spec.format, len(spec.entrants), spec.table.seats
    if isinstance(chosen, RoundRobin):
        return RoundRobinLineups(entrants, seats, chosen.matches, self_play=chosen.self_play)
    if isinstance(chosen, Gauntlet):
        challengers = [spec.entrant_index(name) for name in chosen.challengers]
        rest = [i for i in range(entrants) if i not in challengers]
        field = [spec.entrant_index(name) for name in chosen.field] if chosen.field else rest
        return GauntletLineups(challengers, field, seats, chosen.matches)
    if isinstance(chosen, Lineup):
        return OneLineup([spec.entrant_index(name) for name in chosen.bots], chosen.matches)
    if isinstance(chosen, Ladder):
        raise SpecError(f"{spec.path}: format: a ladder is played by `ladder nightly {spec.path}`")
    assert isinstance(chosen, RandomPods)
    # By version, so that the order of the entrants in the spec draws no other pods.
    order = sorted(range(entrants), key=lambda i: spec.entrants[i].loaded.version)
    deal = seeds.deal_key(key, b"pods")
    return RandomLineups(order, seats, chosen.matches, chosen.rounds, deal)
