"""What a run is expected to take, before any model is asked.

It is taken from the episodes that the run folder has already, if they are enough; else from figures
of each agent in each world, where a token is four characters. ``benchmarks/expected_costs.py``
measured them with the small language model in the process, some in one episode of a group of tasks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from itertools import product, starmap
from pathlib import Path
from statistics import fmean, quantiles
from typing import NamedTuple, TypeAlias

from textcraft_gym.agents.models.spec import is_local, price_of
from textcraft_gym.reports.metrics import ALL
from textcraft_gym.reports.records import Record, key_of, light, read_records
from textcraft_gym.reports.timing import in_words
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_folder import RunFolder
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import jobs_of, plan
from textcraft_gym.task import UNGROUPED

EXPECTED_COSTS = Path(__file__).with_name("expected_costs.json")
"""The measured figures."""
CHARACTERS_PER_TOKEN = 4
TOKENS_OF_A_PRICE = 1_000_000
QUANTITIES = ("calls", "prompt_tokens", "completion_tokens")
HEADINGS = ("episodes", "calls", "prompt tokens", "completion tokens", "price", "time")
FIGURES = (
    "Measured with the small local model in a few episodes, with the agent's default arguments and "
    "the standard prompts, at four characters a token: a chat model writes longer answers, above "
    "all when it reasons."
)
"""The source of an estimate without episodes of the run's own."""
ENOUGH = 5
"""Number of episodes in a run folder from which the rest is estimated."""
LOCAL_FIGURES = (
    "Measured with the small local model in a few episodes, with the agent's default arguments and "
    "the standard prompts, at four characters a token. A local model has no price; the time shows "
    f"once the run has {ENOUGH} episodes."
)
"""The source of such an estimate for models in the process."""


class Amount(NamedTuple):
    """An expected amount.

    Attributes:
        mean: The mean.
        low: The amount if every episode took what the cheapest tenth takes at most.
        high: The amount if every episode took what the dearest tenth takes at least.
    """

    mean: float
    low: float
    high: float

    def times(self, factor: float) -> Amount:
        """Return it for several episodes, or at a price."""
        return Amount(*(factor * value for value in self))


NONE = Amount(0, 0, 0)

ByRole: TypeAlias = Mapping[str, Mapping[str, Amount]]
"""Amounts of an episode by role and quantity."""


@dataclass(frozen=True)
class Estimate:
    """What the rest of a run is expected to take; None where nothing is known.

    Attributes:
        episodes: Number of episodes that are still to be played.
        planned: Number of episodes of the whole run.
        calls: Completions.
        prompt_tokens: Tokens that the models read.
        completion_tokens: Tokens that they write.
        cost: Price of the completions.
        seconds: Duration at the run's number of workers.
        source: What the amounts are taken from, or why there are none, in a sentence.
        unpriced: Roles whose model is asked and has no price; they count as free where another one
            has.
    """

    episodes: int
    planned: int
    calls: Amount | None = None
    prompt_tokens: Amount | None = None
    completion_tokens: Amount | None = None
    cost: Amount | None = None
    seconds: Amount | None = None
    source: str = ""
    unpriced: tuple[str, ...] = ()


def estimate(spec: RunSpec, out: str | Path | None = None) -> Estimate:
    """Estimate what the missing episodes of a run take, without a model and without writing.

    Args:
        spec: The run.
        out: Its folder, if it has one already.

    Raises:
        RunError: If ``out`` holds another run or cannot be read.
        UnknownName, PromptError, ValueError: If the environment, the agent or its prompts cannot be
            made.
    """
    records: list[Record] = []
    with closing(Run(spec)) as run:
        jobs = jobs_of(run.spec, run.env)
        if out is not None and Path(out).is_dir():
            RunFolder(out).check(plan(run).identity)
            records = [light(record) for record in read_records(out) if not record["error"]]
    done = {key_of(record) for record in records}
    missing: list[str] = []
    for name, repeat in product(jobs, range(spec.repeats)):
        if (name, repeat) not in done:
            missing.append(getattr(jobs[name][1], "group", UNGROUPED))
    bare = Estimate(len(missing), len(jobs) * spec.repeats)
    if len(records) >= ENOUGH:
        return _from_records(bare, records, missing, spec.worker_count)
    agent = spec.described()["agent"]
    figures = _figures().get(spec.env, {}).get(agent)
    if figures is None:
        return replace(bare, source=_unknown(agent, spec.env))
    # A group that nobody measured is taken to be as all are in the mean.
    return _from_figures(bare, [figures.get(group, figures[ALL]) for group in missing], spec)


