"""The command ``textcraft-gym``: reads arguments and calls the library."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import textcraft_gym
from textcraft_gym import display
from textcraft_gym.agents.contract.agent import ModelError
from textcraft_gym.agents.models.spec import key_values
from textcraft_gym.agents.registry import AGENTS
from textcraft_gym.demonstrations import demonstrations, write_demonstrations
from textcraft_gym.errors import TextCraftGymError, UnknownName
from textcraft_gym.evaluation.backends import BACKENDS
from textcraft_gym.evaluation.compare import compare as compare_records
from textcraft_gym.evaluation.metrics import summarise_by_group
from textcraft_gym.evaluation.page import html_page
from textcraft_gym.evaluation.report import label
from textcraft_gym.evaluation.runner import Config, read_config, read_records
from textcraft_gym.evaluation.sweep import grid
from textcraft_gym.evaluation.sweep import sweep as run_sweep
from textcraft_gym.play import play as play_episode
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.pack import read_pack, write_bundle
from textcraft_gym.recipes.splits import leakage, paper_splits
from textcraft_gym.registration import TABLE, default_split
from textcraft_gym.shop import serve

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=textcraft_gym.__doc__
)
recipes_app = typer.Typer(no_args_is_help=True, help="Minecraft's recipes: import, look at one, count.")
splits_app = typer.Typer(no_args_is_help=True, help="Divide tasks into train, dev and test.")
app.add_typer(recipes_app, name="recipes")
app.add_typer(splits_app, name="splits")

EnvId = Annotated[str, typer.Argument(help=f"One of {', '.join(TABLE)}.")]
EnvArgs = Annotated[list[str] | None, typer.Option("--env-arg", help="KEY=VALUE for gym.make; may be repeated.")]
Split = Annotated[
    str | None, typer.Option(help="One of the environment's, by default what gym.make plays, or FILE.jsonl:NAME.")
]
MODEL_HELP = "simulated:span=N, openai:NAME[,base_url=URL,price=PROMPT/COMPLETION,...], or MODULE:CLASS of your own."
Recipes = Annotated[Path | None, typer.Option(help="A data-pack folder, zip or game jar; by default Minecraft 1.16.5.")]
TagsOption = Annotated[str, typer.Option("--tags", help="group: the published game; item: the game's real tags.")]


def main() -> None:
    """Run the command; a mistake of the caller is one line on standard error and status 2."""
    sys.path.append("")  # where module:Class of an agent or a model is looked for last
    try:
        app()
    except (TextCraftGymError, ModelError, OSError, ValueError) as error:
        sys.exit(_fail(error))


def _fail(error: Exception) -> int:
    print(f"textcraft-gym: {error}", file=sys.stderr)
    return 2


@app.command()
def evaluate(
    env: Annotated[str, typer.Option(help="The environment's id.")],
    agent: Annotated[str, typer.Option(help=f"One of {', '.join(AGENTS)}, or MODULE:CLASS of your own.")],
    out: Annotated[Path, typer.Option(help="The run folder; an unfinished run in it goes on.")],
    split: Split = None,
    agent_arg: Annotated[list[str] | None, typer.Option(help="KEY=VALUE for the agent; may be repeated.")] = None,
    model: Annotated[str, typer.Option(help=MODEL_HELP)] = "simulated",
    planner: Annotated[str | None, typer.Option(help="Another model for the planner's questions.")] = None,
    prompts: Annotated[Path | None, typer.Option(help="A folder with prompts AGENT/GAME.txt of your own.")] = None,
    cassette: Annotated[Path | None, typer.Option(help="A file that keeps what models answer, to replay it.")] = None,
    replay_only: Annotated[bool, typer.Option("--replay-only", help="Answer from the cassette alone.")] = False,
    env_arg: EnvArgs = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of every reset.")] = 0,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="The most actions; by default the agent's or the registered limit.")
    ] = None,
    max_calls: Annotated[int, typer.Option(min=0, help="The most questions to models an episode.")] = 1000,
    limit: Annotated[int | None, typer.Option(min=1, help="Play only the first so many tasks.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many episodes are under way at once.")] = 1,
    backend: Annotated[str, typer.Option(help=f"Where they are played: {', '.join(BACKENDS)}.")] = "loop",
    table: Annotated[bool, typer.Option(help="Whether to print the tables at the end.")] = True,
) -> None:
    """Let an agent play every task of a split, and print its success by group of tasks."""
    config = Config(
        env=env,
        split=split or default_split(env),
        agent=agent,
        agent_args=key_values(agent_arg or []),
        model=model,
        planner=planner,
        prompts=str(prompts) if prompts else None,
        env_args=key_values(env_arg or []),
        seed=seed,
        max_steps=max_steps,
        max_calls=max_calls,
        limit=limit,
    )
    try:
        records = display.evaluate_with_progress(
            config, out, workers=workers, backend=backend, cassette=cassette, replay_only=replay_only
        )
    except KeyboardInterrupt:
        print(f"Stopped. {len(read_records(out))} episodes are in {out}; the same command goes on from there.")
        raise typer.Exit(130) from None
    if table:
        display.show_runs({label(out.name, read_config(out), records): summarise_by_group(records)})


@app.command()
def sweep(
    env: Annotated[str, typer.Option(help="The environment's id.")],
    agents: Annotated[str, typer.Option(help="Names of agents, with commas.")],
    out: Annotated[Path, typer.Option(help="The folder of the runs; an unfinished sweep in it goes on.")],
    split: Split = None,
    d_max: Annotated[str, typer.Option(help="Depths, as 1-4 or 1,3, for agents that have one.")] = "",
    span: Annotated[str, typer.Option(help="Spans of the simulated model, as 2-8 or 3,5.")] = "",
    model: Annotated[list[str] | None, typer.Option(help=f"{MODEL_HELP} May be repeated.")] = None,
    planner: Annotated[str | None, typer.Option(help="Another model for the planner's questions.")] = None,
    env_arg: EnvArgs = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of every reset.")] = 0,
    max_calls: Annotated[int, typer.Option(min=0, help="The most questions to models an episode.")] = 1000,
    limit: Annotated[int | None, typer.Option(min=1, help="Play only the first so many tasks.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many episodes are under way at once.")] = 1,
) -> None:
    """Play a grid of agents, depths and models, whole, into one table."""
    base = Config(
        env=env,
        split=split or default_split(env),
        agent="",
        planner=planner,
        env_args=key_values(env_arg or []),
        seed=seed,
        max_calls=max_calls,
        limit=limit,
    )
    models = [*(model or []), *(f"simulated:span={one}" for one in _numbers(span))] or ["simulated"]
    cells = list(grid([name for name in agents.split(",") if name], _numbers(d_max), models))
    try:
        display.show_sweep(run_sweep(base, cells, out, workers=workers, play=display.evaluate_with_progress))
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from there.")
        raise typer.Exit(130) from None


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    out: Annotated[Path | None, typer.Option(help="Write one page with tables, plots and every episode.")] = None,
) -> None:
    """Print runs beside each other, or write a page about them."""
    names = [run.name for run in runs]
    folders = dict(zip(names if len(set(names)) == len(names) else map(str, runs), runs, strict=True))
    configs = {name: read_config(run) for name, run in folders.items()}
    records = {name: read_records(run) for name, run in folders.items()}
    if out:
        out.write_text(html_page(records, configs), encoding="utf-8", newline="\n")
        print(f"{sum(map(len, records.values()))} episodes to {out}")
    else:
        labels = {label(name, configs[name], of_run): of_run for name, of_run in records.items()}
        display.show_runs({name: summarise_by_group(of_run) for name, of_run in labels.items()})


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="A run folder.")],
    second: Annotated[Path, typer.Argument(help="A run folder with the same tasks.")],
) -> None:
    """Compare two runs task by task: which flipped, by how much success differs, and how sure that is."""
    before, after = ((run.name, read_config(run), read_records(run)) for run in (first, second))
    display.show_comparison(label(*before), label(*after), compare_records(before[2], after[2]))


@app.command()
def play(
    env: EnvId,
    task: Annotated[str | None, typer.Option(help="A task id.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the task and the distractors.")] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Play an episode yourself, in a terminal or from a pipe."""
    play_episode(env, task=task, seed=seed, **key_values(env_arg or []))


