"""What the simulated model brings to one prompt: the kind of request, its limits, and its draws."""

from __future__ import annotations

import random
from dataclasses import dataclass

from textcraft_gym.agents.simulated.cues import Question
from textcraft_gym.agents.simulated.faults import Draws
from textcraft_gym.agents.simulated.manual import Manual


@dataclass(frozen=True)
class Reading:
    """One prompt as the model reads it.

    Attributes:
        question: The request in its last line.
        span: Maximum number of distinct things kept in mind.
        exempt_plan: Whether a plan in full is cut to the span instead of failing where it exceeds it.
        rng: Draws among ways that are equally good; None at temperature 0.
        draws: Draws the faults.
        manual: What the prompt teaches about how to play.
    """

    question: Question
    span: int
    exempt_plan: bool
    rng: random.Random | None
    draws: Draws
    manual: Manual
