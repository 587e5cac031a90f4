"""Plays tables of papers with models of the user's: what is missing, each setting once."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.agents.prompts import STANDARD
from textcraft_gym.papers.power import Size
from textcraft_gym.papers.results import Played, Runs
from textcraft_gym.papers.table import Setting, Table, can_play
from textcraft_gym.reports.metrics import ALL
from textcraft_gym.reports.records import Record, light, read_config, read_records
from textcraft_gym.runs.estimate import Estimate, estimate
from textcraft_gym.runs.optimise_plan import optimise_plan
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate_or_raise, jobs_of
from textcraft_gym.runs.several import Part, play_several
from textcraft_gym.task import UNGROUPED

DATA_ARGUMENT = {"ALFWorld-v0": "games", "WebShopLite-v0": "data", "HotpotQA-v0": "data"}
"""The argument that names the original's data, in the worlds that have made data by default."""


CODE_DIGITS = 8
"""Digits that a page shows of the digest of the code, and of that of the model's own code."""


class Job(NamedTuple):
    """A run of a setting.

    Attributes:
        setting: The setting.
        model: The number of the model that plays it, of those given.
        seed: The seed.
    """

    setting: Setting
    model: int
    seed: int


@dataclass(frozen=True)
class Reproduction:
    """Tables to play, with the models that play them.

    Attributes:
        tables: The tables, each with the keys of the rows to play.
        models: The models, as for ``evaluate``.
        seeds: Number of runs of each setting, with seeds from 0.
        data: The original's data by environment id (see ``DATA_ARGUMENT``).
        options: The other options of every run, and the limits of all together.
        moved: Where runs are that are no longer below the folder of the pages, by their folders
            in it.
    """

    tables: Mapping[Table, Sequence[str]]
    models: tuple[str, ...]
    seeds: int
    data: Mapping[str, str]
    options: RunSpec
    moved: Mapping[str, Path] = field(default_factory=dict)

    def jobs(self, table: Table) -> list[Job]:
        """Return the runs of a table."""
        jobs = []
        playable = [
            set(table.settings_of(self._playable(table, self.prompts(model))))
            for model in range(len(self.models))
        ]
        for setting in table.settings_of(self.tables[table]):
            seeds = self.seeds if setting.asks else 1  # a scripted player plays the same each time
            for model, seed in product(self.players(setting), range(seeds)):
                if setting in playable[model]:
                    jobs.append(Job(setting, model, seed))
        return jobs

    def _playable(self, table: Table, prompts: str) -> list[str]:
        """Return the keys of the rows to play that a set of prompts can play."""
        return [key for key in self.tables[table] if can_play(table.row(key), [prompts])]

    def prompts(self, model: int) -> str:
        """Return the set or folder of prompts that a model plays with."""
        return replace(self.options, model=self.models[model]).prompt_source or STANDARD

    def players(self, setting: Setting) -> range:
        """Return the numbers of the models that play a setting, one after the other.

        A setting of two models is played by the pair that is given; it is played by none where
        there is one model.
        """
        needed = max(setting.roles) + 1
        if not setting.asks or needed > 1:
            return range(int(len(self.models) >= needed))
        return range(len(self.models))

    def spec(self, job: Job, plan: Path | None = None) -> RunSpec:
        """Return the spec of a run."""
        setting = job.setting
        executor, planner = (self.models[job.model + role] for role in setting.roles)
        agent_args, env_args = dict(setting.args), dict(setting.env_args)
        if plan:
            agent_args["plan"] = str(plan)
        if setting.env in self.data:
            env_args[DATA_ARGUMENT[setting.env]] = self.data[setting.env]
        return replace(
            self.options,
            env=setting.env,
            split=setting.split,
            agent=setting.agent,
            agent_args=agent_args,
            model=executor if setting.asks else None,
            planner=planner if setting.asks and planner != executor else None,
            env_args=env_args,
            wrappers=setting.wrappers,
            max_calls=setting.max_calls,
            max_steps=min(filter(None, (setting.max_steps, self.options.max_steps)), default=None),
            seed=job.seed,
        )

    def folder(self, job: Job, out: Path) -> Path:
        """Return the folder of a run."""
        executor, planner = (
            without_key(self.models[job.model + role]) for role in job.setting.roles
        )
        player = executor
        if not job.setting.asks:
            player = "scripted"
        elif planner != executor:
            player = f"{executor} planned by {planner}"
        folder = Path("runs", _slug(job.setting.name), _slug(player), f"seed{job.seed}")
        return self.moved.get(folder.as_posix(), out / folder)