@app.command()
def shop(
    data: Annotated[
        Path | None, typer.Option(help="A folder or file of products of the original's data; by default made ones.")
    ] = None,
    split: Annotated[str, typer.Option(help="Whose tasks are listed.")] = "dev",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to serve; 0 takes a free port.")] = 0,
    replay: Annotated[
        Path | None, typer.Option(help="A run folder, or a session saved as a file, to step through.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="A task id: the episode to replay, or what to begin with.")] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Serve WebShop-lite as web pages on this machine, to try a goal by hand or to see what an agent did."""
    env_args = key_values(env_arg or []) | ({"data": str(data)} if data else {})
    serve(split=split, port=port, replay=replay, task=task, env_args=env_args, on_start=_say_where)


@app.command()
def tasks(
    env: EnvId,
    split: str = "all",
    env_arg: EnvArgs = None,
    guidance: Annotated[bool, typer.Option("--guidance", help="Print MineDojo's guidance, too, if installed.")] = False,
) -> None:
    """List the tasks of a split: group, depth, and the length of a shortest solution."""
    found = textcraft_gym.tasks(env, split, **key_values(env_arg or []))
    display.show_tasks(found)
    if guidance:
        display.show_guidance(found)


@app.command()
def demos(
    env: Annotated[str, typer.Option(help="The environment's id.")],
    out: Annotated[Path, typer.Option(help="The file of JSON lines to write.")],
    split: Split = None,
    thoughts: Annotated[bool, typer.Option("--thoughts", help="Think aloud before actions, as ReAct does.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="The seed of every reset.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Write the expert's way through every task of a split, as dialogues to learn from."""
    found = demonstrations(env, split, thoughts=thoughts, seed=seed, limit=limit, **key_values(env_arg or []))
    written = write_demonstrations(found, out)
    left_out = f"; {written.left_out} tasks that the expert does not win are left out" if written.left_out else ""
    print(f"{written.demonstrations} demonstrations to {out}{left_out}")


@recipes_app.command("import")
def import_recipes(
    path: Annotated[Path, typer.Argument(help="A data-pack folder, a zip, a wheel or a game jar.")],
    out: Annotated[Path, typer.Option(help="The folder to write recipes.jsonl and tags.jsonl to.")],
) -> None:
    """Turn recipes and item tags into a compact bundle, which loads wherever a path to recipes is taken."""
    pack = read_pack(path)
    RecipeBook.load(path)
    write_bundle(pack, out)
    print(f"{len(pack.recipes)} recipes and {len(pack.tags)} item tags to {out}")


@recipes_app.command("show")
def show_recipe(item: str, recipes: Recipes = None, tags: TagsOption = "group") -> None:
    """Draw what an item is made of."""
    book = _book(recipes, tags)
    if item not in book.names:
        raise UnknownName("item", item, list(book.names))
    display.show_tree(book, item)


@recipes_app.command("stats")
def recipe_stats(recipes: Recipes = None, tags: TagsOption = "group") -> None:
    """Count recipes, items and depths."""
    display.show_stats(read_pack(recipes), _book(recipes, tags))


@splits_app.command("paper")
def show_paper_splits(recipes: Recipes = None, tags: TagsOption = "group") -> None:
    """Show the splits in the sizes of the ADaPT paper."""
    book = _book(recipes, tags)
    splits = paper_splits(book)
    display.show_splits(book.depths, splits)
    display.show_leakage(leakage(book, splits["dev"], splits["test"]), "dev", "test")


@splits_app.command("make")
def make_splits(
    out: Annotated[Path, typer.Option(help="The file of JSON lines to write; FILE.leakage.json goes beside it.")],
    env: Annotated[str, typer.Option(help="TextCraft-v0 or TextCraftTags-v0.")] = "TextCraft-v0",
    train: float = 0.8,
    dev: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    compositional: Annotated[bool, typer.Option(help="No intermediate of a test tree is a train goal.")] = False,
    recipes: Recipes = None,
) -> None:
    """Make train, dev and test by fractions, stratified by depth, and report what train gives away of test."""
    made = textcraft_gym.make_splits(
        env, (train, dev, test), seed=seed, compositional=compositional, out=out, recipes=recipes
    )
    out.with_suffix(".leakage.json").write_text(json.dumps(made.leakage._asdict(), indent=2) + "\n", encoding="utf-8")
    display.show_splits(made.depths, made.splits)
    display.show_leakage(made.leakage, "train", "test")


def _say_where(address: str) -> None:
    print(f"The shop is open at {address} (Ctrl-C closes it)", flush=True)


def _numbers(text: str) -> list[int]:
    """Read ``1-4`` or ``1,3`` as numbers."""
    numbers: list[int] = []
    for piece in filter(None, text.split(",")):
        first, dash, last = piece.partition("-")
        last = last if dash else first
        if not first.isdecimal() or not last.isdecimal() or int(first) > int(last):
            raise ValueError(f"expected numbers as 1-4 or 1,3, got {text!r}")
        numbers += range(int(first), int(last) + 1)
    return numbers


def _book(recipes: Path | None, tags: str) -> RecipeBook:
    reading: Any = tags  # checked by load, which names the two
    return RecipeBook.load(recipes, tags=reading)
