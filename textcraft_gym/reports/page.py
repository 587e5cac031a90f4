"""A self-contained HTML page about runs: verdict, configs, tables, plots, and all episodes."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias
from warnings import warn

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from textcraft_gym.errors import RunError
from textcraft_gym.reports import plots
from textcraft_gym.reports.advice import advice
from textcraft_gym.reports.calls import Calls
from textcraft_gym.reports.compare import (
    MIN_SHARED,
    Comparison,
    Verdict,
    compare,
    points,
    test_of,
    verdicts,
)
from textcraft_gym.reports.differences import as_sentence, differences
from textcraft_gym.reports.metrics import (
    ALL,
    Errors,
    Summary,
    groups,
    summarise,
    summarise_by_group,
)
from textcraft_gym.reports.notes import advantages, exposures, rivals, unfinished
from textcraft_gym.reports.page_episodes import (
    OUTCOMES,
    Line,
    Packed,
    filters,
    inside,
    line,
    packed,
)
from textcraft_gym.reports.pools import Pool, pools
from textcraft_gym.reports.records import Key, key_of, light
from textcraft_gym.reports.step_claims import STEPS, StepClaims, step_rows
from textcraft_gym.reports.success import in_words
from textcraft_gym.reports.tables import (
    PASSES,
    REPLIES,
    TIMING,
    Rows,
    effort_table,
    pass_rows,
    percent,
    reply_rows,
    success_table,
    time_rows,
)
from textcraft_gym.reports.why import Why, why_examples, why_table

Record: TypeAlias = Mapping[str, Any]
Config: TypeAlias = Mapping[str, Any]

MAX_CALLS = 8 << 20
"""Maximum size of the calls in a page, in bytes of the files of the runs."""
MODEL_KEYS = frozenset({"model", "planner", "max_calls", "prompts", "prompts_sha256"})
"""Keys of a config that mean nothing for a run that asked no model."""
LIVE: Mapping[str, str] = {"connects": "'self'"}
"""Sources of a page that asks its server."""
PROVENANCE = ("schema", "version", "begun_with", "codes", "episodes", "started", "finished")
"""Keys of a config that are folded away, besides the digests."""


class Game(NamedTuple):
    """Runs of one world that share most of their tasks; runs of several seeds count as one.

    Attributes:
        name: The world and the split, and the number of tasks if others have others.
        verdict: Which run is best.
        headline: The same of the runs of agents that are told no more than others.
        worlds: Number of different digests of the world, which should be 1.
        differences: What differs between the runs besides agent and model, as a sentence.
        first: The run that was given first.
        comparisons: Each other run compared with it, task by task.
    """

    name: str
    verdict: Verdict
    headline: Verdict
    worlds: int
    differences: str
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
    calls: Mapping[str, Calls] = MappingProxyType({}),
    call_files: Mapping[str, str] = MappingProxyType({}),
    why: Mapping[str, Why] = MappingProxyType({}),
    steps: Mapping[str, StepClaims] = MappingProxyType({}),
    errors: Errors = "exclude",
    home: str = "",
) -> str:
    """Return the page of one or more runs.

    Records and configs are shown as text: nothing in them becomes markup or code of the page.

    Args:
        runs: Episode records (see ``records.py``) by the label of the run; the best is found task
            by task.
        configs: The config of each run, as ``read_config`` returns it.
        calls: What the models of each run read and wrote. Of each run the page has the calls of as
            many episodes, from the first, as fit into its share of ``MAX_CALLS``.
        call_files: For runs whose calls lie beside the page, their folders: a ``calls_script`` for
            each episode that asked a model.
        why: Why the episodes of each run were lost; empty for a page without.
        steps: The claims about steps of plans, of runs that were replayed for them.
        errors: Whether episodes that broke are left out, or count as lost.
        home: The address of a page of all runs.
    """
    shown = _shown_calls(runs, calls)
    blocks, light_runs = _packed(runs, calls, shown)
    with_calls = sum(map(len, shown.values()))
    index = _index(light_runs, blocks.starts)
    index["calls"] = [call_files.get(run) for run in runs]
    return _page(
        light_runs,
        configs,
        errors,
        why=why,
        steps=steps,
        sources={"scripts": "'self'"} if call_files else {},
        home=home,
        index=index,
        blocks=blocks.blocks,
        with_calls=with_calls + len(call_files),
        left_out=sum(map(len, calls.values())) - with_calls,
    )


def live_page(
    runs: Mapping[str, Sequence[Record]],
    configs: Mapping[str, Config],
    state: str,
) -> str:
    """Return the page of runs that may go on, which asks its server for the episodes.

    Args:
        runs: Episode records without their long fields, by the label of the run.
        configs: The config of each run.
        state: The state of the runs, as the server names it.
    """
    index = _index(dict.fromkeys(runs, ()), [])
    index["live"] = state
    return _page(
        runs,
        configs,
        "exclude",
        why={},
        steps={},
        sources=LIVE,
        home="./",
        index=index,
        blocks=[],
        with_calls=True,
        left_out=0,
    )


def _page(
    runs: Mapping[str, Sequence[Record]],
    configs: Mapping[str, Config],
    errors: Errors,
    *,
    why: Mapping[str, Why],
    steps: Mapping[str, StepClaims],
    sources: Mapping[str, str],
    **listing: Any,
) -> str:
    """Return the page of records without their long fields.

    Args:
        runs: The records.
        configs: The config of each run.
        errors: As for ``html_page``.
        why: As for ``html_page``.
        steps: As for ``html_page``.
        sources: Arguments of ``policy``.
        **listing: What the template needs for the list of episodes.
    """
    by_group = {run: summarise_by_group(records, errors=errors) for run, records in runs.items()}
    pooled = pools(runs, configs)
    whole = {run: summaries[ALL] for run, summaries in by_group.items()}
    for pool in pooled:
        if pool.name not in whole:
            whole[pool.name] = summarise(pool.records, errors=errors)
    games = _games(pooled, errors)
    worlds = _worlds(runs, configs, by_group, why, steps)
    page = (
        templates()
        .get_template("report.html")
        .render(
            title=f"Evaluation: {'; '.join(world['name'] for world in worlds)}",
            games=games,
            worlds=worlds,
            apart=len(games) > len(worlds),
            errors=errors,
            whole=whole,
            runs=len(runs),
            unfinished=unfinished(runs, configs),
            below=[*exposures(pooled), *advantages(configs.values())],
            episodes=sum(map(len, runs.values())),
            **_facts(runs, configs),
            advice={run: advice(records) for run, records in runs.items()},
            filters=filters(runs, groups(by_group.values())),
            script=script("report.js"),
            policy=policy(script("report.js"), **sources),
            **listing,
        )
    )
    return encodable(page)


def encodable(page: str) -> str:
    """Return a page without lone surrogates, which JSON can hold and UTF-8 cannot encode."""
    return page.encode("utf-8", "replace").decode("utf-8")


def policy(
    script: str,
    *,
    scripts: str = "",
    connects: str = "",
    forms: str = "'none'",
) -> str:
    """Return the content security policy of a page: only its own script runs, and nothing loads.

    Args:
        script: The script.
        scripts: Where further scripts may come from.
        connects: Whom the script may ask.
        forms: Whom forms may ask.
    """
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    sources = f"'sha256-{digest}' {scripts}".strip()
    parts = ["default-src 'none'", "img-src data:", "style-src 'unsafe-inline'"]
    parts.append(f"script-src {sources}")
    if connects:
        parts.append(f"connect-src {connects}")
    return "; ".join([*parts, "base-uri 'none'", f"form-action {forms}"])


def _facts(
    runs: Mapping[str, Sequence[Record]],
    configs: Mapping[str, Config],
) -> dict[str, Settings]:
    """Return the settings of the runs, and those that are folded away."""
    settings: dict[str, Config] = {}
    folded: dict[str, Config] = {}
    for run, records in runs.items():
        config = configs[run]
        if _asks_nothing(records):
            config = _without_models(config)
        settings[run] = _kept(config, is_folded=False)
        folded[run] = _kept(config, is_folded=True)
    return {"settings": _settings(settings), "folded": _settings(folded)}


def _worlds(
    runs: Mapping[str, Sequence[Record]],
    configs: Mapping[str, Config],
    by_group: Mapping[str, Mapping[str, Summary]],
    why: Mapping[str, Why],
    steps: Mapping[str, StepClaims],
) -> list[dict[str, Any]]:
    """Return the name, the tables and the plots of each world and split."""
    played: dict[str, list[str]] = {}
    for run in runs:
        played.setdefault(_world(configs[run]), []).append(run)
    worlds = []
    for name, names in played.items():
        of_world = {run: runs[run] for run in names}
        summaries = {run: by_group[run] for run in names}
        of_steps = {run: steps[run] for run in names if run in steps}
        tables, drawn = _tables(of_world, summaries, of_steps), _plots(of_world, summaries)
        causes = _causes({run: why[run] for run in names if run in why})
        worlds.append({"name": name, **tables, **drawn, **causes})
    return worlds


def _causes(why: Mapping[str, Why]) -> dict[str, Any]:
    """Return the headings and rows of the table of causes, and example tasks of each."""
    headings, *rows = why_table(why) or [()]
    return {
        "why_headings": headings[1:],
        "why": _by_run(rows),
        "why_examples": why_examples(why),
    }


def _tables(
    runs: Mapping[str, Sequence[Record]],
    by_group: Mapping[str, Mapping[str, Summary]],
    steps: Mapping[str, StepClaims],
) -> dict[str, Any]:
    """Return the headings and the rows of all tables; a table without rows has no headings."""
    success, effort = success_table(by_group), effort_table(by_group)
    return {
        "success_headings": success[0][1:],
        "success": _by_run(success[1:]),
        "pass_headings": PASSES[1:],
        "passes": _by_run(pass_rows(by_group)),
        "reply_headings": REPLIES[1:],
        "replies": _by_run(reply_rows(by_group)),
        "effort_headings": effort[0][1:] if effort else (),
        "effort": _by_run(effort[1:]),
        "step_headings": STEPS[1:],
        "steps": _by_run(step_rows(steps)),
        "time_headings": TIMING[1:],
        "times": _by_run(time_rows(runs)),
    }


def _plots(
    runs: Mapping[str, Sequence[Record]],
    by_group: Mapping[str, Mapping[str, Summary]],
) -> dict[str, Markup]:
    """Return all plots; those of models show the runs that asked one.

    An agent that makes no claims, or divides no task, has no bar; a plot without bars is empty.
    """
    asking = {run: summaries for run, summaries in by_group.items() if summaries[ALL].calls}
    judged, divided = {}, {}
    for run, summaries in asking.items():
        whole = summaries[ALL]
        if whole.claimed is not None and not whole.unknown:
            judged[run] = summaries
        if whole.k_max is not None:
            divided[run] = runs[run]
    return {
        "success_plot": plots.success_by_group(by_group),
        "calls_plot": plots.calls_by_group(asking),
        "k_max_plot": plots.k_max_by_group(divided) if divided else Markup(),
        "claims_plot": plots.claims_and_reward(judged) if judged else Markup(),
    }


def _index(runs: Mapping[str, Sequence[Record]], starts: Sequence[int]) -> dict[str, Any]:
    """Return the list of episodes, for the script of the page."""
    lines = []
    for number, records in enumerate(runs.values()):
        for record in records:
            lines.append(line(number, record))
    return {
        "runs": list(runs),
        "outcomes": OUTCOMES,
        "columns": Line._fields,
        "lines": lines,
        "starts": starts,
        "calls": [],
        "live": None,
    }


def _shown_calls(
    runs: Mapping[str, Iterable[Record]],
    calls: Mapping[str, Calls],
) -> dict[str, set[Key]]:
    """Return the episodes of each run whose calls are in the page."""
    shown: dict[str, set[Key]] = {run: set() for run in runs}
    for run, of_run in calls.items():
        left = MAX_CALLS // len(calls)
        for key in of_run:
            left -= of_run.size(key)
            if left < 0:
                break
            shown[run].add(key)
    return shown


def _lines_of_calls(calls: Calls, key: Key) -> Sequence[Mapping[str, Any]]:
    """Return the calls of an episode; none, with a warning, if they are damaged."""
    try:
        return calls.lines(key)
    except RunError as error:
        warn(str(error), stacklevel=2)
        return ()


def _packed(
    runs: Mapping[str, Iterable[Record]],
    calls: Mapping[str, Calls],
    shown: Mapping[str, Collection[Key]],
) -> tuple[Packed, dict[str, list[Record]]]:
    """Return all that episodes hold, packed, and the records without it.

    Each record is read once, and few are whole at a time.
    """
    kept: dict[str, list[Record]] = {run: [] for run in runs}

    def insides() -> Iterator[str]:
        for run, records in runs.items():
            for record in records:
                kept[run].append(light(record))
                key = key_of(record)
                yield inside(record, _lines_of_calls(calls[run], key) if key in shown[run] else ())

    return packed(insides()), kept


def html_environment(package: str) -> Environment:
    """Return the environment of a package's templates, in which every value is text, not markup."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def templates() -> Environment:
    """Return the environment of the pages about runs."""
    environment = html_environment("textcraft_gym.reports")
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.globals.update(
        percent=percent,
        points=points,
        in_words=in_words,
        test_of=test_of,
        behind=_behind,
        p_value=_p_value,
        min_shared=MIN_SHARED,
    )
    return environment


