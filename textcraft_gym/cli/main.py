"""The command ``textcraft-gym``: reads arguments and calls the library."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from secrets import randbelow
from typing import Annotated, Any, TextIO

import typer

import textcraft_gym
from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.agents.redaction import redacted
from textcraft_gym.cli import tables
from textcraft_gym.cli.console import Console, open_standard_streams, say, show_exception
from textcraft_gym.cli.demonstrations import expert_trajectories
from textcraft_gym.cli.exports import run_trajectories
from textcraft_gym.cli.model_check import check_model
from textcraft_gym.cli.options import takes_run_spec
from textcraft_gym.cli.papers import papers, reproduce
from textcraft_gym.cli.play import play as play_episode
from textcraft_gym.cli.serve import serve_app
from textcraft_gym.cli.shop import serve
from textcraft_gym.cli.signals import sigterm_as_interrupt
from textcraft_gym.cli.watch import watch as watch_episode
from textcraft_gym.errors import RunError, RunStopped, TextCraftGymError, UnknownName
from textcraft_gym.plugins import key_values
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.made import open_pack
from textcraft_gym.recipes.pack import BUNDLE, write_bundle
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE
from textcraft_gym.recipes.splits import leakage, paper_splits
from textcraft_gym.registration import SUITE
from textcraft_gym.reports.advice import advice
from textcraft_gym.reports.compare import compare as compare_records
from textcraft_gym.reports.compare import unlike
from textcraft_gym.reports.metrics import ERRORS, Errors, summarise_by_group
from textcraft_gym.reports.page import html_page
from textcraft_gym.reports.records import Records, read_config, read_records
from textcraft_gym.reports.tables import distinct_errors, several_codes
from textcraft_gym.runs.estimate import estimate
from textcraft_gym.runs.fingerprints import compare as compare_with_release
from textcraft_gym.runs.optimise_plan import RUN_LIMITS
from textcraft_gym.runs.optimise_plan import optimise_plan as write_plans
from textcraft_gym.runs.optimise_plan import summary as summary_of_plans
from textcraft_gym.runs.optimise_plan import table as table_of_plans
from textcraft_gym.runs.run_spec import DEFAULT_MODEL, RunSpec
from textcraft_gym.runs.sweep import cell_specs, folder_names, grid
from textcraft_gym.runs.sweep import sweep as run_sweep
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.storage.outputs import check_output, run_files
from textcraft_gym.storage.trajectories import FORMATS, write_trajectories
from textcraft_gym.task import describe_task
from textcraft_gym.verify.recheck import not_rechecked
from textcraft_gym.verify.recheck import verify as verify_run

MAX_ERRORS_SHOWN = 5

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help=textcraft_gym.__doc__,
)
recipes_app = typer.Typer(
    no_args_is_help=True, help="Minecraft's recipes: import a pack, show an item, count."
)
splits_app = typer.Typer(no_args_is_help=True, help="Divide tasks into train, dev and test.")
models_app = typer.Typer(no_args_is_help=True, help="Try a model before a run.")
app.add_typer(models_app, name="models")
app.add_typer(recipes_app, name="recipes")
app.add_typer(splits_app, name="splits")
app.add_typer(serve_app, name="serve")
app.command()(papers)
app.command()(reproduce)

EnvId = Annotated[
    str,
    typer.Argument(
        help=f"{', '.join(SUITE)}, or any other id of an environment of text: my_module:My-v0."
    ),
]
EnvArgs = Annotated[
    list[str] | None, typer.Option("--env-arg", help="KEY=VALUE for gym.make; may be repeated.")
]
Split = Annotated[
    str | None,
    typer.Option(help="A split of the environment, by default the one that gym.make plays."),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format", help=f"Form of the dialogues, after what reads them: {', '.join(FORMATS)}."
    ),
]
ErrorsOption = Annotated[
    str,
    typer.Option(
        "--errors",
        help="Episodes that an error broke: exclude leaves them out, count has them as lost.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Only say what it is expected to take; no model is asked, nothing is written.",
    ),
]
Recipes = Annotated[
    Path | None,
    typer.Option(
        help="A data-pack folder, zip or game jar, or made:depth=8; by default Minecraft 1.16.5."
    ),
]
TagsOption = Annotated[
    str, typer.Option("--tags", help="group: the published game; item: the game's real tags.")
]


def main() -> None:
    """Run the command; a mistake of the caller gives one line on standard error and status 2.

    So does a run that stops before its last episode: status 3 at its limit, 1 where no further
    episode could succeed. Ctrl-C and SIGTERM end it in the same way, with status 130 and 143.
    """
    open_standard_streams()
    sys.excepthook = show_exception
    warnings.showwarning = _show_warning
    try:
        with sigterm_as_interrupt():
            app()
    except RunStopped as stop:
        say(f"textcraft-gym: {stop}", error=True)
        sys.exit(3 if stop.at_limit else 1)
    except (TextCraftGymError, ModelError, OSError, ValueError) as error:
        say(f"textcraft-gym: {error}", error=True)
        sys.exit(2)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as one line; where in the code it was given does not help those who typed the command."""
    say(f"textcraft-gym: warning: {message}", error=True)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"textcraft-gym {textcraft_gym.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options of ``textcraft-gym`` without a command."""


