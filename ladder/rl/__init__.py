"""Both games as PettingZoo environments (extra `rl`), and trained policies as bots.

    from ladder.rl import aec_env
    env = aec_env("pasa", seats=4)

A bot needs `Callback` alone, which does without PettingZoo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ladder.rl.policy import Callback, observation_of

if TYPE_CHECKING:
    from ladder.rl.aec import DiceGameEnv, aec_env

__all__ = ["Callback", "DiceGameEnv", "aec_env", "observation_of"]


def __getattr__(name: str) -> Any:
    if name in ("DiceGameEnv", "aec_env"):
        from ladder.rl import aec

        return getattr(aec, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