@cache
def script(name: str) -> Markup:
    """Return a script of the pages."""
    return Markup(templates().get_template(name).render())  # noqa: S704  # a file of the package


def _games(pooled: Sequence[Pool], errors: Errors) -> list[Game]:
    """Return the runs by world and split, and by tasks: others cannot be compared."""
    by_name: dict[str, dict[str, Pool]] = {}
    for pool in pooled:
        by_name.setdefault(_world(pool.config), {})[pool.name] = pool

    games = []
    for name, of_game in by_name.items():
        sets = verdicts({run: pool.records for run, pool in of_game.items()}, errors=errors)
        for of_set in sets:
            runs = {standing.run for standing in of_set.standings}
            of_tasks = {run: pool for run, pool in of_game.items() if run in runs}
            tasks = f", {of_set.tasks} tasks" if len(sets) > 1 else ""
            games.append(_game(f"{name}{tasks}", of_set, of_tasks, errors))
    return games


def _world(config: Config) -> str:
    return f"{config['env']}, split {config['split']}"


def _game(
    name: str,
    verdict: Verdict,
    runs: Mapping[str, Pool],
    errors: Errors,
) -> Game:
    configs = {run: pool.config for run, pool in runs.items()}
    first, *others = runs
    comparisons = {}
    for other in others:
        comparisons[other] = compare(runs[first].records, runs[other].records, errors=errors)
    return Game(
        name=name,
        verdict=verdict,
        headline=verdict.among(rivals(configs)),
        worlds=len({config.get("env_sha256") for config in configs.values()}),
        differences=as_sentence(differences(configs)),
        first=first,
        comparisons=comparisons,
    )


