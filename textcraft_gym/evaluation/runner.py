"""Many episodes into a run folder, which a killed run leaves ready to go on.

A run folder holds ``config.json``; ``episodes.jsonl``, one line an episode as it ends; and at the end ``summary.json``
and ``report.md``. An episode that raised is a line with an ``error``. A run that is started again plays what is missing
and what was an error; of two lines for one task the later counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium as gym

from textcraft_gym.agents.agent import Agent, Model
from textcraft_gym.agents.games import PLAYBOOKS
from textcraft_gym.agents.models.spec import make_model, without_key
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.errors import RunError, UnknownName
from textcraft_gym.evaluation.agents import make_agent
from textcraft_gym.evaluation.episode import DEFAULT_MAX_CALLS, Episode, Models, Policy, run_episodes, step_budget
from textcraft_gym.evaluation.metrics import summarise_by_group
from textcraft_gym.evaluation.report import label, markdown
from textcraft_gym.registration import TABLE, make
from textcraft_gym.tasks import Task

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Config:
    """What is evaluated; two runs with equal configs play the same episodes.

    Attributes:
        env: The id.
        split: The split whose tasks are played, each once.
        agent: A name that ``make_agent`` knows.
        agent_args: Arguments of the agent.
        model: The model that answers the agent, as ``make_model`` takes it.
        planner: Another model for the planner's questions.
        prompts: A folder whose prompts replace the bundled ones.
        env_args: Further arguments of ``gym.make``.
        seed: The seed of every reset; prompts differ all the same, since they follow from seed and task.
        max_steps: The most actions an episode; by default the agent's budget or the registered limit.
        max_calls: The most questions to models an episode.
        limit: Play only the first so many tasks.
    """

    env: str
    split: str
    agent: str
    agent_args: dict[str, Any] = field(default_factory=dict)
    model: str = "simulated"
    planner: str | None = None
    prompts: str | None = None
    env_args: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    max_steps: int | None = None
    max_calls: int = DEFAULT_MAX_CALLS
    limit: int | None = None


def evaluate(
    config: Config,
    out: str | Path,
    *,
    agent: Agent | Policy | None = None,
    model: Models = None,
    workers: int = 1,
    cassette: str | Path | None = None,
    replay_only: bool = False,
    on_start: Callable[[int, list[Record]], None] = lambda total, done: None,
    on_episode: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Play every task of the config that ``out`` does not hold yet, and write the summary and the report.

    Args:
        config: What to play.
        out: The run folder, new or of an earlier run with the same config.
        agent: An agent of your own to play instead of the named one; the config names it.
        model: Models of your own to answer instead of the named ones.
        workers: How many episodes are under way at once. What they come to does not depend on it.
        cassette: A file that holds the named models' answers and records new ones.
        replay_only: Take answers from the cassette alone.
        on_start: Called once with the number of tasks and the records that are there already.
        on_episode: Called with each new record.

    Returns:
        One record a task, in the order of the tasks.

    Raises:
        RunError: If ``out`` holds a run of another config, or cannot be read.
        UnknownName: For an unknown agent, split, environment or argument of these.
        ModelError, PromptError: If the models or the prompts cannot be had.
    """
    limit = 1 if config.limit is None else config.limit
    for name, number, least in (("workers", workers, 1), ("limit", limit, 1), ("seed", config.seed, 0)):
        if number < least:
            raise ValueError(f"expected {name} of {least} or more, got {number}")
    prompts = Prompts(config.prompts)
    player = _player(config, prompts) if agent is None else agent
    if model is None:
        models = _models(config, cassette, replay_only)
    else:
        models = dict(model) if isinstance(model, Mapping) else {"executor": model}
        config = _naming(config, models)
    envs = _envs(config, workers, getattr(player, "env_args", {}))
    tasks: tuple[Task, ...] = envs[0].get_wrapper_attr("tasks")[: config.limit]
    folder = Path(out)
    budget = step_budget(envs[0], player, config.max_steps)
    _open(folder, _identity(config, envs[0], tasks, prompts, budget))
    done = {record["task"]: record for record in read_records(folder) if not record.get("error")}
    on_start(len(tasks), list(done.values()))
    missing = {task.id: task for task in tasks if task.id not in done}
    episodes = run_episodes(
        envs,
        player,
        [(task, config.seed) for task in missing],
        max_steps=budget,
        model=models,
        max_calls=config.max_calls,
    )
    with ExitStack() as stack:
        file = stack.enter_context((folder / "episodes.jsonl").open("a", encoding="utf-8", newline="\n"))
        for env in envs:
            stack.callback(env.close)
        for episode in stack.enter_context(closing(episodes)):
            record, line = _record(missing[str(episode.task)], episode)
            file.write(line + "\n")
            file.flush()
            on_episode(record)
    written = {record["task"]: record for record in read_records(folder)}
    records = [written[task.id] for task in tasks]
    _close(folder, records)
    return records


