"""A model that says what a test has it say, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from tests.envs.hotpotqa.shelf import CORPUS
from textcraft_gym import run_episode
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.episodes.episode import Episode


class ScriptedModel:
    """Answers from a list, at its end with ``task failed!``."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def complete(self, prompt, **how) -> Completion:
        text = self.answers.pop(0) if self.answers else "task failed!"
        self.asked.append({"prompt": prompt, "answer": text, **how})
        return Completion(text, {"completion_tokens": 1})


def play(
    agent, models: Mapping[str, ScriptedModel], task: str = "minecraft:beehive", **bounds: int
) -> Episode:
    """Play a task of TextCraft, without distractors, of WebShop, of ALFWorld, of HotpotQA, a table
    or the tech tree."""
    if task.startswith("minecraft:"):
        env = gym.make("TextCraft-v0", split="all", distractors=0, max_episode_steps=-1)
    elif task[0].isdigit():
        env = gym.make("WebShopLite-v0", max_episode_steps=-1)
    elif any(task == question.id for questions in CORPUS.splits.values() for question in questions):
        env = gym.make("HotpotQA-v0", data=CORPUS, max_episode_steps=-1)
    elif task.startswith(("put-block-in-bowl/", "stack-block-pyramid/")):
        env = gym.make("Tabletop-v0", max_episode_steps=-1)
    elif "/" in task:
        env = gym.make("ALFWorld-v0", admissible=True, max_episode_steps=-1)
    else:
        env = gym.make("MineTechTree-v0", max_episode_steps=-1)
    return run_episode(env, agent, task=task, seed=0, model=models, **bounds)
