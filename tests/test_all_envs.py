"""What every environment of the suite promises: what any world of text must hold, and more, for
each registered id."""

from __future__ import annotations

import gc
import multiprocessing
import random
import subprocess
import sys
import tracemalloc
from functools import cache
from itertools import product
from typing import ClassVar

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded

from textcraft_gym import UnknownName, tasks
from textcraft_gym.envs.text_env import (
    Draws,
)
from textcraft_gym.errors import Unsupported
from textcraft_gym.printable import printable_lines
from textcraft_gym.registration import BUNDLED, SUITE, find
from textcraft_gym.testing import NONSENSE, EnvContract

CONTEXT = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
"""How a vector starts its processes: each unpickles its environment, and need not import anew."""
multiprocessing.set_forkserver_preload(["textcraft_gym"])


@cache
def easy(env_id: str) -> str:
    """Of the first twenty tasks, the one that takes the fewest actions, but more than one."""
    some = [task for task in tasks(env_id)[:20] if task.optimal_length > 1]
    return min(some, key=lambda task: task.optimal_length).id


def begin(env_id: str, **env_args) -> tuple[gym.Env, dict]:
    env = gym.make(env_id, expert=True, **env_args)
    return env, env.reset(seed=0, options={"task": easy(env_id)})[1]


