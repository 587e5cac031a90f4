"""Makes ``benchmarks/results``: every agent, depth and span with the simulated model, on the whole test split."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from textcraft_gym.display import evaluate_with_progress
from textcraft_gym.evaluation.metrics import ALL, groups
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.evaluation.runner import Config
from textcraft_gym.evaluation.sweep import Cell, Found, grid, sweep

HERE = Path(__file__).parent
RESULTS = HERE / "results"
RUNS = HERE.parent / "runs" / "results"
AGENTS = ("react", "plan_and_execute", "try_again", "reflexion", "adapt")
SPANS = range(2, 10)
DEPTHS = range(1, 5)
PAPERS_DEPTH = 4
WIDTH, HEIGHT, PLOT_TOP, PLOT_BOTTOM = 960, 500, 66, 330
STROKES = (
    ("#0072b2", ""),
    ("#e69f00", 'stroke-dasharray="8 3"'),
    ("#009e73", 'stroke-dasharray="2 3"'),
    ("#cc79a7", 'stroke-dasharray="8 3 2 3"'),
    ("#d55e00", ""),
)

TEXT = """# Results of a simulated model

These are numbers of the **simulated model**, not of a language model. They show what each algorithm makes of a player
who knows the game, and can keep only so many things in mind at once (the *span*; what counts towards it is said in
[span.py](../../agents/models/simulated/span.py)). They say nothing about how well a language model plays, and do not
belong in one table with numbers of one.

All 200 tasks of TextCraft's test split (77, 112 and 11 of depth 2, 3 and 4), seed 0, every span from {first} to {last},
every `d_max` from 1 to 4, the paper's budgets otherwise; nothing is left out and no seed was chosen. `d_max` is how
deep ADaPT decomposes, and how many trials Try-Again and Reflexion have, the best of which is scored. `make results`
makes this folder anew, the same bytes on every machine; [simulated.csv](simulated.csv) has every number by depth.

To know when reading: the one task that no agent wins at any span is the painting, which in the published
game takes wool of any colour but white, and white is what the model makes; and Reflexion wins less with a span of 5
than with 4, because its first trial then fails later, and the reflection divides the step at which it failed. A plan in
full, Plan-and-Execute's, is made as full as the span allows; everything else that goes over it fails.

![Success over span](success.svg)

## Tasks won (%), by span

{success}
## ADaPT: the deepest level that it went to, mean by depth of the task, `d_max` 4

{k_max}
## Calls to the model an episode, by span

{calls}
## Tasks won (%) of depth 2/3/4, by span

{by_depth}"""


def main() -> None:
    """Play what is not played yet, and write the folder."""
    cells = list(grid(AGENTS, DEPTHS, [f"simulated:span={span}" for span in SPANS]))
    base = Config("TextCraft-v0", "test", agent="")
    found = sweep(base, cells, RUNS, play=evaluate_with_progress)
    RESULTS.mkdir(exist_ok=True)
    shutil.copy(RUNS / "sweep.csv", RESULTS / "simulated.csv")
    write(RESULTS / "README.md", report(found))
    write(RESULTS / "success.svg", figure(found))


def report(found: Found) -> str:
    """Return the tables as Markdown."""
    rows = list(dict.fromkeys((cell.agent, cell.d_max) for cell in found))
    by_agent = ("agent", "d_max", *(f"span {span}" for span in SPANS))

    def table(value: str) -> str:
        return markdown_table(
            by_agent, [(agent, str(d_max or "-"), *values(found, agent, d_max, value)) for agent, d_max in rows]
        )

    levels = [
        (group, *(f"{found[cell(span)][group].k_max:.2f}" for span in SPANS))
        for group in groups(found.values())
        for cell in [lambda span: Cell("adapt", PAPERS_DEPTH, f"simulated:span={span}")]
    ]
    return TEXT.format(
        first=SPANS[0],
        last=SPANS[-1],
        success=table("success"),
        k_max=markdown_table(("task of", *by_agent[2:]), levels),
        calls=table("calls"),
        by_depth=table("by depth"),
    )


def values(found: Found, agent: str, d_max: int | None, value: str) -> Iterable[str]:
    """Yield a table's fields for one agent, span by span."""
    for span in SPANS:
        by_group = found[Cell(agent, d_max, f"simulated:span={span}")]
        if value == "success":
            yield f"{100 * (by_group[ALL].rate or 0):.1f}"
        elif value == "calls":
            yield f"{sum(by_group[ALL].calls.values()):.1f}"
        else:
            yield "/".join(f"{100 * (of.rate or 0):.0f}" for group, of in by_group.items() if group != ALL)


