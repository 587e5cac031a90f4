"""A contract that worlds outside of the suite pass in twenty lines, and that broken ones fail where
they break it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from textcraft_gym import UnknownName
from textcraft_gym.envs.text_env import Step, TextEnv
from textcraft_gym.errors import Unsupported
from textcraft_gym.spaces import AnyText
from textcraft_gym.testing import EnvContract


@dataclass(frozen=True)
class Word:
    id: str


class Spelling(TextEnv):
    """Spell a word, letter by letter."""

    tasks = (Word("oak"), Word("birch"), Word("yew"))

    def __init__(self, *, expert: bool = False, render_mode: str | None = None) -> None:
        super().__init__(expert=expert, render_mode=render_mode)

    def _find_task(self, name: Any) -> Word:
        matches = [task for task in self.tasks if task.id == name]
        if not matches:
            raise UnknownName.of("word", name, [task.id for task in self.tasks])
        return matches[0]

    def _begin(self, task: Word, draw: int) -> str:
        self.left = task.id
        return f"Spell {task.id}."

    def _play(self, action: str) -> Step:
        is_right = action == self.left[0]
        self.left = self.left[is_right:]
        info = self._info() | ({} if is_right else {"invalid_reason": "wrong_letter"})
        return "Yes." if is_right else "No.", float(not self.left), not self.left, False, info

    def _info(self) -> dict[str, Any]:
        return {"task": self.task.id, "won": not self.left} | (
            {"expert_plan": list(self.left)} if self.expert else {}
        )


class Guess(gym.Env[str, str]):
    """Guess a digit, in plain Gymnasium: no tasks, no info."""

    def __init__(self) -> None:
        self.observation_space = self.action_space = AnyText()
        self.digit: str | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.digit = str(self.np_random.integers(10))
        return "Guess.", {}

    def step(self, action: str) -> Step:
        if self.digit is None:
            raise ResetNeeded("call reset() first")
        if not isinstance(action, str):
            raise TypeError(f"expected text, got {action!r}")
        won = action == self.digit
        self.digit = None if won else self.digit
        return "Yes." if won else "No.", float(won), won, False, {}


gym.register("Spelling-v0", entry_point=Spelling, max_episode_steps=20)
gym.register("Guess-v1", entry_point=Guess, max_episode_steps=20)


def test_reset__of_a_world_without_tasks_says_so():
    class Wordless(Spelling):
        tasks = ()

    with pytest.raises(ValueError, match="Wordless has no tasks to draw from"):
        Wordless().reset(seed=0)


class TestSpelling(EnvContract):
    env_id = "Spelling-v0"


class TestGuess(EnvContract):
    env_id = "Guess-v1"


class Forgetful(Spelling):
    def _info(self) -> dict[str, Any]:
        return {key: value for key, value in super()._info().items() if key != "won"}


class Whimsical(Spelling):
    def _begin(self, task: Word, draw: int) -> str:
        return super()._begin(task, draw) + random.choice(" .!")


class Endless(Spelling):
    def step(self, action: str) -> Step:
        if not isinstance(action, str):
            raise TypeError(action)
        return (
            self._play(action) if self.task and self.left else ("", 0.0, True, False, self._info())
        )


class Deaf(Spelling):
    def step(self, action: str) -> Step:
        return super().step(str(action))


class Stubborn(Spelling):
    def _find_task(self, name: Any) -> Word:
        return self.tasks[0]


class Hopeless(Spelling):
    def _info(self) -> dict[str, Any]:
        return super()._info() | ({"expert_plan": ["x"]} if self.expert else {})


class Boastful(Spelling):
    def __init__(
        self, *, expert: bool = False, admissible: bool = False, render_mode: str | None = None
    ) -> None:
        super().__init__(expert=expert, render_mode=render_mode)

    def _info(self) -> dict[str, Any]:
        return super()._info() | {"admissible_commands": ["x"]}


class Blank(Spelling):
    def render(self) -> str | None:
        return "" if self.render_mode else None


class Unpicklable(Spelling):
    def _begin(self, task: Word, draw: int) -> str:
        self.clock = (letter for letter in task.id)
        return super()._begin(task, draw)


class Shared(Spelling):
    heard: list[str] = []

    def _play(self, action: str) -> Step:
        said, *rest = super()._play(action)
        self.heard.append(action)
        return f"{said} {len(self.heard)}", *rest


class Amnesiac(Spelling):
    def _settings(self) -> Any:
        return "Spelling", ()

    def _position(self) -> Any:
        return None

    def _go_back(self, task: Word, draw: int, position: Any) -> None:
        self.left = task.id


class Mute(Spelling):
    def explain(self, action: str, reason: str) -> str:
        raise Unsupported("no")


class Lax(Spelling):
    def __init__(
        self, *, expert: bool = False, render_mode: str | None = None, **rest: Any
    ) -> None:
        super().__init__(expert=expert, render_mode=render_mode)


class Shrill(Spelling):
    def _play(self, action: str) -> Step:
        said, *rest = super()._play(action)
        return said * (1 << 15), *rest


class Numbered(Spelling):
    def _play(self, action: str) -> Step:
        said, _, *rest = super()._play(action)
        return said, np.float32(0), *rest


class Lettered(Spelling):
    """Gives one text where a list is expected."""

    def _info(self) -> dict[str, Any]:
        return super()._info() | ({"expert_plan": self.left} if self.expert else {})


class Graphic(Spelling):
    def __init__(self, *, expert: bool = False, render_mode: str | None = None) -> None:
        super().__init__(expert=expert, render_mode=render_mode)
        self.observation_space = gym.spaces.Discrete(3)


@pytest.mark.parametrize(
    ("world", "broken"),
    [
        (Forgetful, "steps_have_the_types_of_gymnasium"),
        (Numbered, "steps_have_the_types_of_gymnasium"),
        (Lettered, "steps_have_the_types_of_gymnasium"),
        (Graphic, "has_spaces_of_text"),
        (Graphic, "passes_gymnasiums_check"),
        (Whimsical, "plays_the_same_again"),
        (Whimsical, "leaves_global_random_states_alone"),
        (Shrill, "plays_any_text"),
        (Endless, "refuses_steps_outside_of_an_episode"),
        (Deaf, "refuses_an_action_that_is_no_text"),
        (Stubborn, "plays_the_task_that_is_named"),
        (Hopeless, "is_solved_by_its_expert"),
        (Boastful, "admits_what_it_lists"),
        (Blank, "renders_text"),
        (Unpicklable, "goes_on_alike_when_copied"),
        (Shared, "does_not_meet_others"),
        (Amnesiac, "returns_to_a_snapshot"),
        (Mute, "offers_or_refuses_by_name"),
        (Lax, "names_a_wrong_argument"),
    ],
)
def test_contract__fails_for_a_world_that_breaks_it(world, broken):
    class Contract(EnvContract):
        def make_env(self, **arguments: Any) -> gym.Env[str, str]:
            return gym.wrappers.OrderEnforcing(world(**arguments))

    with pytest.raises((AssertionError, TypeError)):
        getattr(Contract(), f"test_env__{broken}")()


def test_contract__does_not_play_the_letters_of_a_text_as_commands():
    class Worded(Boastful):
        def _info(self) -> dict[str, Any]:
            return super()._info() | {"admissible_commands": self.left}

    class Contract(EnvContract):
        def make_env(self, **arguments: Any) -> gym.Env[str, str]:
            return Worded(**arguments)

    with pytest.raises(AssertionError, match=r"admissible_commands='.*', expected a list of texts"):
        Contract().test_env__admits_what_it_lists()


def test_contract__has_a_broken_world_for_each_check():
    checks = {
        name.removeprefix("test_env__")
        for name in dir(EnvContract)
        if name.startswith("test_env__")
    }
    (marks,) = test_contract__fails_for_a_world_that_breaks_it.pytestmark
    assert checks == {broken for _, broken in marks.args[1]}