def _asks_nothing(records: Sequence[Record]) -> bool:
    """Return whether a run played without a model; a failed episode does not show it."""
    played = any(not record.get("error") for record in records)
    return played and not any(record["calls"] for record in records)


def _without_models(config: Config) -> Config:
    """Return a config without its model: it has one by default, even for agents that ask none."""
    return {key: None if key in MODEL_KEYS else value for key, value in config.items()}


def _kept(config: Config, *, is_folded: bool) -> Config:
    """Return the part of a config that is folded away (versions, dates, digests), or the rest."""
    return {key: value for key, value in config.items() if _is_folded(key) == is_folded}


def _is_folded(key: str) -> bool:
    return key in PROVENANCE or key.endswith("_sha256")


def _settings(configs: Mapping[str, Config]) -> Settings:
    """Return the values of configs; keys that are always empty are dropped."""
    keys: dict[str, None] = {}
    for config in configs.values():
        keys |= dict.fromkeys(config)

    shared: dict[str, str] = {}
    own: dict[str, dict[str, str]] = {run: {} for run in configs}
    for key in keys:
        by_run = {run: _fact(config.get(key)) for run, config in configs.items()}
        values = set(by_run.values())
        if values == {""}:
            continue
        if len(values) == 1:
            shared[key] = values.pop()
            continue
        for run, value in by_run.items():
            own[run][key] = value
    return Settings(shared, own)


def _fact(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _by_run(rows: Rows) -> dict[str, Rows]:
    """Return rows by their first cell, and without it."""
    by_run: dict[str, Rows] = {}
    for run, *cells in rows:
        by_run.setdefault(run, []).append(tuple(cells))
    return by_run


def _behind(difference: float) -> str:
    """Return how many points a run is behind; less than 0 is ahead."""
    return points(difference).removeprefix("+")


def _p_value(p_value: float) -> str:
    return f"{p_value:.2g}" if p_value >= 1e-4 else "<0.0001"
