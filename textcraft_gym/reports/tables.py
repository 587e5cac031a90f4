"""Summaries as tables: a row for each run and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from textcraft_gym.printable import printable
from textcraft_gym.reports.metrics import ALL, Summary, summarise_by_group
from textcraft_gym.reports.success import Estimate
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
    "steps / shortest",
    "limits",
    "errors",
)
TOKENS = "tokens"
"""Heading of the mean number of tokens, after the steps, where a run asked a model."""
PASSES = ("run", "k", "tasks", "pass@k %", "95% interval", "pass^k %", "95% interval")
EFFORT = (
    "tokens",
    "total cost",
    "depth used",
    "depth used when won",
    "says it won",
    "says it won: wrong",
    "says it won: missed %",
    "game ended it",
)
"""Headings after run, group and the calls of each role."""
READ = ("bare", "worded", "no_command")
"""Kinds of replies that were read for a command."""
UNREAD = ("empty", "cut")
"""Kinds of replies of which something is missing, whoever reads them."""
REPLIES = ("run", "group", "read", "bare", "words around it", "no command", "empty", "cut off")
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
    """Return the digests of the codes that played a run, in order; ``unknown`` in old folders."""
    digests = config.get("codes")
    if not isinstance(digests, list) or not digests:
        return ["unknown"]
    return list(map(str, digests))


def several_codes(config: Mapping[str, Any]) -> str:
    """Return a note on a run that several versions of the code played; empty for one."""
    played = codes(config)
    if len(played) == 1:
        return ""
    return f"its episodes were played by {len(played)} versions of the code: {', '.join(played)}"


def distinct_errors(records: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return the errors of a run, each with the number of episodes that failed with it."""
    return Counter(str(record["error"]) for record in records if record.get("error"))


def success_table(runs: Runs) -> Rows:
    """Return headings and rows of success for each run and group, with tokens if a run has any."""
    rows: Rows = [SUCCESS]
    tokens = [TOKENS]
    for run, by_group in runs.items():
        for group, summary in by_group.items():
            rows.append(_success(run, group, summary))
            tokens.append(number(summary.tokens, digits=0) if summary.calls else "-")
    if not any(by_group[ALL].calls for by_group in runs.values()):
        return rows
    place = SUCCESS.index("steps") + 1
    return [(*row[:place], cell, *row[place:]) for row, cell in zip(rows, tokens, strict=True)]


def effort_table(runs: Runs) -> Rows:
    """Return headings and rows of calls by role, tokens, cost and claims; empty without calls."""
    asking = {run: by_group for run, by_group in runs.items() if by_group[ALL].calls}
    if not asking:
        return []
    roles: dict[str, None] = {}
    for by_group in asking.values():
        roles |= dict.fromkeys(by_group[ALL].calls)
    rows: Rows = [("run", "group", *roles, *EFFORT)]
    for run, by_group in asking.items():
        for group, summary in by_group.items():
            rows.append(_effort(run, group, list(roles), summary))
    return rows


def pass_rows(runs: Runs) -> Rows:
    """Return a row of ``PASSES`` cells for each run and number of attempts.

    Runs that played each task once have none.
    """
    rows: Rows = []
    for run, by_group in runs.items():
        for rates in by_group[ALL].passes:
            estimates = (*_estimate(rates.at_least_one), *_estimate(rates.every))
            rows.append((run, str(rates.k), str(rates.tasks), *estimates))
    return rows


def reply_rows(runs: Runs) -> Rows:
    """Return a row of ``REPLIES`` cells for each run and group, a dash where nothing is known.

    There are none where all replies were bare commands or thoughts.
    """
    if not any(_is_told(by_group[ALL].replies) for by_group in runs.values()):
        return []
    rows: Rows = []
    for run, by_group in runs.items():
        for group, summary in by_group.items():
            rows.append((run, group, *_replies(summary.replies)))
    return rows


def read_for_commands(replies: Mapping[str, int]) -> int:
    """Return the number of replies that were read for a command."""
    return sum(replies.get(kind, 0) for kind in READ)


def _is_told(replies: Mapping[str, int]) -> bool:
    return any(replies.get(kind) for kind in (*READ[1:], *UNREAD))


def _replies(replies: Mapping[str, int]) -> tuple[str, ...]:
    """Return the cells of a row; kinds that were never counted are unknown, and not 0."""
    read = read_for_commands(replies)
    cells = [str(read), *(str(replies.get(kind, 0)) for kind in READ)] if read else ["-"] * 4
    for kind in UNREAD:
        cells.append(str(replies.get(kind, 0)) if replies.get("asked") else "-")
    return tuple(cells)


def time_rows(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Rows:
    """Return a row of ``TIMING`` cells for each run and group with times."""
    rows: Rows = []
    for run, records in runs.items():
        for group in summarise_by_group(records):
            of_group = [record for record in records if group in (record["group"], ALL)]
            times = timing(of_group)
            if times is not None:
                rows.append((run, group, str(times.episodes), *map(seconds, times.durations)))
    return rows


def markdown(runs: Runs, advice: Iterable[str] = ()) -> str:
    """Return all tables as Markdown, with advice below them."""
    tables = [success_table(runs), effort_table(runs)]
    if replies := reply_rows(runs):
        tables.append([REPLIES, *replies])
    if passes := pass_rows(runs):
        tables.append([PASSES, *passes])
    parts = [markdown_table(headings, rows) for headings, *rows in filter(None, tables)]
    return "\n".join([*parts, *(f"{line}\n" for line in advice)])


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown, its cells escaped: they may hold bars and line breaks."""
    table = ""
    for line in (headings, ("---",) * len(headings), *rows):
        cells = [printable(cell).replace("|", r"\|") for cell in line]
        table += f"| {' | '.join(cells)} |\n"
    return table


def _success(
    run: str,
    group: str,
    summary: Summary,
) -> tuple[str, ...]:
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


def _estimate(estimate: Estimate) -> tuple[str, str]:
    return number(estimate.mean, 100), interval(estimate.low, estimate.high)


def percent(share: float | None) -> str:
    """Return a share in percent, to one digit wherever it is shown; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f}%"


def interval(low: float, high: float) -> str:
    """Return an interval of a share for a table, in percent."""
    return f"{100 * low:.1f}-{100 * high:.1f}"


def _effort(
    run: str,
    group: str,
    roles: list[str],
    summary: Summary,
) -> tuple[str, ...]:
    missed = None if summary.recall is None else 1 - summary.recall
    return (
        run,
        group,
        *(f"{summary.calls.get(role, 0.0):.1f}" for role in roles),
        number(summary.tokens, digits=0),
        money(summary.cost),
        number(summary.k_max, digits=2),
        number(summary.k_max_won, digits=2),
        number(summary.claimed, digits=0),
        number(summary.wrongly_claimed, digits=0),
        number(missed, 100),
        str(summary.ended_by_game),
    )


def seconds(duration: float | None) -> str:
    """Return a duration for a table, to two digits or three; a dash where there is none."""
    if duration is None:
        return "-"
    if duration >= 100:
        return f"{duration:.0f}"
    if duration >= 0.1:
        return f"{duration:.3g}"
    return f"{duration:.2g}"


def money(cost: float) -> str:
    """Return what completions cost for a table; a dash where no price is known."""
    if not cost:
        return "-"
    return f"{cost:.2f}" if cost >= 1 else f"{cost:.2g}"


def number(
    value: float | None,
    scale: int = 1,
    digits: int = 1,
) -> str:
    """Return a number for a table; a dash where there is none."""
    return "-" if value is None else f"{scale * value:.{digits}f}"
