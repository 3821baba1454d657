"""The games as PettingZoo AEC environments (Terry et al., NeurIPS 2021), one agent a seat.

The word `agent` is PettingZoo's; everywhere else in Ladder it is a seat or a bot. Dice come from
the seed of `reset`, by the same streams as matches of the ladder. The reward at the end of a
match is each seat's win share less its fair part, so rewards add up to nought.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from ladder import seeds
from ladder.games import Game, Table, get_game
from ladder.games.nodes import CHANCE, END, LUCK, NODE, SEAT, WAYS
from ladder.rl.policy import LARGEST, Observation, most_legal, observation_of
from ladder.spec import make_table


def aec_env(game: str = "pasa", *, render_mode: str | None = None, **options: Any) -> DiceGameEnv:
    """An environment of a game at a table with these options. Raises: SpecError."""
    chosen = get_game(game)
    return DiceGameEnv(chosen, make_table(chosen, options), render_mode=render_mode)


class DiceGameEnv(AECEnv):  # type: ignore[misc]
    """One game at one table; action i is the i-th legal one, the mask says how many there are."""

    metadata = {"render_modes": ["ansi", "human"], "name": "ladder_v1", "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, game: Game, table: Table, *, render_mode: str | None = None) -> None:
        super().__init__()
        self.game, self.table, self.render_mode = game, table, render_mode
        self.metadata = {**self.metadata, "name": f"{game.name}_v{game.version}"}
        self.possible_agents = [f"seat_{seat}" for seat in range(table.seats)]
        self.agents = list(self.possible_agents)
        self._width = game.view_width(table)
        self._actions = most_legal(game, table)
        cells = spaces.Box(-LARGEST, LARGEST, (self._width,), np.float64)
        mask = spaces.Box(0, 1, (self._actions,), np.int8)
        # One object for each agent: sampling one space must not move another.
        self.observation_spaces = {
            name: spaces.Dict({"observation": cells, "action_mask": mask})
            for name in self.possible_agents
        }
        self.action_spaces = {name: spaces.Discrete(self._actions) for name in self.possible_agents}
        self._state = [0] * len(game.new_state(table))
        self._draws = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match; without a seed, one that follows from the last seed given."""
        if seed is not None:
            self._draws = np.random.default_rng(seed)
        number = int(self._draws.integers(2**62))
        key = seeds.deal_key(seeds.run_key(number), b"environment")
        self._source = seeds.new_source(key, 0, self.table.seats)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self.agents}
        self._state = list(self.game.new_state(self.table))
        self.game.start(self._state)
        self._run_on()

    def step(self, action: int | None) -> None:
        """Take the action of the agent whose turn it is, and run on to the next decision.

        Raises: ValueError for an action that the mask does not allow.
        """
        name = self.agent_selection
        if self.terminations[name] or self.truncations[name]:
            self._was_dead_step(action)
            return
        legal = self.game.legal(self._state)
        if action is None or not 0 <= int(action) < len(legal):
            raise ValueError(f"action {action} of {name} is not legal: there are {len(legal)}")
        self._cumulative_rewards[name] = 0.0
        self._clear_rewards()
        self.game.advance(self._state, legal[int(action)])
        self._run_on()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _run_on(self) -> None:
        """Throw the dice up to the next decision, or hand out the rewards at the end."""
        state = self._state
        while state[NODE] == CHANCE:
            self.game.advance(state, seeds.draw(self._source, state[WAYS]))
        if state[NODE] != END:
            state[LUCK] = seeds.draw_luck(self._source, state[SEAT])
            self.agent_selection = self.possible_agents[state[SEAT]]
            return
        standings = [self.game.standing(state, seat) for seat in range(self.table.seats)]
        best = max(standings)
        for name, standing in zip(self.possible_agents, standings, strict=True):
            share = 1 / standings.count(best) if standing == best else 0.0
            self.rewards[name] = share - 1 / self.table.seats
            self.terminations[name] = True
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Observation:
        """What a seat sees; who is not asked sees nothing new, and may do nothing."""
        seat = self.possible_agents.index(agent)
        if self._state[NODE] in (CHANCE, END) or self._state[SEAT] != seat:
            return {
                "observation": np.zeros(self._width, np.float64),
                "action_mask": np.zeros(self._actions, np.int8),
            }
        row = list(self.game.observe(self._state, [0] * self._width))[: self._width]
        return observation_of(row, self._width, self._actions)

    def render(self) -> str | None:
        """The state on one line."""
        text = self.game.text.state_text(self._state)
        if self.render_mode == "human":
            print(text)  # noqa: T201 - what PettingZoo means by human
            return None
        return text

    def close(self) -> None:
        """Nothing is held."""
