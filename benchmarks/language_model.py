"""The experiment of docs/language_model.md: how deep agents come with a language model whose training data is known.

    python benchmarks/language_model.py --seeds 0 --tables depth
    make train-lm LM_SEED=1    # runs/lm-seed1, and likewise 2; that of seed 0 is in the package
    make train-lm LM_SEED=0 TOKENS=300000 LM_RUN=runs/lm-tenth-seed0    # the planner that was trained for a tenth

Those adapters are not in the repository: results/training has their logs, and their digests in SHA256SUMS.

A run is greedy, but for Try-Again's trials after the first, so that the seeds of an experiment are those of the
training, and not of the play. Two processes can play two seeds at a time: with OMP_NUM_THREADS=1 for each that is
faster on two cores than one seed after the other.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from adapt_paper import AGENTS, TABLE_1, TABLE_2_TEXTCRAFT, TABLE_3, TABLE_7, deepest, of, rate
from experiments import Experiment, Found, result
from filelock import FileLock
from paper import Claim, Column, Row, Table

from textcraft_gym.agents.models.weights import bundled_adapter
from textcraft_gym.envs.minetechtree.tasks import TICKS
from textcraft_gym.evaluation.metrics import Summary, summarise_by_group
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.runner import evaluate

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs"
PAGE, PLAYED, TRAINED = "language_model.md", "language_model.csv", "training"
SEEDS = (0, 1, 2)
"""The seeds of the training."""
PACKAGED = 0
"""The seed whose adapter is in the package."""
FULL, TENTH, UNTRAINED = "trained", "trained for a tenth", "untrained"
SHORT_TOKENS = 300_000
SLOTS = 8
"""Episodes that the model answers at once; another number may change its arithmetic in the last digits."""
CONTEXT = 8192
"""Tokens of a prompt at most: an episode whose prompt is longer breaks, and does so again when it is played again."""


@dataclass(frozen=True)
class Learnt(Experiment):
    """Runs that differ only in the seed that their model was trained with."""

    model: str = FULL
    max_calls: int = 150
    workers: int = SLOTS

    def spec(self, seed: int) -> RunSpec:
        """Return the run with the model of a training seed; what one run asked, the others of the seed read again."""
        return replace(
            super().spec(0),
            model=described(self.model, seed),
            planner=described(self.planner, seed) if self.planner else None,
            prompts="short",
            cassette=RUNS / "language_model" / f"seed{seed}.sqlite",
        )


def described(name: str, seed: int) -> str:
    """Return the description of a model of the experiment."""
    adapter = json.dumps(str(adapter_of(name, seed) or "none"))  # quoted: a path may have a comma
    return f"local:adapter={adapter},slots={SLOTS},context={CONTEXT}"


def adapter_of(name: str, seed: int) -> Path | None:
    """Return the adapter's file, which need not be there; None for the untrained model."""
    if name == UNTRAINED:
        return None
    if name == FULL and seed == PACKAGED:
        return bundled_adapter()
    return RESULTS / TRAINED / f"lm{'-tenth' if name == TENTH else ''}-seed{seed}.gguf"


def adapters_of(experiment: Experiment, seed: int) -> str:
    """Return the digests of the executor's adapter and of another planner's; empty if one is not there."""
    digests = [
        "untrained" if name == UNTRAINED else digest_of(adapter_of(name, seed))
        for name in (experiment.model, experiment.planner)
        if name
    ]
    return " and ".join(digests) if all(digests) else ""


def digest_of(adapter: Path | None) -> str:
    """Return the beginning of an adapter's SHA-256, empty for none or one that is not there."""
    return hashlib.sha256(adapter.read_bytes()).hexdigest()[:16] if adapter and adapter.is_file() else ""