class Suite(EnvContract):
    """What differs between the environments of the suite.

    Attributes:
        splits: Two of its splits.
        limit: Its limit of steps.
        render_modes: Its ways of rendering.
        parts: Whether parts of a task are rewarded, and not only its end.
        unknowable: The largest share of tasks in which the expert may search for what no player can
            know.
    """

    splits = ("test", "dev")
    limit = 100
    render_modes: ClassVar[list[str]] = ["human", "ansi"]
    parts = False
    unknowable = 0.0

    def rendered(self, env: gym.Env, words: str) -> str:
        """What is rendered of some words."""
        return words

    def test_make__works_in_a_fresh_process_without_importing_and_without_side_effects(self):
        script = f"""if True:
            import random
            import numpy
            import gymnasium
            states = random.getstate(), repr(numpy.random.get_state())
            env = gymnasium.make("textcraft_gym:{self.env_id}")
            observation, info = env.reset(seed=0)
            env.step("look around")
            assert isinstance(observation, str) and info["task"]
            assert states == (random.getstate(), repr(numpy.random.get_state()))
        """
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True
        )
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")

    def test_capabilities__are_offered_or_refused_by_name(self):
        env, info = begin(self.env_id)
        world = env.unwrapped
        assert isinstance(world, Draws) == ("svg" in self.render_modes)
        assert len(world.fingerprint) == 64
        assert world.tasks
        assert len(world.vocabulary.split()) > 50
        assert len(world.thoughts(world.task, info["expert_plan"])) == len(info["expert_plan"])
        if self.env_id in ("TextCraft-v0", "Tabletop-v0"):
            assert info["expert_plan"][0] in world.possible_commands([world.task.id])
        else:
            with pytest.raises(Unsupported, match=f"^{self.env_id} offers no possible_commands: "):
                world.possible_commands()

    def test_episode__keeps_the_contract(self, capsys):
        env, info = begin(self.env_id)
        assert env.unwrapped.metadata["render_modes"] == self.render_modes
        assert info["won"] is False
        score = 0.0
        for action in (NONSENSE, *info["expert_plan"]):
            assert action in env.action_space
            step = observation, reward, terminated, truncated, info = env.step(action)
            assert isinstance(step, tuple)
            assert [type(part) for part in step] == [str, float, bool, bool, dict]
            assert observation in env.observation_space
            assert info["task"] == easy(self.env_id)
            assert info["won"] is terminated
            assert ("invalid_reason" in info) == (action == NONSENSE)
            assert self.parts or reward == (1.0 if terminated else 0.0)
            assert not truncated
            score += reward
        assert terminated
        assert score == 1.0
        assert capsys.readouterr() == ("", "")

    def test_reset__works_without_a_seed_and_differs(self):
        env = gym.make(self.env_id)
        drawn = [env.reset()[1]["task"] for _ in range(20)]
        assert len(set(drawn)) > 5
        assert len({gym.make(self.env_id).reset()[0] for _ in range(5)}) > 1

    def test_reset__with_a_seed_begins_a_series_that_repeats(self):
        first, second = gym.make(self.env_id), gym.make(self.env_id)
        second.reset(seed=1)
        series = [[env.reset(seed=5), *(env.reset() for _ in range(5))] for env in (first, second)]
        assert series[0] == series[1]
        assert len({info["task"] for _, info in series[0]}) > 1

    def test_reset__with_a_task_begins_it_whatever_the_split(self):
        env = gym.make(self.env_id)
        for split in self.splits:
            for task in tasks(self.env_id, split)[:5]:
                assert env.reset(seed=1, options={"task": task.id})[1]["task"] == task.id
        assert env.reset(seed=1, options={}) == env.reset(seed=1) == env.reset(seed=1, options=None)

    def test_step__before_reset_or_after_the_end_raises(self):
        for env in (gym.make(self.env_id), gym.make(self.env_id).unwrapped):
            with pytest.raises(ResetNeeded):
                env.step(NONSENSE)
        env, info = begin(self.env_id)
        for action in info["expert_plan"]:
            env.step(action)
        for _ in range(2):
            with pytest.raises(ResetNeeded, match="reset"):
                env.step(NONSENSE)
        env.reset()
        env.step(NONSENSE)

    def test_unknown_name__says_what_there_is(self):
        with pytest.raises(UnknownName, match=rf"Possible: \w+, .*{self.splits[-1]}, (\w+, )*all"):
            gym.make(self.env_id, split="tset")
        for wrong in (["all"], 3):
            with pytest.raises(UnknownName, match=r"unknown split .*Possible: \w+, "):
                gym.make(self.env_id, split=wrong)
        env = gym.make(self.env_id)
        task = env.get_wrapper_attr("tasks")[0].id
        with pytest.raises(UnknownName, match=f"unknown task '{task}x'.*{task}"):
            env.reset(options={"task": task + "x"})
        with pytest.raises(UnknownName, match=r"unknown reset option 'taks'.*Possible: task"):
            env.reset(options={"taks": task})
        with pytest.raises(
            UnknownName, match=r"unknown argument of \w+ 'splt'\. Did you mean split\?"
        ):
            gym.make(self.env_id, splt="dev")

    def test_failed_reset__leaves_the_episode_that_is_on(self):
        env, info = begin(self.env_id)
        env.step(info["expert_plan"][0])
        with pytest.raises(UnknownName):
            env.reset(options={"task": "nothing"})
        for action in info["expert_plan"][1:]:
            terminated = env.step(action)[2]
        assert terminated

    def test_set_split__draws_as_an_environment_of_that_split(self):
        split, other = self.splits
        env = gym.make(self.env_id, split=split)
        env.unwrapped.set_split(other)
        made = gym.make(self.env_id, split=other)
        assert [task.id for task in env.unwrapped.tasks] == [
            task.id for task in made.unwrapped.tasks
        ]
        assert env.reset(seed=1)[1]["task"] == made.reset(seed=1)[1]["task"]
        with pytest.raises(UnknownName):
            env.unwrapped.set_split("no such split")
        assert env.reset(seed=1)[1]["task"] == made.reset(seed=1)[1]["task"]

    @pytest.mark.parametrize("walked", [0, 6])
    def test_expert__plays_an_admissible_command_from_wherever_the_player_went(self, walked: int):
        env = gym.make(self.env_id, split="all", admissible=True, expert=True, max_episode_steps=-1)
        every = env.get_wrapper_attr("tasks")
        some = every[:: -(-len(every) // 40)]
        searched = set()
        for task, seed in product(some, range(2)):
            rng = random.Random(f"{task.id} {seed}")
            _, info = env.reset(seed=seed, options={"task": task.id})
            over = False
            for step in range(walked + 2 * task.optimal_length):
                plan, commands = info["expert_plan"], info["admissible_commands"]
                if over or not plan:
                    break
                if plan[0] not in commands:
                    assert plan[0].startswith("search["), (task.id, seed, plan[0])
                    searched.add(task.id)
                aside = [
                    command
                    for command in commands
                    if not command.startswith(("click[buy", "finish["))
                ]
                walks = step < walked and aside
                action = aside[int(rng.random() * len(aside))] if walks else plan[0]
                _, _, terminated, truncated, info = env.step(action)
                over = terminated or truncated
        assert len(searched) <= self.unknowable * len(some)

    def test_render__is_the_prompt_and_then_the_last_action_with_its_answer(self):
        env, info = begin(self.env_id, render_mode="ansi")
        prompt = env.unwrapped.reset(seed=0, options={"task": info["task"]})[0]
        assert env.render() == self.rendered(env, prompt)
        action = info["expert_plan"][0]
        observation = env.step(action)[0]
        assert env.render() == self.rendered(env, f"> {action}\n{observation}")
        assert gym.make(self.env_id).unwrapped.render() is None

    def test_render__for_a_person_prints_what_ansi_renders(self, capsys):
        printed = []
        for mode in ("ansi", "human"):
            env, info = begin(self.env_id, render_mode=mode)
            shown = [env.render()]
            for action in ("\ud800 \x1b[2J", info["expert_plan"][0]):
                env.step(action)
                shown.append(env.render())
            printed.append(shown)
        rendered, nothing = printed
        assert nothing == [None] * 3
        lines = "".join(f"{printable_lines(text)}\n\n" for text in rendered)
        assert capsys.readouterr() == (lines, "")

    @pytest.mark.filterwarnings("ignore:.*render_mode='film' that is not in the possible")
    def test_render_mode__that_there_is_not_raises(self):
        with pytest.raises(
            UnknownName, match=r"unknown render_mode 'film'\. Possible: human, ansi"
        ):
            gym.make(self.env_id, render_mode="film")

    def test_limit__truncates_where_the_table_says(self):
        env, _ = begin(self.env_id)
        limit = SUITE[self.env_id].max_episode_steps
        assert limit == self.limit
        truncations = [env.step(NONSENSE)[3] for _ in range(limit)]
        assert truncations == [False] * (limit - 1) + [True]

    def test_limit__can_be_changed_and_lifted(self):
        env, _ = begin(self.env_id, max_episode_steps=3)
        assert [env.step(NONSENSE)[3] for _ in range(3)] == [False, False, True]
        env, info = begin(self.env_id, max_episode_steps=-1)
        assert not any(env.step(NONSENSE)[3] for _ in range(150))
        for action in info["expert_plan"]:
            _, reward, terminated, _, _ = env.step(action)
        assert terminated
        assert self.parts or reward == 1.0

    def test_resets__of_one_task_leave_nothing_behind(self):
        def objects() -> int:
            gc.collect()
            return len(gc.get_objects())

        env, _ = begin(self.env_id, admissible=True)
        first = env.reset(seed=0, options={"task": easy(self.env_id)})
        for seed in range(50):
            env.reset(seed=seed)
            env.step(NONSENSE)
        before = objects()
        for _ in range(50):
            assert env.reset(seed=0, options={"task": easy(self.env_id)}) == first
        assert objects() - before < 25

    def test_resets__with_ever_new_seeds_leave_nothing_behind(self):
        env = gym.make(self.env_id, split="all")
        every = env.get_wrapper_attr("tasks")
        for task in every[:: -(-len(every) // 500)]:
            env.reset(seed=0, options={"task": task.id})

        def traced(seeds: range) -> int:
            for seed in seeds:
                env.reset(seed=seed)
                env.step(NONSENSE)
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            before = traced(range(100))
            # 20 bytes a reset; or, where the last games are kept, what these differ in size
            assert traced(range(100, 500)) - before < max(8_000, 0.5 * before)
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize(
        ("mode", "arguments"),
        [
            ("sync", {}),
            ("async", {"shared_memory": True, "context": CONTEXT}),
            ("async", {"shared_memory": False, "context": CONTEXT}),
        ],
        ids=["sync", "async-shared", "async"],
    )
    def test_vector__of_three_is_three_single_ones(self, mode, arguments):
        """Through the end of an episode: on the step after it, the vector resets by itself."""
        singles = [gym.make(self.env_id, expert=True) for _ in range(3)]
        resets = [env.reset(seed=7 + place) for place, env in enumerate(singles)]
        infos = [info for _, info in resets]
        vector = gym.make_vec(
            self.env_id, num_envs=3, vectorization_mode=mode, vector_kwargs=arguments, expert=True
        )
        observations, info = vector.reset(seed=7)
        assert observations == tuple(observation for observation, _ in resets)
        assert observations in vector.observation_space
        over, ends = [False] * 3, 0
        for _ in range(max(len(info["expert_plan"]) for info in infos) + 3):
            actions = [
                NONSENSE if done else info["expert_plan"][0]
                for done, info in zip(over, infos, strict=True)
            ]
            assert tuple(actions) in vector.action_space
            expected = [
                (*(reset := env.reset())[:1], 0.0, False, False, reset[1])
                if done
                else env.step(action)
                for env, action, done in zip(singles, actions, over, strict=True)
            ]
            observations, rewards, terminations, truncations, info = vector.step(actions)
            infos = [step[4] for step in expected]
            over = [step[2] for step in expected]
            ends += sum(over)
            assert observations == tuple(step[0] for step in expected)
            assert list(rewards) == [step[1] for step in expected]
            assert list(terminations) == over
            assert not any(truncations)
            for key in ("task", "won", "expert_plan"):
                assert list(info[key]) == [single[key] for single in infos]
        assert ends
        vector.close()


class TestTextCraft(Suite):
    env_id = "TextCraft-v0"


class TestTextCraftTags(Suite):
    env_id = "TextCraftTags-v0"


class TestALFWorld(Suite):
    env_id = "ALFWorld-v0"
    splits = ("valid_unseen", "dev")
    limit = 50


class TestWebShopLite(Suite):
    env_id = "WebShopLite-v0"
    unknowable = 0.05


class TestMineTechTree(Suite):
    env_id = "MineTechTree-v0"
    splits = ("core71", "MT5")
    limit = 200


class TestHotpotQA(Suite):
    env_id = "HotpotQA-v0"
    limit = 7


class TestTabletop(Suite):
    env_id = "Tabletop-v0"
    render_modes: ClassVar[list[str]] = ["human", "ansi", "svg"]
    parts = True

    def rendered(self, env: gym.Env, words: str) -> str:
        return f"{words}\n\n{env.unwrapped.drawing()}"


def test_suite__is_tested_whole():
    assert {world.env_id for world in Suite.__subclasses__()} == set(BUNDLED)


@pytest.mark.parametrize(
    ("env_id", "switch"),
    [
        (env_id, parameter.name)
        for env_id in BUNDLED
        for parameter in find(env_id).parameters.values()
        if parameter.default is False
    ],
)
def test_make__does_not_take_a_text_for_true(env_id: str, switch: str):
    with pytest.raises(ValueError, match=f"expected {switch} to be true or false, got 'False'"):
        gym.make(env_id, **{switch: "False"})
