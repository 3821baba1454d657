"""Frames between us and a bot's child process, and what stands in them.

    frame   = u32 length of the payload | u8 type | u64 nonce | payload        (little-endian)

We ask, the child answers; an answer carries the nonce of its question, drawn at random, so that
nothing written beforehand is ever taken for one. Numbers travel as int64, texts as capped UTF-8.
What a child sends is checked for type, length and range here and never unpickled or evaluated.
"""

from __future__ import annotations

import json
import struct
from array import array
from base64 import b64decode, b64encode
from collections.abc import Sequence

from ladder.isolate.verdict import Bundle

HEADER = struct.Struct("<IBQ")

LOAD, BEGIN, ACT, DESCRIBE = 1, 2, 3, 4  # questions
READY, LOADED, BEGUN, ANSWERS, FAILED, DESCRIBED = 11, 12, 13, 14, 15, 16  # answers

QUESTION = struct.Struct("<BBIII")  # kind, bytes of an int, keys ended, keys asked, ints in a row
SMALL = 4  # rows travel as int32 where every number fits: half the bytes to copy, 1.3 x as fast
FAULT = struct.Struct("<IBHH")  # position, cause, bytes of detail, bytes of traceback

CAUSES = ("exception", "illegal", "memory", "init_failed")  # what a child may say of its bot
MAX_DETAIL, MAX_TRACEBACK = 500, 4096
MAX_FAULT = FAULT.size + MAX_DETAIL + MAX_TRACEBACK

Claim = tuple[int, str, str, str]  # position, cause, detail, traceback


class ProtocolError(Exception):
    """Bytes of a child that are not an answer to what it was asked."""


def frame(kind: int, nonce: int, payload: bytes) -> bytes:
    """A frame.

    >>> frame(ACT, 7, b"x").hex()
    '0100000003070000000000000078'
    """
    return HEADER.pack(len(payload), kind, nonce) + payload


def pack_bundle(game: str, bundle: Bundle) -> bytes:
    """What a child needs to load its bot."""
    files = {name: b64encode(content).decode() for name, content in bundle.files}
    fields = [game, bundle.module, bundle.bot, dict(bundle.params), files]
    return json.dumps(fields).encode()


def parse_bundle(payload: bytes) -> tuple[str, Bundle]:
    """Undo `pack_bundle`; only a child does so, and it comes from us."""
    game, module, bot, params, files = json.loads(payload)
    contents = tuple((name, b64decode(text)) for name, text in files.items())
    return game, Bundle(module, contents, bot, tuple(params.items()))


def pack_question(
    kind: int, ended: Sequence[int], keys: Sequence[int], rows: bytes, width: int, size: int = 8
) -> bytes:
    """Keys whose matches ended, keys asked, and for each of these `width` ints of `size` bytes."""
    head = QUESTION.pack(kind, size, len(ended), len(keys), width)
    return b"".join((head, array("q", ended).tobytes(), array("q", keys).tobytes(), rows))


def parse_question(payload: bytes) -> tuple[int, list[int], list[int], list[int], int]:
    """Undo `pack_question`: kind, ended, keys, all rows in one flat list, width."""
    kind, size, num_ended, num_keys, width = QUESTION.unpack_from(payload)
    rest = memoryview(payload)[QUESTION.size :]
    numbers_end = 8 * (num_ended + num_keys)
    keys = rest[:numbers_end].cast("q").tolist()
    rows = rest[numbers_end:]
    numbers = (rows.cast("i") if size == SMALL else rows.cast("q")).tolist()
    return kind, keys[:num_ended], keys[num_ended:], numbers, width


def pack_answers(actions: Sequence[int], claims: Sequence[Claim]) -> bytes:
    """An int64 an answer, then the faults among them."""
    return b"".join((array("q", actions).tobytes(), *(pack_claim(claim) for claim in claims)))


def pack_claim(claim: Claim) -> bytes:
    """A fault as the child tells it, its texts cut to size."""
    position, cause, detail, traceback = claim
    shown = detail.encode("utf-8", "backslashreplace")[:MAX_DETAIL]
    trace = traceback.encode("utf-8", "backslashreplace")[-MAX_TRACEBACK:]
    return FAULT.pack(position, CAUSES.index(cause), len(shown), len(trace)) + shown + trace


def parse_answers(payload: bytes, rows: int) -> tuple[list[int], list[Claim]]:
    """The answers of a child to `rows` questions. Raises: ProtocolError."""
    if len(payload) < 8 * rows:
        raise ProtocolError(f"{len(payload)} bytes for {rows} answers")
    actions = array("q", payload[: 8 * rows]).tolist()
    claims: list[Claim] = []
    at = 8 * rows
    while at < len(payload):
        claim, at = parse_claim(payload, at)
        if not 0 <= claim[0] < rows or len(claims) == rows:
            raise ProtocolError("a fault at a decision that was not asked")
        claims.append(claim)
    return actions, claims


def parse_claim(payload: bytes, at: int) -> tuple[Claim, int]:
    """Undo `pack_claim` at an offset: the fault, and where it ends. Raises: ProtocolError."""
    if len(payload) < at + FAULT.size:
        raise ProtocolError("a fault cut short")
    position, cause, detail_size, trace_size = FAULT.unpack_from(payload, at)
    at += FAULT.size
    end = at + detail_size + trace_size
    if cause >= len(CAUSES) or end > len(payload):
        raise ProtocolError("a fault that is none")
    if detail_size > MAX_DETAIL or trace_size > MAX_TRACEBACK:
        raise ProtocolError("a fault too long")
    detail = shown(payload[at : at + detail_size])[:MAX_DETAIL]
    traceback = shown(payload[at + detail_size : end])[-MAX_TRACEBACK:]
    return (position, CAUSES[cause], detail, traceback), end


def shown(text: bytes) -> str:
    """Text of a stranger as we keep it: no control character but line breaks and tabs.

    >>> shown(b"a\\x1b[31mb\\n")
    'a\\\\x1b[31mb\\n'
    """
    plain = text.decode("utf-8", "replace")
    return "".join(
        c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in plain
    )
