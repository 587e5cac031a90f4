"""HotpotQA: agents with a simulated model beside published accuracies, and players that take shortcuts.

``python benchmarks/hotpotqa.py`` plays what ``runs/hotpotqa`` lacks, one run after the other, and writes the page; an
interrupted start is continued. ``--pages`` writes the page from its CSV file alone.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from experiments import SEEDS, Experiment, Found, play, read_csv, simulated, write_csv
from paper import Claim, Column, Row, Table

from textcraft_gym import RunSpec, optimise_plan
from textcraft_gym.evaluation.metrics import ALL
from textcraft_gym.evaluation.report import markdown_table

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "hotpotqa"
PLAYED, GUESSED, PAGE = "hotpotqa.csv", "hotpotqa_shortcuts.csv", "hotpotqa.md"
TRAINING_TASKS, BATCH, ITERATIONS = 50, 4, 3
SMALLER_SPAN = 3


@dataclass(frozen=True)
class Planned(Experiment):
    """Runs of AutoPlan, each with a plan that is trained with the run's seed."""

    def spec(self, seed: int) -> RunSpec:
        """Return the run with a seed, after its training."""
        training = RunSpec(self.env, model=self.model, limit=TRAINING_TASKS, seed=seed)
        folder = self.folder(RUNS, seed).with_name(f"training{seed}")
        plan = optimise_plan(training, folder, batch=BATCH, iterations=ITERATIONS)[-1].plan
        return replace(super().spec(seed), agent_args={"plan": str(plan)})

    @property
    def name(self) -> str:
        """Everything that tells it from others, as one text."""
        return f"{super().name} plan=trained"


REACT = Experiment("HotpotQA-v0", "dev", "react")
NUMBERED = replace(REACT, args=(("form", "numbered"),))
UNPLANNED = replace(REACT, agent="autoplan")
PLANNED = Planned("HotpotQA-v0", "dev", "autoplan")
AGENTS: Mapping[str, Experiment] = {
    "ReAct": REACT,
    "ReAct, numbered turns": NUMBERED,
    "Reflexion": replace(REACT, agent="reflexion"),
    "Plan-and-Execute": replace(REACT, agent="plan_and_execute"),
    "ADaPT": replace(REACT, agent="adapt"),
    "chain of thought, no tools": replace(REACT, agent="chain_of_thought"),
    "AutoPlan, no plan": UNPLANNED,
    "AutoPlan": PLANNED,
}
GROUPS = [f"{kind} {level}" for kind in ("bridge", "comparison") for level in ("easy", "medium", "hard")]


def rate(found: Found, experiment: Experiment) -> float:
    """Return a success rate."""
    return found[experiment.name][ALL].rate


