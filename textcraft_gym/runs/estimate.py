"""What a run is expected to take, before any model is asked.

It is taken from the episodes that the run folder has already, if they are enough; else from figures
of each agent in each world, where a token is four characters. ``benchmarks/expected_costs.py``
measures them with a model; those that are there came from a scripted player, which writes short
answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from itertools import starmap
from pathlib import Path
from statistics import fmean, quantiles
from typing import NamedTuple, TypeAlias

from textcraft_gym.agents.models.spec import price_of
from textcraft_gym.reports.metrics import ALL
from textcraft_gym.reports.records import Record, key_of, light, read_records
from textcraft_gym.reports.timing import in_words
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_folder import RunFolder
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import plan

EXPECTED_COSTS = Path(__file__).with_name("expected_costs.json")
"""The measured figures."""
CHARACTERS_PER_TOKEN = 4
TOKENS_OF_A_PRICE = 1_000_000
QUANTITIES = ("calls", "prompt_tokens", "completion_tokens")
HEADINGS = ("episodes", "calls", "prompt tokens", "completion tokens", "price", "time")
FIGURES = (
    "Taken from short episodes with the agent's default arguments, at four characters a token: a chat model writes "
    "longer answers, above all when it reasons, and may go on for longer."
)
"""The source of an estimate without episodes of the run's own."""
ENOUGH = 5
"""Number of episodes in a run folder from which the rest is estimated."""


class Amount(NamedTuple):
    """An expected amount.

    Attributes:
        mean: The mean.
        low: What it were if every episode took no more than the cheapest tenth does.
        high: What it were if every episode took as much as the dearest tenth does.
    """

    mean: float
    low: float
    high: float

    def times(self, factor: float) -> Amount:
        """Return it for several episodes, or at a price."""
        return Amount(*(factor * value for value in self))


ByRole: TypeAlias = Mapping[str, Mapping[str, Amount]]
"""Amounts of an episode by role and quantity."""


