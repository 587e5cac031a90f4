"""Training and tests of AutoPlan's plans with a simulated model, and their numbers as rows of a CSV file."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from textcraft_gym import RunSpec, evaluate, optimise_plan
from textcraft_gym.agents.autoplan.autoplan import read_plan
from textcraft_gym.agents.autoplan.update import calls_by_role
from textcraft_gym.agents.simulated import SimulatedModel

ITERATIONS = 3
BATCHES = (2, 4, 8)
ROLES = ("thought", "action", "formalizer", "summary", "flaws", "revision", "update")


@dataclass(frozen=True)
class Kind:
    """A kind of task, which has a plan of its own.

    Attributes:
        name: Its name in the paper.
        env: Environment id.
        env_args: Arguments of the environment, with which it has tasks of this kind only.
        limit: Number of training tasks.
        split: Split of the test.
        feedback: Wrapper that explains what did nothing; empty for none.
    """

    name: str
    env: str
    env_args: Mapping[str, Any] = field(hash=False)
    limit: int
    split: str
    feedback: str = ""


def household(name: str, group: str) -> Kind:
    """Return one of the six kinds of ALFWorld."""
    return Kind(name, "ALFWorld-v0", {"task_types": group}, 24, "valid_unseen", "HelpfulFeedback")


HEAT = household("Heat", "pick_heat_then_place_in_recep")
HOUSEHOLDS = (
    household("Pick", "pick_and_place_simple"),
    household("Light", "look_at_obj_in_light"),
    household("Clean", "pick_clean_then_place_in_recep"),
    HEAT,
    household("Cool", "pick_cool_then_place_in_recep"),
    household("Pick Two", "pick_two_obj_and_place"),
)


class Setting(NamedTuple):
    """How a plan is trained and tested.

    Attributes:
        kind: The kind of task.
        batch: Episodes before each update.
        reflect: What is asked after an episode.
        feedback: Whether the game explains what did nothing, in training and test alike.
    """

    kind: Kind
    batch: int = 4
    reflect: str = "full"
    feedback: bool = True

    @property
    def wrappers(self) -> tuple[str, ...]:
        """The wrappers of the environment."""
        return (self.kind.feedback,) if self.feedback and self.kind.feedback else ()

    def test_of(self, plan: str) -> tuple[str, tuple[str, ...], str]:
        """Return what tells the test of a plan from others; how the plan was trained does not matter."""
        return self.kind.name, self.wrappers, plan


SUMMARY_ONLY, SILENT = Setting(HEAT, reflect="summary"), Setting(HEAT, feedback=False)
SETTINGS = (
    *(Setting(kind) for kind in HOUSEHOLDS),
    *(Setting(HEAT, batch=size) for size in BATCHES if size != Setting(HEAT).batch),
    SUMMARY_ONLY,
    SILENT,
)


class Trained(NamedTuple):
    """A plan after an iteration, and what it took so far: completions by role, and tokens."""

    plan: str
    calls: Mapping[str, int]
    tokens: int


class Tested(NamedTuple):
    """A test of a plan: its success from 0 to 1, and by episode the completions by role, and tokens."""

    rate: float
    tasks: int
    calls: Mapping[str, float]
    tokens: float


class Row(NamedTuple):
    """A plan of one run: how it was trained, and what was made of it. Iteration 0 is no plan."""

    kind: str
    batch: int
    reflect: str
    feedback: bool
    seed: int
    iteration: int
    rate: float
    tasks: int
    training_calls: Mapping[str, float]
    training_tokens: float
    test_calls: Mapping[str, float]
    test_tokens: float

    def is_of(self, setting: Setting) -> bool:
        """Return whether it belongs to a setting."""
        of = (setting.kind.name, setting.batch, setting.reflect, setting.feedback)
        return (self.kind, self.batch, self.reflect, self.feedback) == of


def train(setting: Setting, seed: int, runs: Path, iterations: int = ITERATIONS) -> list[Trained]:
    """Return the plans of a training run, first none."""
    kind = setting.kind
    spec = RunSpec(
        kind.env,
        agent_args={"reflect": setting.reflect},
        model=SimulatedModel(),  # as an object, which is not recorded: playing again costs nothing
        env_args=kind.env_args,
        wrappers=setting.wrappers,
        seed=seed,
        limit=kind.limit,
    )
    name = f"{kind.name}-{setting.batch}-{setting.reflect}-{'feedback' if setting.feedback else 'silent'}-{seed}"
    plans = [Trained("", {}, 0)]
    for one in optimise_plan(spec, runs / name, batch=setting.batch, iterations=iterations):
        before = plans[-1]
        calls = {role: before.calls.get(role, 0) + one.calls.get(role, 0) for role in ROLES}
        plans.append(Trained(read_plan(one.plan), calls, before.tokens + sum(one.tokens.values())))
    return plans


def try_out(setting: Setting, plan: str, runs: Path) -> Tested:
    """Return the success with a plan."""
    kind = setting.kind
    spec = RunSpec(
        kind.env,
        kind.split,
        "autoplan",
        {"plan": f"{plan}\n"},
        SimulatedModel(),
        env_args=kind.env_args,
        wrappers=setting.wrappers,
    )
    digest = hashlib.sha256(repr(setting.test_of(plan)).encode()).hexdigest()[:12]
    records = evaluate(spec, runs / "tests" / f"{kind.name}-{digest}")
    by_role = [calls_by_role(record["trace"]) for record in records]
    return Tested(
        fmean(record["won"] for record in records),
        len(records),
        {role: fmean(one.get(role, (0, 0))[0] for one in by_role) for role in ROLES},
        fmean(sum(record["tokens"].values()) for record in records),
    )


def play(settings: Sequence[Setting], seeds: Iterable[int], runs: Path) -> list[Row]:
    """Train and test all plans in parallel processes; equal plans are tested once."""
    chosen = [(setting, seed) for setting in settings for seed in seeds]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        pending = [pool.submit(train, setting, seed, runs) for setting, seed in chosen]
        wanted: list[tuple[Setting, int, int, Trained]] = []
        tests: dict[tuple[str, tuple[str, ...], str], Future[Tested]] = {}
        for (setting, seed), future in zip(chosen, pending, strict=True):
            plans = future.result()
            for iteration in range(len(plans)) if setting.kind == HEAT else (0, len(plans) - 1):
                wanted.append((setting, seed, iteration, plans[iteration]))
                key = setting.test_of(plans[iteration].plan)
                if key not in tests:
                    tests[key] = pool.submit(try_out, setting, plans[iteration].plan, runs)
        return [row(*one, tests[one[0].test_of(one[3].plan)].result()) for one in wanted]


def row(setting: Setting, seed: int, iteration: int, trained: Trained, tested: Tested) -> Row:
    """Return the numbers of a plan."""
    how = (setting.kind.name, setting.batch, setting.reflect, setting.feedback, seed, iteration)
    took = (trained.calls, trained.tokens, tested.calls, tested.tokens)
    return Row(*how, tested.rate, tested.tasks, *took)


def write_csv(rows: Iterable[Row]) -> str:
    """Return rows as CSV, numbers with six digits, and numbers by role as ``role=number``."""

    def shown(value: Any) -> str:
        if isinstance(value, Mapping):
            return " ".join(f"{role}={number:.6g}" for role, number in value.items() if number)
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows([shown(value) for value in one] for one in rows)
    return text.getvalue()


def read_csv(text: str) -> list[Row]:
    """Return the rows that ``write_csv`` wrote."""

    def by_role(text: str) -> dict[str, float]:
        pairs = (pair.partition("=") for pair in text.split())
        return {role: float(number) for role, _, number in pairs}

    rows = []
    for kind, batch, reflect, feedback, seed, iteration, rate, tasks, *took in list(csv.reader(io.StringIO(text)))[1:]:
        training_calls, training_tokens, test_calls, test_tokens = took
        how = (kind, int(batch), reflect, feedback == "True", int(seed), int(iteration))
        training = (by_role(training_calls), float(training_tokens))
        rows.append(Row(*how, float(rate), int(tasks), *training, by_role(test_calls), float(test_tokens)))
    return rows
