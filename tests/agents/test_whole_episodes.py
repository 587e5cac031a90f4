"""Agents that ask much of a model, from the first prompt to the last, with answers that were
recorded once."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.doubles import Recorded
from textcraft_gym import make_agent
from textcraft_gym.episodes.schedule import run_episodes
from textcraft_gym.registration import find


class Whole(NamedTuple):
    """Episodes of an agent, and what they come to.

    Attributes:
        agent: The agent.
        env: The environment.
        split: Its split.
        step: Every how manieth task is played.
        won: How many are won.
        roles: Who asks a model in them.
        args: Arguments of the agent.
        env_args: Arguments of the environment.
    """

    agent: str
    env: str
    split: str
    step: int
    won: int
    roles: str
    args: dict[str, Any] = {}
    env_args: dict[str, Any] = {}

    @property
    def tape(self) -> str:
        """The tape of its answers."""
        return f"{self.agent}_{find(self.env).profile}"


NARROW = {"samples": 2, "root_samples": 3, "iterations": 4}
WHOLE = (
    Whole("deps", "TextCraft-v0", "test", 20, 5, "explainer planner"),
    Whole("deps", "ALFWorld-v0", "valid_seen", 20, 6, "controller explainer planner"),
    Whole("deps", "MineTechTree-v0", "core71", 10, 5, "explainer planner"),
    Whole(
        "deps", "Tabletop-v0", "paper", 3, 7, "explainer planner", {}, {"reliability": "cliport"}
    ),
    Whole("adaplanner", "ALFWorld-v0", "valid_unseen", 15, 9, "ask checker planner"),
    Whole("adaplanner", "TextCraft-v0", "test", 30, 6, "checker planner refiner"),
    Whole("adaplanner", "MineTechTree-v0", "core71", 10, 5, "checker planner refiner"),
    Whole("autoplan", "ALFWorld-v0", "valid_seen", 25, 2, "action formalizer thought"),
    Whole(
        "autoplan", "HotpotQA-v0", "dev", 40, 2, "action formalizer thought", {}, {"pages": 1000}
    ),
    Whole("lats", "WebShopLite-v0", "adapt_test", 40, 1, "executor judge reflection", NARROW),
    Whole("lats", "HotpotQA-v0", "dev", 50, 4, "executor judge", {}, {"pages": 1000}),
    Whole("inner_monologue", "ALFWorld-v0", "valid_seen", 20, 7, "controller planner"),
    Whole("code_as_policies", "TextCraft-v0", "test", 20, 5, "planner"),
    Whole("progprompt", "TextCraft-v0", "test", 20, 4, "planner"),
    Whole("tree_of_thoughts", "WebShopLite-v0", "adapt_test", 50, 1, "executor judge"),
    Whole(
        "adapt", "WebShopLite-v0", "adapt_test", 20, 2, "detail_match executor planner simple_match"
    ),
    Whole("reflexion", "ALFWorld-v0", "valid_seen", 20, 6, "executor reflection"),
)


@pytest.mark.parametrize("whole", WHOLE, ids=lambda whole: whole.tape)
def test_agent__plays_whole_episodes(whole: Whole):
    agent = make_agent(whole.agent, profile=find(whole.env).profile, args=whole.args)
    env = find(whole.env).make(agent, split=whole.split, **whole.env_args)
    jobs = [(task.id, 0) for task in env.get_wrapper_attr("tasks")[:: whole.step]]
    episodes = list(run_episodes([env], agent, jobs, model=Recorded(whole.tape), max_calls=300))
    assert [episode.error for episode in episodes] == [None] * len(jobs)
    roles = sorted({role for episode in episodes for role in episode.calls})
    assert (sum(bool(episode.won) for episode in episodes), " ".join(roles)) == (
        whole.won,
        whole.roles,
    )
