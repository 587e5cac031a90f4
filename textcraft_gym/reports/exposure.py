"""Success on tasks that a model was trained on, apart from success on others.

Known of the suite's own adapter, whose training data is: ``agents/models/adapters/exposure.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from textcraft_gym.agents.models.spec import name_and_options
from textcraft_gym.agents.models.weights import ADAPTERS
from textcraft_gym.reports.metrics import pool_by_group
from textcraft_gym.task import UNGROUPED

FILE = ADAPTERS / "exposure.json"
KINDS: Mapping[str, tuple[str, str]] = {
    "trained": ("goals of its training", "goals held out of it"),
    "twins": (
        "goals that its training has in another colour or wood",
        "goals without such a twin",
    ),
}
"""How the tasks of each list of the file, and the others, are called."""


def exposure(
    config: Mapping[str, Any],
    runs: Sequence[Iterable[Mapping[str, Any]]],
) -> list[str]:
    """Return what was won of tasks that a model was trained on, and of the others, as clauses.

    Args:
        config: The config of the runs, which differ only in their seed.
        runs: The records of each.

    Returns:
        Nothing for a model whose training is not known, or had nothing to do with these tasks.
    """
    clauses = []
    for kind, tasks in _tasks(config).items():
        inside, outside = KINDS[kind]
        split = []
        for chosen in (True, False):
            split.append([[r for r in run if (r["task"] in tasks) == chosen] for run in runs])
        if any(split[0]):
            named = zip((inside, outside), split, strict=True)
            clauses += [_clause(name, records) for name, records in named if any(records)]
    return clauses


def _clause(name: str, runs: Sequence[Iterable[Mapping[str, Any]]]) -> str:
    summary = pool_by_group(runs)[UNGROUPED]
    if summary.rate is None:
        return f"{summary.tasks} {name} (outcome unknown)"
    low, high = 100 * summary.low, 100 * summary.high
    return f"{100 * summary.rate:.1f} [{low:.0f}, {high:.0f}]% of {summary.tasks} {name}"


def _tasks(config: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the tasks of each kind in the world of a run."""
    known = _known()
    models = filter(None, (config.get("model"), config.get("planner")))
    digests = {name_and_options(str(model))[1].get("digest") for model in models}
    if known["digest"] not in digests:
        return {}
    return {kind: frozenset(known[kind].get(config["env"], ())) for kind in KINDS}


@cache
def _known() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return known
