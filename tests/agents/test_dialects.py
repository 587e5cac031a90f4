"""Prompts, agents and games agree on the dialect of a game, or a warning says that they do not."""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path

import gymnasium as gym
import pytest

from tests.doubles import CRAFTER
from textcraft_gym import RunSpec, evaluate
from textcraft_gym.agents.games import ALFWORLD, TEXTCRAFT
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import AGENTS, make_agent, why_not
from textcraft_gym.envs.alfworld.text import WORDINGS
from textcraft_gym.runs.run import Run

PUBLISHED = (
    "{situation}\n{task}\n> go to fridge 1\nThe fridge 1 is closed.\n"
    "> put egg 1 in/on fridge 1\n{information}\n>"
)
"""In the manner of prompts that papers published, which say put and leave out where they arrive."""
MARKED = (
    "{situation}{task}\n{information}\n[dialect b] say b\n[dialect a] say a\nall\n[dialect a] a a\n"
)


def folder_of(folder: Path, agent: str, game: str, text: str) -> Path:
    (folder / agent).mkdir()
    (folder / agent / f"{game}.txt").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("dialect", "lines"), [("a", "say a\nall\na a"), ("b", "say b\nall"), (None, "say b\nall")]
)
def test_prompt__has_the_lines_of_its_dialect(dialect: str | None, lines: str, tmp_path: Path):
    folder = folder_of(tmp_path, "react", "textcraft", MARKED)
    text = f"{{situation}}{{task}}\n{{information}}\n{lines}"
    for spoken in (
        dialect,
        dialect or "c",
    ):  # in a dialect that it does not know it stays as it is by default
        assert Prompts(folder, spoken).of("react", "textcraft").text == text


def test_profile__knows_the_dialects_of_the_game():
    assert set(ALFWORLD.dialects) == set(WORDINGS)
    for dialect in WORDINGS:
        env = gym.make("ALFWorld-v0", dialect=dialect, expert=True)
        transcript, info = env.reset(seed=3)
        assert ALFWORLD.dialects_of(transcript) == []
        for command in info["expert_plan"]:
            transcript += f"\n> {command}\n{env.step(command)[0]}"
        assert ALFWORLD.dialects_of(transcript) == [dialect]


@pytest.mark.parametrize("dialect", WORDINGS)
def test_bundled_prompts__speak_the_dialect_that_is_played(dialect: str):
    for name in AGENTS:
        if not why_not(name, "alfworld"):
            prompts = Prompts(dialect=dialect)
            make_agent(name, profile=ALFWORLD, prompts=prompts)
            for file, text in prompts.read.items():
                has_examples = file.startswith("react/") or file in (
                    "autoplan/alfworld.txt",
                    "chat/alfworld.txt",
                    "deps/alfworld.txt",
                    "lats/alfworld.txt",
                )
                assert ALFWORLD.dialects_of(text) == ([dialect] if has_examples else []), file
                assert "[dialect" not in text


@pytest.mark.parametrize("name", ["alfworld", "alfworld_atomic", "alfworld_task"])
def test_demonstrations__are_the_same_in_every_dialect(name: str):
    new, old = (Prompts(dialect=dialect).of("react", name).text for dialect in ("0.4", "0.3"))
    assert (ALFWORLD.dialects_of(new), ALFWORLD.dialects_of(old)) == (["0.4"], ["0.3"])
    new = re.sub(r"(?m)^You arrive at \w+ \d+\.", "You arrive at loc N.", new)
    new = re.sub(r"(?m)^((?:> )?)move (.+) to (.+)$", r"\1put \2 in/on \3", new)
    new = re.sub(r"(?m)^You move the (.+) to the (.+)\.$", r"You put the \1 in/on the \2.", new)
    assert re.sub(r"You arrive at loc \d+\.", "You arrive at loc N.", old) == new


def test_make_agent__warns_of_a_prompt_in_another_dialect(tmp_path: Path):
    folder = folder_of(tmp_path, "react", "alfworld", PUBLISHED)
    for agent in ("react", "adapt"):
        with pytest.warns(
            UserWarning,
            match=r"react/alfworld.txt is in dialect 0\.3, but .* in 0\.4.*dialect='0\.3'",
        ):
            make_agent(agent, profile=ALFWORLD, prompts=Prompts(folder, "0.4"))
    for profile, prompts in (
        (ALFWORLD, Prompts(folder, "0.3")),
        (ALFWORLD, Prompts(folder)),  # nobody said which dialect is played
        (TEXTCRAFT, Prompts(folder, "0.4")),
    ):
        make_agent("react", profile=profile, prompts=prompts)


def test_run__warns_once_of_prompts_in_another_dialect_than_its_environment(tmp_path: Path):
    folder = folder_of(tmp_path, "react", "alfworld", PUBLISHED)
    spec = RunSpec(
        "ALFWorld-v0", "dev", "react", model=CRAFTER, prompts=folder, limit=1, max_steps=3
    )
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("default")
        evaluate(spec, tmp_path / "run")
    assert [str(warning.message)[:16] for warning in given] == ["the prompt react"]


def test_spec__has_prompts_in_the_dialect_that_its_environment_plays():
    default = (
        inspect.signature(gym.make("ALFWorld-v0").unwrapped.__class__).parameters["dialect"].default
    )
    assert Run(RunSpec("ALFWorld-v0")).prompts.dialect == default == "0.4"
    for dialect in ("0.3", 0.3):  # the command line reads a number
        assert Run(RunSpec("ALFWorld-v0", env_args={"dialect": dialect})).prompts.dialect == "0.3"
    assert Run(RunSpec("TextCraft-v0")).prompts.dialect is None


@pytest.mark.parametrize("agent", ["react", "plan_and_execute", "deps"])
def test_agents__play_as_well_in_every_dialect(agent: str, tmp_path: Path):
    played = []
    for dialect in WORDINGS:
        spec = RunSpec(
            "ALFWorld-v0",
            "dev",
            agent,
            model="tests.doubles:Recorded,tape=dialects",
            env_args={"dialect": dialect},
            limit=6,
        )
        records = evaluate(spec, tmp_path / dialect)
        played.append(
            [
                (record["task"], record["won"], record["steps"], record["calls"])
                for record in records
            ]
        )
    assert played[0] == played[1]
    assert any(won for _, won, *_ in played[0])
