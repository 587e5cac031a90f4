"""What a reader must know beside the numbers of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textcraft_gym.registration import INFO_OF
from textcraft_gym.reports.advice import advice
from textcraft_gym.reports.agent_names import agent_names
from textcraft_gym.reports.exposure import exposure
from textcraft_gym.reports.pools import Pool
from textcraft_gym.reports.success import in_words

Record = Mapping[str, Any]
Config = Mapping[str, Any]

ADVANTAGES = {
    "expert": "The expert is told a shortest solution: it is no rival.",
    "random": "The random agent draws from the list of admissible commands, which agents do not "
    "see by default. Where the list is short, it often wins by chance.",
    "repeater": "The repeater is told the solution, and plays its first action for ever.",
}
"""Agents that the world tells more than others, and what they make of it."""
SEEN = {
    "admissible": "sees the list of admissible commands, which agents do not see by default.",
    "expert": "sees a shortest solution: it is no rival.",
}
"""What any other agent sees, by the argument of the environment that shows it."""


def so_far(records: Sequence[Record], config: Config) -> str:
    """Return how many episodes an unfinished run has, ``5 of 12 episodes so far``; else nothing."""
    planned = config.get("episodes")
    if isinstance(planned, int):
        return f"{len(records)} of {planned} episodes so far" if len(records) < planned else ""
    if config.get("finished"):
        return ""
    return f"{len(records)} {'episode' if len(records) == 1 else 'episodes'} so far"


def episodes_and_attempts(episodes: int, attempts: Mapping[str, int]) -> str:
    """Return the number of a run's episodes, and how many earlier attempts at them there were.

    Args:
        episodes: The number of episodes.
        attempts: That of the attempts by what ended them (see ``Records``).
    """
    ended = []
    for cause, count in attempts.items():
        tries = "1 earlier attempt" if count == 1 else f"{count} earlier attempts"
        ended.append(f"{tries} ended by an {cause}")
    words = f"{episodes} {'episode' if episodes == 1 else 'episodes'}"
    return f"{words} ({', '.join(ended)})" if ended else words


def unfinished(
    runs: Mapping[str, Sequence[Record]],
    configs: Mapping[str, Config],
) -> dict[str, str]:
    """Return how far each unfinished run is."""
    states = {run: so_far(records, configs[run]) for run, records in runs.items()}
    return {run: state for run, state in states.items() if state}


def told(config: Config) -> list[str]:
    """Return the arguments of the environment by which a run's agent is told more than others."""
    given = config.get("env_args") or {}
    return [argument for argument in INFO_OF if given.get(argument)]


def is_told(config: Config) -> bool:
    """Return whether a run's agent is told more than others."""
    return config["agent"] in ADVANTAGES or bool(told(config))


def rivals(configs: Mapping[str, Config]) -> list[str]:
    """Return the runs of agents that are told no more than others.

    Without any they are those that are not told the solution, and without these all.
    """
    players = [run for run, config in configs.items() if not is_told(config)]
    unsolved = [run for run, config in configs.items() if not _is_solved(config)]
    return players or unsolved or list(configs)


def _is_solved(config: Config) -> bool:
    return config["agent"] in ("expert", "repeater") or "expert" in told(config)


def advantages(configs: Iterable[Config]) -> list[str]:
    """Return which agents of runs are told more than others, each once."""
    by_agent: dict[str, dict[str, None]] = {}
    for config in configs:
        by_agent.setdefault(str(config["agent"]), {}).update(dict.fromkeys(told(config)))
    names = agent_names(by_agent)
    texts = [text for agent, text in ADVANTAGES.items() if agent in by_agent]
    for agent, arguments in by_agent.items():
        if agent not in ADVANTAGES:
            texts += [f"{names[agent]} {SEEN[argument]}" for argument in arguments]
    return texts


def exposures(pools: Iterable[Pool]) -> list[str]:
    """Return what each run won of tasks that its model was trained on, and of the others."""
    sentences = []
    for pool in pools:
        if clauses := exposure(pool.config, list(pool.runs.values())):
            sentences.append(f"{pool.name} won {', and '.join(clauses)}.")
    return sentences


def notes(records: Sequence[Record], config: Config) -> list[str]:
    """Return what stands below the tables of one run."""
    state = so_far(records, config)
    families = {record["task"]: record["family"] for record in records}
    below = [f"{state}."] if state else []
    if len({*families.values()}) < len(families):
        counted = in_words(len(families), len({*families.values()}))
        below.append(f"{counted}: intervals take families as independent.")
    return [*below, *advantages([config]), *advice(records)]