TEXTCRAFT = Learnt("TextCraft-v0", "test", "react")
ALFWORLD = Learnt("ALFWorld-v0", "valid_unseen", "react")
WEBSHOP = Learnt("WebShopLite-v0", "adapt_test", "react")
MINETECHTREE = Learnt("MineTechTree-v0", "core71", "react")
DEPTHS = (2, 3, 4)
BY_DEPTH = (*(Column(f"depth {depth}", f"depth {depth}", interval=True) for depth in DEPTHS), Column("all goals"))
D_MAX = range(1, 5)
DEEPEST = deepest(TEXTCRAFT, max(D_MAX))
REACT_BY_DEPTH = TABLE_3.rows[0].published[: len(DEPTHS)]
AGENT_ROWS = tuple(
    replace(
        row,
        played=DEEPEST if agent == "adapt" else of(TEXTCRAFT, agent),
        published=(*(REACT_BY_DEPTH if agent == "react" else (None,) * len(DEPTHS)), *row.published),
    )
    for agent, row in zip(AGENTS, TABLE_2_TEXTCRAFT.rows, strict=True)
)
LEVELS = tuple(Row(f"ADaPT, d_max {d_max}", deepest(TEXTCRAFT, d_max)) for d_max in D_MAX)

DEPTH = Table(
    "Success (%) by depth of the goal",
    "The paper's 200 goals of TextCraft. The paper's ADaPT is that with a `d_max` of 4.",
    BY_DEPTH,
    AGENT_ROWS,
    (
        Claim(
            "ReAct wins less at depth 3 than at depth 2",
            lambda found: rate(found, TEXTCRAFT, "depth 3") < rate(found, TEXTCRAFT, "depth 2"),
        ),
        *(
            Claim(
                f"ADaPT wins more than ReAct at {group}, which no task of the executor has",
                lambda found, group=group: rate(found, deepest(TEXTCRAFT, 4), group) > rate(found, TEXTCRAFT, group),
            )
            for group in ("depth 3", "depth 4")
        ),
    ),
)
DECOMPOSITION = Table(
    "Success (%) over the maximum depth of decomposition",
    "With a `d_max` of 1 ADaPT is ReAct alone, with as many turns.",
    BY_DEPTH,
    LEVELS,
    (
        Claim(
            "at depth 3 success grows from a `d_max` of 1 to 2 and from 2 to 3",
            lambda found: (
                rate(found, deepest(TEXTCRAFT, 1), "depth 3")
                < rate(found, deepest(TEXTCRAFT, 2), "depth 3")
                < rate(found, deepest(TEXTCRAFT, 3), "depth 3")
            ),
            "Stated before it was run",
        ),
    ),
)
CLAIMS_AND_COSTS = (
    Column("claimed", value="claimed"),
    Column("right", value="precision"),
    Column("told", value="recall"),
    Column("calls", value="calls"),
    Column("k_max", value="k_max_won"),
)
MEASURES = Table(
    "What was claimed, and what it cost",
    "All 200 goals. *Claimed* is the share of episodes that the agent said it had won, *right* the share of these that "
    "it had, *told* the share of the won ones that it claimed; *calls* are completions an episode; k_max is the "
    "deepest level of decomposition that was executed, over the episodes won.",
    CLAIMS_AND_COSTS,
    (*(replace(row, published=()) for row in AGENT_ROWS), *LEVELS[:-1]),
)


def measures(world: str, tasks: str, rows: Iterable[Row]) -> Table:
    """Return what was claimed in another world, and what it cost, of the rows of its table."""
    return Table(
        f"{world}, what was claimed, and what it cost",
        f"{tasks}, with the columns of TextCraft's table.",
        CLAIMS_AND_COSTS,
        tuple(replace(row, published=()) for row in rows),
    )


def planned_by(planner: str, adapt: Experiment = DEEPEST) -> Experiment:
    """Return ADaPT with a trained executor and another planner."""
    return replace(adapt, planner="" if planner == FULL else planner)


def planners(adapt: Experiment) -> tuple[Row, ...]:
    """Return the rows of ADaPT with each planner."""
    return tuple(Row(f"planner {planner}", planned_by(planner, adapt)) for planner in (UNTRAINED, TENTH, FULL))


