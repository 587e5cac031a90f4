"""Evaluation: every task of a run once, into a run folder; restarted, it plays what is missing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from warnings import warn

import gymnasium as gym

from textcraft_gym.agents.contract.agent import Request
from textcraft_gym.agents.models.spec import class_of
from textcraft_gym.agents.redaction import redacted, without_secrets
from textcraft_gym.agents.registry import find_agent
from textcraft_gym.episodes.episode import Episode, Job
from textcraft_gym.episodes.step_limit import step_budget
from textcraft_gym.errors import RunStopped, TextCraftGymError, UnknownName
from textcraft_gym.registration import find
from textcraft_gym.reports.records import TASK, Key, Record, Records, line_of, shown
from textcraft_gym.runs.backends import make_backend
from textcraft_gym.runs.backends.backend import Played, PlayJobs, failed_episode
from textcraft_gym.runs.fingerprints import code
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_budget import budget_of, rest_of
from textcraft_gym.runs.run_folder import RunFolder
from textcraft_gym.runs.run_spec import DEFAULT_SEEDS, RunSpec
from textcraft_gym.runs.stop_rule import StopRule
from textcraft_gym.storage.json_types import is_of_type, type_name
from textcraft_gym.task import Task, describe_task, task_hash, tasks_of
from textcraft_gym.task import tasks as list_tasks
from textcraft_gym.wrappers.registry import find_wrapper

MAX_EPISODES = 2_000_000
"""Maximum number of episodes of a run."""


class Planned(NamedTuple):
    """An episode of a run: its job, the record's fields about its task, and the task's digest."""

    job: Job
    about: dict[str, Any]
    digest: str


class Plan(NamedTuple):
    """A run resolved against this installation.

    Attributes:
        run: The run, with its step budget.
        episodes: The episodes, by the keys of their records.
        identity: What tells the run from others, as ``config.json`` holds it.
    """

    run: Run
    episodes: dict[Key, Planned]
    identity: dict[str, Any]


def evaluate(
    spec: RunSpec,
    out: str | Path,
    *,
    on_start: Callable[[int, Records], None] = lambda total, done: None,
    on_episode: Callable[[Record], None] = lambda record: None,
    on_stop: Callable[[RunStopped], None] = lambda stop: warn(str(stop), stacklevel=4),
) -> list[Record]:
    """Play every task of a run that ``out`` does not hold yet; write the summary and the report.

    An environment without tasks is played once with each of ``limit`` seeds. A run stops before its
    last episode, and has no summary yet, when it reaches a limit of money, tokens or time, or when
    no further episode can succeed: no key is accepted, the quota is spent, the server is down.
    Started again, it goes on.

    Args:
        spec: The run.
        out: The run folder, new or of an earlier start of the same run.
        on_start: Called once with the number of episodes and the records that are there already.
        on_episode: Called with each new record.
        on_stop: Called at the end of a run that stopped, with what to do about it; by default that
            is a warning.

    Returns:
        One record an episode, in the order of the tasks, whose repeats come after all were played
        once; of a run that stopped, those of the episodes so far.

    Raises:
        RunError: If ``out`` holds another run, cannot be read, or is being written by another
            process.
        UnknownName: For an unknown agent, split, environment, wrapper, backend or argument of
            these.
        ValueError: If there is no task to play, or two have one id.
        ModelError, PromptError: If the models or the prompts cannot be made.
        BackendError: If there can be no workers.
    """

    def started(planned: Mapping[Key, Planned], done: Records) -> None:
        on_start(len(planned), done)

    return list(
        play_run(
            spec,
            out,
            on_start=started,
            on_episode=on_episode,
            on_stop=on_stop,
        )
    )


def play_run(
    spec: RunSpec,
    out: str | Path,
    *,
    on_start: Callable[[Mapping[Key, Planned], Records], None],
    on_episode: Callable[[Record], None],
    on_stop: Callable[[RunStopped], None],
    on_begin: Callable[[Planned], None] = lambda planned: None,
    on_request: Callable[[Key, Request, Episode], None] = lambda key, request, episode: None,
) -> Records:
    """Evaluate as ``evaluate`` does, and return records that stay in their file.

    A million of them do not fit into memory. ``on_start`` gets the planned episodes, ``on_begin``
    each one that is given out to be played, and ``on_request`` what one asks for, with the episode
    so far, where the backend plays in this process.
    """
    # Entered one by one: the folder is locked before the workers start, or after, and both are
    # left at the end.
    with ExitStack() as stack:
        run = stack.enter_context(closing(Run(spec)))
        backend = make_backend(spec.backend) if isinstance(spec.backend, str) else spec.backend
        run, planned, identity = plan(run)
        keys = {episode.job: key for key, episode in planned.items()}
        run.on_request = lambda job, request, episode: on_request(keys[job], request, episode)
        interrupted: list[Played] = []
        run.on_interrupt = lambda *played: interrupted.append(Played(*played))
        _warn_of_equal_repeats(run)

        folder = RunFolder(out)
        # An existing folder is locked before it is read; a new one is made after the workers are.
        if folder.path.is_dir():
            stack.enter_context(folder.locked(identity))
        budget = budget_of(run.spec, [out])
        to_play = planned.keys() - folder.records.done
        play: PlayJobs | None = None
        if to_play and not budget.reached:
            limited = run.limited(rest_of(run.spec, budget))
            play = stack.enter_context(backend.open(limited))
        # Another process may have made the folder meanwhile.
        stack.enter_context(folder.locked(identity))
        played_by = _code_of(run)
        folder.begin(identity, played_by, len(planned))
        stack.callback(folder.close)

        records = folder.records
        missing = _missing(planned, records)
        folder.go_on(played_by, plays=bool(missing))
        on_start(planned, records.chosen(key for key in planned if key not in missing))
        rule = StopRule(budget, len(missing))
        if play is not None:
            try:
                _play_missing(play, missing, rule, folder, on_episode, on_begin)
            finally:
                _keep_interrupted(interrupted, planned, keys, folder)

        records = records.chosen(planned)
        so_far = f"{len(records.done)} of {len(planned)} episodes are in {out}"
        stop = _conclude(folder, records, rule, so_far)
    if stop is not None:
        on_stop(stop)
    return records


def _conclude(
    folder: RunFolder,
    records: Records,
    rule: StopRule,
    so_far: str,
) -> RunStopped | None:
    """Write the summary of a run that ended, or the report of one that stopped; return its stop."""
    stop = rule.stop(so_far)
    if stop is not None:
        with suppress(OSError):  # the disk may be full
            folder.report(records)
        return stop
    try:
        folder.finish(records)
    except OSError as error:
        rule.trouble = f"the summary cannot be written: {error.strerror}"
        return rule.stop(so_far)
    return None


def _code_of(run: Run) -> str:
    agent = run.spec.agent
    return code(
        find_agent(agent) if isinstance(agent, str) else agent,
        run.world.creator,
        *map(find_wrapper, run.spec.wrappers),
        *map(class_of, run.spec.asked.values()),
    )


def _play_missing(
    play: PlayJobs,
    missing: dict[Key, Planned],
    rule: StopRule,
    folder: RunFolder,
    on_episode: Callable[[Record], None],
    on_begin: Callable[[Planned], None],
) -> None:
    """Play the missing episodes into the folder, as long as the run may go on."""
    with closing(_played_records(play, missing, rule, on_begin)) as played:
        for record, line, calls in played:
            try:
                folder.append(record, line, calls)
            except OSError as error:
                rule.trouble = f"an episode cannot be written: {error.strerror}"
                return
            on_episode(record)


def _keep_interrupted(
    interrupted: Iterable[Played],
    planned: Mapping[Key, Planned],
    keys: Mapping[Job, Key],
    folder: RunFolder,
) -> None:
    """Write the episodes that were under way when the run was interrupted, if they cost anything.

    They count in the budget of the next start, which plays them again.
    """
    with suppress(OSError):  # the disk may be full
        for job, episode, calls in interrupted:
            if episode.cost or any(episode.tokens.values()):
                folder.append(*_record(planned[keys[job]], episode), calls)


def _warn_of_equal_repeats(run: Run) -> None:
    """Warn where repeats can only repeat the first episode: every answer is the likeliest."""
    if run.spec.repeats == 1 or not run.spec.asked:
        return
    if not (run.spec.temperature or getattr(run.agent, "temperature", 0)):
        warn(
            "at temperature 0 the repeats of a task are alike unless the agent draws at random; "
            "set a temperature (--temperature 0.7)",
            stacklevel=3,
        )


def raise_stop(stop: RunStopped) -> None:
    """Raise it, as an ``on_stop``."""
    raise stop


def evaluate_or_raise(spec: RunSpec, out: str | Path) -> list[Record]:
    """Evaluate; a run that stops raises ``RunStopped``, so that no other run is begun after it."""
    return evaluate(spec, out, on_stop=raise_stop)


def _missing(planned: Mapping[Key, Planned], records: Records) -> dict[Key, Planned]:
    """Return the episodes to play, those never tried first.

    So lasting errors do not stop each start of a run.
    """
    done = records.done
    missing = [key for key in planned if key not in done]
    return {key: planned[key] for key in sorted(missing, key=lambda key: key in records.played)}


def plan(run: Run) -> Plan:
    """Return the episodes of a run and its identity; its agent and an environment are made for it.

    Raises:
        UnknownName, PromptError, ValueError: If the environment, its wrappers, the agent or its
            prompts cannot be made.
    """
    prompts, agent, env = run.prompts, run.agent, run.env
    planned = _planned(run.spec, env)
    budget = step_budget(env, agent, run.spec.max_steps)
    tasks = [episode.digest for episode in planned.values() if not episode.job.repeat]
    has_fingerprint = env.has_wrapper_attr("fingerprint")
    needed: Mapping[str, Any] = getattr(agent, "env_args", {})
    identity = {
        **run.spec.described(),
        "env_args": without_secrets({**needed, **run.spec.env_args}),
        "max_steps": budget,
        "env_sha256": env.get_wrapper_attr("fingerprint") if has_fingerprint else None,
        # A split of the same name may have other tasks, or other contents of the same ids.
        "tasks_sha256": _sha256("\n".join(tasks)),
        "prompts_sha256": prompts.sha256,
        "version": version("textcraft-gym"),
    }
    # Through JSON, so that it equals the identity that is read from config.json: a tuple becomes a
    # list.
    identity = redacted(json.loads(json.dumps(identity, default=repr)))
    return Plan(run.limited(replace(run.spec, max_steps=budget)), planned, identity)


def _planned(spec: RunSpec, env: gym.Env[str, str]) -> dict[Key, Planned]:
    """Return the episodes of the split, each task once before any is played again."""
    once: dict[str, Planned] = {}
    for name, (job, task) in jobs_of(spec, env).items():
        digest = name if job.task is None else task_hash(spec.env, task)
        once[name] = Planned(job, _described(task), digest)
    episodes: dict[Key, Planned] = {}
    for repeat in range(spec.repeats):
        for name, planned in once.items():
            job = planned.job._replace(repeat=repeat)
            episodes[name, repeat] = planned._replace(job=job)
    return episodes


def jobs_of(spec: RunSpec, env: gym.Env[str, str]) -> dict[str, tuple[Job, Task]]:
    """Return the first job of each task to play, or of each seed where there are no tasks.

    The name of a seed stands for its task, which has nothing else. Tasks are not described yet:
    the optimal lengths and contents of thousands take seconds.

    Raises:
        ValueError: If there is nothing to play or too much, or two tasks have one id.
    """
    tasks = tasks_of(env)
    if tasks is not None:
        jobs = _jobs_of_tasks(spec, tasks)
    elif spec.tasks is not None:
        raise ValueError(
            f"{spec.env} has no list of tasks to choose from: its episodes differ by their seeds"
        )
    else:
        jobs = {}
        for seed in range(spec.seed, spec.seed + (spec.limit or DEFAULT_SEEDS)):
            name = f"seed {seed}"
            jobs[name] = Job(None, seed), SimpleNamespace(id=name)
    if len(jobs) * spec.repeats > MAX_EPISODES:
        raise ValueError(
            f"expected at most {MAX_EPISODES} episodes, "
            f"got {spec.repeats} of each of {len(jobs)} tasks"
        )
    return jobs


def _jobs_of_tasks(spec: RunSpec, tasks: Sequence[Task]) -> dict[str, tuple[Job, Task]]:
    to_play = chosen(spec, tasks)[: spec.limit]
    if not to_play:
        where = f" in its split {spec.split}" if spec.split else ""
        raise ValueError(f"{spec.env} has no tasks to play{where}")
    # A record tells episodes apart by the id, as does the environment.
    for name, times in Counter(task.id for task in tasks).items():
        if times > 1:
            raise ValueError(f"{spec.env} lists {times} tasks with the id {name!r}: expected one")
    return {task.id: (Job(task.id, spec.seed), task) for task in to_play}


def _described(task: Task) -> dict[str, Any]:
    """Return the fields of a task in records.

    Raises:
        ValueError: If one of them is of another type than in a record; the task may be of a foreign
            environment.
    """
    about = describe_task(task)
    for name, expected in TASK.items():
        if not is_of_type(about[name], expected):
            raise ValueError(
                f"expected the {name} of a task of type {type_name(expected)}, "
                f"got {shown(about[name])}"
            )
    return about


def chosen(spec: RunSpec, tasks: Sequence[Task]) -> Sequence[Task]:
    """Return the tasks that a run names, in the order of its split; all if it names none.

    A name may lack its namespace, as in ``reset``.

    Raises:
        UnknownName: For a name that no task of the split has.
        ValueError: For the name of a task of another split, which the message names.
    """
    if spec.tasks is None:
        return tasks
    ids = {task.id: task.id for task in tasks}
    by_name = {id.rpartition(":")[2]: id for id in ids} | ids
    wanted = set()
    for name in spec.tasks:
        if name not in by_name:
            _refuse_of_other_split(spec, name)
            several = " ".join(f"--task {part}" for part in name.split(","))
            note = f"Several are {several}." if "," in name else ""
            raise UnknownName.of("task", name, list(ids), note)
        wanted.add(by_name[name])
    return [task for task in tasks if task.id in wanted]


def _refuse_of_other_split(spec: RunSpec, name: str) -> None:
    """Raise an error that names the split of a task, if it is in another than the run's."""
    for split in find(spec.env).splits(spec.env_args):
        if split == spec.split:
            continue
        try:
            others = list_tasks(spec.env, split, **spec.env_args)
        except (TextCraftGymError, ValueError, OSError):  # such as a split of made tasks
            continue
        for task in others:
            if name in (task.id, task.id.rpartition(":")[2]):
                raise ValueError(
                    f"task {task.id} is in the split {split}, not in {spec.split}: "
                    f"play it with --split {split}"
                )


