"""AdaPlanner's rows of the AutoPlan paper, with the simulated model: success, refinements, calls and tokens by role.

``python benchmarks/adaplanner.py`` plays what ``runs/adaplanner`` lacks, and an interrupted start is continued;
``--pages`` writes the page from its CSV files alone.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import adapt_paper
from adapt_paper import of, rate
from experiments import SEEDS, Experiment, Found, play, read_csv, simulated, write_csv
from paper import Claim, Column, Row, Table
from results import PUBLISHED, write

from textcraft_gym.agents.autoplan.update import calls_by_role, walk
from textcraft_gym.evaluation.metrics import ALL
from textcraft_gym.evaluation.records import Record, read_records
from textcraft_gym.evaluation.report import markdown_table

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "adaplanner"
NUMBERS, COSTS = "adaplanner.csv", "adaplanner_costs.csv"

TYPES = {
    "Pick": "pick_and_place_simple",
    "Light": "look_at_obj_in_light",
    "Clean": "pick_clean_then_place_in_recep",
    "Heat": "pick_heat_then_place_in_recep",
    "Cool": "pick_cool_then_place_in_recep",
    "Pick Two": "pick_two_obj_and_place",
}
"""The task types of ALFWorld by the paper's names."""
WORLDS = {
    "ALFWorld": Experiment("ALFWorld-v0", "valid_unseen", "adaplanner"),
    "TextCraft": Experiment("TextCraft-v0", "test", "adaplanner"),
    "tech tree": Experiment("MineTechTree-v0", "core71", "adaplanner"),
}
"""AdaPlanner with one example, in each of its worlds."""


def without_example(world: str) -> Experiment:
    """Return AdaPlanner without an example."""
    return replace(WORLDS[world], args=(("examples", 0),))


PLAYED = [experiment for world in WORLDS for experiment in (WORLDS[world], without_example(world))]
HOUSEHOLD = WORLDS["ALFWorld"]
REFLEXION = of(adapt_paper.ALFWORLD, "reflexion")
ROLES = ("planner", "checker", "ask", "refiner")

TABLE_3A = Table(
    "Table 3a: ALFWorld, success (%) by task type",
    "The split `valid_unseen`: here 134 households made by the suite, not the paper's 134 games, which play with "
    "`ALFWORLD_DATA`. ReAct and Reflexion are those of [adapt.md](adapt.md). AutoPlan is not beside them: it learns "
    "from training tasks what this model knows from the start ([docs/autoplan.md](../../docs/autoplan.md)).",
    (*(Column(name, group) for name, group in TYPES.items()), Column("All", interval=True)),
    (
        Row("AdaPlanner, 1-shot", HOUSEHOLD, (100, 100, 97, 96, 100, 47, None)),
        Row("ReAct, 2-shot in the paper", adapt_paper.ALFWORLD, (100, 100, 100, 91, 96, 76, None)),
        Row("Reflexion, 2-shot in the paper", REFLEXION, (100, 100, 100, 91, 100, 94, None)),
        Row("AdaPlanner, 0-shot", without_example("ALFWorld"), (0, 0, 0, 0, 0, 0, None)),
    ),
    (
        Claim(
            "without an example there is no function of the form, and nothing is won",
            lambda found: rate(found, without_example("ALFWorld")) == 0,
        ),
        Claim(
            "with an example Pick Two is won the least",
            lambda found: min(TYPES, key=lambda name: rate(found, HOUSEHOLD, TYPES[name])) == "Pick Two",
        ),
    ),
    cause="The simulated model writes the second search of Pick Two as surely as the first, where published functions "
    "failed at it; and it mends searches alone, so that a slip in another step loses the task (99 of its 129 losses "
    "end in a step that is no search).",
)
CRAFTING = Table(
    "TextCraft and the tech tree, success (%)",
    "The paper has neither. Splits: TextCraft's `test`, and `core71` of the tech tree; other agents play them in "
    "[spans.md](spans.md).",
    (Column("TextCraft", interval=True), Column("tech tree", interval=True)),
    (
        Row("AdaPlanner, 1-shot", [WORLDS["TextCraft"], WORLDS["tech tree"]]),
        Row("AdaPlanner, 0-shot", [without_example("TextCraft"), without_example("tech tree")]),
    ),
)
TABLES = (TABLE_3A, CRAFTING)

HEAD = f"""# AdaPlanner's rows of the AutoPlan paper, with a simulated model

Sun et al., *AdaPlanner: Adaptive Planning from Feedback with Language Models*, 2023, as Ouyang and Li, *AutoPlan*,
2023, compare with it; their numbers are of language models. [What the agent does](../../docs/adaplanner.md), and what
the simulated model can show of it.

Every number of ours is of the **simulated model**, not of a language model ([simulated.md](simulated.md)):
`{simulated()}`.
It is the mean of {len(SEEDS)} runs (seeds {SEEDS[0]} to {SEEDS[-1]}) ± their standard deviation; in brackets stands the
95% Wilson interval over the tasks of one run.

{PUBLISHED}"""


class Cost(NamedTuple):
    """What the episodes of one task group took, over all seeds.

    Attributes:
        experiment: Name of the experiment.
        group: Task group.
        episodes: Number of episodes.
        won: Those that were won.
        unrefined: Those that were won by the first function.
        refinements_won, refinements_lost: Functions written anew, in the episodes that were won and in the others.
        steps: Actions played.
        calls: Completions by role, in the order of ``ROLES``.
        tokens: Tokens of these.
    """

    experiment: str
    group: str
    episodes: int
    won: int
    unrefined: int
    refinements_won: int
    refinements_lost: int
    steps: int
    calls: tuple[int, ...]
    tokens: tuple[int, ...]


