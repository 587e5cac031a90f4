"""Recordings of ``textcraft-gym play --watch`` as animated SVG: README's, and one of each world.

An image with its own colours for light and dark, which plays once and stops on its last frame.
Where motion is not wanted, it shows that frame alone.

python benchmarks/recording.py docs
"""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock
from xml.sax.saxutils import escape

from rich.console import Console
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from textcraft_gym.cli.watch import watch
from textcraft_gym.runs.run_spec import RunSpec

WATCHED = RunSpec("TextCraft-v0", "test", "adapt", model="local", tasks=("minecraft:hopper",))
"""README's episode, of seed 0."""
HEAT = "pick_heat_then_place_in_recep"
WORLDS = {
    "textcraft": RunSpec("TextCraft-v0", "test", "expert", tasks=("minecraft:beehive",)),
    "alfworld": RunSpec("ALFWorld-v0", "valid_seen", "expert", env_args={"task_types": [HEAT]}),
    "webshop": RunSpec("WebShopLite-v0", "adapt_test", "expert", tasks=("40-B0MG6PPCYP",)),
    "tech_tree": RunSpec("MineTechTree-v0", "core71", "expert", tasks=("iron_sword",)),
    "hotpotqa": RunSpec("HotpotQA-v0", "test", "expert"),
    "tabletop": RunSpec("Tabletop-v0", "paper", "expert", tasks=("towers-of-hanoi/0",)),
}
"""The episodes of the worlds' pages, which their experts play."""

COLUMNS, ROWS = 56, 22
"""Size of the terminal: on a telephone, which scales it down, its letters can still be read."""
FONT, LINE = 16, 22
"""Size of the letters and height of a line, in pixels."""
LETTER = 0.602
"""Width of a letter, in its size, in the widest of the usual fonts."""
MARGIN = 12
PROMPT, CONTINUED = "$ ", " \\"
"""What stands before a command, and at the end of its lines but the last."""
SHORTEST, LONGEST = 0.05, 0.6
"""Seconds between two lines: waits for the model are cut."""
CLOCK = re.compile(r", [\d.]+ seconds(?=\.$)")
"""What an episode took, which says nothing where waits are cut."""
STEP = 0.25
"""Seconds between two lines where no model plays."""
COLOURS = {
    "bold": ("#1f2328", "#f0f6fc"),
    "plain": ("#3d444d", "#c9d1d9"),
    "dim": ("#6e7781", "#8b949e"),
    "green": ("#116329", "#56d364"),
    "red": ("#b3261e", "#ff7b72"),
    "cyan": ("#0b5c86", "#56c8d8"),
    "magenta": ("#8250df", "#d2a8ff"),
}
"""Each style's colour in light and in dark."""


@dataclass(frozen=True)
class Line:
    """A line of the terminal.

    Attributes:
        seconds: When it was printed.
        runs: Its parts, each of one style, as name of the style and text.
    """

    seconds: float
    runs: tuple[tuple[str, str], ...]


class Recorder(Console):
    """A terminal that keeps its lines, each with the time at which it was printed."""

    def __init__(self, **_: Any) -> None:
        super().__init__(
            file=io.StringIO(), force_terminal=True, color_system="standard", width=COLUMNS
        )
        self.lines: list[Line] = []

    def print(self, *objects: Any, **_: Any) -> None:
        """Keep what is printed."""
        for part in objects:
            if isinstance(part, Padding) and isinstance(part.renderable, Text):
                part.renderable.plain = CLOCK.sub("", part.renderable.plain)
        segments = [segment for part in objects for segment in self.render(part)]
        printed = [*Segment.split_lines(segments)] or [[]]
        for line in printed:
            runs = [(style_of(part.style), part.text) for part in line]
            while runs and not runs[-1][1].strip():
                runs.pop()
            self.lines.append(Line(time.monotonic(), tuple(runs)))

    def status(self, *_: Any, **__: Any) -> Any:
        """Return a line below that shows nothing."""
        return nullcontext(mock.Mock())


def style_of(style: Style | None) -> str:
    """Return the name of a style."""
    if style is None:
        return "plain"
    if style.color is not None:
        return style.color.name
    return "dim" if style.dim else "bold" if style.bold else "plain"


def recorded(spec: RunSpec) -> list[Line]:
    """Play the first episode of a run as ``play --watch`` does, and return its lines."""
    terminal = Recorder()
    with mock.patch("textcraft_gym.cli.watch.Console", return_value=terminal):
        watch(spec, spec.tasks[0] if spec.tasks else None)
    return terminal.lines


