"""The names of agents for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from textcraft_gym.agents.registry import TITLES


def agent_names(agents: Iterable[str]) -> dict[str, str]:
    """Return a name for each agent of some configs.

    The suite's have their titles. One of a module has the name of its class, unless another is
    called so, too.
    """
    short = {agent: TITLES.get(agent, agent.rpartition(":")[2] or agent) for agent in agents}
    counts = Counter(short.values())
    names = {}
    for agent, name in short.items():
        is_clear = agent in TITLES or counts[name] == 1
        names[agent] = name if is_clear else agent
    return names
