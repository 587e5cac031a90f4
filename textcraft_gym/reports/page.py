"""A self-contained HTML page about runs: verdict, configs, tables, plots, and the details of every episode."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from textcraft_gym.reports import plots
from textcraft_gym.reports.advice import advice
from textcraft_gym.reports.compare import Comparison, Verdict, compare, unlike, verdict
from textcraft_gym.reports.metrics import ALL, Errors, groups, summarise_by_group
from textcraft_gym.reports.page_episodes import (
    OUTCOMES,
    Line,
    Packed,
    filters,
    inside,
    line,
    packed,
)
from textcraft_gym.reports.records import light
from textcraft_gym.reports.tables import (
    PASSES,
    SUCCESS,
    TIMING,
    Rows,
    effort_table,
    pass_rows,
    replies_table,
    success_rows,
    time_rows,
)

Record: TypeAlias = Mapping[str, Any]
Config: TypeAlias = Mapping[str, Any]

MODEL_KEYS = frozenset({"model", "planner", "max_calls", "prompts", "prompts_sha256"})
"""Keys of a config that mean nothing for a run that asked no model."""
PROVENANCE = ("schema", "version", "begun_with", "codes", "started", "finished")
"""Keys of a config that are folded away, besides the digests."""


class Game(NamedTuple):
    """The runs of one world and split.

    Attributes:
        name: The world and the split.
        verdict: Which run is best.
        worlds: Number of different digests of the world, which should be 1.
        unlike: What differs between the runs besides agent and model, each with its values.
        first: The run that was given first.
        comparisons: Each other run compared with it, task by task.
    """

    name: str
    verdict: Verdict
    worlds: int
    unlike: Sequence[str]
    first: str
    comparisons: Mapping[str, Comparison]


class Settings(NamedTuple):
    """The values of configs as texts: those shared by all runs, and the others by run."""

    shared: dict[str, str]
    own: dict[str, dict[str, str]]


def html_page(
    runs: Mapping[str, Sequence[Record]],
    configs: Mapping[str, Config],
    *,
    errors: Errors = "exclude",
) -> str:
    """Return the page of one or more runs.

    Records and configs are shown as text: nothing in them becomes markup or code of the page.

    Args:
        runs: Episode records (see ``records.py``) by the label of the run; the best is found task
            by task.
        configs: The config of each run, as ``read_config`` returns it.
        errors: Whether episodes that broke are left out, or count as lost.
    """
    blocks, runs = _packed(runs)
    by_group = {run: summarise_by_group(records, errors=errors) for run, records in runs.items()}
    asked = {run: summaries for run, summaries in by_group.items() if summaries[ALL].calls}
    judged = {run: summaries for run, summaries in asked.items() if not summaries[ALL].unknown}
    told = {
        run: _without_models(configs[run]) if _asks_nothing(runs[run]) else configs[run]
        for run in runs
    }
    replies = replies_table(by_group)
    page = _template().render(
        games=_games(runs, configs, errors),
        errors=errors,
        whole={run: summaries[ALL] for run, summaries in by_group.items()},
        episodes=sum(map(len, runs.values())),
        settings=_settings({run: _kept(config, is_folded=False) for run, config in told.items()}),
        folded=_settings({run: _kept(config, is_folded=True) for run, config in told.items()}),
        success_headings=SUCCESS[1:],
        success=_by_run(success_rows(by_group)),
        pass_headings=PASSES[1:],
        passes=_by_run(pass_rows(by_group)),
        reply_headings=replies[0][1:] if replies else (),
        replies=_by_run(replies[1:]),
        advice={run: advice(records) for run, records in runs.items()},
        success_plot=plots.success_by_group(by_group),
        effort_headings=effort_table(by_group)[0][1:] if asked else (),
        effort=_by_run(effort_table(by_group)[1:]),
        calls_plot=plots.calls_by_group(asked),
        k_max_plot=plots.k_max_by_group({run: runs[run] for run in asked}),
        claims_plot=plots.claims_and_reward(judged),
        time_headings=TIMING[1:],
        times=_by_run(time_rows(runs)),
        filters=filters(runs, groups(by_group.values())),
        index={
            "runs": list(runs),
            "outcomes": OUTCOMES,
            "columns": Line._fields,
            "lines": [
                line(number, record)
                for number, of_run in enumerate(runs.values())
                for record in of_run
            ],
            "starts": blocks.starts,
        },
        blocks=blocks.blocks,
    )
    # A lone surrogate, which JSON can hold, cannot be encoded as UTF-8.
    return page.encode("utf-8", "replace").decode("utf-8")


def _packed(runs: Mapping[str, Iterable[Record]]) -> tuple[Packed, dict[str, list[Record]]]:
    """Return all that episodes hold, packed, and the records without it: each is read once, and few are whole."""
    kept: dict[str, list[Record]] = {run: [] for run in runs}

    def insides() -> Iterator[str]:
        for run, records in runs.items():
            for record in records:
                kept[run].append(light(record))
                yield inside(record)

    return packed(insides()), kept


def html_environment(package: str) -> Environment:
    """Return what renders the templates of a package, in which every value is text and no markup."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _template() -> Template:
    environment = html_environment("textcraft_gym.reports")
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters["sha256"] = _sha256
    environment.globals.update(percent=_percent, points=_points, p_value=_p_value)
    return environment.get_template("report.html")


