"""Runs that differ only in their seed, as one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

Record = Mapping[str, Any]
Config = Mapping[str, Any]

_NOT_COMPARED = frozenset({"seed", "begun_with", "started", "finished"})
"""Keys of a config that may differ between the runs of a pool."""
_SEED = re.compile(r"[\W_]*(?:seed|s)?[\W_]*$", re.IGNORECASE)
"""The end of the common beginning of names such as ``react-seed0`` and ``react-seed1``."""


@dataclass(frozen=True)
class Pool:
    """Runs that differ only in their seed, or a single run.

    Attributes:
        name: The run's name, or what the names have in common with the number of seeds.
        config: The config of the first run.
        runs: The records of each run, by its name.
    """

    name: str
    config: Config
    runs: Mapping[str, Sequence[Record]]

    @property
    def records(self) -> Iterator[Record]:
        """The records of all runs, run by run."""
        return chain.from_iterable(self.runs.values())


def pools(runs: Mapping[str, Sequence[Record]], configs: Mapping[str, Config]) -> list[Pool]:
    """Return the runs with those that differ only in their seed pooled, in the order given.

    A run with a seed that its pool has already stays by itself: it is the same run again.
    """
    pooled: dict[tuple[str, int], dict[str, Config]] = {}
    for run in runs:
        config = configs[run]
        alike = _but_for_the_seed(config)
        again = 0
        while config.get("seed") in [
            other.get("seed") for other in pooled.get((alike, again), {}).values()
        ]:
            again += 1
        pooled.setdefault((alike, again), {})[run] = config

    made: dict[str, Pool] = {}
    for members in pooled.values():
        first = next(iter(members))
        name = _name(list(members))
        if name in made or (len(members) > 1 and name in runs):
            name = f"{first} and {len(members) - 1} other seeds"
        made[name] = Pool(name, members[first], {run: runs[run] for run in members})
    return list(made.values())


def _but_for_the_seed(config: Config) -> str:
    compared = {key: value for key, value in config.items() if key not in _NOT_COMPARED}
    return json.dumps(compared, sort_keys=True, default=repr)


def _name(runs: Sequence[str]) -> str:
    if len(runs) == 1:
        return runs[0]
    common = 0
    for letters in zip(*runs, strict=False):
        if len({*letters}) > 1:
            break
        common += 1
    beginning = _SEED.sub("", runs[0][:common])
    return f"{beginning or runs[0]} ({len(runs)} seeds)"
