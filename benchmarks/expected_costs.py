"""What an episode takes of each agent in each world: the figures behind ``textcraft-gym evaluate --dry-run``.

A language model plays some tasks of each group, by default the small one in the process, which takes hours: figures are
written agent by agent, and those that are not measured stay. A token is four characters.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium as gym

from textcraft_gym.agents.contract.agent import Agent, Ask, Policy, Request
from textcraft_gym.agents.contract.model import Completion, CompletionRequest, Model, ModelError, prompt_text
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.agents.registry import AGENTS, why_not
from textcraft_gym.cache import atomic_write
from textcraft_gym.evaluation.episode import Episode, Job, run_episode
from textcraft_gym.evaluation.estimate import CHARACTERS_PER_TOKEN, EXPECTED_COSTS, QUANTITIES, amount
from textcraft_gym.evaluation.metrics import ALL
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.runner import plan
from textcraft_gym.registration import BUNDLED, game_profile

MODEL = "local:context=8192"
EPISODES = 12
"""Maximum number of tasks of a group."""

Counts: TypeAlias = dict[str, dict[str, int]]
"""What an episode takes, by role and quantity."""
Figures: TypeAlias = dict[str, dict[str, list[list[float]]]]
"""What an agent's episodes take in a world, by group of tasks and role: a row for each of ``QUANTITIES``."""


class Meter:
    """Answers as a model does, and counts calls and tokens by the role that asks."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.role = ""
        self.counts: Counts = {}

    def note_role(self, request: Request, episode: Episode) -> None:
        """Take note of who asks next."""
        if isinstance(request, Ask):
            self.role = request.role

    def complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Answer the requests of one agent, in this thread."""
        return [self.complete(*request[:-1]) for request in requests]

    def complete(self, prompt: Any, stop: Any, max_tokens: int, temperature: float, sample: int) -> Completion:
        """Answer a request."""
        completion = self.model.complete(
            prompt, stop=stop, max_tokens=max_tokens, temperature=temperature, sample=sample
        )
        counts = self.counts.setdefault(self.role, dict.fromkeys(QUANTITIES, 0))
        counts["calls"] += 1
        counts["prompt_tokens"] += _tokens(prompt_text(prompt))
        counts["completion_tokens"] += _tokens(completion.text)
        return completion


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def pairs(worlds: Collection[str] = (), agents: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield each world that plays without a simulator, with each agent that plays it; of those given, if any are."""
    for env_id in BUNDLED:
        for agent in AGENTS:
            wanted = (not worlds or env_id in worlds) and (not agents or agent in agents)
            if wanted and not why_not(agent, game_profile(env_id)):
                yield env_id, agent


def measure(env_id: str, agent_name: str, model_spec: str = "") -> Figures:
    """Return what episodes take: the mean, the 10th and the 90th percentile, by group of tasks and role."""
    model_spec = model_spec or MODEL
    spec, planned, _ = plan(RunSpec(env_id, "all", agent_name, model=model_spec))
    agent, model = spec.make_agent(), make_model(model_spec)
    jobs: dict[str, list[Job]] = {}
    for episode in planned.values():
        jobs.setdefault(episode.about["group"], []).append(episode.job)
    with closing(spec.make_env(agent)) as env:
        counts = {
            group: [_counts(env, agent, job, model) for job in _spread(of_group)] for group, of_group in jobs.items()
        }
    counts[ALL] = [count for of_group in list(counts.values()) for count in of_group]
    return {group: _amounts(of_group) for group, of_group in counts.items()}


def _counts(env: gym.Env[str, str], agent: Agent | Policy, job: Job, model: Model) -> Counts:
    """Return what an episode takes, by role and quantity."""
    meter = Meter(model)
    with suppress(ModelError):  # a limit of the model may end the episode, which is paid for all the same
        run_episode(env, agent, task=job.task, seed=job.seed, model=meter, on_request=meter.note_role)
    return meter.counts


def _amounts(counts: Sequence[Counts]) -> dict[str, list[list[float]]]:
    found: dict[str, list[list[float]]] = {}
    for role in dict.fromkeys(role for by_role in counts for role in by_role):
        rows = (amount([by_role.get(role, {}).get(name, 0) for by_role in counts]) for name in QUANTITIES)
        found[role] = [[_rounded(value) for value in row] for row in rows]
    return found


def _rounded(value: float) -> float:
    """Return a number to three digits, and an int if it is whole."""
    rounded = float(f"{value:.3g}")
    return int(rounded) if rounded.is_integer() else rounded


def _spread(jobs: Sequence[Job]) -> list[Job]:
    """Return some jobs at equal distances."""
    count = min(EPISODES, len(jobs))
    return [jobs[index * len(jobs) // count] for index in range(count)]


def in_order(figures: Mapping[str, Mapping[str, Figures]]) -> dict[str, dict[str, Figures]]:
    """Return figures in the order of the worlds and agents."""
    found: dict[str, dict[str, Figures]] = {}
    for env_id, agent in pairs():
        if agent in figures.get(env_id, {}):
            found.setdefault(env_id, {})[agent] = figures[env_id][agent]
    return found


def as_json(figures: Mapping[str, Mapping[str, Figures]]) -> str:
    """Return figures by world and agent as JSON, one line an agent."""
    worlds = []
    for env_id, agents in figures.items():
        lines = (f"{json.dumps(agent)}:{json.dumps(of, separators=(',', ':'))}" for agent, of in agents.items())
        worlds.append(f"{json.dumps(env_id)}:{{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(worlds) + "\n}\n"


def main() -> None:
    """Measure, and write what was measured after each agent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=EXPECTED_COSTS)
    parser.add_argument("--model", default=MODEL)
    for name in ("worlds", "agents"):
        parser.add_argument(f"--{name}", default="", help=f"only these {name}, with commas")
    arguments = parser.parse_args()
    worlds, agents = (names.split(",") if names else () for names in (arguments.worlds, arguments.agents))
    figures = json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.out.is_file() else {}
    for env_id, agent in pairs(worlds, agents):
        figures.setdefault(env_id, {})[agent] = measure(env_id, agent, arguments.model)
        atomic_write(arguments.out, as_json(in_order(figures)))
        print(env_id, agent, figures[env_id][agent][ALL])


if __name__ == "__main__":
    main()
