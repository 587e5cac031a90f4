"""Success of every agent over the whole range of the simulated model's span, and what its faults do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapt_paper import AGENTS, ALFWORLD, TEXTCRAFT, WEBSHOP, of
from experiments import FAULTS, SPAN, Experiment, Found, simulated
from figure import Panel, Point, figure
from paper import Column, Row, Table

from textcraft_gym.evaluation.metrics import ALL


@dataclass(frozen=True)
class Study:
    """The range of spans of one world.

    Attributes:
        name: Stem of its figure.
        world: ReAct's experiment there.
        spans: Spans.
        d_max: ADaPT's greatest depth, the published one; the one that it plays by default.
        about: Notes on the world.
    """

    name: str
    world: Experiment
    spans: Sequence[int]
    d_max: int
    about: str

    def at(self, agent: str, span: int) -> Experiment:
        """Return an agent's experiment at a span; ``adapt 2`` is ADaPT with a ``d_max`` of 2."""
        name, _, d_max = agent.partition(" ")
        return replace(of(self.world, name, **({"d_max": int(d_max)} if d_max else {})), model=simulated(span))

    @property
    def lines(self) -> dict[str, str]:
        """Labels of the rows by agent."""
        shallower = {f"adapt {d_max}": f"ADaPT, d_max {d_max}" for d_max in range(1, self.d_max)}
        return {**AGENTS, "adapt": f"ADaPT, d_max {self.d_max}", **shallower}

    def table(self) -> Table:
        """Return the table of the page."""
        return Table(
            f"{self.world.env}, split {self.world.split}",
            f"{self.about}\n\n![Success over the span]({self.name}.svg)",
            tuple(Column(f"span {span}") for span in self.spans),
            tuple(Row(label, [self.at(agent, span) for span in self.spans]) for agent, label in self.lines.items()),
        )

    def svg(self, found: Found) -> str:
        """Return the figure: all agents, and ADaPT by its depth."""

        def line(agent: str) -> list[Point]:
            of_spans = [found[self.at(agent, span).name][ALL] for span in self.spans]
            return [Point(of_span.rate, of_span.low, of_span.high) for of_span in of_spans]

        spans = [str(span) for span in self.spans]
        agents = {label: line(agent) for agent, label in AGENTS.items()}
        depths = {label: line(agent) for agent, label in self.lines.items() if agent.startswith("adapt")}
        heading = "Simulated model: tasks won (%) over its span, mean of the runs, with 95% intervals over tasks"
        return figure(
            heading, [Panel("Every agent", "span", spans, agents), Panel("ADaPT by d_max", "span", spans, depths)]
        )


STUDIES = (
    Study("textcraft", TEXTCRAFT, range(2, 10), 4, "The paper's 200 goals: 77, 112 and 11 of depth 2, 3 and 4."),
    Study("alfworld", ALFWORLD, range(2, 8), 3, "All 134 made households of the split."),
    Study(
        "webshop", WEBSHOP, (3, 4, 5, 6, 8, 10), 3, "The 100 goals in the made shop; a task is won with a score of 1."
    ),
    Study(
        "minetechtree",
        Experiment("MineTechTree-v0", "core71", "react"),
        range(2, 13, 2),
        4,
        "The 71 tasks of DEPS's groups, played by the agents of the other worlds.",
    ),
)

NO_FAULTS = dict.fromkeys(FAULTS, 0)
VARIANTS = {
    "standard": {},
    "false_claim 0": {"false_claim": 0},
    "false_claim 1": {"false_claim": 1},
    "slip 0": {"slip": 0},
    "misjudge 0": {"misjudge": 0},
    "exempt_plan": {"exempt_plan": True},
    "no faults": NO_FAULTS,
    "no faults, exempt_plan": {**NO_FAULTS, "exempt_plan": True},
    "no faults, false_claim 1": {**NO_FAULTS, "false_claim": 1},
}
"""The switches of the simulated model, one row each; all else is standard."""


def switches(world: Experiment) -> Table:
    """Return what each switch of the model does to each agent."""
    return Table(
        f"{world.env}, span {SPAN}",
        f"Success (%) on the split `{world.split}`.",
        tuple(Column(label) for label in AGENTS.values()),
        tuple(
            Row(name, [replace(of(world, agent), model=simulated(**changes)) for agent in AGENTS])
            for name, changes in VARIANTS.items()
        ),
    )


SWITCHES = tuple(switches(world) for world in (TEXTCRAFT, ALFWORLD))
