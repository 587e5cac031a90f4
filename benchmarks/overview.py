"""The first table and figure of the results: world by agent, from the published episodes.

It writes the figure, and prints the tables that stand in the pages.

python benchmarks/overview.py benchmarks/results
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from textcraft_gym.papers import ADAPT
from textcraft_gym.papers.adapt import AGENTS
from textcraft_gym.reports.success import wilson_interval

RESULTS = Path(__file__).parent / "results"
ARGS = {"TextCraft-v0": {"adapt": "adapt d_max=4"}}
"""An agent's name in an experiment, where it is another than in the registry."""
WORLDS = {
    "TextCraft-v0 test": ("TextCraft", "table2", "TextCraft"),
    "ALFWorld-v0 valid_unseen": ("ALFWorld", "table1", "All"),
    "WebShopLite-v0 adapt_test": ("WebShop", "table7", "success"),
    "MineTechTree-v0 core71": ("tech tree", "", ""),
}
"""Each world's title, and the table and column of the ADaPT paper with its success."""


class Result(NamedTuple):
    """What an agent won in a world, in percent.

    Attributes:
        won: Mean over the training seeds.
        low: Lower bound of the 95% Wilson interval over the goals.
        high: Upper bound.
        goals: Number of goals.
        seeds: Number of training seeds.
        published: The paper's success with GPT-3.5; None without one.
    """

    won: float
    low: float
    high: float
    goals: int
    seeds: int
    published: float | None

    def __str__(self) -> str:
        """Return the cell of a table."""
        beside = "" if self.published is None else f" ({self.published:g})"
        return f"{self.won:.1f} [{self.low:.0f}, {self.high:.0f}]{beside}"


def results() -> dict[tuple[str, str], Result]:
    """Return the results by world and agent, as titles."""
    runs: dict[tuple[str, str], list[float]] = defaultdict(list)
    with gzip.open(RESULTS / "language_model.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            runs[row["experiment"], row["seed"]].append(float(row["won"]))
    found = {}
    for setting, (world, table, column) in WORLDS.items():
        for agent, title in AGENTS.items():
            name = ARGS.get(setting.split()[0], {}).get(agent, agent)
            experiment = f"{setting} {name} trained max_calls=150"
            seeds = [won for (played, _), won in runs.items() if played == experiment]
            if seeds:
                found[world, title] = result(seeds, published(table, column, agent))
    return found


def result(seeds: list[list[float]], published: float | None) -> Result:
    """Return the result of one run for each training seed."""
    goals, won = len(seeds[0]), fmean(map(fmean, seeds))
    low, high = wilson_interval(won * goals, goals)
    return Result(100 * won, 100 * low, 100 * high, goals, len(seeds), published)


def published(table: str, column: str, agent: str) -> float | None:
    """Return a number of the paper; None where it has none."""
    if not table:
        return None
    titles = [each.heading for each in ADAPT[table].columns]
    cells = [row.published[titles.index(column)] for row in ADAPT[table].rows if row.key == agent]
    return cells[0].value if cells and cells[0] else None


def table(
    found: dict[tuple[str, str], Result], agents: Iterable[str], worlds: Collection[str]
) -> Iterator[str]:
    """Yield the lines of a table of agents by worlds."""
    yield f"| success, % | {' | '.join(worlds)} |"
    yield f"| --- |{' --- |' * len(worlds)}"
    for agent in agents:
        cells = [str(found.get((world, agent), "-")) for world in worlds]
        yield f"| {agent} | {' | '.join(cells)} |"


WIDTH, LEFT, RIGHT = 720, 170, 24
LINE, TITLE = 22, 34


def figure(found: dict[tuple[str, str], Result]) -> str:
    """Return the results as dots with their intervals, and the papers' as circles."""
    parts, y = [], 34.0
    world = None
    for (title, agent), each in found.items():
        if title != world:
            world, y = title, y + TITLE - LINE
            seeds = f"{each.seeds} training seeds" if each.seeds > 1 else "1 training seed"
            parts.append(
                f'<text class="title" x="8" y="{y + 4:g}">{title}</text>'
                f'<text class="note" x="{LEFT}" y="{y + 4:g}">{each.goals} goals, {seeds}</text>'
            )
            y += LINE
        parts.append(dots(agent, each, y))
        y += LINE
    bottom = y
    grid = "".join(tick(percent, bottom) for percent in range(0, 101, 20))
    height = round(bottom + 26)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" \
width="{WIDTH}" height="{height}" role="img" aria-label="Success by world and agent">
<style>
text {{ font: 13px system-ui, sans-serif; fill: #1f2328 }}
.title {{ font-weight: 600 }}
.note {{ fill: #6e7781; font-size: 12px }}
.paper {{ fill: #ffffff; stroke: #d1d9e0 }}
.grid {{ stroke: #d1d9e0 }}
.bar {{ stroke: #0b7285; stroke-width: 2 }}
.here {{ fill: #0b7285 }}
.published {{ fill: none; stroke: #b35900; stroke-width: 2 }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3 }}
.note {{ fill: #9198a1 }}
.paper {{ fill: #0d1117; stroke: #3d444d }}
.grid {{ stroke: #3d444d }}
.bar {{ stroke: #3bc9db }}
.here {{ fill: #3bc9db }}
.published {{ stroke: #ffa94d }}
}}
</style>
<rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>
<circle class="here" cx="16" cy="20" r="5"/><text x="28" y="24">SmolLM2-135M, 95% interval</text>
<circle class="published" cx="252" cy="20" r="5"/><text x="264" y="24">the paper's, GPT-3.5</text>
{grid}
{chr(10).join(parts)}
</svg>
"""


def at(percent: float) -> float:
    """Return the position of a share."""
    return round(LEFT + (WIDTH - LEFT - RIGHT) * percent / 100, 1)


def tick(percent: int, bottom: float) -> str:
    """Return a line of the grid with its label."""
    return (
        f'<path class="grid" d="M{at(percent):g} 30V{bottom:g}"/><text class="note" '
        f'x="{at(percent):g}" y="{bottom + 16:g}" text-anchor="middle">{percent}%</text>'
    )


def dots(agent: str, each: Result, y: float) -> str:
    """Return a row of the figure."""
    circle = ""
    if each.published is not None:
        circle = f'<circle class="published" cx="{at(each.published):g}" cy="{y:g}" r="5"/>'
    return (
        f'<text x="20" y="{y + 4:g}">{agent}</text>'
        f'<path class="bar" d="M{at(each.low):g} {y:g}H{at(each.high):g}"/>'
        f'<circle class="here" cx="{at(each.won):g}" cy="{y:g}" r="5"/>{circle}'
    )


def tables(found: dict[tuple[str, str], Result]) -> tuple[str, str]:
    """Return the tables of README and of the results' first page."""
    worlds = [world for world, *_ in WORLDS.values()]
    small = table(found, ("ReAct", "ADaPT"), worlds[:2])
    return "\n".join(small), "\n".join(table(found, AGENTS.values(), worlds))


def main(folder: Path) -> None:
    """Write the figure and print the tables."""
    found = results()
    (folder / "overview.svg").write_text(figure(found), encoding="utf-8", newline="\n")
    print(*tables(found), sep="\n\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