def cost(experiment: str, group: str, records: Sequence[Record]) -> Cost:
    """Return what some episodes took."""
    calls: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    refined = [sum(node["role"] == "refiner" for node in walk(record["trace"])) for record in records]
    for record in records:
        for name, (asked, taken) in calls_by_role(record["trace"]).items():
            role = name if name in ROLES else "ask"  # questions are asked in the steps of a function
            calls[role] += asked
            tokens[role] += taken
    won = [bool(record["won"]) for record in records]
    return Cost(
        experiment,
        group,
        len(records),
        sum(won),
        sum(wins and not times for wins, times in zip(won, refined, strict=True)),
        sum(times for wins, times in zip(won, refined, strict=True) if wins),
        sum(times for wins, times in zip(won, refined, strict=True) if not wins),
        sum(record["steps"] for record in records),
        tuple(calls[role] for role in ROLES),
        tuple(tokens[role] for role in ROLES),
    )


def costs(experiment: Experiment) -> list[Cost]:
    """Return what the played episodes of an experiment took, by task group and of all."""
    records = [record for seed in SEEDS for record in read_records(experiment.folder(RUNS, seed))]
    groups = sorted({record["group"] for record in records})
    by_group = [(group, [record for record in records if record["group"] == group]) for group in groups]
    return [cost(experiment.name, group, of_group) for group, of_group in [*by_group, (ALL, records)]]


def write_costs(found: Iterable[Cost]) -> str:
    """Return costs as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Cost._fields)
    writer.writerows((*one[:-2], " ".join(map(str, one.calls)), " ".join(map(str, one.tokens))) for one in found)
    return text.getvalue()


def read_costs(text: str) -> dict[tuple[str, str], Cost]:
    """Return the costs that ``write_costs`` wrote, by experiment and group."""
    found = {}
    for experiment, group, *numbers, calls, tokens in list(csv.reader(io.StringIO(text)))[1:]:
        by_role = (tuple(map(int, counts.split())) for counts in (calls, tokens))
        found[experiment, group] = Cost(experiment, group, *map(int, numbers), *by_role)  # type: ignore[arg-type]
    return found


def refinements(found: dict[tuple[str, str], Cost]) -> str:
    """Return the table of refinements in ALFWorld."""
    rows = []
    for name, group in {**TYPES, "All": ALL}.items():
        one = found[HOUSEHOLD.name, group]
        rows.append(
            (
                name,
                _share(one.won, one.episodes),
                _share(one.unrefined, one.episodes),
                _mean(one.refinements_won, one.won),
                _mean(one.refinements_lost, one.episodes - one.won),
            )
        )
    headings = ("", "won (%)", "won by the first function (%)", "refinements of a success", "of a failure")
    return f"""## Refinements: ALFWorld, 1-shot

Functions that were written anew in an episode, of at most 5, over all seeds.

{markdown_table(headings, rows)}"""


def roles(found: dict[tuple[str, str], Cost]) -> str:
    """Return the table of calls and tokens by role."""
    rows = []
    for world in WORLDS:
        for shots, experiment in (("1-shot", WORLDS[world]), ("0-shot", without_example(world))):
            one = found[experiment.name, ALL]
            shown = [
                f"{_mean(asked, one.episodes)} / {_mean(taken, one.episodes, 0)}"
                for asked, taken in [*zip(one.calls, one.tokens, strict=True), (sum(one.calls), sum(one.tokens))]
            ]
            rows.append((f"{world}, {shots}", *shown, _mean(one.steps, one.episodes)))
    return f"""## Calls and tokens of an episode by role

Means over the episodes of all seeds: completions / tokens, as the simulated model counts them (prompts included).
The planner writes the first function, the checker looks for errors of syntax, *ask* answers the function's questions,
and the refiner writes the function anew and says at which step it goes on. Without an example all functions fail to be
read, so that nothing is played. The paper's table 4a gives 2.1 dollars a question, which has no counterpart here.

{markdown_table(("", *ROLES, "all", "actions"), rows)}"""


def _share(part: int, whole: int) -> str:
    return _mean(100 * part, whole)


def _mean(total: int, count: int, digits: int = 1) -> str:
    return f"{total / count:.{digits}f}" if count else "-"


def page(numbers: str, taken: str, others: str) -> str:
    """Return the page from the texts of its two CSV files and of the other pages' ``results.csv``."""
    found: Found = {**read_csv(others), **read_csv(numbers)}
    by_group = read_costs(taken)
    table_3a, crafting = (table.markdown(found) for table in TABLES)
    return "\n".join([HEAD, table_3a, refinements(by_group), crafting, roles(by_group)])


def play_seed(experiment: Experiment, seed: int) -> None:
    """Play the missing episodes of one run."""
    rates = play(experiment, RUNS, [seed])[ALL]
    print(f"{experiment.name}, seed {seed}: {100 * fmean(rates.rates):.1f}%", flush=True)


def main() -> None:
    """Play the missing runs, and write the page and its CSV files."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pages", action="store_true", help="play nothing: write the page from its CSV files")
    if not parser.parse_args().pages:
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            for seed in SEEDS:
                list(pool.map(play_seed, PLAYED, [seed] * len(PLAYED)))
        write(RESULTS / NUMBERS, write_csv({experiment.name: play(experiment, RUNS, SEEDS) for experiment in PLAYED}))
        write(RESULTS / COSTS, write_costs(one for experiment in PLAYED for one in costs(experiment)))
    files = (RESULTS / name for name in (NUMBERS, COSTS, "results.csv"))
    write(RESULTS / "adaplanner.md", page(*(file.read_text(encoding="utf-8") for file in files)))


if __name__ == "__main__":
    main()
