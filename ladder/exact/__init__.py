"""Exact values of Pasa policies (rules 4 to 6) at 2 to 4 seats, and best replies to them."""

from ladder.exact.policies import BEST
from ladder.exact.solver import Estimate, Exact, Solver, estimate, solve

__all__ = ["BEST", "Estimate", "Exact", "Solver", "estimate", "solve"]