def paced(lines: Iterable[Line]) -> Iterator[float]:
    """Yield when each line appears in the recording, in seconds."""
    shown, before = 0.6, None
    for line in lines:
        waited = 0.0 if before is None else line.seconds - before
        shown += min(max(waited, SHORTEST), LONGEST)
        before = line.seconds
        yield shown


def svg(label: str, head: list[Line], lines: list[Line]) -> str:
    """Return a recording below its head, which is there from the start, as an image."""
    appear = [*[0.0] * len(head), *paced(lines)]
    lines = [*head, *lines]
    width = round(COLUMNS * FONT * LETTER) + 2 * MARGIN
    rows_shown = min(len(lines), ROWS)
    height = rows_shown * LINE + 2 * MARGIN
    scrolled = max(len(lines) - ROWS, 0)
    rows = "\n".join(map(row, range(len(lines)), appear, lines))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" \
width="{width}" height="{height}" role="img" aria-label="{escape(label)}">
<style>
{sheet(appear, scrolled)}
</style>
<rect class="paper" width="{width}" height="{height}" rx="8"/>
<svg y="{MARGIN}" width="{width}" height="{rows_shown * LINE}"><g class="page">
{rows}
</g></svg>
</svg>
"""


def row(index: int, seconds: float, line: Line) -> str:
    """Return a line as an element that appears at its time."""
    parts = "".join(f'<tspan class="{name}">{escape(text)}</tspan>' for name, text in line.runs)
    delay = f' style="animation-delay:{seconds:.2f}s"' if seconds else ""
    return f'<text x="{MARGIN}" y="{(index + 1) * LINE - 5}"{delay}>{parts}</text>'


def sheet(appear: list[float], scrolled: int) -> str:
    """Return the style sheet: colours, and when the page moves up by a line."""
    light, dark = (
        "\n".join(f".{name} {{ fill: {shades[index]} }}" for name, shades in COLOURS.items())
        for index in (0, 1)
    )
    length = appear[-1]
    steps = [
        f"{100 * seconds / length:.2f}% {{ transform: translateY({-LINE * (number + 1)}px) }}"
        for number, seconds in enumerate(appear[ROWS:])
    ]
    moves = "\n".join(["0% { transform: none }", *steps])
    return f"""text {{ font: {FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; \
white-space: pre; animation: appear 1ms backwards }}
.bold {{ font-weight: 600 }}
.paper {{ fill: #f6f8fa; stroke: #d1d9e0 }}
{light}
.page {{ transform: translateY({-LINE * scrolled}px); \
animation: scroll {length:.2f}s step-end }}
@keyframes appear {{ from {{ opacity: 0 }} }}
@keyframes scroll {{
{moves}
}}
@media (prefers-color-scheme: dark) {{
.paper {{ fill: #0d1117; stroke: #3d444d }}
{dark}
}}
@media (prefers-reduced-motion: reduce) {{ text, .page {{ animation: none }} }}"""


def game(lines: list[Line]) -> list[Line]:
    """Return the lines of the game alone, without who plays and what it claims, in equal steps."""
    texts = ["".join(text for _, text in line.runs) for line in lines]
    (end,) = (index for index, text in enumerate(texts) if text.startswith("Won after "))
    return [Line(index * STEP, line.runs) for index, line in enumerate(lines[1 : end + 1])]


def images() -> Iterator[tuple[str, str]]:
    """Play the worlds' episodes and yield their recordings, with their names."""
    for name, spec in WORLDS.items():
        title = f"{spec.env}, played by its expert"
        yield f"worlds/{name}.svg", svg(title, [Line(0, (("dim", title),))], game(recorded(spec)))


def typed(command: str) -> Iterator[Line]:
    """Yield a command as it is typed over several lines, each but the first with an option."""
    first, *options = command.split(" --")
    parts = [first]
    for option in (f" --{option}" for option in options):
        if len(PROMPT + parts[-1] + option + CONTINUED) > COLUMNS:
            parts[-1] += CONTINUED
            parts.append("   " + option)
        else:
            parts[-1] += option
    for index, part in enumerate(parts):
        yield Line(0, (("dim", "" if index else PROMPT), ("bold", part)))


def main(docs: Path) -> None:
    """Write the recordings."""
    (task,) = WATCHED.tasks
    command = (
        f"textcraft-gym play {WATCHED.env} --watch local --agent {WATCHED.agent} --task {task} "
        f"--seed {WATCHED.seed}"
    )
    watched = svg(command, [*typed(command)], recorded(WATCHED))
    for name, image in [*images(), ("watch.svg", watched)]:
        (docs / name).write_text(image, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
