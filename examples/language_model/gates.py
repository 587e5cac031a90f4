"""Gates that an adapter passes before it ships: success, false claims, invalid actions.

    # The shipped adapter; the first goals of another; two rows of several; all, on a GPU; by
    # PyTorch on a CPU.
    python examples/language_model/gates.py --out runs/gates
    python examples/language_model/gates.py --out runs/first --adapter FILE.gguf --limit 30
    python examples/language_model/gates.py --out runs/two --adapter *.gguf --rows unseen made
    python examples/language_model/gates.py --out runs/gates --batched
    python examples/language_model/gates.py --out runs/gates --batched 48 --rows tabletop

Every row is a run folder, which resumes and can be opened with ``textcraft-gym report``; each model
has its own. ``--pack FILE`` packs them in one file, without playing. The counts of all rows are in
``gates.csv`` too. The exit status is 1 if a row does not reach what is asked for.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from packed import DATA
from papers import pack

from textcraft_gym.agents.contract.model import Model, ModelError
from textcraft_gym.agents.models.gguf import read_header
from textcraft_gym.agents.models.weights import find_files
from textcraft_gym.papers.adapt import AGENTS, ALFWORLD, WEBSHOP
from textcraft_gym.papers.reproduce import installed_data
from textcraft_gym.papers.table import Setting
from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.splits import paper_splits
from textcraft_gym.reports.metrics import TaskOutcomes
from textcraft_gym.reports.success import Estimate, interval, success
from textcraft_gym.runs.optimise_plan import optimise_plan
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate
from textcraft_gym.task import tasks

UNKNOWN_BOOK = "made:depth=2,items=200,seed=9001,names=borrowed"
"""A book whose seed is not among those for training."""
REFUSALS = ("Could not", "Wrong item format", "Nothing happens", "Invalid action")
"""The beginnings of the games' answers to invalid actions."""
DEPTH = 2
CONTEXT = 8192
"""Tokens of a prompt at most: the longest of the made book has 4,117."""
WORKERS = 8
"""Number of episodes at once, each with a slot of the model."""
BATCHED_WORKERS, BATCHED_SLOTS = 100, 384
"""Maximum number of episodes of a row at once with a batched model, and of requests on a GPU."""


class Gate(NamedTuple):
    """A row of the table.

    Attributes:
        name: How the table names it.
        setting: What is played.
        least: Share of the goals to win.
        goals: Number of goals, the first ones of the split; None for all.
        run: The row whose run it counts; empty for a run of its own.
        group: The group of tasks that alone it counts; empty for all.
        lifted: Groups of tasks for each of which AutoPlan learns a plan. The row counts those in
            which it then wins ``LIFT`` more of the tasks than without one.
    """

    name: str
    setting: Setting
    least: float
    goals: int | None = None
    run: str = ""
    group: str = ""
    lifted: tuple[str, ...] = ()


