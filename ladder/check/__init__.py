"""Judging a bot before it enters: in a process of its own, from its stored files alone."""

from ladder.check.contained import check_contained
from ladder.check.verdict import Finding, Verdict, check_word

__all__ = ["Finding", "Verdict", "check_contained", "check_word"]
