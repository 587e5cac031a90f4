"""The figure of the results: what the packaged adapter wins by world and agent, and GPT-3.5."""

from __future__ import annotations

from number_sources import ROOT, Share, packed, published

from textcraft_gym.papers.adapt import AGENTS

FIGURE = ROOT / "benchmarks/results/overview.svg"
WORLDS = {
    "TextCraft": ("adapt/table2", "TextCraft"),
    "ALFWorld": ("adapt/table1", "All"),
    "WebShop": ("adapt/table2", "WebShop"),
}
"""The table and the column of the ADaPT paper with the success in each world."""


HERE = "SmolLM2-135M, trained on these worlds, 95% interval"
PRINTED = "GPT-3.5 with a few examples, in the paper"
WIDTH, LEFT, RIGHT = 720, 170, 24
LINE, TITLE = 22, 34


def figure() -> str:
    """Return the results as dots with their intervals, and the paper's as circles."""
    parts, y = [], 34.0
    for world, (table, column) in WORLDS.items():
        y += TITLE - LINE
        goals = packed(table, "adapt", column).tasks
        parts.append(
            f'<text class="title" x="8" y="{y + 4:g}">{world}</text>'
            f'<text class="note" x="{LEFT}" y="{y + 4:g}">{goals} goals</text>'
        )
        for agent, label in AGENTS.items():
            y += LINE
            printed = float(published(table, agent, column).text)
            parts.append(dots(label, packed(table, agent, column), printed, y))
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
<circle class="here" cx="16" cy="20" r="5"/><text x="28" y="24">{HERE}</text>
<circle class="published" cx="402" cy="20" r="5"/><text x="414" y="24">{PRINTED}</text>
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


def dots(agent: str, share: Share, printed: float, y: float) -> str:
    """Return a row of the figure."""
    low, high = map(at, share.bounds)
    return (
        f'<text x="20" y="{y + 4:g}">{agent}</text>'
        f'<path class="bar" d="M{low:g} {y:g}H{high:g}"/>'
        f'<circle class="here" cx="{at(share.value):g}" cy="{y:g}" r="5"/>'
        f'<circle class="published" cx="{at(printed):g}" cy="{y:g}" r="5"/>'
    )