TABLES = (
    Table(
        "AutoPlan's table 3b: accuracy (%)",
        "The paper's are 200 questions of the original's dev split, on Wikipedia of 2017, with GPT-4 and three human "
        "judges. Ours are the made questions of `dev`, by exact match. ReAct without examples is AutoPlan before its "
        "first plan; ReAct with examples has three, in numbered turns. Plans are trained on "
        f"{TRAINING_TASKS} training questions of all levels, in {ITERATIONS} batches of {BATCH}.",
        (Column("accuracy", interval=True),),
        (
            Row("Chain-of-Skills (supervised)", None, (90,), note="not here"),
            Row("ReAct 0-shot", UNPLANNED, (70,)),
            Row("ReAct 6-shot", NUMBERED, (75,)),
            Row("AutoPlan", PLANNED, (83,)),
        ),
        (
            Claim("a plan wins more than none", lambda found: rate(found, PLANNED) > rate(found, UNPLANNED)),
            Claim(
                "AutoPlan wins more than ReAct with examples",
                lambda found: rate(found, PLANNED) > rate(found, NUMBERED),
            ),
        ),
        cause="The examples in the prompt show the simulated model the same two habits that a plan tells it, so that a "
        "plan can add only the ten actions to ReAct's seven.",
    ),
    Table(
        "Every agent by type and level: exact match (%)",
        "`chain of thought, no tools` answers without a search: the simulated model knows nothing of a made wiki, so "
        "that what it answers right is guessed.",
        (*(Column(group, group) for group in GROUPS), Column("all", interval=True), Column("calls", value="calls")),
        tuple(Row(name, experiment) for name, experiment in AGENTS.items()),
    ),
    Table(
        f"The same with a span of {SMALLER_SPAN}",
        "A question takes three to seven things in mind, a part of a plan two or more.",
        (Column("all", interval=True), Column("calls", value="calls")),
        tuple(
            Row(name, replace(experiment, model=simulated(SMALLER_SPAN)))
            for name, experiment in AGENTS.items()
            if name in ("ReAct", "Plan-and-Execute", "ADaPT")
        ),
        (
            Claim(
                "ADaPT wins more than its executor alone",
                lambda found: (
                    rate(found, replace(AGENTS["ADaPT"], model=simulated(SMALLER_SPAN)))
                    > rate(found, replace(REACT, model=simulated(SMALLER_SPAN)))
                ),
                "Published, of other worlds",
            ),
        ),
    ),
)
HEAD = """# HotpotQA, with a simulated model

Every number of an agent here is of the **simulated model**, not of a language model ([simulated.md](simulated.md)):
`{model}` unless a table says otherwise. It reads the pages that its
prompt shows by the forms of their sentences
([language.py](../../agents/games/hotpotqa/language.py)); pages of the original's Wikipedia have others, which it cannot
read. Its numbers say how each algorithm goes about a question, and nothing about how well a language model answers.

Played are the {tasks:.0f} questions of `dev` in the made wiki of 5,000 pages, in {seeds} runs (seeds 0 to {last}):
the mean ± the standard deviation between runs, in brackets the 95% Wilson interval over the tasks of one run. In
parentheses stands a published number. `python benchmarks/hotpotqa.py` plays and writes this page.
"""
SHORTCUTS = """## Shortcuts

Players that do not read all that the answer follows from, on all 1,700 made questions: exact match (%). They use no
model, and know every form of question and sentence ([shortcuts.py](../../tests/wiki/shortcuts.py)). Where two things
are compared, a guess is right half of the time.

"""


def write_shortcuts() -> str:
    """Return the share of questions that each shortcut answers, by type, as CSV."""
    sys.path.append(str(HERE.parent))  # for the players, which tests use as well
    from tests.wiki.reader import Reader
    from tests.wiki.shortcuts import SHORTCUTS as PLAYERS
    from tests.wiki.shortcuts import share
    from textcraft_gym.wiki.made import made_corpus

    corpus = made_corpus()
    reader = Reader(page for page in map(corpus.wiki.page, corpus.wiki) if page)
    questions = [question for split in corpus.splits.values() for question in split]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["shortcut", "bridge", "comparison", "all"])
    for name, make in PLAYERS.items():
        player = make(corpus, reader)
        of_type = [[one for one in questions if one.type == kind] for kind in ("bridge", "comparison")]
        writer.writerow([name, *(f"{100 * share(some, player):.1f}" for some in (*of_type, questions))])
    return text.getvalue()


def page(played: str, guessed: str) -> str:
    """Return the page that follows from the CSV files of experiments and of shortcuts."""
    found = read_csv(played)
    seeds = len(found[REACT.name][ALL].rates)
    head = HEAD.format(model=simulated(), tasks=found[REACT.name][ALL].tasks, seeds=seeds, last=seeds - 1)
    headings, *rows = csv.reader(io.StringIO(guessed))
    shortcuts = SHORTCUTS + markdown_table(headings, rows)
    return "\n".join([head, *(table.markdown(found) for table in TABLES), shortcuts])


def main(arguments: Sequence[str] | None = None) -> None:
    """Play what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", action="store_true", help="play nothing: write the page from the CSV files")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="number of runs of each experiment")
    options = parser.parse_args(arguments)
    if not options.pages:
        (RESULTS / GUESSED).write_text(write_shortcuts(), encoding="utf-8", newline="\n")
        played = list(dict.fromkeys(experiment for table in TABLES for experiment in table.experiments))
        found = {experiment.name: play(experiment, RUNS, range(options.seeds)) for experiment in played}
        (RESULTS / PLAYED).write_text(write_csv(found), encoding="utf-8", newline="\n")
    played, guessed = ((RESULTS / name).read_text(encoding="utf-8") for name in (PLAYED, GUESSED))
    (RESULTS / PAGE).write_text(page(played, guessed), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
