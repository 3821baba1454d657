"""Every seed and every random number of a match; the only place that makes them.

A *deal* (what the dice of a match depend on) has a 256-bit key, BLAKE2b of the run's key and the
deal. The random numbers are ChaCha8 blocks under that key, so that nobody who has seen a million
throws can tell the next. A block is addressed, never drawn in sequence with anything else:

    word 12: block counter    word 13: stream    words 14, 15: repetition

Stream 0 holds the dice, stream 1 + s the private integers (`luck`) of seat s. So a bot's use of
its luck moves no throw, and repetition 1,000,000 costs as much as repetition 0.

Everything below `deal_key` is a rule: the same source runs interpreted and compiled.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence

from ladder.jit import outlined, rule

KEY_BYTES = 32
LUCK_BITS = 31  # 0 <= luck < 2**31
MAX_REPETITION = 2**62

DICE = 0  # stream number; seat s has stream 1 + s

# A source is a flat row of ints: the key's 8 words, the repetition's two, then for each stream
# the number of words used so far, one more than the number of the block that is there, and its
# 16 words. Blocks are made when a word of them is wanted.
_KEY, _REPETITION, _STREAMS = 0, 8, 10
_STREAM_SIZE = 18
_MASK = 0xFFFFFFFF
_ROUNDS = 8

Ints = MutableSequence[int]


def run_key(seed: int) -> bytes:
    """The key of a run whose spec says `seed: N`."""
    return hashlib.blake2b(b"ladder run seed %d" % seed, digest_size=KEY_BYTES).digest()


def night_key(key: bytes, ladder: str, night: int) -> bytes:
    """The key of one night of a ladder, from its spec's run key."""
    text = f"{ladder}\n{night}".encode()
    return hashlib.blake2b(text, key=key, digest_size=KEY_BYTES, person=b"ladder night").digest()


def run_key_id(key: bytes) -> str:
    """A name for a run key that does not give the key away (16 hex digits)."""
    return hashlib.blake2b(b"ladder run key id" + key, digest_size=8).hexdigest()


def deal_key(key: bytes, deal: bytes) -> bytes:
    """The key of a deal's random numbers, for the run key `key`."""
    return hashlib.blake2b(deal, key=key, digest_size=KEY_BYTES, person=b"ladder deal").digest()


@rule
def source_size(seats: int) -> int:
    """Ints in the row that holds a match's random source."""
    return _STREAMS + (1 + seats) * _STREAM_SIZE


def key_words(key: bytes) -> list[int]:
    """A 256-bit key as the eight 32-bit words that `seed_source` takes."""
    return [int.from_bytes(key[i : i + 4], "little") for i in range(0, KEY_BYTES, 4)]


def new_source(key: bytes, repetition: int, seats: int) -> list[int]:
    """The random source of one match, for interpreted play."""
    source = [0] * source_size(seats)
    seed_source(source, key_words(key), repetition, seats)
    return source


@rule
def seed_source(source: Ints, words: Sequence[int], repetition: int, seats: int) -> None:
    """Set a source to the start of a match: `words` are the eight of the deal's key."""
    for i in range(8):
        source[_KEY + i] = words[i]
    source[_REPETITION] = repetition & _MASK
    source[_REPETITION + 1] = repetition >> 32
    for stream in range(1 + seats):
        source[_STREAMS + stream * _STREAM_SIZE] = 0
        source[_STREAMS + stream * _STREAM_SIZE + 1] = 0


@rule
def draw(source: Ints, ways: int) -> int:
    """One of `ways` equally likely outcomes, 0 <= outcome < ways <= 2**31, from the dice.

    Exactly uniform: Lemire's multiply with rejection (ACM TOMACS 29(1), 2019).
    """
    product = next_word(source, DICE) * ways
    if product & _MASK < ways:
        threshold = (_MASK + 1 - ways) % ways
        while product & _MASK < threshold:
            product = next_word(source, DICE) * ways
    return product >> 32


@rule
def draw_luck(source: Ints, seat: int) -> int:
    """The next private integer of a seat, 0 <= luck < 2**31."""
    return next_word(source, 1 + seat) >> 1


@rule
def next_word(source: Ints, stream: int) -> int:
    """The next 32-bit word of a stream."""
    start = _STREAMS + stream * _STREAM_SIZE
    used = source[start]
    if source[start + 1] != (used >> 4) + 1:
        fill_block(source, stream, used >> 4)
    source[start] = used + 1
    return source[start + 2 + (used & 15)]


