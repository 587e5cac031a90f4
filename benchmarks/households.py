"""How fast ALFWorld is, as ratios to TextWorld's engine on the same games and commands, in one run.

Needs the extra ``[alfworld]``; without it only our own rates are printed. The games are made ones; commands are a walk
that acts on the place three times of four. Native rates are of the first walk through a game just loaded (``new``), and
of the same walk again (``again``), where all that can be done was worked out before.
"""

from __future__ import annotations

import importlib.util
import os
import random
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

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

GAMES = 6
REAL_STEPS = 40
STEPS = 3000
ENVS, ENV_GAMES = 1000, 100


def walk(game: Game, steps: int) -> list[str]:
    """Return commands of a random walk that does not win."""
    number = random.Random(0).random
    state, commands = game.first, []
    while len(commands) < steps:
        admissible = moves(game, state).commands
        local = [one for one in admissible if not one.startswith("go to")]
        choice = local if number() < 0.75 else admissible
        command = choice[int(number() * len(choice))]
        after = apply(game, state, command)[0]
        if not after.won:
            state = after
            commands.append(command)
    return commands


def seconds(run: Callable[[], Any]) -> float:
    """Return how long something takes."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


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


def real_rates(files: list[Path], walks: list[list[str]]) -> dict[str, float]:
    """Return TextWorld's steps a second with and without admissible commands, and its seconds of load and reset."""
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

    rates = {}
    for admissible in (True, False):
        stepping = loading = 0.0
        for file, commands in zip(files, walks, strict=True):
            infos = textworld.EnvInfos(won=True, feedback=True, admissible_commands=admissible)
            begun = time.perf_counter()
            engine = textworld.start(str(file), infos, wrappers=[AlfredDemangler])
            engine.reset()
            loading += time.perf_counter() - begun
            stepping += seconds(lambda e=engine, c=commands: [e.step(one) for one in c[:REAL_STEPS]])
        rates["with" if admissible else "without"] = len(files) * REAL_STEPS / stepping
        rates["load"] = loading / len(files)
    return rates


def main() -> None:
    """Print the table."""
    tasks = [task.id for task in textcraft_gym.tasks("ALFWorld-v0", "valid_unseen")[:GAMES]]
    made = tempfile.TemporaryDirectory()
    folder = Path(made.name) / "valid_unseen"
    installed = all(importlib.util.find_spec(name) for name in ("alfworld", "textworld"))
    walks = [walk(Game(generate(task)), STEPS) for task in tasks]
    total = GAMES * STEPS
    native: dict[str, float] = {}
    for name, admissible in (("with", True), ("without", False)):
        games = [Game(generate(task)) for task in tasks]
        for age in ("new", "again"):
            begun = time.perf_counter()
            for game, commands in zip(games, walks, strict=True):
                play(game, commands, admissible)
            native[f"{name} {age}"] = total / (time.perf_counter() - begun)
    env = gym.make("ALFWorld-v0", split="valid_unseen", admissible=True, max_episode_steps=-1)
    for age in ("new", "again"):
        spent = sum(seconds(lambda t=t, c=c: play_env(env, t, c)) for t, c in zip(tasks, walks, strict=True))
        native[f"gym.make {age}"] = total / spent
    native["resets"] = 2000 / seconds(lambda: [env.reset(options={"task": tasks[n % GAMES]}) for n in range(2000)])
    if installed:
        files = []
        for task in tasks:
            game = Game(generate(task))
            export_game(generate(task), task, folder, expert_plan(game, game.first) or [])
            files.append(folder / task / "game.tw-pddl")
        real = real_rates(files, walks)
        load = min(sum(seconds(lambda f=f: Game(read_game(f))) for f in files) / GAMES for _ in range(5))
        print(f"TextWorld: {real['with']:.1f} steps/s with admissible commands, {real['without']:.1f} without,")
        print(
            f"  load and reset {real['load']:.2f} s; native load {1000 * load:.2f} ms: {real['load'] / load:,.0f} times"
        )
    for name, rate in native.items():
        against = real["without" if "without" in name else "with"] if installed and name != "resets" else None
        print(f"  {name}: {rate:,.0f}/s" + (f", {rate / against:,.0f} times TextWorld" if against else ""))
    if installed:
        first, again = index_seconds(Path(made.name))
        print(f"index of a folder: {1000 * first:.2f} ms a game, and remembered {1000 * again:.3f} ms")
    made.cleanup()
    print(f"memory of {ENVS} environments of {ENV_GAMES} games: {memory():.0f} MB (the aim is under 100)")


def index_seconds(folder: Path) -> tuple[float, float]:
    """Return how long it takes to find out which games of a folder can be played, by game, and with an index again."""
    os.environ["TEXTCRAFT_GYM_CACHE"] = str(folder / "cache")
    tasks = textcraft_gym.tasks("ALFWorld-v0", "valid_unseen")
    for task in tasks:
        export_game(generate(task.id), task.id, folder / "valid_unseen", [])
    # A process looks at a split once; "all" is the same games here, and not the same split.
    first, again = (seconds(lambda s=split: Games(folder, s, Difficulty())) for split in ("valid_unseen", "all"))
    return first / len(tasks), again / len(tasks)


def memory() -> float:
    """Return the MB that many environments take, each in the middle of a game."""
    ids = [task.id for task in textcraft_gym.tasks("ALFWorld-v0", "train")[:ENV_GAMES]]
    tracemalloc.start()  # the process's own peak is higher already
    envs = []
    for number in range(ENVS):
        env = gym.make("ALFWorld-v0", split="train", admissible=True)
        _, info = env.reset(seed=number, options={"task": ids[number % ENV_GAMES]})
        for turn in range(10):
            commands = info["admissible_commands"]
            *_, terminated, _, info = env.step(commands[(7 * turn + number) % len(commands)])
            if terminated:
                break
        envs.append(env)
    return tracemalloc.get_traced_memory()[0] / 2**20


if __name__ == "__main__":
    main()
