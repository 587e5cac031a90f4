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

from textcraft_gym.agents.contract.agent import Agent, Model, Policy
from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import RunError
from textcraft_gym.evaluation.backends import Backend, make_backend
from textcraft_gym.evaluation.backends.backend import lost
from textcraft_gym.evaluation.episode import DEFAULT_MAX_CALLS, Episode, Job, Models, step_budget
from textcraft_gym.evaluation.metrics import summarise_by_group
from textcraft_gym.evaluation.report import label, markdown
from textcraft_gym.evaluation.worker import Setup
from textcraft_gym.task import Task

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
    backend: str | Backend = "loop",
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
        backend: Where they are played, a name of ``BACKENDS`` or a backend; nor on that. A run may go on elsewhere.
        cassette: A file that holds the named models' answers and records new ones.
        replay_only: Take answers from the cassette alone.
        on_start: Called once with the number of tasks and the records that are there already.
        on_episode: Called with each new record.

    Returns:
        One record a task, in the order of the tasks.

    Raises:
        RunError: If ``out`` holds a run of another config, or cannot be read.
        UnknownName: For an unknown agent, split, environment, backend or argument of these.
        ModelError, PromptError: If the models or the prompts cannot be had.
        BackendError: If there can be no workers.
    """
    limit = 1 if config.limit is None else config.limit
    for name, number, least in (("workers", workers, 1), ("limit", limit, 1), ("seed", config.seed, 0)):
        if number < least:
            raise ValueError(f"expected {name} of {least} or more, got {number}")
    chosen = make_backend(backend) if isinstance(backend, str) else backend
    given = None if model is None else dict(model) if isinstance(model, Mapping) else {"executor": model}
    if given is not None:
        config = _naming(config, given)
    setup = _setup(config, agent, given, cassette, replay_only)
    prompts = Prompts(config.prompts)
    player = setup.make_agent(prompts)
    with closing(setup.make_env(player)) as env:
        tasks: tuple[Task, ...] = env.get_wrapper_attr("tasks")[: config.limit]
        budget = step_budget(env, player, config.max_steps)
        identity = _identity(config, env, tasks, prompts, budget)
    folder = Path(out)
    is_new = _is_new(folder, identity)
    done = {record["task"]: record for record in read_records(folder) if not record.get("error")}
    missing = {task.id: task for task in tasks if task.id not in done}
    with ExitStack() as stack:
        # What keeps the episodes from being played is met before there is a folder.
        play = stack.enter_context(chosen.open(replace(setup, max_steps=budget), workers)) if missing else None
        if is_new:
            _begin(folder, identity)
        _drop_unfinished_line(folder / "episodes.jsonl")
        on_start(len(tasks), list(done.values()))
        file = stack.enter_context((folder / "episodes.jsonl").open("a", encoding="utf-8", newline="\n"))
        jobs = [Job(task, config.seed) for task in missing]
        for episode in stack.enter_context(closing(play(jobs))) if play else ():
            task = missing.pop(str(episode.task), None)
            if task is None:
                continue  # whatever a backend does, no task is written twice
            record, line = _record(task, episode)
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


def _naming(config: Config, models: Mapping[str, Model]) -> Config:
    """Return a config that names the models that were given, so that no one's numbers go under another's name."""
    names = {role: str(getattr(one, "name", type(one).__name__)) for role, one in models.items()}
    others = [f"{role} {name}" if role != "planner" else name for role, name in names.items() if role != "executor"]
    return replace(config, model=names.get("executor", "none"), planner=", ".join(others) or None)


def _setup(
    config: Config,
    agent: Agent | Policy | None,
    models: Mapping[str, Model] | None,
    cassette: str | Path | None,
    replay_only: bool,
) -> Setup:
    """Return what the config names, with an agent and models of one's own in the place of the named ones."""
    if "split" in config.env_args:
        raise ValueError("the split is an option of the evaluation, not one of env_args")
    named = {"executor": config.model} | ({"planner": config.planner} if config.planner else {})
    return Setup(
        config.env,
        config.agent if agent is None else agent,
        env_args={**config.env_args, "split": config.split},
        agent_args=config.agent_args,
        prompts=config.prompts,
        models=named if models is None else models,
        cassette=cassette,
        replay_only=replay_only,
        max_calls=config.max_calls,
    )


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


def _is_new(folder: Path, identity: dict[str, Any]) -> bool:
    """Return whether a run folder is to be begun; if not, make sure that it is of the same run."""
    if not (folder / "config.json").exists():
        return True
    held = read_config(folder)
    changed = [f"{key}: {held.get(key)!r}, now {value!r}" for key, value in identity.items() if held.get(key) != value]
    if changed:
        raise RunError(f"{folder} holds another run ({'; '.join(changed)}); choose another folder")
    return False


def _begin(folder: Path, identity: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    begun_with = {"python": platform.python_version(), "gymnasium": gym.__version__}
    _write(folder / "config.json", json.dumps(identity | {"begun_with": begun_with}, indent=2) + "\n")


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
        broken = lost(Job(task.id, episode.seed), f"its record cannot be written: {error}")
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