def figure(found: Found) -> str:
    """Return success over span as SVG: the agents with the paper's ``d_max``, and ADaPT at every ``d_max``."""
    takes_d_max = {cell.agent for cell in found if cell.d_max}
    agents = {agent: (agent, PAPERS_DEPTH if agent in takes_d_max else None) for agent in AGENTS}
    depths = {f"adapt, d_max {d_max}": ("adapt", d_max) for d_max in DEPTHS}
    panels = [
        panel(found, f"Every agent, d_max {PAPERS_DEPTH}", agents, 0),
        panel(found, "ADaPT by d_max", depths, WIDTH // 2),
    ]
    heading = text(
        WIDTH / 2, 22, "Simulated model: tasks won (%) over its span, with 95% Wilson intervals", "middle", 15
    )
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#222222"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{ground}{heading}{"".join(panels)}</svg>\n'


def panel(found: Found, title: str, lines: dict[str, tuple[str, int | None]], left: int) -> str:
    """Return one plot: a line with intervals for each agent and ``d_max``."""
    step = (WIDTH // 2 - 90) / (len(SPANS) - 1)
    drawn = [text(left + WIDTH / 4, 50, title, "middle"), text(left + WIDTH / 4, PLOT_BOTTOM + 38, "span", "middle")]
    for percent in range(0, 101, 20):
        y = place(percent / 100)
        drawn.append(path(f"M{left + 45} {y:.1f}H{left + WIDTH // 2 - 20}", "#dddddd"))
        drawn.append(text(left + 38, y + 4, str(percent), "end"))
    for number, span in enumerate(SPANS):
        drawn.append(text(left + 55 + number * step, PLOT_BOTTOM + 18, str(span), "middle"))
    for number, (name, (agent, d_max)) in enumerate(lines.items()):
        colour, dash = STROKES[number]
        wholes = [found[Cell(agent, d_max, f"simulated:span={span}")][ALL] for span in SPANS]
        # Lines that coincide stay visible beside each other.
        at = [left + 55 + place_of_span * step + 2 * (number - 2) for place_of_span in range(len(SPANS))]
        points = " ".join(f"{x:.1f},{place(of.rate or 0):.1f}" for x, of in zip(at, wholes, strict=True))
        drawn += [
            path(f"M{x:.1f} {place(of.low):.1f}V{place(of.high):.1f}", colour) for x, of in zip(at, wholes, strict=True)
        ]
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" {dash}/>')
        y = PLOT_BOTTOM + 62 + 20 * number
        drawn.append(f'<path d="M{left + 60} {y - 4}h34" stroke="{colour}" stroke-width="2" {dash}/>')
        drawn.append(text(left + 102, y, name, "start"))
    return "".join(drawn)


def place(rate: float) -> float:
    """Return how far down a rate stands."""
    return PLOT_BOTTOM - rate * (PLOT_BOTTOM - PLOT_TOP)


def path(way: str, colour: str) -> str:
    """Return a thin line."""
    return f'<path d="{way}" stroke="{colour}"/>'


def text(x: float, y: float, words: str, anchor: str, size: int = 13) -> str:
    """Return words."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def write(file: Path, text: str) -> None:
    """Write a file of the folder."""
    file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
