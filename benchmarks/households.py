"""Speed of ALFWorld as ratios to TextWorld's engine on the same games and commands, in one run.

Without the extra ``[alfworld]`` only the native rates are printed. Games are generated; the
commands are a random walk of which three quarters act on the current receptacle. Native rates are
those of the first walk of 3,000 commands through a newly loaded game (``new``), and of the same
walk again (``again``), with warm caches.

Episodes are what an evaluation plays: a game is loaded from its file and 50 commands, the official
limit, are played through ``gym.make`` with the admissible commands listed, so that most answers are
the first of their kind. ``python benchmarks/households.py DIR`` plays them in the official games of
a folder too. All seconds are of the processor, so that other work on the machine changes little.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium as gym

import textcraft_gym
from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.export import export_game
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import read_game
from textcraft_gym.envs.alfworld.rules import apply, moves
from textcraft_gym.envs.alfworld.task_id import Difficulty
from textcraft_gym.envs.alfworld.tasks import Games
from textcraft_gym.envs.alfworld.tasks import _load as loaded_games

GAMES = 6
EPISODE_STEPS = 50
EPISODE_ROUNDS = 5
STEPS = 3000
ENVS, ENV_GAMES = 1000, 100

Rates: TypeAlias = "dict[str, float]"
"""Numbers a second, by what is measured; ``load`` is in seconds."""


def walk(game: Game, steps: int) -> list[str]:
    """Return commands of a random walk that does not win."""
    uniform = random.Random(0).random
    state, commands = game.first, []
    while len(commands) < steps:
        admissible = moves(game, state).commands
        local = [command for command in admissible if not command.startswith("go to")]
        choice = local if uniform() < 0.75 else admissible
        command = choice[int(uniform() * len(choice))]
        after = apply(game, state, command)[0]
        if not after.won:
            state = after
            commands.append(command)
    return commands


def seconds(run: Callable[[], Any]) -> float:
    """Return the seconds of a call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def play(game: Game, commands: list[str], admissible: bool) -> None:
    """Play commands on the bare engine."""
    state = game.first
    for command in commands:
        state = apply(game, state, command)[0]
        if admissible:
            list(moves(game, state).commands)


def play_env(env: gym.Env[str, str], task: str, commands: list[str]) -> None:
    """Play commands through an environment."""
    env.reset(seed=0, options={"task": task})
    for command in commands:
        env.step(command)


def real_rates(files: list[Path], walks: list[list[str]]) -> Rates:
    """Return TextWorld's steps a second with and without commands, and its load and reset times."""
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

    rates = {}
    for admissible in (True, False):
        stepping = loading = 0.0
        for file, commands in zip(files, walks, strict=True):
            infos = textworld.EnvInfos(won=True, feedback=True, admissible_commands=admissible)
            start = time.process_time()
            engine = textworld.start(str(file), infos, wrappers=[AlfredDemangler])
            engine.reset()
            loading += time.process_time() - start
            stepping += seconds(
                lambda e=engine, c=commands: [e.step(command) for command in c[:EPISODE_STEPS]]
            )
        rates["with" if admissible else "without"] = len(files) * EPISODE_STEPS / stepping
        rates["load"] = loading / len(files)
    return rates


def native_rates(tasks: list[str], walks: list[list[str]]) -> Rates:
    """Return the native steps per second, bare and through ``gym.make``, and resets per second."""
    total = GAMES * STEPS
    native: Rates = {}
    for name, admissible in (("with", True), ("without", False)):
        games = [Game(generate(task)) for task in tasks]
        for age in ("new", "again"):
            start = time.process_time()
            for game, commands in zip(games, walks, strict=True):
                play(game, commands, admissible)
            native[f"{name} {age}"] = total / (time.process_time() - start)
    env = gym.make("ALFWorld-v0", split="valid_unseen", admissible=True, max_episode_steps=-1)
    for age in ("new", "again"):
        spent = sum(
            seconds(lambda t=t, c=c: play_env(env, t, c)) for t, c in zip(tasks, walks, strict=True)
        )
        native[f"gym.make {age}"] = total / spent
    native["resets"] = 2000 / seconds(
        lambda: [env.reset(options={"task": tasks[n % GAMES]}) for n in range(2000)]
    )
    return native


