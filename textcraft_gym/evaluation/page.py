"""A self-contained HTML page about runs: configs, tables, plots, and the details of every episode."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from textcraft_gym.evaluation import plots
from textcraft_gym.evaluation.compare import Comparison, compare
from textcraft_gym.evaluation.metrics import ALL, groups, summarise_by_group
from textcraft_gym.evaluation.report import SUCCESS, Rows, effort_table, is_simulated, success_rows

Record: TypeAlias = Mapping[str, Any]
Config: TypeAlias = Mapping[str, Any]

OUTCOMES = {"won": "✓ won", "lost": "✗ lost", "error": "! error"}
CLAIMS = {True: "success", False: "failure", None: "not said"}
DIGITS = 12
"""Number of digits shown of a digest."""


class Line(NamedTuple):
    """A line in the list of episodes.

    Attributes:
        run: Label of its run.
        number: Index of its run.
        record: The whole record.
        outcome: A key of ``OUTCOMES``.
        cells: Texts of the columns by name.
        mistaken: Whether the agent's claim was wrong.
        facts: Further numbers, as text.
        inside: Fields of the record that are rendered only when the line is opened.
    """

    run: str
    number: int
    record: Record
    outcome: str
    cells: dict[str, str]
    mistaken: bool
    facts: str
    inside: dict[str, Any]


class Choice(NamedTuple):
    """An option of a filter: its value, its label, and the number of episodes that have it."""

    value: str
    words: str
    episodes: int


def html_page(runs: Mapping[str, Sequence[Record]], configs: Mapping[str, Config]) -> str:
    """Return the page of one or more runs.

    Records and configs are shown as text: nothing in them becomes markup or code of the page.

    Args:
        runs: Episode records (see ``run_folder``) by the label of the run; the others are compared with the first.
        configs: The config of each run, as ``read_config`` returns it.
    """
    by_group = {run: summarise_by_group(records) for run, records in runs.items()}
    asked = {run: summaries for run, summaries in by_group.items() if summaries[ALL].calls}
    simulated = {run for run, records in runs.items() if is_simulated(configs[run], records)}
    lines = [_line(run, index, record) for index, (run, records) in enumerate(runs.items()) for record in records]
    shared, own = _facts({run: configs[run] for run in runs})
    page = _template().render(
        games=list(dict.fromkeys(f"{configs[run]['env']}, split {configs[run]['split']}" for run in runs)),
        whole={run: summaries[ALL] for run, summaries in by_group.items()},
        simulated=simulated,
        asked_simulated=simulated & asked.keys(),
        shared=shared,
        own=own,
        success_headings=SUCCESS[1:],
        success=_by_run(success_rows(by_group)),
        success_plot=plots.success_by_group(by_group, simulated),
        effort_headings=effort_table(by_group)[0][1:] if asked else (),
        effort=_by_run(effort_table(by_group)[1:]),
        calls_plot=plots.calls_by_group(asked, simulated),
        k_max_plot=plots.k_max_by_group({run: runs[run] for run in asked}, simulated),
        claims_plot=plots.claims_and_reward(asked, simulated),
        comparisons=_comparisons(runs),
        lines=lines,
        filters=_filters(lines, groups(by_group.values())),
    )
    # A lone surrogate, which JSON can hold, cannot be encoded as UTF-8.
    return page.encode("utf-8", "replace").decode("utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("textcraft_gym.evaluation"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sha256"] = _sha256
    environment.globals.update(outcomes=OUTCOMES, percent=_percent, points=_points)
    return environment.get_template("report.html")


def _sha256(script: str) -> str:
    """Return the digest of a script for the content security policy."""
    return b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _facts(configs: Mapping[str, Config]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the values shared by all configs, and the other values by run; keys that are always empty are dropped."""
    keys = dict.fromkeys(key for config in configs.values() for key in config)
    facts = {key: {run: _fact(key, config.get(key)) for run, config in configs.items()} for key in keys}
    facts = {key: by_run for key, by_run in facts.items() if any(by_run.values())}
    shared = {key: next(iter(by_run.values())) for key, by_run in facts.items() if len(set(by_run.values())) == 1}
    return shared, {run: {key: by_run[run] for key, by_run in facts.items() if key not in shared} for run in configs}


def _fact(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if key.endswith("_sha256") and value:
        return str(value)[:DIGITS]
    return "" if value is None else str(value)


def _by_run(rows: Rows) -> dict[str, Rows]:
    return {run: [row[1:] for row in group] for run, group in groupby(rows, key=lambda row: row[0])}


def _comparisons(runs: Mapping[str, Sequence[Record]]) -> dict[str, Comparison]:
    first, *others = runs
    return {other: compare(runs[first], runs[other]) for other in others}


def _line(run: str, index: int, record: Record) -> Line:
    outcome = "error" if record.get("error") else "won" if record["won"] else "lost"
    claimed = record["claimed_success"]
    mistaken = claimed is not None and outcome != "error" and claimed != record["won"]
    cells = {
        "claimed_success": CLAIMS[claimed] + (" (wrong)" if mistaken else ""),
        "group": record["group"],
        "steps": str(record["steps"]),
        "optimal": str(record["optimal_length"] or "-"),
        "calls": str(sum(record["calls"].values())),
        "k_max": str(record["k_max"]),
        "stop_reason": record["stop_reason"],
    }
    inside = {key: record[key] for key in ("transcript", "restores", "trace", "traceback", "picture")}
    return Line(run, index, record, outcome, cells, mistaken, _numbers(record), inside)


def _numbers(record: Record) -> str:
    counts = [(f"calls of the {role}", count) for role, count in record["calls"].items()]
    counts += [(kind.replace("_", " "), count) for kind, count in record["tokens"].items()]
    return "; ".join(
        [
            f"seed {record['seed']}",
            f"reward {record['reward']:g}",
            f"trials {record['trials']}",
            *([f"returns to earlier moments {len(record['restores'])}"] if record["restores"] else []),
            *(f"{name} {count:,}" for name, count in counts),
            f"cost {record['cost']:.4g}",
        ]
    )


def _filters(lines: Sequence[Line], groups: Sequence[str]) -> dict[str, list[Choice]]:
    runs = Counter((str(line.number), line.run) for line in lines)
    outcomes = Counter(line.outcome for line in lines)
    episodes = Counter(line.record["group"] for line in lines)
    return {
        "run": [Choice(*run, count) for run, count in runs.items()],
        "outcome": [Choice(outcome, words, outcomes[outcome]) for outcome, words in OUTCOMES.items()],
        "group": [Choice(group, group, episodes[group]) for group in groups],
    }


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _points(difference: float | None) -> str:
    return "-" if difference is None else f"{100 * difference:+.1f}"
