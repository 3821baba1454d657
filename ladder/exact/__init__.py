"""Exact values of Pasa policies (rules 4 to 6) at 2 to 4 seats, and best replies to them."""

from ladder.exact.answers import Exploit, all_first_seats, answer, exploit, question_digest
from ladder.exact.policies import BEST, Seat
from ladder.exact.solver import Estimate, Exact, Solver, estimate, solve

__all__ = [
    "BEST",
    "Estimate",
    "Exact",
    "Exploit",
    "Seat",
    "Solver",
    "all_first_seats",
    "answer",
    "estimate",
    "exploit",
    "question_digest",
    "solve",
]