DRAWN: Mapping[str, str] = {"unseen": "test", "made": "all"}
"""Splits of rows whose goals are drawn, and the splits that they are drawn from."""
CRAFTING = Setting("TextCraft-v0", "unseen", "react")
OFFICIAL = replace(ALFWORLD, env_args={"games": "official"})
TREE = Setting("MineTechTree-v0", "core71", "react")
TWO_OBJECTS = "pick_two_obj_and_place"
HARDEST = ("look_at_obj_in_light", "pick_cool_then_place_in_recep", TWO_OBJECTS)
"""The types of household tasks that AutoPlan wins least of."""
LIFT = Fraction(1, 10)
"""Share of a type's tasks by which a plan is to lift it."""
NAIVE = 0.25
"""Success of the buyer without a model in WebShop."""
GATES = {
    "unseen": Gate("ReAct, unseen goals of depth 2", CRAFTING, 0.97),
    "made": Gate(
        "ReAct, goals of an unknown made book",
        replace(CRAFTING, split="made", env_args={"recipes": UNKNOWN_BOOK}),
        0.92,
    ),
    "adapt": Gate("ADaPT, the paper's goals", replace(CRAFTING, split="test", agent="adapt"), 0.95),
    "alfworld": Gate("ALFWorld, ReAct", ALFWORLD, 0.90),
    "alfworld_adapt": Gate("ALFWorld, ADaPT", replace(ALFWORLD, agent="adapt"), 0.95),
    "official": Gate("ALFWorld, official games, ReAct", OFFICIAL, 0.90),
    "official_two": Gate(
        "ALFWorld, official games of two objects", OFFICIAL, 0.75, run="official", group=TWO_OBJECTS
    ),
    "webshop": Gate("WebShop, ReAct", WEBSHOP, 0.75),
    **{
        f"webshop_{agent}": Gate(f"WebShop, {label}", replace(WEBSHOP, agent=agent), NAIVE)
        for agent, label in AGENTS.items()
        if agent != "react"
    },
    "minetechtree": Gate("tech tree, ReAct", TREE, 58 / 71),
    "deps": Gate("tech tree, DEPS", replace(TREE, agent="deps"), 65 / 71),
    "hotpotqa": Gate("HotpotQA, ReAct", Setting("HotpotQA-v0", "dev", "react"), 0.75, goals=100),
    "tabletop": Gate("tabletop, DEP", Setting("Tabletop-v0", "test", "dep"), 0.90),
    "autoplan": Gate(
        "AutoPlan, types that its plan lifts",
        Setting(ALFWORLD.env, ALFWORLD.split, "autoplan", wrappers=("HelpfulFeedback",)),
        2 / 3,
        lifted=HARDEST,
    ),
}
"""The rows, by the folders of their runs."""
FALSE_CLAIMS, INVALID = 0.02, 0.03
"""Upper bounds: of false claims as a share of episodes, of invalid actions as one of actions."""


class Count(NamedTuple):
    """A share."""

    part: int
    among: int

    @property
    def share(self) -> float:
        """The share; 0 if there is nothing to share."""
        return self.part / self.among if self.among else 0.0

    def __str__(self) -> str:
        return f"{self.share:.1%} ({self.part} of {self.among})" if self.among else "-"


