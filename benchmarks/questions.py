"""Speed of HotpotQA on a made wiki of 5,000 pages, through ``gym.make``: medians of rounds.

Target: 20,000 steps a second. A walk follows the expert through the questions, with thoughts and
mistakes in between; resets are not counted. The last figure is of nothing but searches that find no
page and were never made before, each of which ranks all pages.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import gymnasium as gym
from rates import expert_walks, median, reset_rate, walk_rate

ID = "HotpotQA-v0"
PASSES = 20
RESETS = 5_000
SEARCHES = 3
"""Searches for unknown pages in an episode."""


def unknown(paths: list[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    """Yield distinct searches for missing pages, in the words of the given searches."""
    numbers = itertools.count()
    while True:
        for task, actions in paths:
            title = actions[0].removeprefix("search[").removesuffix("]")
            yield task, [f"search[{title} of the town {next(numbers)}]" for _ in range(SEARCHES)]


def main() -> None:
    """Measure and print."""
    paths = expert_walks(ID, ["think[what next?]", "lookup[nothing of the kind]", "open the page"])
    env = gym.make(ID, max_episode_steps=100)
    missing = unknown(paths)
    print(f"{median(lambda: walk_rate(env, paths * PASSES)):,.0f} steps/s along the expert's plans")
    print(f"{median(lambda: reset_rate(env, range(RESETS))):,.0f} resets/s, each with a new seed")
    print(
        f"{median(lambda: walk_rate(env, itertools.islice(missing, 500))):,.0f} searches/s "
        f"for pages that there are not"
    )


if __name__ == "__main__":
    main()
