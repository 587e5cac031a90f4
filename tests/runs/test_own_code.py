"""Code of a user's own is known again, and told from what was edited."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.hash_seeds import printed
from textcraft_gym import RunSpec, evaluate
from textcraft_gym.envs.textcraft.env import TextCraftEnv
from textcraft_gym.runs.own_code import own_code
from textcraft_gym.wrappers import TextHistory

NOTEBOOK = """
import random
from dataclasses import dataclass
from functools import partial

ACTIONS = {"first": ["inventory"], "words": {"a", "b", "c"}}

def choose(observation):
    return [action for action in ACTIONS["first"]][0] if "x" in {"x", "y"} else None

def policy(observation):
    return choose(observation)

half = partial(policy)

class Base:
    def act(self, observation):
        return policy(observation)

@dataclass
class Mine(Base):
    depth: int = 3
"""


def cell(source: str) -> dict[str, Any]:
    """Run a cell of a notebook, which has no file."""
    names: dict[str, Any] = {"__name__": "notebook"}
    sys.modules["notebook"] = ModuleType("notebook")
    try:
        exec(compile(source, "<cell>", "exec"), names)
    finally:
        del sys.modules["notebook"]
    return names


@pytest.mark.parametrize("name", ["policy", "half", "Mine"])
@pytest.mark.parametrize(
    ("old", "new"), [('["inventory"]', '["look"]'), ("][0]", "][-1]"), ('{"x", "y"}', '{"x", "z"}')]
)
def test_own_code__of_a_notebook_has_what_its_functions_use(name: str, old: str, new: str):
    edited = NOTEBOOK.replace(old, new)
    first, again, other = (own_code([cell(text)[name]]) for text in (NOTEBOOK, NOTEBOOK, edited))
    assert first == again != other


def test_own_code__of_a_notebook_is_the_same_in_any_process():
    code = "from tests.runs.test_own_code import *; print(own_code([cell(NOTEBOOK)['Mine']]))"
    ours = own_code([cell(NOTEBOOK)["Mine"]])
    assert [printed(seed, code) for seed in (1, 2)] == [ours, ours]


def test_own_code__of_the_suite_is_none():
    assert own_code([TextCraftEnv, TextCraftEnv(), TextHistory]) == ""


FILES = {
    "mine/__init__.py": "",
    "mine/agents.py": "from . import prompts\nimport beside, json\n\nclass Mine: pass\n",
    "mine/prompts.py": "def late():\n    from mine.words import GREETING\n",
    "mine/words.py": "GREETING = 'Hello.'\n",
    "mine/unused.py": "GREETING = 'Hello.'\n",
    "mine/ancient.py": "print 'Hello.'\n",
    "beside.py": "try:\n    import mine.ancient, missing.part\nexcept Exception:\n    pass\n",
}
USED = [name for name in FILES if name != "mine/unused.py"]


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_own_code__has_the_modules_that_a_module_imports_from_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    module = ModuleType("mine.agents")
    module.__file__ = str(written(tmp_path, FILES) / "mine/agents.py")
    monkeypatch.setitem(sys.modules, "mine.agents", module)
    agent = type("Mine", (), {"__module__": "mine.agents"})
    before, changed = own_code([agent]), []
    for name, text in FILES.items():
        written(tmp_path, {name: f"{text}\n"})
        if own_code([agent]) != before:
            changed.append(name)
        written(tmp_path, {name: text})
    assert changed == USED


PLAYER = """
import gymnasium as gym
import helper
from tests.doubles import Crafter

def policy(observation):
    return helper.ACTION

class Wrapper(gym.Wrapper):
    pass

class Model(Crafter):
    pass
"""
RUN = """
import sys
from textcraft_gym import RunSpec, evaluate
evaluate(RunSpec("TextCraft-v0", "dev", limit=1, **eval(sys.argv[2])), sys.argv[1])
"""


@pytest.mark.parametrize(
    "options",
    [
        {"agent": "player:policy"},
        {"agent": "random", "wrappers": ("player:Wrapper",)},
        {"agent": "react", "model": "player:Model"},
    ],
)
def test_run__that_goes_on_after_an_edit_of_an_imported_module_says_so(
    tmp_path: Path, options: dict[str, Any]
):
    folder = written(tmp_path, {"player.py": PLAYER, "helper.py": "ACTION = 'inventory'\n"})
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(Path.cwd())])}

    def said() -> str:
        command = [sys.executable, "-c", RUN, str(folder / "run"), repr(options)]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stderr

    said()
    assert "played with other code" not in said()
    written(folder, {"helper.py": "ACTION = 'look around'\n"})
    assert "played with other code" in said()


def test_run__that_goes_on_after_an_edit_in_a_notebook_says_so(tmp_path: Path):
    def run(text: str) -> None:
        evaluate(RunSpec("TextCraft-v0", "dev", cell(text)["policy"], limit=1), tmp_path)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(NOTEBOOK)
        run(NOTEBOOK)
    with pytest.warns(UserWarning, match="played with other code"):
        run(NOTEBOOK.replace('["inventory"]', '["look"]'))
