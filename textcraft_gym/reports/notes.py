"""What a reader must know beside the numbers of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textcraft_gym.reports.advice import advice

Record = Mapping[str, Any]
Config = Mapping[str, Any]

ADVANTAGES = {
    "expert": "The expert is told a shortest solution: it is no rival.",
    "random": "The random agent draws from the list of admissible commands, which other agents do "
    "not see. Where the list is short, it often wins by chance.",
    "repeater": "The repeater is told the solution, and plays its first action for ever.",
}
"""Agents that the world tells more than others."""


def so_far(records: Sequence[Record], config: Config) -> str:
    """Return how many episodes an unfinished run has, ``5 of 12 episodes so far``; else nothing."""
    planned = config.get("episodes")
    if isinstance(planned, int):
        return f"{len(records)} of {planned} episodes so far" if len(records) < planned else ""
    if config.get("finished"):
        return ""
    return f"{len(records)} {'episode' if len(records) == 1 else 'episodes'} so far"


def unfinished(
    runs: Mapping[str, Sequence[Record]], configs: Mapping[str, Config]
) -> dict[str, str]:
    """Return how far each unfinished run is."""
    states = {run: so_far(records, configs[run]) for run, records in runs.items()}
    return {run: state for run, state in states.items() if state}


def advantages(configs: Iterable[Config]) -> list[str]:
    """Return which agents of runs are told more than others, each once."""
    agents = {str(config["agent"]) for config in configs}
    return [text for agent, text in ADVANTAGES.items() if agent in agents]


def notes(records: Sequence[Record], config: Config) -> list[str]:
    """Return what stands below the tables of one run."""
    state = so_far(records, config)
    return [*([f"{state}."] if state else []), *advantages([config]), *advice(records)]