def _unknown(agent: str, env_id: str) -> str:
    """Return why there are no figures, and when there will be some."""
    return (
        f"No figures for {agent} in {env_id}: the run tells what it takes once it has {ENOUGH} "
        "episodes."
    )


def _from_records(
    bare: Estimate,
    records: Sequence[Record],
    missing: Sequence[str],
    workers: int,
) -> Estimate:
    """Return the estimate of the rest of a run, by group, from the episodes that it has."""
    by_group: dict[str, list[Record]] = {}
    for record in records:
        by_group.setdefault(record["group"], []).append(record)

    def rest(value: Callable[[Record], float]) -> Amount:
        of_all = amount(list(map(value, records)))
        of_group = {group: amount(list(map(value, by_group[group]))) for group in by_group}
        return together(of_group.get(group, of_all) for group in missing)

    source = f"Taken from the run's own {len(records)} episodes so far."
    unknown = [group for group in dict.fromkeys(missing) if group not in by_group]
    if unknown:
        names = ", ".join(unknown)
        source += f" Those of {names} count as the mean of the others: none was played yet."
    # No more workers are busy than there are episodes left.
    at_once = max(1, min(workers, bare.episodes))
    return replace(
        bare,
        calls=rest(lambda record: sum(record["calls"].values())),
        prompt_tokens=rest(lambda record: record["tokens"].get("prompt_tokens", 0)),
        completion_tokens=rest(lambda record: record["tokens"].get("completion_tokens", 0)),
        cost=rest(lambda record: record["cost"]),
        seconds=rest(lambda record: record["model_seconds"]).times(1 / at_once),
        source=source,
    )


def _from_figures(
    bare: Estimate,
    episodes: Sequence[ByRole],
    spec: RunSpec,
) -> Estimate:
    """Return the estimate of a run from the figures of each of its episodes."""
    sums = _sums_by_role(episodes)
    models = spec.models
    costs: list[Amount] = []
    unpriced: list[str] = []
    asked = {role: models.get(role, models.get("executor")) for role in sums}
    for role, quantities in sums.items():
        if is_local(asked[role]):
            continue
        price = price_of(asked[role])
        if price is None:
            unpriced.append(role)
            continue
        prompt_price, completion_price = price
        costs.append(quantities["prompt_tokens"].times(prompt_price))
        costs.append(quantities["completion_tokens"].times(completion_price))

    # Without a price the cost is unknown.
    cost: Amount | None = None
    if costs or not unpriced:
        cost = together(costs).times(1 / TOKENS_OF_A_PRICE)
    source = "The agent asks no model."
    if sums:
        source = LOCAL_FIGURES if all(map(is_local, asked.values())) else FIGURES
    return replace(
        bare,
        calls=together(quantities["calls"] for quantities in sums.values()),
        prompt_tokens=together(quantities["prompt_tokens"] for quantities in sums.values()),
        completion_tokens=together(quantities["completion_tokens"] for quantities in sums.values()),
        cost=cost,
        source=source,
        unpriced=tuple(unpriced),
    )


def _sums_by_role(episodes: Sequence[ByRole]) -> dict[str, dict[str, Amount]]:
    """Return the amounts of all episodes together, by role and quantity."""
    rows: dict[str, list[Mapping[str, Amount]]] = {}
    for by_role in episodes:
        for role, quantities in by_role.items():
            rows.setdefault(role, []).append(quantities)

    sums: dict[str, dict[str, Amount]] = {}
    for role, of_role in rows.items():
        sums[role] = {name: together(row[name] for row in of_role) for name in QUANTITIES}
    return sums


