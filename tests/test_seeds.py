"""Random numbers: published vectors, uniform draws, and that nobody computes the dice."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladder import seeds
from ladder.games.pasa import rules
from ladder.jit import compiled

ZERO = bytes(32)


def block(key: bytes, rounds: int, w12: int, w13: int, w14: int, w15: int) -> bytes:
    """One ChaCha block as bytes."""
    out = [0] * 16
    seeds.chacha_block(seeds.key_words(key), 0, w12, w13, w14, w15, rounds, out, 0)
    return b"".join(word.to_bytes(4, "little") for word in out)


# --- published vectors


def test_chacha8_with_a_key_of_noughts() -> None:
    # draft-strombergson-chacha-test-vectors-01, TC1, 256-bit key, 8 rounds, blocks 0 and 1.
    assert block(ZERO, 8, 0, 0, 0, 0).hex() == (
        "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
        "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
    )


def test_chacha20_of_rfc_8439() -> None:
    # RFC 8439, 2.3.2: key 00..1f, counter 1, nonce 00000009 0000004a 00000000.
    key = bytes(range(32))
    assert block(key, 20, 1, 0x09000000, 0x4A000000, 0).hex() == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )


def test_chacha20_quarter_round_of_rfc_8439() -> None:
    # RFC 8439, 2.1.1.
    assert seeds.quarter_round(0x11111111, 0x01020304, 0x9B8D6F43, 0x01234567) == (
        0xEA2A92F4, 0xCB1CF8CE, 0x4581472E, 0x5881C4BB,
    )  # fmt: skip


# --- the same interpreted and compiled


def _drawn(source: Any, out: Any, ways: int) -> None:
    for i in range(0, len(out), 3):
        out[i] = seeds.draw(source, ways)
        out[i + 1] = seeds.draw_luck(source, 0)
        out[i + 2] = seeds.draw_luck(source, 2)


@pytest.mark.parametrize("ways", [1, 2, 5, 6, 64, 1000, 2**31 - 1, 2**31])
@pytest.mark.parametrize("repetition", [0, 1, 2**32 - 1, 2**32, seeds.MAX_REPETITION])
def test_interpreted_equals_compiled(ways: int, repetition: int) -> None:
    run = _compiled_drawn()
    plain = seeds.new_source(b"k" * 32, repetition, 3)
    fast = np.array(seeds.new_source(b"k" * 32, repetition, 3), np.int64)
    out_plain, out_fast = [0] * 300, np.zeros(300, np.int64)
    _drawn(plain, out_plain, ways)
    run(fast, out_fast, ways)
    assert out_fast.tolist() == out_plain
    assert fast.tolist() == plain


_made: list[Any] = []


def _compiled_drawn() -> Any:
    if not _made:
        _made.append(compiled(_drawn, "seeds.py"))
    return _made[0]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_a_digest_is_the_same_for_python_ints_and_int64(values: list[int]) -> None:
    plain = seeds.digest_start()
    for value in values:
        plain = seeds.digest_add(plain, value)
    assert 0 <= plain < 2**63
    assert int(_compiled_digest()(np.array(values, np.int64))) == plain


def _digest(values: Any) -> int:
    digest = seeds.digest_start()
    for i in range(len(values)):
        digest = seeds.digest_add(digest, values[i])
    return digest


def _compiled_digest() -> Any:
    if len(_made) < 2:
        _compiled_drawn()
        _made.append(compiled(_digest, "seeds.py"))
    return _made[1]


def test_a_digest_tells_lists_apart() -> None:
    lists = [[], [0], [0, 0], [1], [1, 2], [2, 1], [-1], [2**62]]
    assert len({_digest(values) for values in lists}) == len(lists)


# --- draws


@pytest.mark.parametrize("ways", [2, 3, 6, 7, 64, 1000])
def test_draws_are_uniform(ways: int) -> None:
    source = seeds.new_source(b"u" * 32, 0, 0)
    draws = 200 * ways if ways > 100 else 20_000
    counts = Counter(seeds.draw(source, ways) for _ in range(draws))
    assert set(counts) <= set(range(ways))
    each = draws / ways
    chi_squared = sum((counts[i] - each) ** 2 / each for i in range(ways))
    # Chi-squared has mean ways - 1 and variance twice that; five standard deviations either side.
    spread = 5 * (2 * (ways - 1)) ** 0.5
    assert abs(chi_squared - (ways - 1)) < spread + 10


def test_draws_are_exact_where_a_bare_multiplication_would_not_be() -> None:
    """With words of 32 bits and 3 * 2**29 ways, a quarter of the words are drawn anew."""
    ways = 3 * 2**29
    rejected = 0
    for repetition in range(3000):
        source = seeds.new_source(b"e" * 32, repetition, 0)
        assert 0 <= seeds.draw(source, ways) < ways
        rejected += source[seeds._STREAMS] - 1
    # 2**32 mod ways = 2**30 of 2**32 words are refused, so a draw takes 1/3 more on average.
    assert 850 < rejected < 1150


@pytest.mark.parametrize("seat", range(3))
def test_luck_is_in_its_range_and_fills_it(seat: int) -> None:
    source = seeds.new_source(b"l" * 32, 0, 3)
    lucks = [seeds.draw_luck(source, seat) for _ in range(2000)]
    assert all(0 <= luck < 2**seeds.LUCK_BITS for luck in lucks)
    assert min(lucks) < 2**seeds.LUCK_BITS // 100
    assert max(lucks) > 2**seeds.LUCK_BITS * 99 // 100


def test_a_seats_luck_moves_no_throw_and_no_other_seats_luck() -> None:
    quiet, busy = (seeds.new_source(b"q" * 32, 0, 2) for _ in range(2))
    for _ in range(50):
        for _ in range(1000):
            seeds.draw_luck(busy, 0)
        assert seeds.draw(busy, 64) == seeds.draw(quiet, 64)
        assert seeds.draw_luck(busy, 1) == seeds.draw_luck(quiet, 1)


# --- keys


def test_streams_repetitions_deals_and_runs_have_nothing_in_common() -> None:
    runs = [seeds.run_key(seed) for seed in range(4)]
    deals = [seeds.deal_key(run, deal) for run in runs for deal in (b"", b"a", b"b")]
    seen: set[tuple[int, ...]] = set()
    for deal in deals:
        for repetition in (0, 1, 2**32):
            source = seeds.new_source(deal, repetition, 2)
            for stream in range(3):
                seen.add(tuple(seeds.next_word(source, stream) for _ in range(4)))
    assert len(seen) == len(deals) * 3 * 3


def test_a_run_keys_id_does_not_hold_the_key() -> None:
    key = seeds.run_key(7)
    assert seeds.run_key_id(key) not in key.hex()
    assert seeds.run_key_id(key) != seeds.run_key_id(seeds.run_key(8))


def test_keys_do_not_depend_on_the_process() -> None:
    code = "from ladder import seeds; print(seeds.deal_key(seeds.run_key(1), b'x').hex())"
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": ":".join(p for p in sys.path if p)},
    )  # fmt: skip
    assert other.stdout.strip() == seeds.deal_key(seeds.run_key(1), b"x").hex()


# --- the attack


MASK64 = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
MIX_1, MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def splitmix64(state: int) -> int:
    """The mixer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    z = state & MASK64
    z = ((z ^ (z >> 30)) * MIX_1) & MASK64
    z = ((z ^ (z >> 27)) * MIX_2) & MASK64
    return z ^ (z >> 31)


