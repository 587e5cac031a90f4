"""Summaries as tables: a row for each run and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from textcraft_gym.printable import printable
from textcraft_gym.reports.metrics import ALL, Summary, summarise_by_group
from textcraft_gym.reports.success import TaskMean
from textcraft_gym.reports.timing import timing

SUCCESS = (
    "run",
    "group",
    "n",
    "won",
    "won %",
    "95% interval",
    "score",
    "steps",
    "optimal x",
    "limits",
    "errors",
)
PASSES = ("run", "k", "tasks", "pass@k %", "95% interval", "pass^k %", "95% interval")
TIMING = (
    "run",
    "group",
    "n",
    "mean s",
    "median s",
    "95% below",
    "longest s",
    "s in models",
    "s per call",
)

Runs: TypeAlias = Mapping[str, Mapping[str, Summary]]
Rows: TypeAlias = list[tuple[str, ...]]


def codes(config: Mapping[str, Any]) -> list[str]:
    """Return digests of the codes that played a run, the first one first; ``unknown`` before they were kept."""
    found = config.get("codes")
    return list(map(str, found)) if isinstance(found, list) and found else ["unknown"]


def several_codes(config: Mapping[str, Any]) -> str:
    """Return a note on a run whose episodes were played by several versions of the code; empty for one."""
    played = codes(config)
    return (
        f"its episodes were played by {len(played)} versions of the code: {', '.join(played)}"
        if played[1:]
        else ""
    )


def distinct_errors(records: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return the errors of a run, each with the number of episodes that failed with it."""
    return Counter(str(record["error"]) for record in records if record.get("error"))


def success_rows(runs: Runs) -> Rows:
    """Return a row of ``SUCCESS`` cells for each run and group."""
    return [
        _success(run, group, summary)
        for run, by_group in runs.items()
        for group, summary in by_group.items()
    ]


def effort_table(runs: Runs) -> Rows:
    """Return headings and rows of model calls by role, tokens, cost and claimed success; empty without model calls."""
    asked = {run: by_group for run, by_group in runs.items() if by_group[ALL].calls}
    roles = list(dict.fromkeys(role for by_group in asked.values() for role in by_group[ALL].calls))
    if not asked:
        return []
    headings = (
        "run",
        "group",
        *roles,
        "tokens",
        "cost",
        "k_max",
        "k_max won",
        "claimed",
        "precision",
        "recall",
    )
    rows = (
        _effort(run, group, roles, summary)
        for run, by_group in asked.items()
        for group, summary in by_group.items()
    )
    return [headings, *rows]


def pass_rows(runs: Runs) -> Rows:
    """Return a row of ``PASSES`` cells for each run and number of attempts; none for runs that played tasks once."""
    return [
        (
            run,
            str(rates.k),
            str(rates.tasks),
            *_estimate(rates.at_least_one),
            *_estimate(rates.every),
        )
        for run, by_group in runs.items()
        for rates in by_group[ALL].passes
    ]


def replies_table(runs: Runs) -> Rows:
    """Return headings and rows of replies that could not be taken as they were, by kind; empty where all could."""
    kinds = sorted({kind for by_group in runs.values() for kind in by_group[ALL].replies})
    if not any(by_group[ALL].replies.get(kind) for by_group in runs.values() for kind in kinds):
        return []
    rows = (
        (run, group, *(str(summary.replies.get(kind, 0)) for kind in kinds))
        for run, by_group in runs.items()
        for group, summary in by_group.items()
    )
    return [("run", "group", *(kind.replace("_", " ") for kind in kinds)), *rows]


def time_rows(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Rows:
    """Return a row of ``TIMING`` cells for each run and group of records; none for those without times."""
    return [
        (run, group, str(found.episodes), *map(seconds, found.durations))
        for run, records in runs.items()
        for group in summarise_by_group(records)
        if (found := timing(record for record in records if group in (record["group"], ALL)))
    ]


def markdown(runs: Runs, advice: Iterable[str] = ()) -> str:
    """Return all tables as Markdown, with advice below them."""
    tables = [[SUCCESS, *success_rows(runs)], effort_table(runs), replies_table(runs)]
    if passes := pass_rows(runs):
        tables.append([PASSES, *passes])
    parts = [markdown_table(headings, rows) for headings, *rows in filter(None, tables)]
    return "\n".join([*parts, *(f"{line}\n" for line in advice)])


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown, its cells as they are: a bar in one would end it, and a line break the table."""
    lines = [headings, ("---",) * len(headings), *rows]
    cells = ([printable(cell).replace("|", r"\|") for cell in line] for line in lines)
    return "".join("| " + " | ".join(line) + " |\n" for line in cells)


def _success(run: str, group: str, summary: Summary) -> tuple[str, ...]:
    return (
        run,
        group,
        str(summary.episodes),
        "-" if summary.unknown else str(summary.won),
        number(summary.rate, 100),
        "-" if summary.rate is None else interval(summary.low, summary.high),
        number(summary.reward, 100),
        number(summary.steps),
        number(summary.steps_over_optimal, digits=2),
        str(sum(summary.limits.values())),
        str(summary.errors),
    )


def _estimate(estimate: TaskMean) -> tuple[str, str]:
    return number(estimate.mean, 100), interval(estimate.low, estimate.high)


def interval(low: float, high: float) -> str:
    """Return an interval of a share for a table, in percent."""
    return f"{100 * low:.1f}-{100 * high:.1f}"


def _effort(run: str, group: str, roles: list[str], summary: Summary) -> tuple[str, ...]:
    return (
        run,
        group,
        *(f"{summary.calls.get(role, 0.0):.1f}" for role in roles),
        number(summary.tokens, digits=0),
        f"{summary.cost:.2f}",
        number(summary.k_max, digits=2),
        number(summary.k_max_won, digits=2),
        str(summary.claimed),
        number(summary.precision, 100),
        number(summary.recall, 100),
    )


def seconds(duration: float | None) -> str:
    """Return a duration for a table, to two digits or three; a dash where there is none."""
    if duration is None:
        return "-"
    return (
        f"{duration:.0f}"
        if duration >= 100
        else f"{duration:.3g}"
        if duration >= 0.1
        else f"{duration:.2g}"
    )


def number(value: float | None, scale: int = 1, digits: int = 1) -> str:
    """Return a number for a table; a dash where there is none."""
    return "-" if value is None else f"{scale * value:.{digits}f}"
