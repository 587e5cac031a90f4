"""Many episodes into a run folder, which a killed run leaves ready to go on.

A run folder holds ``config.json``; ``episodes.jsonl``, one line an episode as it ends; and at the end ``summary.json``
and ``report.md``. An episode that raised is a line with an ``error``. A run that is started again plays what is missing
and what was an error; of two lines for one task the later counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium as gym

from textcraft_gym.agents.agent import Agent
from textcraft_gym.agents.expert import ExpertAgent
from textcraft_gym.agents.random import RandomAgent
from textcraft_gym.errors import RunError, UnknownName
from textcraft_gym.evaluation.episode import run_episode
from textcraft_gym.evaluation.metrics import summarise_by_depth
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.registration import make
from textcraft_gym.tasks import Task

Record: TypeAlias = dict[str, Any]

AGENTS: dict[str, Callable[[], Agent]] = {"expert": ExpertAgent, "random": RandomAgent}


@dataclass(frozen=True)
class Config:
    """What is evaluated; two runs with equal configs play the same episodes.

    Attributes:
        env: The id.
        split: The split whose tasks are played, each once.
        agent: A name of ``AGENTS``.
        env_args: Further arguments of ``gym.make``.
        seed: The seed of every reset; prompts differ all the same, since they follow from seed and task.
        max_steps: The most actions an episode; by default the registered limit, which the loop keeps itself.
        limit: Play only the first so many tasks.
    """

    env: str
    split: str
    agent: str
    env_args: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    max_steps: int | None = None
    limit: int | None = None


def evaluate(
    config: Config,
    out: str | Path,
    *,
    agent: Agent | None = None,
    on_start: Callable[[int, list[Record]], None] = lambda total, done: None,
    on_episode: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Play every task of the config that ``out`` does not hold yet, and write the summary and the report.

    Args:
        config: What to play.
        out: The run folder, new or of an earlier run with the same config.
        agent: An agent of your own to play instead of ``AGENTS[config.agent]``; the config names it.
        on_start: Called once with the number of tasks and the records that are there already.
        on_episode: Called with each new record.

    Returns:
        One record a task, in the order of the tasks.

    Raises:
        RunError: If ``out`` holds a run of another config, or cannot be read.
        UnknownName: For an unknown agent, split or environment.
    """
    player = agent or _named_agent(config.agent)()
    if "split" in config.env_args:
        raise ValueError("the split is an option of the evaluation, not one of env_args")
    env = make(config.env, split=config.split, **{**getattr(player, "env_args", {}), **config.env_args})
    tasks: tuple[Task, ...] = env.get_wrapper_attr("tasks")[: config.limit]
    folder = Path(out)
    _open(folder, config, env, tasks)
    done = {record["task"]: record for record in read_records(folder)}
    done = {task: record for task, record in done.items() if not record.get("error")}
    on_start(len(tasks), list(done.values()))
    with (folder / "episodes.jsonl").open("a", encoding="utf-8", newline="\n") as file:
        for task in tasks:
            if task.id not in done:
                record = _play(env, player, task, config)
                file.write(json.dumps(record) + "\n")
                file.flush()
                on_episode(record)
    env.close()
    written = {record["task"]: record for record in read_records(folder)}
    records = [written[task.id] for task in tasks]
    _close(folder, records)
    return records


def read_records(folder: str | Path) -> list[Record]:
    """Return the records of a run folder, the later of two for the same task; none if it has none yet.

    Raises:
        RunError: If a line is no record; an unfinished last line is left out.
    """
    file = Path(folder) / "episodes.jsonl"
    if not file.exists():
        return []
    records: dict[str, Record] = {}
    written = file.read_bytes()
    for number, line in enumerate(written[: written.rfind(b"\n") + 1].splitlines(), 1):
        try:
            record = json.loads(line)
            records[record["task"]] = record
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"{file}:{number}: not an episode record") from error
    return list(records.values())


def read_config(folder: str | Path) -> dict[str, Any]:
    """Return the config of a run folder, with the versions and the tasks' digest that it was begun with.

    Raises:
        RunError: If there is none.
    """
    file = Path(folder) / "config.json"
    try:
        config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{folder} is no run folder: {error}") from error
    return config


def _named_agent(name: str) -> Callable[[], Agent]:
    if name not in AGENTS:
        raise UnknownName("agent", name, list(AGENTS))
    return AGENTS[name]


def _open(folder: Path, config: Config, env: gym.Env[str, str], tasks: tuple[Task, ...]) -> None:
    """Begin a run folder, or make sure that it is of the same run and whole to its last line."""
    digest = hashlib.sha256("\n".join(task.id for task in tasks).encode()).hexdigest()
    game = env.get_wrapper_attr("fingerprint")
    wanted = {**asdict(config), "env_sha256": game, "tasks_sha256": digest, "version": version("textcraft-gym")}
    if (folder / "config.json").exists():
        held = read_config(folder)
        changed = [f"{key}: {held.get(key)!r}, now {wanted[key]!r}" for key in wanted if held.get(key) != wanted[key]]
        if changed:
            raise RunError(f"{folder} holds another run ({'; '.join(changed)}); choose another folder")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "config.json", json.dumps(wanted, indent=2) + "\n")
    _drop_unfinished_line(folder / "episodes.jsonl")


def _drop_unfinished_line(file: Path) -> None:
    """A run that was killed while it wrote leaves half a line; its episode is played again."""
    if file.exists():
        whole = file.read_bytes()
        end = whole.rfind(b"\n") + 1
        if end < len(whole):
            os.truncate(file, end)


def _play(env: gym.Env[str, str], agent: Agent, task: Task, config: Config) -> Record:
    about = {"task": task.id, "depth": task.depth, "optimal_length": task.optimal_length, "seed": config.seed}
    try:
        episode = run_episode(env, agent, task=task.id, seed=config.seed, max_steps=config.max_steps)
    except Exception as error:  # whatever an agent raises costs its episode, not the run
        return {**about, "error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
    return {**about, **asdict(episode), "won": bool(episode.won)}


def _close(folder: Path, records: list[Record]) -> None:
    summaries = summarise_by_depth(records)
    _write(folder / "summary.json", json.dumps({name: asdict(s) for name, s in summaries.items()}, indent=2) + "\n")
    _write(folder / "report.md", markdown_table({folder.name: summaries}))


def _write(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    unfinished = file.with_name(file.name + ".new")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    unfinished.replace(file)