PLANNERS = Table(
    "A planner other than the executor, success (%)",
    f"ADaPT with a `d_max` of 4. The executor is trained in full; a tenth are {SHORT_TOKENS:,} tokens.",
    BY_DEPTH,
    planners(DEEPEST),
    (
        Claim(
            "success grows with the planner's training",
            lambda found: (
                rate(found, planned_by(UNTRAINED)) < rate(found, planned_by(TENTH)) < rate(found, planned_by(FULL))
            ),
        ),
    ),
)
HOUSEHOLDS = Table(
    "ALFWorld, success (%) by task type",
    "The split `valid_unseen`: 134 households made by the suite, not the paper's games.",
    TABLE_1.columns,
    tuple(replace(row, played=of(ALFWORLD, agent)) for agent, row in zip(AGENTS, TABLE_1.rows, strict=True)),
)
HOUSEHOLD_MEASURES = measures("ALFWorld", "All 134 households", HOUSEHOLDS.rows)
ALFWORLD_ADAPT = of(ALFWORLD, "adapt")
HOUSEHOLD_DECOMPOSITION = Table(
    "ALFWorld, success (%) over the maximum depth of decomposition",
    "Elsewhere ADaPT has a `d_max` of 3 there, as in the paper.",
    TABLE_1.columns,
    tuple(Row(f"ADaPT, d_max {d_max}", ALFWORLD_ADAPT if d_max == 3 else deepest(ALFWORLD, d_max)) for d_max in D_MAX),
)
HOUSEHOLD_PLANNERS = Table(
    "ALFWorld, a planner other than the executor, success (%)",
    "ADaPT with a `d_max` of 3, and the planners of TextCraft's table.",
    TABLE_1.columns,
    planners(ALFWORLD_ADAPT),
)
SHOPPING = Table(
    "WebShop, score and success (%)",
    "The 100 goals of ADaPT's part of the test split, in the shop made by the suite, not the paper's. The trainings' "
    "shops are other ones.",
    TABLE_7.columns,
    tuple(replace(row, played=of(WEBSHOP, row.played.agent)) for row in TABLE_7.rows if row.played),
)
SHOPPING_MEASURES = measures("WebShop", "All 100 goals", SHOPPING.rows)
TECH_TREE = Table(
    "Tech tree, success (%) by group",
    "DEPS's 71 tasks, from `MT1` to `MT8`. Its one book of recipes is that of the trainings too, whose tasks in full "
    "are 54 of these; of the other 17 they have plans one level down only.",
    (*(Column(group, group) for group in TICKS), Column("all", interval=True)),
    tuple(Row(AGENTS[agent], of(MINETECHTREE, agent)) for agent in ("react", "plan_and_execute", "adapt")),
)
TECH_TREE_MEASURES = measures("Tech tree", "All 71 tasks", TECH_TREE.rows)
TABLES: Mapping[str, Table] = {
    "depth": DEPTH,
    "decomposition": DECOMPOSITION,
    "measures": MEASURES,
    "planners": PLANNERS,
    "households": HOUSEHOLDS,
    "household_measures": HOUSEHOLD_MEASURES,
    "household_decomposition": HOUSEHOLD_DECOMPOSITION,
    "household_planners": HOUSEHOLD_PLANNERS,
    "shopping": SHOPPING,
    "shopping_measures": SHOPPING_MEASURES,
    "tech_tree": TECH_TREE,
    "tech_tree_measures": TECH_TREE_MEASURES,
}

