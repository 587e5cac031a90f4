"""The learned horizon: the expected ticks of a subgoal, by softmax regression over classes.

The classes are geometric: each is longer than the one before by the same factor. The expected
duration is the mean over the classes, weighted by their probabilities.
``examples/learn_horizons.py`` fits the weights.

Source: the horizon-predictive selector of DEPS (Wang et al. 2023, section 3.3), with features from
text only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.agents.contract.controller import Subgoal

LONGEST, CLASSES = 12_000, 44
"""Upper end of the last class, in ticks, and the number of classes."""

HORIZONS = files(__package__) / "horizons"

_MIDPOINTS = LONGEST ** ((np.arange(CLASSES) + 0.5) / CLASSES)
"""The geometric mean of each class's bounds, in ticks."""


@dataclass(frozen=True)
class Horizon:
    """A fitted regression.

    Attributes:
        features: Names of the features.
        weights: Array of shape (features, ``CLASSES``).
    """

    features: tuple[str, ...]
    weights: NDArray[np.float64]

    def expected(self, subgoal: Subgoal) -> float:
        """Return the expected ticks of a subgoal; features that were not fitted are ignored."""
        values = features(subgoal)
        logits = np.array([values.get(name, 0.0) for name in self.features]) @ self.weights
        probs = np.exp(logits - logits.max())  # the largest is 1, so that none overflows
        return float(probs @ _MIDPOINTS / probs.sum())


def features(subgoal: Subgoal) -> dict[str, float]:
    """Return the features of a subgoal, by name.

    A duration is walking plus work, and its class the logarithm of the sum: hence the logarithms of
    both, their squares, and the work weighted by the proximity of the source. Where the walk begins
    tells something of its length that a rough distance, or none, does not. The names are those of
    the fitted weights.
    """
    walk, work = math.log1p(subgoal.steps), math.log1p(subgoal.amount)
    kind = subgoal.source or subgoal.verb
    values = {
        "always": 1.0,
        "way": walk,
        "way squared": walk * walk / 5,
        "work squared": work * work / 3,
        "work without a way": work * math.exp(-subgoal.steps / 20),
        kind: 1.0,
        f"work of {kind}": work,
    }
    if subgoal.source and subgoal.place:
        values[f"{kind} from the {subgoal.place}"] = 1.0
    if subgoal.tool and subgoal.source:
        values |= {f"{kind} with {subgoal.tool}": 1.0, f"work of {kind} with {subgoal.tool}": work}
    return values


def has_horizons(game: str) -> bool:
    """Return whether the package has horizons for a game."""
    return (HORIZONS / f"{game}.json").is_file()


@cache
def learned_horizons(game: str) -> Mapping[str, Horizon]:
    """Return the horizons of a game, one for each way in which it tells distances.

    Raises:
        ValueError: If there is none.
    """
    if not has_horizons(game):
        raise ValueError(f"no horizon was learned for the game {game}")
    fitted: Mapping[str, Mapping[str, list[float]]] = json.loads(
        (HORIZONS / f"{game}.json").read_text(encoding="utf-8")
    )
    return {
        sight: Horizon(tuple(rows), np.array(list(rows.values()))) for sight, rows in fitted.items()
    }