def _sha256(script: str) -> str:
    """Return the digest of a script for the content security policy."""
    return b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _games(
    runs: Mapping[str, Sequence[Record]], configs: Mapping[str, Config], errors: Errors
) -> list[Game]:
    """Return the runs of each world and split together, since success in two of them cannot be compared."""
    names = {run: f"{configs[run]['env']}, split {configs[run]['split']}" for run in runs}
    games = []
    for name in dict.fromkeys(names.values()):
        of_game = {run: records for run, records in runs.items() if names[run] == name}
        worlds = len({configs[run].get("env_sha256") for run in of_game})
        differences = unlike([configs[run] for run in of_game])
        first, *others = of_game
        comparisons = {other: compare(runs[first], runs[other], errors=errors) for other in others}
        games.append(
            Game(name, verdict(of_game, errors=errors), worlds, differences, first, comparisons)
        )
    return games


def _asks_nothing(records: Sequence[Record]) -> bool:
    """Return whether a run played without a model; one that broke before its first call may need one."""
    return not any(record["calls"] for record in records) and any(
        not record.get("error") for record in records
    )


def _without_models(config: Config) -> Config:
    """Return a config without its model: it has one by default, even for agents that ask none."""
    return {key: None if key in MODEL_KEYS else value for key, value in config.items()}


def _kept(config: Config, *, is_folded: bool) -> Config:
    """Return the part of a config that is folded away, versions, dates and digests, or the other part."""
    return {
        key: value
        for key, value in config.items()
        if (key in PROVENANCE or key.endswith("_sha256")) == is_folded
    }


def _settings(configs: Mapping[str, Config]) -> Settings:
    """Return the values of configs; keys that are always empty are dropped."""
    keys = dict.fromkeys(key for config in configs.values() for key in config)
    facts = {key: {run: _fact(config.get(key)) for run, config in configs.items()} for key in keys}
    facts = {key: by_run for key, by_run in facts.items() if any(by_run.values())}
    shared = {
        key: next(iter(by_run.values()))
        for key, by_run in facts.items()
        if len(set(by_run.values())) == 1
    }
    own = {
        run: {key: by_run[run] for key, by_run in facts.items() if key not in shared}
        for run in configs
    }
    return Settings(shared, own)


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _by_run(rows: Rows) -> dict[str, Rows]:
    return {run: [row[1:] for row in group] for run, group in groupby(rows, key=lambda row: row[0])}


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _points(difference: float | None) -> str:
    return (
        "-" if difference is None else f"{100 * difference + 0.0:+.1f}"
    )  # -0.0 is no number to show


def _p_value(p_value: float) -> str:
    return f"{p_value:.2g}" if p_value >= 1e-4 else "<0.0001"
