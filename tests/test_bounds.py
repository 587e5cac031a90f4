"""No number that a run's config may give to a world, a wrapper or an agent of the suite exhausts
the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from textcraft_gym import RunSpec, wrappers
from textcraft_gym.agents.registry import AGENTS
from textcraft_gym.envs.hotpotqa.wiki.made import MAX_PAGES, made_corpus
from textcraft_gym.envs.webshop.catalogue import MAX_GENERATED, Catalogue
from textcraft_gym.errors import RunError
from textcraft_gym.recipes import pack
from textcraft_gym.recipes.recipe import RecipeError
from textcraft_gym.registration import BUNDLED
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.runner import MAX_EPISODES, plan
from textcraft_gym.verify import untrusted

SECONDS = 60
"""No number takes more; most take milliseconds."""
BIG = 10**9
WRAPPERS = tuple(name for name in wrappers.__all__ if isinstance(getattr(wrappers, name), type))
TRIED = """
import inspect, json, signal, sys, warnings
from textcraft_gym import wrappers
from textcraft_gym.agents.registry import AGENTS, find_agent, make_agent
from textcraft_gym.registration import find
from textcraft_gym.task import tasks_of

big, *names = map(json.loads, sys.argv[1:])
needed = {"TokenIds": {"length": 8}, "TextHistory": {"turns": 2}, "SubgoalReward": {"gamma": 0.9}}
warnings.simplefilter("ignore")


def integers(signature):
    return [name for name, parameter in signature.items() if "int" in str(parameter.annotation).replace("Mapping", "")]


def play(name, env):
    tasks_of(env)
    env.reset(seed=0)
    env.step(0 if name == "ActionMasking" else "look")
    return "played"


def tried(name, argument):
    try:
        if name.endswith("-v0"):
            return play(name, find(name).make(**{argument: big}))
        if hasattr(wrappers, name):
            env = find("TextCraft-v0").make(admissible=True, expert=True)
            return play(name, getattr(wrappers, name)(env, **{**needed.get(name, {}), argument: big}))
        return make_agent(name, profile="textcraft", args={argument: big}) and "made"
    except ValueError as error:
        return str(error)


def signature(name):
    if name.endswith("-v0"):
        return find(name).parameters
    return inspect.signature(getattr(wrappers, name, None) or find_agent(name)).parameters


def settings(name):
    return getattr(find_agent(name), "uses", ()) if name in AGENTS else ()


arguments = {name: [*integers(signature(name)), *settings(name)] for name in names}
print(json.dumps([(name, argument, tried(name, argument)) for name in names for argument in arguments[name]]))
"""


def outcomes(*names: str) -> list[tuple[str, str, str]]:
    """Return what comes of each integer argument of worlds, wrappers or agents at a great value."""
    program = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))\n{TRIED}"
    )
    command = [sys.executable, "-c", program, *map(json.dumps, (BIG, *names))]
    tried = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    results: list[tuple[str, str, str]] = json.loads(tried.stdout)
    return results


@pytest.mark.skipif(
    sys.platform != "linux", reason="the memory of a process is limited as on Linux"
)
@pytest.mark.parametrize("names", [*((name,) for name in BUNDLED), WRAPPERS])
def test_integers__are_refused_or_harmless(names):
    for name, argument, outcome in outcomes(*names):
        refused = argument in outcome and "expected" in outcome and "\n" not in outcome
        assert outcome == "played" or refused, f"{argument} of {name}"


@pytest.mark.skipif(
    sys.platform != "linux", reason="the memory of a process is limited as on Linux"
)
def test_integers__of_agents_are_refused_or_harmless():
    results = outcomes(*AGENTS)
    assert len(results) > 50
    assert all("\n" not in outcome for *_, outcome in results)


def test_made_worlds__have_bounds():
    with pytest.raises(
        ValueError, match=f"expected pages in 1000..{MAX_PAGES}, got {MAX_PAGES + 1}"
    ):
        made_corpus(MAX_PAGES + 1)
    with pytest.raises(
        ValueError, match=f"expected num_products <= {MAX_GENERATED} of a generated shop, got"
    ):
        Catalogue.load(num_products=MAX_GENERATED + 1)


def test_pack__is_not_looked_for_in_a_whole_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pack, "MAX_ENTRIES", 3)
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).mkdir()
    with pytest.raises(
        RecipeError, match="more than 3 files and folders: name the data pack's folder"
    ):
        pack.read_pack(tmp_path)
    (tmp_path / "d").rmdir()
    with pytest.raises(RecipeError, match="no recipes here"):
        pack.read_pack(tmp_path)


def test_plan__has_a_bound_of_episodes():
    spec = RunSpec("TextCraft-v0", "dev", "expert", limit=2, repeats=MAX_EPISODES // 2 + 1)
    with pytest.raises(
        ValueError,
        match=f"expected at most {MAX_EPISODES} episodes, got {spec.repeats} of each of 2",
    ):
        plan(Run(spec))


def test_check_bounds__of_wrappers(tmp_path: Path):
    config = {
        "limit": None,
        "repeats": 1,
        "wrappers": ["ThinkActions"] * (untrusted.MAX_WRAPPERS + 1),
    }
    with pytest.raises(RunError, match="expected at most 16 wrappers, got 17"):
        untrusted.check_bounds(config, tmp_path)