def unmix(z: int) -> int:
    """The state that splitmix64 mixed into z: every step of it can be undone."""
    z = _unshift(z, 31) * pow(MIX_2, -1, 2**64) & MASK64
    z = _unshift(z, 27) * pow(MIX_1, -1, 2**64) & MASK64
    return _unshift(z, 30)


def _unshift(z: int, by: int) -> int:
    found = z
    for _ in range(64 // by + 1):
        found = z ^ (found >> by)
    return found


def predicted(throws: list[int], how_many: int) -> list[int]:
    """The attack: take seen throws for a splitmix64 stream, ten of them a word, and go on.

    A word gives ten throws of six bits and keeps four bits to itself: sixteen candidates for it,
    of which the next seen throws leave the one that goes on with them.
    """
    known = sum(throw << (6 * i) for i, throw in enumerate(throws[:10]))
    rest = throws[10:]
    for top in range(16):
        state = unmix(known | top << 60)
        if mixed_throws(state + GOLDEN, len(rest)) == rest:
            return mixed_throws(state + GOLDEN, len(rest) + how_many)[len(rest) :]
    # Nothing fits: what is left is to guess by the first candidate.
    return mixed_throws(unmix(known) + GOLDEN, len(rest) + how_many)[len(rest) :]


def mixed_throws(state: int, how_many: int) -> list[int]:
    """Throws of a splitmix64 stream, ten a word."""
    throws: list[int] = []
    while len(throws) < how_many:
        word = splitmix64(state)
        throws += [word >> (6 * i) & 63 for i in range(10)]
        state += GOLDEN
    return throws[:how_many]


def test_the_attack_breaks_a_64_bit_mixer_from_20_seen_throws() -> None:
    for start in (0, 1, 0x0123456789ABCDEF, 2**64 - 1):
        stream = mixed_throws(start, 220)
        assert predicted(stream[:20], 200) == stream[20:]


def test_the_attack_finds_nothing_in_the_real_dice() -> None:
    hits = tries = 0
    for repetition in range(50):
        source = seeds.new_source(seeds.deal_key(seeds.run_key(1), b"x"), repetition, 0)
        stream = [seeds.draw(source, 64) for _ in range(220)]
        guessed = predicted(stream[:20], 200)
        hits += sum(a == b for a, b in zip(guessed, stream[20:], strict=True))
        tries += 200
    # A blind guess is right one time in 64: 156 of 10,000, standard deviation 12.4.
    assert tries == 10_000
    assert 156 - 62 < hits < 156 + 62


def test_kinds_of_throw_come_14_to_14_to_36() -> None:
    source = seeds.new_source(b"d" * 32, 0, 0)
    throws = 40_000
    kinds = Counter(rules.kind_of_total(rules.total(seeds.draw(source, 64))) for _ in range(throws))
    for kind, ways in ((rules.PARO, 14), (rules.TIRO, 14), (rules.BACHYO, 36)):
        share = ways / 64
        spread = 5 * (share * (1 - share) / throws) ** 0.5
        assert abs(kinds[kind] / throws - share) < spread
