"""What an episode costs, by agent and world: the data of ``textcraft-gym evaluate --dry-run``.

A language model plays some tasks of each group, by default the small one in the process, which
takes hours: figures are written agent by agent, and those that are not measured stay. A token is
four characters. A prompt counts as many as it has in the standard set, whichever the model reads.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, cast

from textcraft_gym.agents.contract.agent import Agent, Ask, Play, Request
from textcraft_gym.agents.contract.model import Completion, prompt_text
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.agents.prompts import STANDARD, Prompts
from textcraft_gym.agents.registry import AGENTS, why_not
from textcraft_gym.episodes.episode import Job
from textcraft_gym.episodes.schedule import run_episodes
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.reports.metrics import ALL
from textcraft_gym.runs.estimate import CHARACTERS_PER_TOKEN, EXPECTED_COSTS, QUANTITIES, amount
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import plan
from textcraft_gym.storage.cache import atomic_write

AT_ONCE = 4
"""Number of episodes at once."""
MODEL = f"local:context=8192,slots={AT_ONCE}"
EPISODES = 2
"""Maximum number of tasks of a group."""

Counts: TypeAlias = dict[str, dict[str, int]]
"""What an episode takes, by role and quantity."""
Figures: TypeAlias = dict[str, dict[str, list[list[float]]]]
"""An agent's costs in a world, by group of tasks and role: a row for each of ``QUANTITIES``."""


class Metered:
    """An agent whose calls and tokens are counted by role, episode by episode.

    Args:
        agent: The agent.
        longer: Tokens that a prompt has more in the standard set, by the words that it begins with.

    Attributes:
        counts: What the episode of each task took.
    """

    def __init__(self, agent: Agent, longer: Mapping[str, int]) -> None:
        self._agent = agent
        self._longer = longer
        self.counts: dict[str, Counts] = {}

    def __getattr__(self, name: str) -> Any:
        """Return what the agent declares, such as its budget."""
        return getattr(self._agent, name)

    def episode(self, play: Play) -> Generator[Request, Any, bool | None]:
        """Play as the agent does, and count what it asks."""
        counts = self.counts.setdefault(play.first.info["task"], {})
        playing = self._agent.episode(play)
        resume: Callable[[], Request] = partial(next, playing)
        while True:
            try:
                request = resume()
            except StopIteration as end:
                return end.value
            try:
                answer = yield request
            except Exception as error:
                resume = partial(playing.throw, error)
            else:
                if isinstance(request, Ask):
                    self._count(
                        counts.setdefault(request.role, dict.fromkeys(QUANTITIES, 0)),
                        request,
                        answer,
                    )
                resume = partial(playing.send, answer)

    def _count(
        self, counts: dict[str, int], request: Ask, answer: Completion | list[Completion]
    ) -> None:
        completions = answer if isinstance(answer, list) else [answer]
        prompt = prompt_text(request.prompt)
        prompt_tokens = _tokens(prompt)
        for head, extra in self._longer.items():
            if prompt.startswith(head):
                prompt_tokens += extra
                break
        counts["calls"] += len(completions)
        counts["prompt_tokens"] += len(completions) * prompt_tokens
        counts["completion_tokens"] += sum(_tokens(completion.text) for completion in completions)


def _longer(spec: RunSpec, prompts: Prompts) -> dict[str, int]:
    """Return the standard set's extra tokens over the one read, by the beginning of each prompt."""
    run = Run(replace(spec, prompts=STANDARD))
    _ = run.agent  # which reads its prompts
    standard = run.prompts
    longer: dict[str, int] = {}
    # The longest first, since one may begin as another.
    for path, text in sorted(prompts.read.items(), key=lambda item: -len(item[1])):
        if path in standard.read:
            longer[_head(text)] = _tokens(standard.read[path]) - _tokens(text)
    return longer


def _head(prompt: str) -> str:
    """Return the words of a prompt before its first placeholder."""
    return re.split(r"\{\w+\}", prompt, maxsplit=1)[0].rstrip()


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


_model = cache(make_model)


