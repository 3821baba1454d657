"""What is kept of a segment beside, or instead of, its matches: counts, moments and a digest.

A *finishing pattern* is the places of all seats as one int, three bits a seat. A segment's row
holds how often each pattern came and the scores summed over those matches, the sums of products
of scores, and a digest that adds up, so that rows of any chunking come to the same total.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ladder import seeds
from ladder.jit import compiled
from ladder.record import Ints, Record, Segment

PLACE_BITS = 3
DIGEST_MASK = 2**63 - 1


@dataclass(frozen=True)
class LedgerRows:
    """One row a segment; lists are ragged, `pattern_ends` says where each row's end."""

    chances: Ints
    decisions: Ints
    digest: Ints  # sum over matches, mod 2**63
    faults: Ints  # [rows, seats]
    products: Ints  # [rows, seats * seats] sums of score_i * score_j
    patterns: Ints
    pattern_counts: Ints
    pattern_scores: Ints  # [patterns, seats] scores summed over the pattern's matches
    pattern_ends: Ints


def pattern_of(places: Sequence[int]) -> int:
    """
    The places of all seats as one int.

    >>> places_of(pattern_of([2, 1, 2]), 3)
    (2, 1, 2)
    """
    return sum(place << (PLACE_BITS * seat) for seat, place in enumerate(places))


def places_of(pattern: int, seats: int) -> tuple[int, ...]:
    """Undo `pattern_of`."""
    return tuple(pattern >> (PLACE_BITS * seat) & 7 for seat in range(seats))


def summarise(record: Record, segments: Sequence[Segment]) -> LedgerRows:
    """The ledger rows of a chunk."""
    starts = np.cumsum([0, *(segment.count for segment in segments)])
    firsts = np.array([segment.first for segment in segments], np.int64)
    seats = record.places.shape[1]
    rows = len(segments)
    sums = np.zeros((rows, 3), np.int64)
    faults = np.zeros((rows, seats), np.int64)
    products = np.zeros((rows, seats * seats), np.int64)
    room = min(len(record), rows * 5000)
    patterns = np.zeros(room, np.int64)
    counts = np.zeros(room, np.int64)
    scores = np.zeros((room, seats), np.int64)
    ends = np.zeros(rows, np.int64)
    used = _summarise()(
        starts, firsts, record.chances, record.decisions, record.digest, record.scores,
        record.places, record.faults, sums, faults, products, patterns, counts, scores, ends,
    )  # fmt: skip
    return LedgerRows(
        sums[:, 0], sums[:, 1], sums[:, 2], faults, products,
        patterns[:used], counts[:used], scores[:used], ends,
    )  # fmt: skip


@cache
def _summarise() -> Any:
    def run(
        starts: Any, firsts: Any, chances: Any, decisions: Any, digests: Any, scores: Any,
        places: Any, faults: Any, sums: Any, fault_sums: Any, products: Any, patterns: Any,
        pattern_counts: Any, pattern_scores: Any, ends: Any,
    ) -> int:  # fmt: skip
        seats = places.shape[1]
        slot = np.full(1 << (PLACE_BITS * seats), -1, np.int32)
        used = 0
        for segment in range(len(firsts)):
            first_pattern = used
            for row in range(starts[segment], starts[segment + 1]):
                sums[segment, 0] += chances[row]
                sums[segment, 1] += decisions[row]
                digest = seeds.digest_add(digests[row], firsts[segment] + row - starts[segment])
                pattern = 0
                for seat in range(seats):
                    pattern |= places[row, seat] << (PLACE_BITS * seat)
                    fault_sums[segment, seat] += faults[row, seat]
                    digest = seeds.digest_add(digest, scores[row, seat])
                    digest = seeds.digest_add(digest, faults[row, seat])
                    for other in range(seats):
                        product = scores[row, seat] * scores[row, other]
                        products[segment, seat * seats + other] += product
                digest = seeds.digest_add(digest, pattern)
                sums[segment, 2] = (sums[segment, 2] + digest) & DIGEST_MASK
                at = slot[pattern]
                if at < 0:
                    at = used
                    used += 1
                    slot[pattern] = at
                    patterns[at] = pattern
                pattern_counts[at] += 1
                for seat in range(seats):
                    pattern_scores[at, seat] += scores[row, seat]
            for at in range(first_pattern, used):
                slot[patterns[at]] = -1
            ends[segment] = used
        return used

    return compiled(run, "ledger.py")


def total_digest(rows: Sequence[tuple[bytes, int, int]]) -> str:
    """The results digest of a run from (pairing, matches, digest sum) rows, in any order.

    It depends on the results alone: not on names, chunks, workers or time.
    """
    totals: dict[bytes, tuple[int, int]] = {}
    for pairing, matches, digest in rows:
        have, so_far = totals.get(pairing, (0, 0))
        totals[pairing] = have + matches, (so_far + digest) & DIGEST_MASK
    whole = hashlib.blake2b(digest_size=8)
    for pairing in sorted(totals):
        whole.update(pairing + b"%d %d;" % totals[pairing])
    return whole.hexdigest()