HEAD = """# A trained language model

The experiment of [docs/language_model.md](../../docs/language_model.md), which was stated there before it was run. The
model is SmolLM2-135M-Instruct with an adapter that learned for some 3 million tokens from the experts of these worlds.
The executor's tasks are of depth 1 and 2, the planner's are plans one level down, and no goal of these tables but the
tech tree's is in either. An episode has at most {calls} completions, whichever the agent. The tables of WebShop and the
tech tree are no part of what was stated before; they were added to it.{earlier}

Each number is the mean over the training seeds that were played, {runs}, with ± their standard deviation where there
are several; in brackets stands the 95% Wilson interval over the goals. In parentheses stands the number that the paper
has for GPT-3.5. It cannot be compared with ours by size, but the order of rows can: *Shape* counts the pairs of rows
that come in the published order. [{played}]({played}) has what became of each episode, and [{trained}]({trained}) the
log of each training but that of the packaged adapter, which is
[beside it](../../agents/models/adapters/training.jsonl). The simulated model's tables are on
[pages of their own](simulated.md).
"""


def pages(outcomes: str) -> dict[str, str]:
    """Return the page, which follows from the CSV file."""
    found = results(read_outcomes(outcomes))
    runs = {len(of_all["all"].rates) for of_all in found.values()}
    training = " or ".join(map(str, sorted(runs)))
    tables = [table for table in (_played(table, found) for table in TABLES.values()) if len(table.rows) > 1]
    calls, earlier = TEXTCRAFT.max_calls, _earlier(outcomes)
    head = HEAD.format(runs=training, played=PLAYED, trained=TRAINED, calls=calls, earlier=earlier)
    return {PAGE: "\n".join([head, *(table.markdown(found) for table in tables)])}


def _earlier(outcomes: str) -> str:
    """Return what the page says where an adapter that was in the package before played."""
    rows = csv.DictReader(io.StringIO(outcomes))
    played = {row["adapter"].split()[0] for row in rows if int(row["seed"]) == PACKAGED}
    earlier = played - {digest_of(bundled_adapter())}
    if not earlier:
        return ""
    return (
        f"\n\nTraining seed {PACKAGED} is that of the adapter in the package, but what is played here was played by an "
        f"earlier one\n(SHA-256 {', '.join(sorted(earlier))}...)."
    )


def _played(table: Table, found: Found) -> Table:
    """Return a table without the rows that were not played yet, and without its claims if there are such rows."""
    rows = tuple(row for row in table.rows if row.played and row.played.name in found)
    return replace(table, rows=rows, claims=table.claims if len(rows) == len(table.rows) else ())


Outcomes: TypeAlias = Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]
"""Outcomes of the episodes, by experiment and training seed."""
COUNTS = ("depth", "won", "claimed_success", "reward", "steps", "calls", "k_max")


def outcome(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an episode's record says in the CSV file."""
    counts = {name: record[name] for name in COUNTS} | {"calls": sum(record["calls"].values())}
    return {name: record[name] for name in ("adapter", "task", "group")} | {
        name: f"{float(of or 0):g}" for name, of in counts.items()
    }


def read_outcomes(text: str) -> Outcomes:
    """Return what ``write_outcomes`` wrote, as records of episodes."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        counts = {name: float(row[name]) for name in COUNTS}
        record = {**row, **counts, "calls": {"all": counts["calls"]}, "tokens": {}, "cost": 0.0, "restores": ()}
        found.setdefault((row["experiment"], int(row["seed"])), []).append(record)
    return found


def write_outcomes(found: Outcomes) -> str:
    """Return a row for each episode, as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ("experiment", "seed", "adapter", "task", "group", *COUNTS), lineterminator="\n")
    writer.writeheader()
    for (name, seed), records in found.items():
        writer.writerows({"experiment": name, "seed": seed, **outcome(record)} for record in records)
    return text.getvalue()


def results(found: Outcomes) -> Found:
    """Return the results of each experiment by group, over the training seeds that were played."""
    runs: dict[str, list[dict[str, Summary]]] = {}
    for (name, _), records in found.items():
        runs.setdefault(name, []).append(summarise_by_group(records))
    return {
        name: {group: result([of_run[group] for of_run in by_run]) for group in by_run[0]}
        for name, by_run in runs.items()
    }