def read_records(folder: str | Path) -> list[Record]:
    """Return the records of a run folder, the later of two for the same task; none if it has none yet.

    Where earlier ones broke, ``spent_before`` is what they cost. Records from before there were groups are grouped by
    depth.

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
            broken = records.get(record["task"])
            if broken and broken.get("error"):  # what was paid before it broke stays paid
                record["spent_before"] = broken["cost"] + broken.get("spent_before", 0.0)
            record.setdefault("group", f"depth {record['depth']}")
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


def _player(config: Config, prompts: Prompts) -> Agent | Policy:
    if config.env not in TABLE:
        raise UnknownName("environment", config.env, list(TABLE))
    playbook = PLAYBOOKS[TABLE[config.env].playbook]
    player = make_agent(config.agent, playbook=playbook, prompts=prompts, args=config.agent_args)
    if config.prompts and not prompts.replaced:
        raise PromptError(f"{config.prompts} holds no prompt of {config.agent}, which reads {list(prompts.read)}")
    return player


def _naming(config: Config, models: Mapping[str, Model]) -> Config:
    """Return a config that names the models that were given, so that no one's numbers go under another's name."""
    names = {role: str(getattr(one, "name", type(one).__name__)) for role, one in models.items()}
    others = [f"{role} {name}" if role != "planner" else name for role, name in names.items() if role != "executor"]
    return replace(config, model=names.get("executor", "none"), planner=", ".join(others) or None)


def _models(config: Config, cassette: str | Path | None, replay_only: bool) -> dict[str, Model]:
    specs = {"executor": config.model} | ({"planner": config.planner} if config.planner else {})
    return {role: make_model(spec, cassette=cassette, replay_only=replay_only) for role, spec in specs.items()}


def _envs(config: Config, workers: int, agents_args: Mapping[str, Any]) -> list[gym.Env[str, str]]:
    if "split" in config.env_args:
        raise ValueError("the split is an option of the evaluation, not one of env_args")
    env_args = {**agents_args, **config.env_args}
    return [make(config.env, split=config.split, **env_args) for _ in range(workers)]


def _identity(
    config: Config, env: gym.Env[str, str], tasks: Iterable[Task], prompts: Prompts, budget: int
) -> dict[str, Any]:
    """Return what makes a run the run that it is: another value of any would play other episodes."""
    return {
        **asdict(config),
        "model": without_key(config.model),
        "planner": config.planner and without_key(config.planner),
        "max_steps": budget,
        "env_sha256": env.get_wrapper_attr("fingerprint"),
        "tasks_sha256": hashlib.sha256("\n".join(task.id for task in tasks).encode()).hexdigest(),
        "prompts_sha256": prompts.sha256,
        "version": version("textcraft-gym"),
    }


def _open(folder: Path, identity: dict[str, Any]) -> None:
    """Begin a run folder, or make sure that it is of the same run and whole to its last line."""
    if (folder / "config.json").exists():
        held = read_config(folder)
        changed = [
            f"{key}: {held.get(key)!r}, now {value!r}" for key, value in identity.items() if held.get(key) != value
        ]
        if changed:
            raise RunError(f"{folder} holds another run ({'; '.join(changed)}); choose another folder")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        begun_with = {"python": platform.python_version(), "gymnasium": gym.__version__}
        _write(folder / "config.json", json.dumps(identity | {"begun_with": begun_with}, indent=2) + "\n")
    _drop_unfinished_line(folder / "episodes.jsonl")


def _drop_unfinished_line(file: Path) -> None:
    """A run that was killed while it wrote leaves half a line; its episode is played again."""
    if file.exists():
        whole = file.read_bytes()
        end = whole.rfind(b"\n") + 1
        if end < len(whole):
            os.truncate(file, end)


def _record(task: Task, episode: Episode) -> tuple[Record, str]:
    """Return the record of an episode and its line; one that cannot be written is the record of an error."""
    about = {"task": task.id, "group": task.group, "depth": task.depth, "optimal_length": task.optimal_length}
    try:
        record = {**about, **asdict(episode), "won": bool(episode.won)}
        return record, json.dumps(record, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        broken = Episode(task.id, episode.seed, ended="error", error=f"its record cannot be written: {error}"[:2000])
        record = {**about, **asdict(broken), "won": False}
        return record, json.dumps(record)


def _close(folder: Path, records: list[Record]) -> None:
    summaries = summarise_by_group(records)
    _write(folder / "summary.json", json.dumps({name: asdict(s) for name, s in summaries.items()}, indent=2) + "\n")
    _write(folder / "report.md", markdown({label(folder.name, read_config(folder), records): summaries}))


def _write(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    unfinished = file.with_name(file.name + ".new")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    unfinished.replace(file)
