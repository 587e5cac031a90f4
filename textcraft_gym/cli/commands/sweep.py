"""The command ``textcraft-gym sweep``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.cli import tables
from textcraft_gym.cli.default_folders import free_folder, holds, short_name
from textcraft_gym.cli.endings import end_runs
from textcraft_gym.cli.estimates import show_estimates
from textcraft_gym.cli.options import DryRun, Json, Wide
from textcraft_gym.cli.progress import evaluate_with_progress, progress_console
from textcraft_gym.cli.run_options import takes_run_spec
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.reports.differences import as_sentence, step_budgets
from textcraft_gym.reports.metrics import summarise_by_group
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.runs.estimate import estimate
from textcraft_gym.runs.run_spec import DEFAULT_MODEL, RunSpec
from textcraft_gym.runs.sweep import HEADINGS, Cell, Results, cell_specs, folder_names, grid
from textcraft_gym.runs.sweep import sweep as run_sweep
from textcraft_gym.runs.sweep import tables as sweep_tables

app = typer.Typer(add_completion=False)


@app.command()
@takes_run_spec(without=("agent", "model", "max_steps"))
def sweep(
    spec: RunSpec,
    agents: Annotated[str, typer.Option(help="Agents, separated by commas.")],
    d_max: Annotated[
        str, typer.Option(help="Depths, as 1-4 or 1,3, for agents that take d_max.")
    ] = "",
    model: Annotated[
        list[str] | None, typer.Option(help="Model, as for evaluate; may be repeated.")
    ] = None,
    seeds: Annotated[
        str, typer.Option(help="One run for each seed, as 0-4 or 1,3; replaces --seed.")
    ] = "",
    max_steps: Annotated[
        int | None,
        typer.Option(
            help="Maximum actions per episode, for all agents; by default each agent's own, or the "
            "environment's limit."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the runs, by default runs/ENV-AGENTS-MODELS; resumes if unfinished."
        ),
    ] = None,
    as_json: Json = False,
    wide: Wide = False,
    dry_run: DryRun = False,
) -> None:
    """Evaluate a grid of agents, depths, models and seeds.

    Limits of cost, tokens and time apply to all runs together. The exit status is that of evaluate.
    """
    spec = replace(spec, max_steps=max_steps)
    cells = list(grid(_names(agents), _integers(d_max), model or [DEFAULT_MODEL], _integers(seeds)))
    names = folder_names(cells)
    out = out or _default_folder(spec, cells)
    if dry_run:
        estimates = {
            names[cell]: estimate(run, out / names[cell])
            for cell, run in cell_specs(spec, cells).items()
        }
        show_estimates(estimates, as_json)
        return

    run = partial(evaluate_with_progress, bar_on=progress_console(as_json))
    try:
        results = run_sweep(spec, cells, out, run=run)
    except KeyboardInterrupt:
        say("Stopped; run it again to resume.")
        raise typer.Exit(130) from None
    if not as_json:
        _say_budgets({cell.agent: read_config(out / name) for cell, name in names.items()})
    _show_results(results, as_json)
    end_runs([read_records(out / name) for name in names.values()], out)


def _default_folder(base: RunSpec, cells: Sequence[Cell]) -> Path:
    """Return a folder in which no cell has the folder of another run."""
    specs = cell_specs(base, cells)
    names = folder_names(specs)
    agents = dict.fromkeys(cell.agent for cell in specs)
    models = dict.fromkeys(without_key(cell.model) for cell in specs if cell.model is not None)

    def is_ours(folder: Path) -> bool:
        return all(holds(folder / names[cell], spec) for cell, spec in specs.items())

    described = [base.env.rpartition(":")[2], "+".join(map(short_name, agents))]
    return free_folder([*described, "+".join(map(short_name, models))], is_ours)


def _say_budgets(configs: Mapping[str, Mapping[str, Any]]) -> None:
    """Say where agents had different budgets."""
    if sentence := as_sentence(step_budgets(configs)):
        say(f"{sentence} With --max-steps N all agents have one budget.")


def _show_results(results: Results, as_json: bool) -> None:
    if as_json:
        print_json(_result_rows(results))
        return
    player = HEADINGS[:3]
    ranked = (*player, "won %", "95% interval", "n", "calls")
    for title, (headings, *rows) in sweep_tables(results).items():
        table = tables.new_table(title, headings, ranked, needed=5)
        for row in rows:
            table.add_row(*row)
        tables.print_table(table)


def _result_rows(results: Results) -> list[dict[str, object]]:
    """Return a row for each cell and group of tasks."""
    rows = []
    for cell, records in results.items():
        described = {**asdict(cell), "model": cell.model and without_key(cell.model)}
        for group, summary in summarise_by_group(records).items():
            rows.append({**described, "group": group, **asdict(summary)})
    return rows


def _names(text: str) -> list[str]:
    """Read ``react,adapt`` as names, at least one."""
    names = [name for name in text.split(",") if name]
    if not names:
        raise ValueError(f"expected at least one agent, got {text!r}")
    return names


def _integers(text: str) -> list[int]:
    """Read ``1-4`` or ``1,3`` as integers."""
    integers: list[int] = []
    for piece in filter(None, text.split(",")):
        first, dash, last = piece.partition("-")
        if not dash:
            last = first
        if not first.isdecimal() or not last.isdecimal() or int(first) > int(last):
            raise ValueError(f"expected numbers as 1-4 or 1,3, got {text!r}")
        integers += range(int(first), int(last) + 1)
    return integers
