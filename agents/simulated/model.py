"""The simulated model: reads the prompt as a player would, and fails when it must keep too much in mind."""

from __future__ import annotations

import math
import random

from textcraft_gym.agents.contract.agent import Completion, Prompt, prompt_text
from textcraft_gym.agents.simulated import alfworld, minetechtree, textcraft, webshop

CHARACTERS_PER_TOKEN = 4
READERS = (alfworld, minetechtree, textcraft, webshop)


class SimulatedModel:
    """Answers from the prompt alone; the module ``span`` explains its limit, ``cues`` the prompts that it understands.

    Above a temperature of 0 it draws, with the sample as the seed, the command that it uses for an item, the order in
    which it searches places, or the words of its query; at 0 it takes the simplest or likeliest. Four characters count
    as a token.

    Args:
        span: Maximum number of distinct things that it keeps in mind at once; 1 or more.

    Raises:
        ValueError: If the span is less than 1.
    """

    def __init__(self, span: int = 5) -> None:
        if type(span) is not int or span < 1:
            raise ValueError(f"expected a span of 1 or more, got {span!r}")
        self.span = span
        self.name = f"simulated:span={span}"

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the completion; ``task failed!`` if the prompt is of no game that it knows."""
        asked = prompt_text(prompt)
        # If a prompt mentions several games, as in its examples, the last one is played.
        reader = max(READERS, key=lambda reader: asked.rfind(reader.MARK))
        text = "task failed! I do not know this game."
        if reader.MARK in asked:
            text = reader.answer(asked, self.span, random.Random(sample) if temperature > 0 else None)
        for end in stop:
            text = text.split(end, 1)[0]
        text = text[: CHARACTERS_PER_TOKEN * max_tokens]
        return Completion(text, {"prompt_tokens": _tokens(asked), "completion_tokens": _tokens(text)})


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
