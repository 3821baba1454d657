"""Both games as PettingZoo environments, and trained policies as bots (extra `rl`).

from ladder.rl import aec_env
env = aec_env("pasa", seats=4)
"""

from __future__ import annotations

from ladder.rl.aec import DiceGameEnv, aec_env
from ladder.rl.policy import Callback, observation_of

__all__ = ["Callback", "DiceGameEnv", "aec_env", "observation_of"]