options.__doc__ = textcraft_gym.__doc__


@app.command()
@takes_run_spec()
def evaluate(
    spec: RunSpec,
    out: Annotated[
        Path, typer.Option(help="The run folder; an unfinished run in it is continued.")
    ],
    table: Annotated[bool, typer.Option(help="Print the tables at the end.")] = True,
    dry_run: DryRun = False,
) -> None:
    """Let an agent play every task of a split, and print its success by group of tasks.

    The exit status is 0 at the end, 1 if every episode ended with an error or no further one could
    succeed, 2 for a mistake in the command, 3 at a limit of money, tokens or time, 130 after
    Ctrl-C, and 143 after SIGTERM.
    """
    if dry_run:
        tables.show_estimates({out.name: estimate(spec, out)})
        return
    try:
        records = tables.evaluate_with_progress(spec, out)
    except KeyboardInterrupt:
        say(
            f"Stopped. {len(read_records(out))} episodes are in {out}; the same command continues from there."
        )
        raise typer.Exit(130) from None
    if table:
        tables.show_runs({out.name: summarise_by_group(records)})
    _end([records], out)


@app.command()
@takes_run_spec(without=("agent", "model"))
def sweep(
    spec: RunSpec,
    agents: Annotated[str, typer.Option(help="Names of agents, with commas.")],
    out: Annotated[
        Path, typer.Option(help="The folder of the runs; an unfinished sweep in it is continued.")
    ],
    d_max: Annotated[
        str, typer.Option(help="Depths, as 1-4 or 1,3, for agents that have one.")
    ] = "",
    model: Annotated[
        list[str] | None, typer.Option(help="A model, as for evaluate; may be repeated.")
    ] = None,
    seeds: Annotated[
        str, typer.Option(help="Seeds, as 0-4 or 1,3, in place of --seed: a run for each.")
    ] = "",
    as_json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Evaluate a grid of agents, depths, models and seeds, and print one table.

    Limits of money, tokens and time are those of all runs together. The exit status is that of
    evaluate.
    """
    bar_on = (
        Console(stderr=True) if as_json else tables.console
    )  # with --json, standard output has only JSON
    cells = list(grid(_names(agents), _integers(d_max), model or [DEFAULT_MODEL], _integers(seeds)))
    names = folder_names(cells)
    if dry_run:
        estimates = {
            names[cell]: estimate(run, out / names[cell])
            for cell, run in cell_specs(spec, cells).items()
        }
        if as_json:
            _print_json([{"run": name, **asdict(found)} for name, found in estimates.items()])
        else:
            tables.show_estimates(estimates)
        return
    try:
        results = run_sweep(
            spec, cells, out, run=partial(tables.evaluate_with_progress, bar_on=bar_on)
        )
    except KeyboardInterrupt:
        say("Stopped. The same command continues from there.")
        raise typer.Exit(130) from None
    if as_json:
        rows = [
            (cell, group, summary)
            for cell, groups in results.items()
            for group, summary in groups.items()
        ]
        _print_json(
            [
                {
                    **asdict(cell),
                    "model": without_key(cell.model),
                    "group": group,
                    **asdict(summary),
                }
                for cell, group, summary in rows
            ]
        )
    else:
        tables.show_sweep(results)
    _end([read_records(out / name) for name in names.values()], out)


@app.command("optimise-plan")
@takes_run_spec(without=("agent", "repeats", *RUN_LIMITS))
def optimise_plan(
    spec: RunSpec,
    out: Annotated[
        Path,
        typer.Option(
            help="The folder of plans and episodes; an unfinished optimisation is continued."
        ),
    ],
    task_type: Annotated[
        str | None,
        typer.Option(
            "--type", help="A group of tasks, or a part of its name: heat. By default all tasks."
        ),
    ] = None,
    batch: Annotated[int, typer.Option(help="Episodes before each update of the plan.")] = 4,
    iterations: Annotated[int, typer.Option(help="Updates of the plan.")] = 3,
    as_json: Json = False,
) -> None:
    """Let AutoPlan write a plan for a kind of task from its own episodes, on the training split by default."""
    bar_on = (
        Console(stderr=True) if as_json else tables.console
    )  # with --json, standard output has only JSON
    run = partial(tables.evaluate_with_progress, bar_on=bar_on)
    try:
        done = write_plans(
            spec, out, task_type=task_type, batch=batch, iterations=iterations, run=run
        )
    except KeyboardInterrupt:
        say("Stopped. The same command continues from there.")
        raise typer.Exit(130) from None
    if as_json:
        _print_json(summary_of_plans(done))
        return
    headings, *rows = table_of_plans(done)
    tables.show_rows(
        "Success with the plan before, and what it took",
        [dict(zip(headings, row, strict=True)) for row in rows],
    )
    say(
        f"The plan is {done[-1].plan}: evaluate it with --agent autoplan --agent-arg plan={done[-1].plan}"
    )


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    out: Annotated[
        Path | None, typer.Option(help="Write one page with tables, plots and every episode.")
    ] = None,
    errors: ErrorsOption = "exclude",
    as_json: Json = False,
) -> None:
    """Print the results of runs side by side, or write a page about them."""
    how = _errors(errors)
    # Runs go by their folders' names, or by their paths if two folders have the same name.
    names = [run.name for run in runs]
    folders = dict(
        zip(names if len(set(names)) == len(names) else map(str, runs), runs, strict=True)
    )
    configs = {name: read_config(run) for name, run in folders.items()}
    records = {name: read_records(run) for name, run in folders.items()}
    if out:
        check_output(out, [file for run in runs for file in run_files(run)])
        atomic_write(out, html_page(records, configs, errors=how))
        say(f"{sum(map(len, records.values()))} episodes to {out}")
        return
    summaries = {name: summarise_by_group(of_run, errors=how) for name, of_run in records.items()}
    if as_json:
        _print_json(
            {
                run: {name: asdict(group) for name, group in groups.items()}
                for run, groups in summaries.items()
            }
        )
    else:
        tables.show_runs(summaries)
        for name, config in configs.items():
            if mixed := several_codes(config):
                say(f"{name}: {mixed}")


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="A run folder.")],
    second: Annotated[Path, typer.Argument(help="A run folder with the same tasks.")],
    errors: ErrorsOption = "exclude",
    as_json: Json = False,
) -> None:
    """Compare two runs task by task: which tasks flipped, the difference of success, and its p-value."""
    found = compare_records(read_records(first), read_records(second), errors=_errors(errors))
    others = unlike([read_config(first), read_config(second)])
    if as_json:
        _print_json({"first": first.name, "second": second.name, "unlike": others, **asdict(found)})
    else:
        if others:
            say(
                f"Besides agent and model, the runs differ in what may explain a difference: {'; '.join(others)}"
            )
        tables.show_comparison(first.name, second.name, found)


@app.command()
def verify(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders; without any, the worlds of this installation."),
    ] = None,
    env: Annotated[
        str | None, typer.Option(help="Without run folders, only the world of this id.")
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            help="A module, or an id or agent not of the suite, that a run may name; may be repeated."
        ),
    ] = None,
    env_arg: Annotated[
        list[str] | None,
        typer.Option(help="KEY=VALUE for gym.make, in place of the run's; may be repeated."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split, in place of the run's.")] = None,
    prompts: Annotated[
        str | None, typer.Option(help="The set or folder of prompts, in place of the run's.")
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="Differences to print.")] = 20,
    as_json: Json = False,
) -> None:
    """Replay every recorded action of runs, and print where their records differ from what happens.

    Without a run, the worlds and prompts of this installation are compared with those of the
    release. The exit status is 0 if all is identical, 1 if something differs or could not be
    rechecked, and 2 if a folder cannot be read.
    """
    if not runs:
        if trust or split or prompts:
            raise ValueError(
                "--trust, --split and --prompts are about a run: expected run folders, got none"
            )
        _verify_installation([env] if env else [], key_values(env_arg or []), show, as_json)
        return
    if env:
        raise ValueError("expected run folders or --env, got both")
    found, unreadable = {}, False
    for run in runs:
        try:
            arguments = key_values(env_arg or [])
            found[run] = verify_run(
                run, trusted=trust or (), env_args=arguments, split=split, prompts=prompts
            )
        except RunError as error:  # the other runs are rechecked all the same
            say(f"textcraft-gym: {error}", error=True)
            unreadable = True
            continue
        if not as_json:
            for line in found[run].lines(str(run), show):
                say(line)
    if as_json:
        _print_json({str(run): one.as_json() for run, one in found.items()})
    elif found:
        say(f"not rechecked: {', '.join(not_rechecked())}")
    if unreadable or not all(one.identical for one in found.values()):
        raise typer.Exit(2 if unreadable else 1)


@app.command()
def play(
    env: EnvId,
    task: Annotated[str | None, typer.Option(help="A task id.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the task and the distractors.")] = None,
    watch: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Watch a model play instead: a model, as for evaluate."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="With --watch, the agent that asks it; by default react.")
    ] = None,
    agent_arg: Annotated[
        list[str] | None,
        typer.Option(help="With --watch, KEY=VALUE for the agent; may be repeated."),
    ] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Play an episode yourself, in a terminal or from a pipe, or watch a model play one."""
    env_args = key_values(env_arg or [])
    if watch is None:
        if agent or agent_arg:
            raise ValueError(
                "--agent and --agent-arg are about a model that plays: expected --watch MODEL with them"
            )
        play_episode(env, task=task, seed=seed, **env_args)
        return
    spec = RunSpec(
        env,
        env_args.pop("split", None),
        agent or "react",
        key_values(agent_arg or []),
        model=watch,
        env_args=env_args,
        seed=randbelow(1 << 31) if seed is None else seed,
    )
    try:
        watch_episode(spec, task)
    except KeyboardInterrupt:
        say("Stopped.")
        raise typer.Exit(130) from None


@app.command()
def shop(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder or file of products of the original's data; by default generated ones."
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split whose tasks are listed.")] = "dev",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve on; 0 takes a free one.")
    ] = 0,
    replay: Annotated[
        Path | None,
        typer.Option(help="A run folder, or a session saved as a file, to step through."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="A task id: the episode to replay, or the task to start with."),
    ] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Serve WebShop-lite as web pages on this machine, to try a goal by hand or to step through an agent's episode."""
    env_args = key_values(env_arg or []) | ({"data": str(data)} if data else {})
    serve(
        split=split, port=port, replay=replay, task=task, env_args=env_args, on_start=_print_address
    )


