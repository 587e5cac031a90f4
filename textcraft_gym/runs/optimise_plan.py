"""AutoPlan's outer loop: a plan for a kind of task, rewritten after each training batch.

A folder holds all of it: ``batch-1`` is the run of the first batch, played without a plan,
``update-1.json`` what was asked after it and what it took, and ``plan-1.txt`` the plan that was
answered, with which ``batch-2`` is played, and so on. Every answer of a model is in
``calls.sqlite`` as soon as it is given, a cassette, so that an optimisation that was killed
anywhere goes on without asking anything twice.

Source: Ouyang and Li, AutoPlan: Automatic Planning of Interactive Decision-Making Tasks With Large
Language Models, 2023.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from textcraft_gym.agents.autoplan.autoplan import AutoPlanAgent, read_plan
from textcraft_gym.agents.autoplan.update import calls_by_role, experience, new_plan, update_prompt
from textcraft_gym.agents.contract.model import Model, ModelError
from textcraft_gym.agents.redaction import redacted
from textcraft_gym.episodes.episode import token_counts
from textcraft_gym.episodes.model_limits import limit_of_answers
from textcraft_gym.episodes.step_limit import step_budget
from textcraft_gym.errors import RunError, UnknownName, at_least
from textcraft_gym.registration import find
from textcraft_gym.reports.records import Record
from textcraft_gym.reports.tables import Rows, markdown_table
from textcraft_gym.runs.backends import LoopBackend, ProcessBackend
from textcraft_gym.runs.fingerprints import code
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_folder import RunFolder
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import chosen, evaluate_or_raise
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.task import UNGROUPED, tasks_of

TRAINING_SPLIT = "train"
TRAINING = {"reflect": "full", "temperature": 1.0}
"""Arguments of the agent in training, where it is given no others."""
CASSETTE = "calls.sqlite"
RUN_LIMITS = ("max_cost", "max_tokens_total", "max_seconds")
"""Limits of a run, which an optimisation of several runs does not have."""


class Iteration(NamedTuple):
    """One iteration, which is a batch of episodes and the update after it.

    Attributes:
        number: Its number, from 1.
        plan: The file of the plan that it ended with.
        won: Number of episodes of the batch that were won, with the plan before.
        episodes: Number of episodes of the batch.
        calls: Completions by role.
        tokens: Tokens by role, read and written.
        cost: Price of the completions; answers that were read back from the cassette cost nothing
            again.
    """

    number: int
    plan: Path
    won: int
    episodes: int
    calls: dict[str, int]
    tokens: dict[str, int]
    cost: float


def holds_plans(
    folder: Path,
    spec: RunSpec,
    task_type: str | None,
    batch: int,
) -> bool:
    """Return whether a folder is that of this optimisation, which would go on in it."""
    with closing(Run(_training_spec(spec, folder))) as training:
        name, _ = _batches(training, task_type, batch)
    try:
        RunFolder(folder).check(_identity(training.spec, name, batch))
    except RunError:
        return False
    return True


def _identity(spec: RunSpec, task_type: str | None, batch: int) -> Any:
    """Return what tells an optimisation from others, as its folder keeps it."""
    identity = {
        **spec.described(),
        "task_type": task_type,
        "batch": batch,
        "version": version("textcraft-gym"),
    }
    return redacted(json.loads(json.dumps(identity, default=repr)))


def optimise_plan(
    spec: RunSpec,
    out: str | Path,
    *,
    task_type: str | None = None,
    batch: int = 4,
    iterations: int = 3,
    run: Callable[[RunSpec, Path], Sequence[Record]] = evaluate_or_raise,
    on_iteration: Callable[[Iteration], None] = lambda iteration: None,
) -> list[Iteration]:
    """Optimise a plan for a kind of task, and write all plans, episodes and calls to a folder.

    The plan before the first batch is none, or the agent's argument ``plan``. Batches are drawn
    from the tasks by the run's seed, each task once before any comes again. An optimisation that is
    started again goes on where it was, also with more iterations.

    Args:
        spec: The run of the training episodes; its agent is always ``autoplan``, whose arguments it
            may give. By default ``split`` is ``train``, thoughts and actions are drawn at a
            temperature of 1, and all three reflections are asked. ``limit`` is the number of
            training tasks, in a world that has tasks. A model that is given as an object is not
            recorded, as in ``evaluate``. The model of the role ``update`` writes the plans, else
            the planner's, else the executor's.
        out: The folder, new or of an earlier start of the same optimisation.
        task_type: The group of tasks, or a part of the name of only one; None for all tasks.
        batch: Number of episodes before each update.
        iterations: Number of updates.
        run: Plays one batch: ``evaluate``, or a function that wraps it and raises what it stopped
            by.
        on_iteration: Called after each iteration, also after those that were done before.

    Raises:
        RunStopped: If no further episode can succeed.
        RunError: If ``out`` holds something else, or an episode or an update ended with an error;
            what is done is kept.
        UnknownName: For an unknown type, environment, split or argument.
        ModelError, PromptError, ValueError: If the model, the prompts or the plan cannot be made.
    """
    if spec.repeats > 1:
        raise ValueError(f"expected repeats of 1, got {spec.repeats}: a batch plays tasks once")
    at_least("batch", batch, 1)
    at_least("iterations", iterations, 1)
    for limit in RUN_LIMITS:
        if getattr(spec, limit) is not None:
            raise ValueError(f"optimise_plan takes no {limit}: updates are not part of a run")
    out = Path(out)
    with closing(Run(_training_spec(spec, out))) as training:
        name, batches = _batches(training, task_type, batch)
    spec = training.spec
    folder = RunFolder(out)
    identity = _identity(spec, name, batch)
    done: list[Iteration] = []
    with folder.locked(identity):
        folder.begin(identity, code())
        for number, played in enumerate(islice(batches, iterations), 1):
            if done:
                # The text of it, so that the folder can be moved.
                played = replace(
                    played,
                    agent_args={**played.agent_args, "plan": f"{read_plan(done[-1].plan)}\n"},
                )
            records = run(played, out / f"batch-{number}")
            done.append(_update(played, out, number, records))
            on_iteration(done[-1])
        atomic_write(out / "summary.json", json.dumps(summary(done), indent=2) + "\n")
        headings, *rows = table(done)
        atomic_write(out / "report.md", markdown_table(headings, rows))
    return done


def _training_spec(spec: RunSpec, out: Path) -> RunSpec:
    """Return a spec with the defaults of training, and a cassette if the backend can share one."""
    split = spec.split or None
    if not split and find(spec.env).default_split(spec.env_args):
        split = TRAINING_SPLIT

    cassette = spec.cassette or None
    on_one_machine = spec.backend in ("loop", "process") or isinstance(
        spec.backend,
        LoopBackend | ProcessBackend,
    )
    if not cassette and on_one_machine:
        cassette = out / CASSETTE
    return replace(
        spec,
        split=split,
        agent="autoplan",
        agent_args={**TRAINING, **spec.agent_args},
        cassette=cassette,
    )


def _batches(
    run: Run,
    task_type: str | None,
    size: int,
) -> tuple[str | None, Iterator[RunSpec]]:
    """Return the name of the type in full, and the runs of the batches without end."""
    spec, agent = run.spec, cast("AutoPlanAgent", run.agent)
    tasks = tasks_of(run.env)
    turns = min(agent.settings.turns, step_budget(run.env, agent, spec.max_steps))
    # A run whose steps are spent asks nothing more, and an agent that reflects may have to give up
    # first.
    spec = replace(spec, agent_args={**spec.agent_args, "turns": turns}, max_steps=turns + 2)
    if tasks is None:
        if task_type is not None:
            raise ValueError(f"{spec.env} lists no tasks, and so no types of them: omit the type")
        return None, (
            replace(spec, seed=spec.seed + size * number, limit=size) for number in count()
        )
    groups = {task.id: str(getattr(task, "group", UNGROUPED)) for task in chosen(spec, tasks)}
    name = None if task_type is None else full_name(task_type, list(dict.fromkeys(groups.values())))
    ids = [task for task, group in groups.items() if name in (None, group)][: spec.limit]
    if len(ids) < size:
        raise ValueError(
            f"expected a batch of at most {len(ids)}, the number of training tasks, got {size}"
        )
    drawn = draw(ids, spec.seed, size)
    return name, (replace(spec, tasks=tuple(batch), limit=None) for batch in drawn)


def full_name(task_type: str, groups: Sequence[str]) -> str:
    """Return the group of a name, or the only one whose name contains it: ``heat``, ``pick two``.

    Raises:
        UnknownName: If there is none, or more than one.
    """
    if task_type in groups:
        return task_type
    part = "_".join(task_type.lower().split())
    named = [group for group in groups if part in "_".join(group.lower().split())]
    if len(named) != 1:
        raise UnknownName.of("type of tasks", task_type, groups)
    return named[0]


def draw(
    ids: Sequence[str],
    seed: int,
    size: int,
) -> Iterator[list[str]]:
    """Yield batches of distinct tasks without end, each task once before any comes again."""
    waiting: list[str] = []
    passes = count()
    while True:
        if len(set(waiting)) < size:
            rng = random.Random(f"{seed}/{next(passes)}").random
            order = sorted((rng(), index) for index in range(len(ids)))
            waiting += [ids[index] for _, index in order]
        # A task that comes twice waits for the next batch.
        batch = list(dict.fromkeys(waiting))[:size]
        for task in batch:
            waiting.remove(task)
        yield batch


def _update(
    spec: RunSpec,
    out: Path,
    number: int,
    records: Sequence[Record],
) -> Iteration:
    """Return an iteration, after the update that ends it; one on disk is not asked for again."""
    _check_batch(spec, number, records)

    file, plan = out / f"update-{number}.json", out / f"plan-{number}.txt"
    if not file.exists():
        atomic_write(file, json.dumps(_ask(spec, records), indent=2) + "\n")
    update = json.loads(file.read_text(encoding="utf-8"))
    if not plan.exists():
        atomic_write(plan, update["plan"] + "\n")
    elif read_plan(plan) != update["plan"]:
        raise RunError(
            f"{plan} differs from the plan in {file}: to start from another plan, "
            "pass it as --agent-arg plan=FILE with a new folder"
        )

    calls, tokens = Counter({"update": 1}), Counter({"update": sum(update["tokens"].values())})
    cost = update["cost"]
    won = 0
    for record in records:
        for role, (role_calls, role_tokens) in calls_by_role(record["trace"]).items():
            calls[role] += role_calls
            tokens[role] += role_tokens
        cost += record["cost"] + record.get("spent_before", 0.0)
        won += record["won"]
    return Iteration(number, plan, won, len(records), dict(calls), dict(tokens), cost)


def _check_batch(
    spec: RunSpec,
    number: int,
    records: Sequence[Record],
) -> None:
    """Make sure that an update can be asked for: every episode ended with an outcome.

    Raises:
        RunError: If one did not.
    """
    failed = [record for record in records if record.get("error")]
    if failed:
        # Without them it would be the update of another batch.
        raise RunError(
            f"{len(failed)} of {len(records)} episodes of batch {number} failed, the first with "
            f"{failed[0]['error']}; run the same command again to retry them"
        )
    if any(record["won"] is None for record in records):
        raise RunError(
            f"{spec.env} does not report wins, which an update needs: give won_at, "
            "the reward of a win"
        )


def _ask(spec: RunSpec, records: Sequence[Record]) -> dict[str, Any]:
    """Return the update after a batch: the request, the answered plan, its tokens and its cost."""
    agent = cast("AutoPlanAgent", Run(spec).agent)
    experiences = [experience(record["trace"], won=record["won"]) for record in records]
    prompt = update_prompt(agent.wording, agent.plan, experiences)

    max_tokens = agent.settings.planner_tokens
    model = _update_model(spec.make_models())
    answer = model.complete(
        prompt,
        stop=(),
        max_tokens=max_tokens,
        temperature=0.0,
        sample=0,
    )
    tokens = token_counts(answer)
    if limit := limit_of_answers([answer], max_tokens, prompt):
        raise limit  # an empty plan would be followed from then on
    return redacted(
        {"plan": new_plan(answer.text), "prompt": prompt, "tokens": tokens, "cost": answer.cost}
    )


def _update_model(models: Mapping[str, Model]) -> Model:
    for role in ("update", "planner", "executor"):
        if role in models:
            return models[role]
    raise ModelError("an update needs a model, and this run has none")


def summary(done: Sequence[Iteration]) -> dict[str, Any]:
    """Return the iterations and what they took together, as JSON values."""
    iterations = [{**iteration._asdict(), "plan": iteration.plan.name} for iteration in done]
    return {
        "iterations": iterations,
        "calls": _sums(iteration.calls for iteration in done),
        "tokens": _sums(iteration.tokens for iteration in done),
        "cost": sum(iteration.cost for iteration in done),
    }


def table(done: Sequence[Iteration]) -> Rows:
    """Return headings and a row for each iteration: success with the plan before, and its cost."""
    roles = list(_sums(iteration.calls for iteration in done))
    rows: Rows = [("iteration", "won", "n", *roles, "tokens", "cost", "plan")]
    for iteration in done:
        rows.append(
            (
                str(iteration.number),
                str(iteration.won),
                str(iteration.episodes),
                *(str(iteration.calls.get(role, 0)) for role in roles),
                str(sum(iteration.tokens.values())),
                f"{iteration.cost:.4f}",
                iteration.plan.name,
            )
        )
    return rows


def _sums(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of counts, by key."""
    sums: Counter[str] = Counter()
    for count_by_role in counts:
        sums.update(count_by_role)
    return dict(sums)