class Row(NamedTuple):
    """The shares that were measured in one run.

    Attributes:
        name: How the table names it.
        success: The share of the goals that were won.
        estimate: The same with its 95% interval.
        false_claims: The share of the episodes that were lost and claimed to be won.
        invalid: The share of the actions that the game refused.
    """

    name: str
    success: Count
    estimate: Estimate
    false_claims: Count
    invalid: Count

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as a table shows it."""
        success = f"{self.success} {bounds(self.estimate.low, self.estimate.high)}"
        return self.name, success, str(self.false_claims), str(self.invalid)


def bounds(low: float, high: float) -> str:
    """Return an interval in percent: ``[93%, 100%]``."""
    return f"[{low:.0%}, {high:.0%}]"


def measure(name: str, records: Sequence[dict[str, Any]]) -> Row:
    """Return the shares of a run's records.

    Raises:
        RuntimeError: If an episode broke, which says nothing of the model. It is played again in
            the next run.
    """
    broken = [record["error"] for record in records if record["error"]]
    if broken:
        raise RuntimeError(f"{name}: {len(broken)} episodes broke: {broken[0]}")
    won = false_claims = actions = invalid = 0
    tasks = TaskOutcomes()
    for record in records:
        tasks.add(record)
        won += bool(record["won"])
        false_claims += bool(record["claimed_success"]) and not record["won"]
        answers = [answer for action, answer in record["transcript"] if action]
        actions += len(answers)
        invalid += sum(answer.startswith(REFUSALS) for answer in answers)
    return Row(
        name,
        Count(won, len(records)),
        success(tasks.values()),
        Count(false_claims, len(records)),
        Count(invalid, actions),
    )


def missed(rows: Mapping[str, Row]) -> list[str]:
    """Return what each row does not reach of what is asked for."""
    failures = []
    for name, row in rows.items():
        least = GATES[name].least
        if row.success.share < least:
            failures.append(f"{row.name}: success of {least:.0%}")
        if row.false_claims.share >= FALSE_CLAIMS:
            failures.append(f"{row.name}: false claims under {FALSE_CLAIMS:.0%}")
        if row.invalid.share >= INVALID:
            failures.append(f"{row.name}: invalid actions under {INVALID:.0%}")
    return failures


def local_spec(adapter: str | Path | None = None, threads: int | None = None) -> str:
    """Return the model with an adapter: by default the shipped one; ``none`` for the base model."""
    options = {
        "adapter": adapter and json.dumps(str(adapter)),
        "slots": WORKERS,
        "context": CONTEXT,
        "threads": threads,
    }
    return "local:" + ",".join(f"{name}={value}" for name, value in options.items() if value)


def gate_spec(gate: Gate, model: str | Model, limit: int | None = None) -> RunSpec:
    """Return the run of a row."""
    setting, split = gate.setting, gate.setting.split
    count = min(filter(None, (gate.goals, limit)), default=None)
    goals = None
    if setting.env == CRAFTING.env and split in DRAWN:
        split, goals, count = DRAWN[split], tuple(drawn_goals(split)[:count]), None
    return RunSpec(
        setting.env,
        split=split,
        agent=setting.agent,
        agent_args=setting.args,
        model=model,
        prompts="short",
        env_args=setting.env_args,
        wrappers=setting.wrappers,
        limit=count,
        tasks=goals,
        max_calls=setting.max_calls,
        workers=WORKERS if isinstance(model, str) else BATCHED_WORKERS,
    )


def stated_data(card: Path) -> str:
    """Return what a model card says of the digest of the data, 16 hex digits; empty if nothing."""
    stated = re.search(r"whose digest[^|]*? is ([0-9a-f]{16})", card.read_text(encoding="utf-8"))
    return stated[1] if stated else ""


def check_card(adapter: Path) -> None:
    """Make sure that an adapter was trained on the data that the card beside it names.

    An adapter without a card passes, and one that does not say what it was trained on.

    Raises:
        ValueError: If it was trained on other data.
    """
    card = adapter.with_name("README.md")
    if not card.is_file():
        return
    stated, data = stated_data(card), str(read_header(adapter).metadata.get(DATA, ""))
    if stated and data and not data.startswith(stated):
        raise ValueError(
            f"{adapter} was trained on the data {data[:16]}, but {card.name} beside it names "
            f"{stated}: expected the adapter and its card to be of one training"
        )


def rows_here() -> list[str]:
    """Return the rows whose data is on this machine: official games only where installed."""
    official = ALFWORLD.env in installed_data()
    return [name for name, gate in GATES.items() if official or gate.setting != OFFICIAL]


@cache
def drawn_goals(split: str) -> list[str]:
    """Return the goals of a row in a drawn order, so that the first ones are a fair sample."""
    if split == "unseen":
        book = RecipeBook.load()
        goals = [item for item in paper_splits(book)["test"] if book.depths[item] == DEPTH]
    else:
        depths = RecipeBook.load(UNKNOWN_BOOK).depths
        goals = [item for item, depth in depths.items() if depth == DEPTH]
    return random.Random(0).sample(sorted(goals), len(goals))


def play(gate: Gate, model: str | Model, folder: Path, limit: int | None = None) -> Row:
    """Play the goals of a row with a model and measure it."""
    spec = gate_spec(gate, model, limit)
    if gate.lifted:
        return play_plans(gate, spec, folder)
    records = played(spec, folder)
    return measure(gate.name, [each for each in records if gate.group in ("", each["group"])])


def played(spec: RunSpec, folder: Path) -> list[dict[str, Any]]:
    """Return the records of a run."""
    return [dict(record) for record in evaluate(spec, folder)]


def play_plans(gate: Gate, spec: RunSpec, folder: Path) -> Row:
    """Learn a plan for each type of task in one update, and play without it and with it.

    False claims and invalid actions are of the episodes with a plan.
    """
    lifted, with_plans = 0, []
    listed = tasks(spec.env, spec.split, **spec.env_args)
    for group in gate.lifted:
        training = replace(spec, split=None, limit=None)
        (update,) = optimise_plan(training, folder / group, task_type=group, iterations=1)
        ids = [task.id for task in listed if task.group == group][: spec.limit]
        plain = replace(spec, tasks=tuple(ids), limit=None)
        planned = replace(plain, agent_args={"plan": str(update.plan)})
        alone = played(plain, folder / f"{group}-alone")
        guided = played(planned, folder / f"{group}-guided")
        gained = measure(gate.name, guided).success.part - measure(gate.name, alone).success.part
        lifted += gained >= LIFT * len(ids)
        with_plans += guided
    row, types = measure(gate.name, with_plans), len(gate.lifted)
    estimate = interval([1.0] * lifted + [0.0] * (types - lifted), types)
    return row._replace(success=Count(lifted, types), estimate=estimate)


def play_rows(
    names: Sequence[str], model: str | Model, out: Path, limit: int | None
) -> Iterator[tuple[str, Row]]:
    """Yield each row as it was played: in sequence in this process, or all at once if batched."""

    def row_of(name: str) -> Row:
        return play(GATES[name], model, out / (GATES[name].run or name), limit)

    if isinstance(model, str):
        yield from ((name, row_of(name)) for name in names)
        return
    # A row that counts the run of another one waits for that.
    first = [name for name in names if not GATES[name].run]
    with ThreadPoolExecutor(len(first)) as threads:
        running = {threads.submit(row_of, name): name for name in first}
        yield from ((running[row], row.result()) for row in as_completed(running))
    yield from ((name, row_of(name)) for name in names if GATES[name].run)


PLAYERS = ("llama.cpp", "PyTorch")
"""What plays a model: the library behind ``--model local``, and ``batched.py``."""
COUNTS = ("episodes", "won", "false_claims", "actions", "invalid")
COLUMNS = ("adapter", "digest", "player", "row", *COUNTS, "low", "high")
"""The columns of ``gates.csv``; the last two are the interval of the success, from 0 to 1."""


def counts(row: Row) -> tuple[int | str, ...]:
    """Return the last columns of a row in ``gates.csv``."""
    won, false_claims, invalid = row.success, row.false_claims, row.invalid
    ends = (f"{end:.4f}" for end in (row.estimate.low, row.estimate.high))
    return won.among, won.part, false_claims.part, invalid.among, invalid.part, *ends


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder of the runs")
    parser.add_argument(
        "--adapter",
        nargs="+",
        default=[""],
        help="GGUF files; by default the shipped one; none plays the base model",
    )
    parser.add_argument("--limit", type=int, help="episodes of each row; by default all")
    parser.add_argument(
        "--rows", nargs="+", choices=GATES, default=rows_here(), help="the rows to play"
    )
    parser.add_argument("--threads", type=int, help="threads of the model")
    parser.add_argument(
        "--batched",
        type=int,
        nargs="?",
        const=BATCHED_SLOTS,
        metavar="REQUESTS",
        help=f"play all rows at once by PyTorch, with this many requests at once: {BATCHED_SLOTS}, "
        "for a GPU, or say 48 on a CPU",
    )
    parser.add_argument("--pack", type=Path, metavar="FILE", help="play nothing; pack the runs")
    return parser


def main() -> None:
    """Play the gates' runs and print a table of each adapter."""
    parser = arguments()
    options = parser.parse_args()
    if options.pack:
        pack(options.out, options.pack)
        return
    # With its digest, so that all rows are of one adapter though a training writes another one
    # meanwhile.
    digests: dict[str, str] = {}
    try:
        for adapter in options.adapter:
            files = find_files(adapter=adapter or None)
            digests[adapter] = files.digest
            if files.adapter:
                check_card(files.adapter)
    except (ModelError, ValueError) as error:
        parser.error(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    failures: list[str] = []
    with (options.out / "gates.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(COLUMNS)
        for adapter, digest in digests.items():
            failures += play_adapter(adapter, digest, options, file)
    if failures:
        parser.exit(1, "".join(failures))


def play_adapter(adapter: str, digest: str, options: argparse.Namespace, file: TextIO) -> list[str]:
    """Play the runs of one adapter, write its rows to a table, and return what it misses."""
    title = adapter or "shipped"
    model: str | Model = f"{local_spec(adapter, options.threads)},digest={digest}"
    if options.batched:
        from batched import BatchedModel  # needs torch

        model = BatchedModel(adapter or None, slots=options.batched)
    writer = csv.writer(file, lineterminator="\n")
    print(f"| {title} | success | false claims | invalid actions |")
    print("|---|---|---|---|")
    rows: dict[str, Row] = {}
    out = options.out / "runs" / digest
    for name, row in play_rows(options.rows, model, out, options.limit):
        rows[name] = row
        player = PLAYERS[not isinstance(model, str)]
        writer.writerow((adapter, digest, player, name, *counts(row)))
        file.flush()
        print("|", " | ".join(row.cells), "|", flush=True)
    return [f"not reached: {title}, {failure}\n" for failure in missed(rows)]


if __name__ == "__main__":
    main()
