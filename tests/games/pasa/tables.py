"""Hypothesis strategies: Pasa tables of every kind, and whole matches by chosen luck."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ladder.games.pasa import PasaTable


@st.composite
def options(draw: Any) -> dict[str, Any]:
    """Options of a legal table, all of them in play."""
    seats = draw(st.integers(2, 6))
    least = draw(st.integers(1, 12))
    most = draw(st.integers(least, 60))
    chosen: dict[str, Any] = {
        "seats": seats,
        "rounds": draw(st.integers(1, 3)),
        "chips": draw(st.integers(1, 120)),
        "least": least,
        "most": most,
        "first_thrower": draw(st.integers(0, seats - 1)),
        "fifteen_cut_percent": draw(st.sampled_from([0, 0, 1, 10, 50, 99, 100])),
    }
    if draw(st.booleans()):
        between = draw(st.sets(st.integers(least, most), max_size=5))
        chosen["sizes"] = sorted({least, most, *between})
    return chosen


tables = options().map(lambda chosen: PasaTable(**chosen))
lucks = st.randoms(use_true_random=False)