def amount(values: Sequence[float]) -> Amount:
    """Return the mean of values, with the 10th and the 90th percentile."""
    if len(values) == 1:  # of which there are no quantiles
        return Amount(values[0], values[0], values[0])
    low, *_, high = quantiles(values, n=10, method="inclusive")
    return Amount(fmean(values), low, high)


def together(amounts: Iterable[Amount]) -> Amount:
    """Return the sum of amounts, as if all were low at once, or high."""
    mean = low = high = 0.0
    for summand in amounts:
        mean += summand.mean
        low += summand.low
        high += summand.high
    return Amount(mean, low, high)


@cache
def _figures() -> Mapping[str, Mapping[str, Mapping[str, ByRole]]]:
    """Return the figures by environment, agent and group of tasks."""
    figures: dict[str, dict[str, dict[str, ByRole]]] = {}
    for env, agents in json.loads(EXPECTED_COSTS.read_text(encoding="utf-8")).items():
        figures[env] = {agent: _by_group(groups) for agent, groups in agents.items()}
    return figures


def _by_group(groups: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]) -> dict[str, ByRole]:
    """Return figures by group; the file has, for each role, a row for each quantity."""
    by_group: dict[str, ByRole] = {}
    for group, by_role in groups.items():
        figures: dict[str, Mapping[str, Amount]] = {}
        for role, rows in by_role.items():
            figures[role] = dict(zip(QUANTITIES, starmap(Amount, rows), strict=True))
        by_group[group] = figures
    return by_group


def total(estimates: Sequence[Estimate]) -> Estimate:
    """Return what several runs take one after the other, as far as it is known.

    The time is known only if that of each run is that asks a model.
    """

    def known(quantity: str) -> Amount | None:
        amounts = [getattr(estimate, quantity) for estimate in estimates]
        given = [amount for amount in amounts if amount is not None]
        return together(given) if given else None

    # Without a model an episode takes milliseconds, so that its time need not be known.
    asking = [estimate for estimate in estimates if estimate.episodes and estimate.calls != NONE]
    is_timed = all(estimate.seconds for estimate in asking)
    return Estimate(
        sum(estimate.episodes for estimate in estimates),
        sum(estimate.planned for estimate in estimates),
        calls=known("calls"),
        prompt_tokens=known("prompt_tokens"),
        completion_tokens=known("completion_tokens"),
        cost=known("cost"),
        seconds=known("seconds") if is_timed else None,
    )


def row_of(estimate: Estimate) -> tuple[str, ...]:
    """Return an estimate as cells of ``HEADINGS``, to two digits: no more of it is known."""
    episodes = str(estimate.episodes)
    if estimate.episodes != estimate.planned:
        episodes += f" of {estimate.planned}"
    return (
        episodes,
        _shown(estimate.calls, _count),
        _shown(estimate.prompt_tokens, _count),
        _shown(estimate.completion_tokens, _count),
        _shown(estimate.cost, "{:,g}".format),
        _shown(estimate.seconds, in_words),
    )


def notes(estimate: Estimate) -> list[str]:
    """Return what to know about an estimate, in sentences."""
    if estimate.source != FIGURES:
        return [estimate.source]
    sentences = [FIGURES, "Prompt caching is ignored."]
    if estimate.calls and not estimate.cost:
        sentences.append("No price is known: the model's spec takes price=PROMPT/COMPLETION.")
    if estimate.cost and estimate.unpriced:
        roles = ", ".join(estimate.unpriced)
        sentences.append(f"The model of {roles} has no price, and counts as free.")
    return sentences


def _shown(amount: Amount | None, written: Callable[[float], str]) -> str:
    if amount is None:
        return "-"
    mean, low, high = (written(float(f"{value:.2g}")) for value in amount)
    return mean if low == mean == high else f"{mean} ({low} to {high})"


def _count(value: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:,g}{unit}"
    return f"{value:g}"