def play(
    reproduction: Reproduction,
    out: Path,
    *,
    run: Callable[[RunSpec, Path], Sequence[Record]] = evaluate_or_raise,
) -> Iterator[tuple[Job, Sequence[Record]]]:
    """Play what the folder lacks, and yield the records of each run as it ends.

    Raises:
        RunStopped: If a run stopped, at a limit of all or because no further episode can succeed.
    """
    parts = ((job, _part(reproduction, job, out, run)) for job in _all_jobs(reproduction))
    yield from play_several(parts, reproduction.options, run, "reproduction")


def kept(reproduction: Reproduction, out: Path) -> dict[Job, Sequence[Record]]:
    """Return the records that the folder has of each run, unfinished ones too."""
    runs: dict[Job, Sequence[Record]] = {}
    for job in _all_jobs(reproduction):
        folder = reproduction.folder(job, out)
        records = read_records(folder) if folder.is_dir() else ()
        if records:
            runs[job] = records
    return runs


def _all_jobs(reproduction: Reproduction) -> list[Job]:
    """Return the runs of all tables, which may share some, each once."""
    jobs: dict[Job, None] = {}
    for table in reproduction.tables:
        jobs |= dict.fromkeys(reproduction.jobs(table))
    return list(jobs)


def collected(reproduction: Reproduction, records: Mapping[Job, Sequence[Record]]) -> list[Played]:
    """Return the runs of each setting by model; a scripted player's stand with every model's.

    Each run is read once, without its long fields: a table looks at it for every cell and every
    pair of rows.
    """
    played: list[Played] = []
    shortened = {job: [light(record) for record in of_run] for job, of_run in records.items()}
    for model in range(len(reproduction.models)):
        of_model: dict[Setting, list[Sequence[Record]]] = {}
        for job, of_run in shortened.items():
            if job.model == model or not job.setting.asks:
                of_model.setdefault(job.setting, []).append(of_run)
        played.append({setting: Runs(tuple(runs)) for setting, runs in of_model.items()})
    return played


def estimates(
    reproduction: Reproduction,
    table: Table,
    out: Path,
) -> Iterator[tuple[Job, Estimate]]:
    """Yield what each run of a table is expected to take; a training is not counted."""
    for job in reproduction.jobs(table):
        yield job, estimate(reproduction.spec(job), reproduction.folder(job, out))


def sizes_of(reproduction: Reproduction, table: Table) -> dict[Setting, dict[str, Size]]:
    """Return the sizes of the groups of tasks, and of all, by the settings of a table's runs."""
    sizes: dict[Setting, dict[str, Size]] = {}
    for job in reproduction.jobs(table):
        if job.setting in sizes:
            continue
        families: dict[str, list[str]] = {}
        with closing(Run(reproduction.spec(job))) as run:
            for _, task in jobs_of(run.spec, run.env).values():
                family = getattr(task, "family", task.id)
                for group in {getattr(task, "group", UNGROUPED), ALL}:
                    families.setdefault(group, []).append(family)
        sizes[job.setting] = {
            group: Size(len(tasks), len({*tasks})) for group, tasks in families.items()
        }
    return sizes