@dataclass(frozen=True)
class Estimate:
    """What the rest of a run is expected to take. An amount is None where nothing is known about it.

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
    """Estimate what the missing episodes of a run take; no model is made or asked, and nothing is written.

    Args:
        spec: The run.
        out: Its folder, if it has one already.

    Raises:
        RunError: If ``out`` holds another run or cannot be read.
        UnknownName, PromptError, ValueError: If the environment, the agent or its prompts cannot be
            had.
    """
    with closing(Run(spec)) as run:
        _, planned, identity = plan(run)
    records: list[Record] = []
    if out is not None:
        RunFolder(out).check(identity)
        records = [light(record) for record in read_records(out) if not record["error"]]
    done = {key_of(record) for record in records}
    missing = [episode.about["group"] for key, episode in planned.items() if key not in done]
    bare = Estimate(len(missing), len(planned))
    if len(records) >= ENOUGH:
        return _from_records(bare, records, spec.workers)
    figures = _figures().get(spec.env, {}).get(identity["agent"])
    if figures is None:
        return replace(bare, source=f"There are no figures for {identity['agent']} in {spec.env}.")
    return _from_figures(bare, [figures.get(group, figures[ALL]) for group in missing], spec)


def _from_records(bare: Estimate, records: Sequence[Record], workers: int) -> Estimate:
    """Return the estimate of the rest of a run from the episodes that it has."""

    def rest(values: Iterable[float]) -> Amount:
        return amount(list(values)).times(bare.episodes)

    at_once = max(1, min(workers, bare.episodes))
    return replace(
        bare,
        calls=rest(sum(record["calls"].values()) for record in records),
        prompt_tokens=rest(record["tokens"].get("prompt_tokens", 0) for record in records),
        completion_tokens=rest(record["tokens"].get("completion_tokens", 0) for record in records),
        cost=rest(record["cost"] for record in records),
        seconds=rest(record["model_seconds"] for record in records).times(1 / at_once),
        source=f"Taken from the run's own {len(records)} episodes so far.",
    )


def _from_figures(bare: Estimate, episodes: Sequence[ByRole], spec: RunSpec) -> Estimate:
    """Return the estimate of a run from the figures of each of its episodes."""
    models = spec.models
    sums: dict[str, dict[str, Amount]] = {}
    costs: list[Amount] = []
    unpriced = []
    for role in dict.fromkeys(role for by_role in episodes for role in by_role):
        rows = [by_role[role] for by_role in episodes if role in by_role]
        sums[role] = {name: together(row[name] for row in rows) for name in QUANTITIES}
        price = price_of(models.get(role, models.get("executor")))
        if price is None:
            unpriced.append(role)
        else:
            costs += [
                sums[role]["prompt_tokens"].times(price[0]),
                sums[role]["completion_tokens"].times(price[1]),
            ]
    return replace(
        bare,
        calls=together(of_role["calls"] for of_role in sums.values()),
        prompt_tokens=together(of_role["prompt_tokens"] for of_role in sums.values()),
        completion_tokens=together(of_role["completion_tokens"] for of_role in sums.values()),
        # Without a price there is no cost, unless no model is asked.
        cost=together(costs).times(1 / TOKENS_OF_A_PRICE) if costs or not sums else None,
        source=FIGURES if sums else "The agent asks no model.",
        unpriced=tuple(unpriced),
    )


def amount(values: Sequence[float]) -> Amount:
    """Return the mean of values, with the 10th and the 90th percentile."""
    low, *_, high = (
        quantiles(values, n=10, method="inclusive") if len(values) > 1 else (values[0], values[0])
    )
    return Amount(fmean(values), low, high)


def together(amounts: Iterable[Amount]) -> Amount:
    """Return the sum of amounts, as if all were low at once, or high."""
    rows = list(amounts)
    return (
        Amount(*(sum(column) for column in zip(*rows, strict=True)))
        if rows
        else Amount(0.0, 0.0, 0.0)
    )


@cache
def _figures() -> Mapping[str, Mapping[str, Mapping[str, ByRole]]]:
    """Return the figures by environment, agent and group of tasks."""
    held = json.loads(EXPECTED_COSTS.read_text(encoding="utf-8"))
    return {
        env: {agent: _by_group(groups) for agent, groups in agents.items()}
        for env, agents in held.items()
    }


def _by_group(groups: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]) -> dict[str, ByRole]:
    """Return figures by group as they are kept: of each role a row for each quantity."""
    return {
        group: {
            role: dict(zip(QUANTITIES, starmap(Amount, rows), strict=True))
            for role, rows in by_role.items()
        }
        for group, by_role in groups.items()
    }


def total(estimates: Sequence[Estimate]) -> Estimate:
    """Return what several runs take one after the other, of what is known about them."""

    def known(amounts: Iterable[Amount | None]) -> Amount | None:
        given = [amount for amount in amounts if amount is not None]
        return together(given) if given else None

    return Estimate(
        sum(one.episodes for one in estimates),
        sum(one.planned for one in estimates),
        calls=known(one.calls for one in estimates),
        prompt_tokens=known(one.prompt_tokens for one in estimates),
        completion_tokens=known(one.completion_tokens for one in estimates),
        cost=known(one.cost for one in estimates),
        seconds=known(one.seconds for one in estimates),
    )


def row_of(estimate: Estimate) -> tuple[str, ...]:
    """Return an estimate as cells of ``HEADINGS``, to two digits: no more of it is known."""
    done = "" if estimate.episodes == estimate.planned else f" of {estimate.planned}"
    price = (
        "no price given"
        if estimate.cost is None and estimate.calls
        else _shown(estimate.cost, "{:,g}".format)
    )
    return (
        f"{estimate.episodes}{done}",
        _shown(estimate.calls, _count),
        _shown(estimate.prompt_tokens, _count),
        _shown(estimate.completion_tokens, _count),
        price,
        _shown(estimate.seconds, in_words),
    )


def notes(estimate: Estimate) -> list[str]:
    """Return what an estimate is worth, in sentences."""
    found = [estimate.source]
    if estimate.source == FIGURES:
        found = [FIGURES, "Prompt caching is not considered."]
        if estimate.cost and estimate.unpriced:
            found.append(
                f"No price is given for the model of {', '.join(estimate.unpriced)}, which counts as free."
            )
    return found


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