def pairs(worlds: Collection[str] = (), agents: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield each world that needs no simulator with its agents, optionally only some worlds."""
    for env_id in BUNDLED:
        for agent in AGENTS:
            wanted = (not worlds or env_id in worlds) and (not agents or agent in agents)
            if wanted and not why_not(agent, find(env_id).profile):
                yield env_id, agent


def measure(
    env_id: str,
    agent_name: str,
    model_spec: str = "",
    most: int = EPISODES,
    *,
    by_group: bool = True,
    workers: int = AT_ONCE,
) -> Figures:
    """Return the mean, 10th and 90th percentile of the costs, by group of tasks and role.

    Args:
        env_id: The world.
        agent_name: The agent.
        model_spec: The model; by default the small one in the process.
        most: Maximum number of tasks of a group.
        by_group: Whether groups have figures of their own; else all tasks count as one group.
        workers: Number of episodes at once.
    """
    model_spec = model_spec or MODEL
    run, planned, _ = plan(Run(RunSpec(env_id, "all", agent_name, model=model_spec)))
    agent = Metered(cast(Agent, run.agent), _longer(run.spec, run.prompts))
    jobs: dict[str, list[Job]] = {}
    for job, about, _ in planned.values():
        jobs.setdefault(about["group"] if by_group else ALL, []).append(job)
    chosen = {group: _spread(group_jobs, most) for group, group_jobs in jobs.items()}
    with closing(run):
        envs = run.envs(workers)
        played = run_episodes(
            envs, agent, chain.from_iterable(chosen.values()), model=_model(model_spec)
        )
        for episode in played:
            if episode.error:
                raise RuntimeError(episode.traceback)
    counts = {group: [agent.counts[str(job.task)] for job in chosen[group]] for group in chosen}
    counts[ALL] = [*chain.from_iterable(counts.values())]
    return {group: _amounts(group_counts) for group, group_counts in counts.items()}


def _amounts(counts: Sequence[Counts]) -> dict[str, list[list[float]]]:
    amounts: dict[str, list[list[float]]] = {}
    for role in dict.fromkeys(chain.from_iterable(counts)):
        rows = []
        for name in QUANTITIES:
            row = amount([by_role.get(role, {}).get(name, 0) for by_role in counts])
            rows.append([*map(_rounded, row)])
        amounts[role] = rows
    return amounts


def _rounded(value: float) -> float:
    """Return a number to three digits, and an int if it is whole."""
    rounded = float(f"{value:.3g}")
    return int(rounded) if rounded.is_integer() else rounded


def _spread(jobs: Sequence[Job], most: int) -> list[Job]:
    """Return some jobs at equal distances."""
    count = min(most, len(jobs))
    return [jobs[index * len(jobs) // count] for index in range(count)]


def in_order(figures: Mapping[str, Mapping[str, Figures]]) -> dict[str, dict[str, Figures]]:
    """Return figures in the order of the worlds and agents."""
    ordered: dict[str, dict[str, Figures]] = {}
    for env_id, agent in pairs():
        if agent in figures.get(env_id, {}):
            ordered.setdefault(env_id, {})[agent] = figures[env_id][agent]
    return ordered


def as_json(figures: Mapping[str, Mapping[str, Figures]]) -> str:
    """Return figures by world and agent as JSON, one line an agent."""
    worlds = []
    for env_id, agents in figures.items():
        lines = []
        for agent, costs in agents.items():
            lines.append(f"{json.dumps(agent)}:{json.dumps(costs, separators=(',', ':'))}")
        worlds.append(f"{json.dumps(env_id)}:{{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(worlds) + "\n}\n"


def main() -> None:
    """Measure, and write what was measured after each agent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=EXPECTED_COSTS)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--episodes", type=int, default=EPISODES, help="most tasks of a group")
    parser.add_argument("--workers", type=int, default=AT_ONCE, help="episodes at once")
    parser.add_argument("--together", action="store_true", help="all tasks count as one group")
    for name in ("worlds", "agents"):
        parser.add_argument(f"--{name}", default="", help=f"only these {name}, with commas")
    arguments = parser.parse_args()
    worlds = arguments.worlds.split(",") if arguments.worlds else ()
    agents = arguments.agents.split(",") if arguments.agents else ()
    figures: dict[str, dict[str, Figures]] = {}
    if arguments.out.is_file():
        figures = json.loads(arguments.out.read_text(encoding="utf-8"))
    for env_id, agent in pairs(worlds, agents):
        figures.setdefault(env_id, {})[agent] = measure(
            env_id,
            agent,
            arguments.model,
            arguments.episodes,
            by_group=not arguments.together,
            workers=arguments.workers,
        )
        atomic_write(arguments.out, as_json(in_order(figures)))
        print(env_id, agent, figures[env_id][agent][ALL])


if __name__ == "__main__":
    main()