def print_episodes(folder: Path, split: str) -> None:
    """Print the rates of episodes in games of a folder, and their ratios to TextWorld's."""
    env = gym.make("ALFWorld-v0", games=folder, split=split, admissible=True)
    games = env.get_wrapper_attr("tasks")[:GAMES]
    walks = [walk(game.game("0.4"), EPISODE_STEPS) for game in games]
    loading = stepping = 0.0
    for _ in range(EPISODE_ROUNDS):
        for game, commands in zip(games, walks, strict=True):
            loaded_games.cache_clear()
            loading += seconds(lambda g=game: env.reset(seed=0, options={"task": g.id}))
            stepping += seconds(lambda c=commands: [env.step(command) for command in c])
    episodes = EPISODE_ROUNDS * len(games)
    load, step = loading / episodes, stepping / episodes / EPISODE_STEPS
    real = real_rates([game.file for game in games], walks)
    print(f"episodes of {EPISODE_STEPS} commands in {len(games)} games of {folder}:")
    print(
        f"  steps: {1 / step:,.0f}/s, {1 / step / real['with']:,.0f} times TextWorld "
        f"({real['with']:.1f}/s)"
    )
    print(
        f"  load and reset: {1000 * load:.2f} ms, {real['load'] / load:,.0f} times TextWorld "
        f"({real['load']:.2f} s)"
    )
    for steps in (10, EPISODE_STEPS):  # the shorter an episode, the more of it is the load
        whole, of_real = load + steps * step, real["load"] + steps / real["with"]
        print(
            f"  of {steps} commands: {1000 * whole:.2f} ms, "
            f"{of_real / whole:,.0f} times TextWorld ({of_real:.2f} s)"
        )


def compared_rates(tasks: list[str], walks: list[list[str]], folder: Path) -> Rates:
    """Return and print TextWorld's rates on the same games, which are exported to ``folder``."""
    files = []
    for task in tasks:
        game = Game(generate(task))
        export_game(generate(task), task, folder, expert_plan(game, game.first) or [])
        files.append(folder / task / "game.tw-pddl")
    real = real_rates(files, walks)
    load = min(
        sum(seconds(lambda f=f: Game(read_game(f))) for f in files) / GAMES for _ in range(5)
    )
    print(
        f"TextWorld: {real['with']:.1f} steps/s with admissible commands, "
        f"{real['without']:.1f} without,"
    )
    print(
        f"  load and reset {real['load']:.2f} s; "
        f"native load {1000 * load:.2f} ms: {real['load'] / load:,.0f} times"
    )
    return real


def main() -> None:
    """Print the table."""
    given = sys.argv[1:]  # before TextWorld's planner writes its own arguments there
    tasks = [task.id for task in textcraft_gym.tasks("ALFWorld-v0", "valid_unseen")[:GAMES]]
    walks = [walk(Game(generate(task)), STEPS) for task in tasks]
    installed = all(importlib.util.find_spec(name) for name in ("alfworld", "textworld"))
    native = native_rates(tasks, walks)
    with tempfile.TemporaryDirectory() as folder:
        real: Rates = {}
        if installed:
            real = compared_rates(tasks, walks, Path(folder) / "valid_unseen")
        print_native(native, real)
        if installed:
            for games in (folder, *given):
                print_episodes(Path(games), "all")
            first, again = index_seconds(Path(folder))
            print(
                f"index of a folder: {1000 * first:.2f} ms per game, "
                f"from the cache {1000 * again:.3f} ms"
            )
    print(
        f"memory of {ENVS} environments of {ENV_GAMES} games: {memory():.0f} MB (target: below 100)"
    )


def print_native(native: Rates, real: Rates) -> None:
    """Print the native rates, and how many times TextWorld's they are, if those are known."""
    for name, rate in native.items():
        line = f"  {name}: {rate:,.0f}/s"
        if real and name != "resets":
            textworld_rate = real["without" if "without" in name else "with"]
            line += f", {rate / textworld_rate:,.0f} times TextWorld"
        print(line)


def index_seconds(folder: Path) -> tuple[float, float]:
    """Return the seconds per game to index a folder's solvable games, and to read the cache."""
    os.environ["TEXTCRAFT_GYM_CACHE"] = str(folder / "cache")
    tasks = textcraft_gym.tasks("ALFWorld-v0", "valid_unseen")
    for task in tasks:
        export_game(generate(task.id), task.id, folder / "valid_unseen", [])
    # A process caches each split; "all" has the same games here under another name.
    first = seconds(lambda: Games(folder, "valid_unseen", Difficulty()))
    again = seconds(lambda: Games(folder, "all", Difficulty()))
    return first / len(tasks), again / len(tasks)


def memory() -> float:
    """Return the MB of many environments, each in the middle of a game."""
    ids = [task.id for task in textcraft_gym.tasks("ALFWorld-v0", "train")[:ENV_GAMES]]
    tracemalloc.start()  # resource.getrusage reports the process's peak, which is higher already
    envs = []
    for seed in range(ENVS):
        env = gym.make("ALFWorld-v0", split="train", admissible=True)
        _, info = env.reset(seed=seed, options={"task": ids[seed % ENV_GAMES]})
        for turn in range(10):
            commands = info["admissible_commands"]
            *_, terminated, _, info = env.step(commands[(7 * turn + seed) % len(commands)])
            if terminated:
                break
        envs.append(env)
    return tracemalloc.get_traced_memory()[0] / 2**20


if __name__ == "__main__":
    main()