@rule
def fill_block(source: Ints, stream: int, counter: int) -> None:
    """Put block `counter` of a stream into its place in the source."""
    source[_STREAMS + stream * _STREAM_SIZE + 1] = counter + 1
    chacha_block(
        source, _KEY, counter, stream, source[_REPETITION], source[_REPETITION + 1], _ROUNDS,
        source, _STREAMS + stream * _STREAM_SIZE + 2,
    )  # fmt: skip


@rule
def quarter_round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    """ChaCha's quarter round on 32-bit words (RFC 8439, 2.1)."""
    a = (a + b) & _MASK
    d ^= a
    d = ((d << 16) | (d >> 16)) & _MASK
    c = (c + d) & _MASK
    b ^= c
    b = ((b << 12) | (b >> 20)) & _MASK
    a = (a + b) & _MASK
    d ^= a
    d = ((d << 8) | (d >> 24)) & _MASK
    c = (c + d) & _MASK
    b ^= c
    b = ((b << 7) | (b >> 25)) & _MASK
    return a, b, c, d


@outlined
def chacha_block(
    key: Sequence[int],
    at: int,
    w12: int,
    w13: int,
    w14: int,
    w15: int,
    rounds: int,
    out: Ints,
    to: int,
) -> None:
    """Write one ChaCha block (16 words) to out[to:]; the key is the eight words from key[at]."""
    k0, k1, k2, k3 = key[at], key[at + 1], key[at + 2], key[at + 3]
    k4, k5, k6, k7 = key[at + 4], key[at + 5], key[at + 6], key[at + 7]
    x0, x1, x2, x3 = 0x61707865, 0x3320646E, 0x79622D32, 0x6B206574
    x4, x5, x6, x7 = k0, k1, k2, k3
    x8, x9, x10, x11 = k4, k5, k6, k7
    x12, x13, x14, x15 = w12, w13, w14, w15
    for _ in range(rounds // 2):
        x0, x4, x8, x12 = quarter_round(x0, x4, x8, x12)
        x1, x5, x9, x13 = quarter_round(x1, x5, x9, x13)
        x2, x6, x10, x14 = quarter_round(x2, x6, x10, x14)
        x3, x7, x11, x15 = quarter_round(x3, x7, x11, x15)
        x0, x5, x10, x15 = quarter_round(x0, x5, x10, x15)
        x1, x6, x11, x12 = quarter_round(x1, x6, x11, x12)
        x2, x7, x8, x13 = quarter_round(x2, x7, x8, x13)
        x3, x4, x9, x14 = quarter_round(x3, x4, x9, x14)
    out[to] = (x0 + 0x61707865) & _MASK
    out[to + 1] = (x1 + 0x3320646E) & _MASK
    out[to + 2] = (x2 + 0x79622D32) & _MASK
    out[to + 3] = (x3 + 0x6B206574) & _MASK
    out[to + 4] = (x4 + k0) & _MASK
    out[to + 5] = (x5 + k1) & _MASK
    out[to + 6] = (x6 + k2) & _MASK
    out[to + 7] = (x7 + k3) & _MASK
    out[to + 8] = (x8 + k4) & _MASK
    out[to + 9] = (x9 + k5) & _MASK
    out[to + 10] = (x10 + k6) & _MASK
    out[to + 11] = (x11 + k7) & _MASK
    out[to + 12] = (x12 + w12) & _MASK
    out[to + 13] = (x13 + w13) & _MASK
    out[to + 14] = (x14 + w14) & _MASK
    out[to + 15] = (x15 + w15) & _MASK


_DIGEST_START = 0x2C9277B5F3D5A1E9
_DIGEST_FACTOR = 0x5851F42D4C957F2D
_MASK63 = 0x7FFFFFFFFFFFFFFF


@rule
def digest_start() -> int:
    """The digest of an empty list of actions."""
    return _DIGEST_START


@rule
def digest_add(digest: int, value: int) -> int:
    """A 63-bit digest with one more int; equal for Python ints and int64, whatever overflows."""
    digest = ((digest ^ value) * _DIGEST_FACTOR) & _MASK63
    return digest ^ (digest >> 29)