def play_tables(tables: Iterable[str], seeds: Iterable[int]) -> None:
    """Play what is missing, and write the CSV file and the page after each run.

    What another adapter of a seed played is dropped as soon as the present one has played something.

    Raises:
        RuntimeError: If an episode broke. It is played again in the next call.
    """
    chosen = list(dict.fromkeys(experiment for name in tables for experiment in TABLES[name].experiments))
    for seed, experiment in product(seeds, chosen):
        keep_trained(experiment, seed)
        adapters = adapters_of(experiment, seed)
        played = kept_outcomes().get((experiment.name, seed))
        if played and adapters in ("", played[0]["adapter"]):
            continue
        runs = RUNS / "language_model" / adapters.replace(" ", "-")
        records = evaluate(experiment.spec(seed), experiment.folder(runs, seed))
        if broken := [record["error"] for record in records if record["error"]]:
            raise RuntimeError(f"{experiment.name}: {len(broken)} episodes broke: {broken[0]}")
        print(f"{experiment.name}, seed {seed}: {fmean(record['won'] for record in records):.1%}", flush=True)
        keep_outcomes(experiment, seed, [{**record, "adapter": adapters} for record in records])


def kept_outcomes() -> Outcomes:
    """Return what the CSV file has."""
    file = RESULTS / PLAYED
    return read_outcomes(file.read_text(encoding="utf-8")) if file.is_file() else {}


def keep_outcomes(experiment: Learnt, seed: int, records: Sequence[Mapping[str, Any]]) -> None:
    """Write a run to the CSV file, to which another process may write other seeds at the same time, and the page."""
    RUNS.mkdir(exist_ok=True)
    with FileLock(RUNS / "language_model.lock"):
        executor = records[0]["adapter"].split()[0]
        found = {
            run: of for run, of in kept_outcomes().items() if run[1] != seed or of[0]["adapter"].split()[0] == executor
        }
        found[experiment.name, seed] = records
        written = (RESULTS / PLAYED).with_suffix(".part")
        written.write_text(write_outcomes(found), encoding="utf-8", newline="\n")
        written.replace(RESULTS / PLAYED)  # at once, so that no process reads half of it
        write_pages()


def keep_trained(experiment: Learnt, seed: int) -> None:
    """Copy the adapters of an experiment that were trained here, and the logs of their trainings, to the results.

    Raises:
        RuntimeError: If a training is unfinished.
    """
    for adapter in (adapter_of(name, seed) for name in (experiment.model, experiment.planner) if name):
        trained = RUNS / adapter.stem if adapter and adapter != bundled_adapter() else None
        if adapter and trained and trained.is_dir():
            if not finished(trained / "log.jsonl"):
                raise RuntimeError(f"the training in {trained} is unfinished")
            adapter.parent.mkdir(exist_ok=True)
            shutil.copyfile(trained / "adapter.gguf", adapter)
            shutil.copyfile(trained / "log.jsonl", adapter.with_suffix(".jsonl"))


def finished(log: Path) -> bool:
    """Return whether a training has come to the end of its plan, and has written its adapter."""
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.is_file() else []
    plans, ends = ([row for row in rows if name in row] for name in ("plan", "data_sha256"))
    return bool(plans and ends) and ends[-1]["tokens"] >= plans[-1]["plan"]["tokens"]


def write_pages() -> None:
    """Write the page from the CSV file."""
    for name, text in pages((RESULTS / PLAYED).read_text(encoding="utf-8")).items():
        (RESULTS / name).write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    """Play the experiment, or parts of it, and write its page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="seeds of the training")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=[*TABLES], help="tables to play")
    parser.add_argument("--pages", action="store_true", help="play nothing: write the page from the CSV file")
    options = parser.parse_args()
    if options.pages:
        write_pages()
    else:
        play_tables(options.tables, options.seeds)


if __name__ == "__main__":
    main()