def _played_records(
    play: PlayJobs,
    missing: dict[Key, Planned],
    rule: StopRule,
    on_begin: Callable[[Planned], None],
) -> Generator[tuple[Record, str, str], None, None]:
    """Yield the record of each missing episode as it ends, while the run goes on.

    With it come its line, and the lines of its calls.
    """
    unplayed = {planned.job: planned for planned in missing.values()}

    def jobs() -> Iterator[Job]:
        for job in rule.jobs(list(unplayed)):
            on_begin(unplayed[job])
            yield job

    with closing(play(jobs())) as played:
        for ended in played:
            job, episode, calls = Played(*ended)
            # A faulty backend may return an episode twice; it is written once.
            planned = unplayed.pop(job, None)
            if planned is not None:
                rule.ended(episode)
                yield *_record(planned, episode), calls


def _record(planned: Planned, episode: Episode) -> tuple[Record, str]:
    """Return the record of an episode and its line; an error's record if it cannot be written."""
    try:
        return _written(planned, episode)
    except (TypeError, ValueError, RecursionError) as error:
        why = f"its record cannot be written: {error}"
        return _written(planned, failed_episode(planned.job, why, cost=episode.cost))


def _written(planned: Planned, episode: Episode) -> tuple[Record, str]:
    """Return the record of an episode and its line, without secrets."""
    # A server's message with a key in it, say, may have become an action.
    played = redacted(asdict(episode))
    record = {**planned.about, **played, "task": planned.about["task"], "won": is_won(episode)}
    return record, line_of(record)


def is_won(episode: Episode) -> bool | None:
    """Return whether an episode was won.

    None where the world does not say so, and no limit lost it.
    """
    if episode.won is None and episode.limit:
        return False
    return episode.won


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