@app.command()
def envs(as_json: Json = False) -> None:
    """List the environments of the suite."""
    found = tables.suite_rows()
    if as_json:
        _print_json(found)
    else:
        tables.show_rows("Environments", found)


@app.command()
def agents(as_json: Json = False) -> None:
    """List the agents, and the games that each plays; --json says why not, too."""
    found = tables.agent_rows()
    if as_json:
        _print_json(found)
    else:
        tables.show_agents(found)


@app.command()
def tasks(
    env: EnvId,
    split: Annotated[str | None, typer.Option(help="A split; by default all tasks.")] = None,
    env_arg: EnvArgs = None,
    guidance: Annotated[
        bool,
        typer.Option("--guidance", help="Print MineDojo's guidance as well, if it is installed."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the tasks of a split: group, depth, and the length of a shortest solution."""
    found = textcraft_gym.tasks(env, split, **key_values(env_arg or []))
    if as_json:
        _print_json([{**describe_task(task), **getattr(task, "details", {})} for task in found])
        return
    tables.show_tasks(found)
    if guidance:
        tables.show_guidance(found)


@app.command()
def demos(
    env: Annotated[str, typer.Option(help="The environment's id.")],
    out: Annotated[Path, typer.Option(help="The file of JSON lines to write.")],
    split: Split = None,
    format: FormatOption = "openai",
    thoughts: Annotated[
        bool, typer.Option("--thoughts", help="Add ReAct thoughts before actions.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every reset.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N tasks.")] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Write the expert's trajectory for every task of a split, as dialogues to learn from."""
    env_args = key_values(env_arg or [])
    check_output(out, [split, *env_args.values()])
    found = expert_trajectories(env, split, thoughts=thoughts, seed=seed, limit=limit, **env_args)
    written = write_trajectories(found, out, format)
    left_out = (
        f"; {written.left_out} tasks that the expert does not win are left out"
        if written.left_out
        else ""
    )
    say(f"{written.trajectories} demonstrations to {out}{left_out}")


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    out: Annotated[Path, typer.Option(help="The file of JSON lines to write.")],
    format: FormatOption = "openai",
    won_only: Annotated[
        bool, typer.Option("--won-only", help="Only episodes that were won.")
    ] = False,
) -> None:
    """Write the episodes of a run as dialogues to learn from; each says whether it was won."""
    check_output(out, run_files(run))
    written = write_trajectories(run_trajectories(run, won_only=won_only), out, format)
    reason = "not won" if won_only else "without an action"
    left_out = f"; {written.left_out} {reason} are left out" if written.left_out else ""
    say(f"{written.trajectories} episodes to {out}{left_out}")


@models_app.command("check")
def check(
    model: Annotated[
        str, typer.Argument(help="A model, as for evaluate: openai:NAME,base_url=..., local, ...")
    ],
    form: Annotated[
        str | None,
        typer.Option(
            help="The form of the talk: line, chat or tools; by default what suits the model."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask a model for a few small answers, let it play one short episode, and say how to use it.

    It makes 25 calls at most. The exit status is 0 if the model can play, 1 if it answers and
    cannot play, and 2 if it cannot be asked.
    """
    found = check_model(model, form)
    if as_json:
        _print_json(found.as_json())
    else:
        for line in found.lines():
            say(line)
    raise typer.Exit(found.status)


@recipes_app.command("import")
def import_recipes(
    path: Annotated[Path, typer.Argument(help="A data-pack folder, a zip, a wheel or a game jar.")],
    out: Annotated[Path, typer.Option(help="The folder to write recipes.jsonl and tags.jsonl to.")],
) -> None:
    """Turn recipes and item tags into a compact bundle, which loads wherever a path to recipes is taken."""
    for name in BUNDLE:
        check_output(out / name, [path])
    pack = open_pack(path)
    RecipeBook.load(path)
    write_bundle(pack, out)
    say(f"{len(pack.recipes)} recipes and {len(pack.tags)} item tags to {out}")


@recipes_app.command("show")
def show_recipe(
    item: str, recipes: Recipes = None, tags: TagsOption = "group", as_json: Json = False
) -> None:
    """Draw the recipe tree of an item, named with or without minecraft:."""
    book = _book(recipes, tags)
    item = item if item in book.names else DEFAULT_NAMESPACE + item
    if item not in book.names:
        raise UnknownName("item", item.removeprefix(DEFAULT_NAMESPACE), list(book.names))
    if as_json:
        _print_json(tables.tree_rows(book, item))
    else:
        tables.show_tree(book, item)


@recipes_app.command("stats")
def recipe_stats(
    recipes: Recipes = None, tags: TagsOption = "group", as_json: Json = False
) -> None:
    """Count recipes, items and depths."""
    stats = tables.recipe_stats(open_pack(recipes), _book(recipes, tags))
    if as_json:
        _print_json(stats)
    else:
        tables.show_stats(stats)


@splits_app.command("paper")
def show_paper_splits(recipes: Recipes = None, tags: TagsOption = "group") -> None:
    """Show the splits in the sizes of the ADaPT paper."""
    book = _book(recipes, tags)
    splits = paper_splits(book)
    tables.show_splits(book.depths, splits)
    tables.show_leakage(leakage(book, splits["dev"], splits["test"]), "dev", "test")


@splits_app.command("make")
def make_splits(
    out: Annotated[
        Path,
        typer.Option(help="The file of JSON lines to write; FILE.leakage.json goes beside it."),
    ],
    env: Annotated[str, typer.Option(help="TextCraft-v0 or TextCraftTags-v0.")] = "TextCraft-v0",
    train: float = 0.8,
    dev: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    compositional: Annotated[
        bool, typer.Option(help="No intermediate of a test tree is a train goal.")
    ] = False,
    recipes: Recipes = None,
) -> None:
    """Make train, dev and test by fractions, stratified by depth, and report the overlap of train and test."""
    leakage_file = out.with_suffix(".leakage.json")
    for file in (out, leakage_file):
        check_output(file, [recipes])
    made = textcraft_gym.make_splits(
        env, (train, dev, test), seed=seed, compositional=compositional, out=out, recipes=recipes
    )
    report = json.dumps(made.leakage._asdict(), indent=2) + "\n"
    atomic_write(leakage_file, report)
    tables.show_splits(made.depths, made.splits)
    tables.show_leakage(made.leakage, "train", "test")


def _verify_installation(
    envs: list[str], env_args: Mapping[str, Any], show: int, as_json: bool
) -> None:
    """Print each world beside what the release carries, and exit with status 1 if one differs."""
    found = []
    for world in compare_with_release(envs, **env_args):
        found.append(world)
        if not as_json:
            for line in world.lines(show):
                say(line)
    if as_json:
        _print_json([world._asdict() for world in found])
    if any(world.changes for world in found):
        raise typer.Exit(1)


def _end(runs: Sequence[Records], out: Path) -> None:
    """Print what a user should know of the episodes of runs, and exit with status 1 if an error broke each of them."""
    for line in advice(chain.from_iterable(runs)):
        say(f"textcraft-gym: {line}", error=True)
    errors = distinct_errors(chain.from_iterable(runs))
    failed, episodes = sum(errors.values()), sum(map(len, runs))
    if failed:
        share = "every episode" if failed == episodes else f"{failed} of {episodes} episodes"
        say(
            f"textcraft-gym: {share} ended with an error; records and tracebacks are in {out}:",
            error=True,
        )
        for error, count in errors.most_common(MAX_ERRORS_SHOWN):
            say(f"  {count} x {error}", error=True)
        if len(errors) > MAX_ERRORS_SHOWN:
            say(f"  and {len(errors) - MAX_ERRORS_SHOWN} other errors", error=True)
    if failed == episodes:
        raise typer.Exit(1)


def _errors(text: str) -> Errors:
    """Read ``exclude`` or ``count``."""
    for word in ERRORS:
        if text == word:
            return word
    raise UnknownName("way with errors", text, ERRORS)


def _print_address(address: str) -> None:
    say(f"The shop is open at {address} (Ctrl-C closes it)")


def _print_json(value: list[Any] | Mapping[str, Any]) -> None:
    print(json.dumps(redacted(value), indent=2))


def _names(text: str) -> list[str]:
    """Read ``react,adapt`` as names, one at least."""
    names = [name for name in text.split(",") if name]
    if not names:
        raise ValueError(f"expected one agent or more, got {text!r}")
    return names


def _integers(text: str) -> list[int]:
    """Read ``1-4`` or ``1,3`` as integers."""
    integers: list[int] = []
    for piece in filter(None, text.split(",")):
        first, dash, last = piece.partition("-")
        last = last if dash else first
        if not first.isdecimal() or not last.isdecimal() or int(first) > int(last):
            raise ValueError(f"expected numbers as 1-4 or 1,3, got {text!r}")
        integers += range(int(first), int(last) + 1)
    return integers


def _book(recipes: Path | None, tags: str) -> RecipeBook:
    reading: Any = tags  # checked by load, which names the two
    return RecipeBook.load(recipes, tags=reading)
