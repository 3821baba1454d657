"""The nightly ladder: submissions in, a night played where it tells most, ratings out.

One call is one idempotent step for cron. Whatever ends it, the next one goes on with the same
night: who plays is noted when it begins, and every round follows from what is stored.
"""

from ladder.nightly.lock import NightLock
from ladder.nightly.night import Outcome, run_nightly
from ladder.nightly.summary import summary_lines

__all__ = ["NightLock", "Outcome", "run_nightly", "summary_lines"]
