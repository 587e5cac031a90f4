"""How long the pursuit of a goal takes, learned from what it took: a softmax regression over classes of time.

A horizon is seen as one of some classes, each as long again as the one before by the same factor; what is expected is
the mean of the classes, weighted by how likely each is.

Source: the horizon-predictive selector of DEPS (Wang et al. 2023, section 3.4), for what can be read in a text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.agents.contract.controller import Errand

LONGEST, CLASSES = 12_000, 44
STEPS, RATE, MOMENTUM, DECAY = 1500, 1.0, 0.9, 1e-5
DECIMALS = 3

HORIZONS = files(__package__) / "horizons"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Horizon:
    """What was learned.

    Attributes:
        features: What is looked at, by name.
        weights: Of shape (features, ``CLASSES``).
    """

    features: tuple[str, ...]
    weights: Floats

    def expected(self, errand: Errand) -> float:
        """Return how many ticks an errand is expected to take; what was never seen counts for nothing."""
        seen = features(errand)
        logits = np.array([seen.get(name, 0.0) for name in self.features]) @ self.weights
        likely = np.exp(logits - logits.max())
        return float(likely @ _TICKS / likely.sum())

    def dumps(self) -> str:
        """Return it as JSON, a line for each feature."""
        rows = dict(zip(self.features, self.weights.tolist(), strict=True))
        lines = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"


def features(errand: Errand) -> dict[str, float]:
    """Return what the horizon may depend on: what is done, where, how far it is, how many, with what.

    Time is a sum of the way and the work, and its class the logarithm of that: so there are the logarithms of both,
    their squares, and the work where there is no way.
    """
    way, work = math.log1p(errand.steps), math.log1p(errand.amount)
    what = errand.source or errand.verb
    found = {"always": 1.0, "way": way, "way squared": way * way / 5, "work squared": work * work / 3}
    found |= {"work without a way": work * math.exp(-errand.steps / 20), what: 1.0, f"work of {what}": work}
    if errand.tool and errand.source:
        found |= {f"{what} with {errand.tool}": 1.0, f"work of {what} with {errand.tool}": work}
    return found


def fit(errands: Sequence[Errand], ticks: Sequence[int]) -> Horizon:
    """Return what is learned from errands and the ticks that each took, by gradient descent with momentum.

    Raises:
        ValueError: If there is none.
    """
    if not errands:
        raise ValueError("expected one errand or more")
    seen = [features(errand) for errand in errands]
    names = tuple(sorted({name for one in seen for name in one}))
    given = np.array([[one.get(name, 0.0) for name in names] for one in seen])
    wanted = np.eye(CLASSES)[[_class(one) for one in ticks]]
    weights = np.zeros((len(names), CLASSES))
    speed = np.zeros_like(weights)
    for step in range(STEPS):
        logits = given @ weights
        likely = np.exp(logits - logits.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        slope = given.T @ (likely - wanted) / len(seen) + DECAY * weights
        speed = MOMENTUM * speed - RATE * (1 - step / STEPS) * slope
        weights = weights + speed
    return Horizon(names, weights.round(DECIMALS))


@cache
def learned_horizon(game: str) -> Horizon:
    """Return what was learned of a game and comes with the package.

    Raises:
        ValueError: If nothing was.
    """
    file = HORIZONS / f"{game}.json"
    if not file.is_file():
        raise ValueError(f"no horizon was learned for the game {game}")
    rows: Mapping[str, list[float]] = json.loads(file.read_text(encoding="utf-8"))
    return Horizon(tuple(rows), np.array(list(rows.values())))


def _class(ticks: int) -> int:
    return min(CLASSES - 1, int(CLASSES * math.log(max(ticks, 1)) / math.log(LONGEST)))


_TICKS = LONGEST ** ((np.arange(CLASSES) + 0.5) / CLASSES)
