"""The models of the tests win and lose as a test expects of them."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest

from tests.doubles import Crafter, Recorded, recorded
from textcraft_gym import make_agent
from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.episodes.schedule import run_episodes

HOW = {"stop": (), "max_tokens": 99, "temperature": 0.0, "sample": 0}


def won(agent: str, model: Crafter) -> list[bool]:
    env = gym.make("TextCraft-v0", split="test", max_episode_steps=-1)
    jobs = [(task.id, 0) for task in env.get_wrapper_attr("tasks")[::4]]
    return [
        bool(episode.won)
        for episode in run_episodes(
            [env], make_agent(agent, profile="textcraft"), jobs, model=model
        )
    ]


def test_crafter__wins_what_is_in_its_reach_and_more_by_plans():
    assert all(won("react", Crafter()))
    alone, planned = (sum(won(agent, Crafter(2))) for agent in ("react", "adapt"))
    assert 0 < alone < planned
    assert not any(won("react", Crafter(1)))


def test_crafter__slips_by_its_seed_and_sample():
    prompt = "Crafting commands:\ncraft 4 oak planks using 1 oak logs\n\nGoal: craft oak planks.\n> think: x\nOK.\n>"
    assert Crafter(slip=1.0).complete(prompt, **HOW).text == "get 1 nothing"
    assert Crafter().complete(prompt, **HOW).text == "get 1 oak logs"
    drawn = [Crafter(slip=0.5, seed=seed).complete(prompt, **HOW).text for seed in range(20)]
    assert len(set(drawn)) == 2
    warm = {**HOW, "temperature": 1.0}
    assert (
        len(
            {
                Crafter(slip=0.5).complete(prompt, **{**warm, "sample": sample}).text
                for sample in range(20)
            }
        )
        == 2
    )


def test_recorded__answers_what_a_model_said_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recorded, "TAPES", tmp_path)
    with pytest.raises(ModelError, match="no tape one, and no model to record"):
        Recorded("one")
    monkeypatch.setenv(recorded.RECORD, "tests.doubles:Crafter")
    said = Recorded("one").complete("As it was worded. Now it is your turn. x", **HOW).text
    monkeypatch.delenv(recorded.RECORD)
    assert (
        Recorded("one").complete("Worded anew. Now it is your turn. x", **HOW).text
        == said
        == "task failed!"
    )
    with pytest.raises(ModelError, match="holds no answer to a prompt that ends"):
        Recorded("one").complete("Now it is your turn. y", **HOW)