def prompts_of_models(
    reproduction: Reproduction,
    jobs: Iterable[Job],
    out: Path,
) -> tuple[str, ...]:
    """Return the set or folder of prompts that each model played with, or would play with."""
    prompts = [reproduction.prompts(model) for model in range(len(reproduction.models))]
    for job in jobs:
        if job.setting.asks:
            config = read_config(reproduction.folder(job, out))
            prompts[job.model] = Path(config["prompts"] or STANDARD).name
    return tuple(prompts)


@dataclass
class _Source:
    """What played some of a table's runs: their versions of the code, seeds, and days."""

    codes: dict[str, None]
    seeds: set[int]
    days: set[str]

    def __str__(self) -> str:
        """Return it as a part of a sentence."""
        codes = ["+".join(part[:CODE_DIGITS] for part in code.split("+")) for code in self.codes]
        code = f"{len(codes)} versions of the code: " if len(codes) > 1 else "code "
        seeds = sorted(self.seeds)
        which = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
        when = " to ".join(dict.fromkeys((min(self.days), max(self.days))))
        return f"{which}, {when}, {code}{', '.join(codes)}"


def played_with(
    reproduction: Reproduction,
    records: Mapping[Job, Sequence[Record]],
    out: Path,
) -> Iterator[str]:
    """Yield a line for each model and its prompts, and for players without one.

    It says which version of the package and of the code played the runs, the seeds of the runs, and
    on which days the episodes began. Answers from a cassette have the day of the replay.
    """
    sources: dict[str, _Source] = {}
    for job, of_run in records.items():
        config = read_config(reproduction.folder(job, out))
        prompts = Path(config["prompts"] or STANDARD).name
        models = filter(None, (config["model"], config["planner"]))
        players = [f"`{model}`, prompts {prompts}" for model in models] or ["scripted players"]
        for player in players:
            name = f"{player}, textcraft_gym {config['version']}"
            source = sources.setdefault(name, _Source({}, set(), set()))
            source.codes |= dict.fromkeys(config["codes"])
            source.seeds.add(config["seed"])
            source.days |= {record["start"][:10] for record in of_run}
    for name, source in sources.items():
        yield f"{name}, {source}"


def installed_data() -> dict[str, str]:
    """Return the original's data that is installed where its own program looks for it."""
    root = Path(os.environ.get("ALFWORLD_DATA") or Path.home() / ".cache" / "alfworld")
    if (root / "json_2.1.1" / "valid_unseen").is_dir():
        return {"ALFWorld-v0": "official"}
    return {}


def _part(
    reproduction: Reproduction,
    job: Job,
    out: Path,
    run: Callable[[RunSpec, Path], Sequence[Record]],
) -> Part:
    folder, training = reproduction.folder(job, out), job.setting.training
    if training is None:
        return Part(folder, lambda: reproduction.spec(job))

    # Settings that differ in the number of updates alone share a training: the longer one goes on
    # from the shorter.
    shared = replace(job.setting, training=replace(training, iterations=0))
    place = reproduction.folder(job._replace(setting=shared), out).with_name(f"training{job.seed}")
    # The training has its own split and number of tasks, and is not cut short: a plan that it
    # leaves is finished.
    spec = replace(
        reproduction.spec(job),
        split=None,
        agent_args={"reflect": training.reflect},
        limit=training.limit,
        max_cost=None,
        max_tokens_total=None,
        max_seconds=None,
    )

    def trained() -> RunSpec:
        done = optimise_plan(
            spec,
            place,
            batch=training.batch,
            iterations=training.iterations,
            run=run,
        )
        return reproduction.spec(job, done[-1].plan)

    batches = [place / f"batch-{number}" for number in range(1, training.iterations + 1)]
    return Part(folder, trained, tuple(batches))


def _slug(text: str) -> str:
    """Return a name for a folder, short and still of this text alone."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9.=-]+', '_', text)[:80]}_{digest}"
