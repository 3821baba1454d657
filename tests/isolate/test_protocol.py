"""Frames: what is packed comes back, and no bytes of a child do more than be refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladder.isolate import protocol
from ladder.isolate.protocol import CAUSES, MAX_DETAIL, MAX_FAULT, MAX_TRACEBACK, ProtocolError
from ladder.isolate.verdict import Bundle

INT64 = st.integers(-(2**63), 2**63 - 1)
KEYS = st.lists(st.integers(0, 2**40), max_size=5)


@given(KEYS, KEYS, st.integers(0, 255), st.integers(1, 4), st.sampled_from([4, 8]), st.data())
def test_questions(ended, keys, kind, width, size, given_data):
    count = len(keys) * width
    ints = st.integers(-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1)
    numbers = given_data.draw(st.lists(ints, min_size=count, max_size=count))
    rows = b"".join(n.to_bytes(size, "little", signed=True) for n in numbers)
    payload = protocol.pack_question(kind, ended, keys, rows, width, size)
    assert protocol.parse_question(payload) == (kind, ended, keys, numbers, width)


@given(st.lists(INT64, min_size=1, max_size=6), st.sampled_from(CAUSES), st.text(), st.text())
def test_answers(actions, cause, detail, traceback):
    claims = [(len(actions) - 1, cause, detail, traceback)]
    payload = protocol.pack_answers(actions, claims)
    assert len(payload) <= len(actions) * (8 + MAX_FAULT)
    got, found = protocol.parse_answers(payload, len(actions))
    assert got == actions
    assert found[0][:2] == (len(actions) - 1, cause)
    for text, most in zip(found[0][2:], (MAX_DETAIL, MAX_TRACEBACK), strict=True):
        assert all(c in "\n\t" or c.isprintable() for c in text)
        assert len(text) <= most


@given(st.binary(max_size=200), st.integers(0, 4))
def test_any_bytes_are_answers_or_refused(payload, rows):
    try:
        actions, claims = protocol.parse_answers(payload, rows)
    except ProtocolError:
        return
    assert len(actions) == rows
    assert len(claims) <= rows
    assert all(0 <= position < rows for position, *_ in claims)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_fault_or_refused(payload):
    try:
        (_, cause, _, _), end = protocol.parse_claim(payload, 0)
    except ProtocolError:
        return
    assert cause in CAUSES
    assert end <= len(payload)


def test_bundles():
    bundle = Bundle("a.b", (("a/b.py", b"\xff\x00x"),), "Mine", (("lead", 5), ("name", "ü")))
    assert protocol.parse_bundle(protocol.pack_bundle("pasa", bundle)) == ("pasa", bundle)


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"a\nb\t", "a\nb\t"), (b"\xff", "\ufffd"), ("\u202e".encode(), "\\u202e"), (b"\0", "\\x00")],
)
def test_texts_of_strangers(raw, text):
    assert protocol.shown(raw) == text
