"""A toy world for searches: of two keys the one that looks better leads to a locked door."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym

from textcraft_gym.agents.contract.model import Completion, Prompt, prompt_text
from textcraft_gym.spaces import AnyText

GOLD, IRON = ["take gold", "open door"], ["take iron", "wait", "open door"]


class KeysEnv(gym.Env[str, str]):
    """Take a key and open the door, which is worth 0.5 with the gold key; the iron one has to be
    waited with."""

    def __init__(self) -> None:
        self.observation_space = self.action_space = AnyText()
        self.done: tuple[str, ...] = ()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.done = ()
        return "There are two keys.\n\nTask: open the door.", {"won": False}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        assert not self.done or self.done[-1] != "open door", "a step after the end"
        if action not in ("take gold", "take iron", "wait", "open door"):
            return "Nothing happens.", 0.0, False, False, {"won": False}
        self.done = (*self.done, action)
        ended = action == "open door"
        won = ended and list(self.done) == IRON
        reward = 0.0 if not ended else 1.0 if won else 0.5 if list(self.done) == GOLD else 0.0
        return f"done: {', '.join(self.done)}", reward, ended, False, {"won": won}

    def snapshot(self) -> tuple[str, ...]:
        return self.done

    def restore(self, snapshot: tuple[str, ...]) -> None:
        self.done = snapshot


class OneWayKeysEnv(KeysEnv):
    """The same without snapshots."""

    def has_wrapper_attr(self, name: str) -> bool:
        return name != "snapshot" and super().has_wrapper_attr(name)


class Gambler:
    """Always writes all actions, one a sample, and judges the gold key higher; its samples are in turn.

    It knows nothing of the samples' seeds, so requests of n samples are recognised by their number
    alone.
    """

    def __init__(
        self, actions: tuple[str, ...] = ("take gold", "take iron", "wait", "open door", "jump")
    ) -> None:
        self.actions = actions
        self.asked: list[str] = []

    def complete_many(self, requests: Any) -> list[Completion]:
        return [self._answer(request.prompt, index) for index, request in enumerate(requests)]

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
    ) -> Completion:
        return self._answer(prompt, 0)

    def _answer(self, prompt: Prompt, index: int) -> Completion:
        text = prompt_text(prompt)
        self.asked.append(text)
        if text.endswith("Judgement:"):
            return Completion(f"The score is {9 if 'Action 1: take gold' in text else 4}.")
        if text.endswith("Reflection:"):
            return Completion(f"I should not {re.findall(r'Action 1: (.+)', text)[-1]}.")
        (number,) = re.findall(r"Thought (\d+):$", text)
        return Completion(f" I try.\nAction {number}: {self.actions[index % len(self.actions)]}")
