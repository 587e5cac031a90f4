"""No agent takes an answer that holds nothing for a success."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from textcraft_gym import make_agent
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.registry import AGENTS, why_not
from textcraft_gym.episodes.schedule import run_episodes
from textcraft_gym.registration import SUITE, find

NOTHING = (
    "",
    " \n\t\n",
    "# Nothing.",
    "```\n```",
    "```python\n# a plan\n```",
    "...",
    "pass",
    "def solution(agent): pass",
)
GAMES = {find(env_id).profile: env_id for env_id in reversed(SUITE) if env_id != "MineDojo-v0"}
PLAYED = [(agent, game) for agent in AGENTS for game in GAMES if not why_not(agent, game)]


class Saying:
    """Answers the same to everything."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked = 0

    def complete(self, prompt: Any, **how: Any) -> Completion:
        self.asked += 1
        return Completion(self.text)


@pytest.mark.parametrize(("agent", "game"), PLAYED)
def test_agent__claims_no_success_after_answers_that_hold_nothing(agent: str, game: str):
    made = make_agent(agent, profile=load_profile(game))
    with closing(find(GAMES[game]).make(made)) as env:
        task = env.get_wrapper_attr("tasks")[0].id
        for text in NOTHING:
            model = Saying(text)
            (episode,) = run_episodes(
                [env], made, [(task, 0)], model=model, max_steps=60, max_calls=60
            )
            if not model.asked:
                return  # it plays without a model
            assert episode.error is None
            assert episode.claimed_success is not True
            assert (episode.limit == "empty") == (not text.strip())


def test_agents__are_many_that_ask_a_model():
    assert len(PLAYED) > 60
