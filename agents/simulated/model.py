"""The simulated model: reads the prompt as a player would, and fails when it must keep too much in mind."""

from __future__ import annotations

import math
import random
import re
from functools import partial

from textcraft_gym.agents.contract.model import Completion, Prompt, prompt_text
from textcraft_gym.agents.simulated import (
    alfworld,
    autoplan,
    hotpotqa,
    minetechtree,
    numbered,
    programs,
    tabletop,
    textcraft,
    webshop,
)
from textcraft_gym.agents.simulated.cues import Cue, read_question
from textcraft_gym.agents.simulated.faults import Draws, Faults, with_claim, with_slips
from textcraft_gym.agents.simulated.manual import in_own_words, read_manual
from textcraft_gym.agents.simulated.reading import Reading
from textcraft_gym.errors import true_or_false

CHARACTERS_PER_TOKEN = 4
_TASK = re.compile(r"\n(?:Goal|Your task is to): ")
READERS = (alfworld, hotpotqa, minetechtree, tabletop, textcraft, webshop)
FORMS = (autoplan, numbered)
"""The forms of dialogue that it answers as it does turns of one line."""
WITHOUT_GAME = (Cue.FIRST_CHANGE, Cue.QUESTION, Cue.SYNTAX)
"""Questions whose prompts show no game."""


class SimulatedModel:
    """Answers from the prompt alone: ``span`` explains its limit, ``cues`` the requests and ``manual`` what it learns.

    Above a temperature of 0 it draws, with the sample as the seed, the command that it uses for an item, the order in
    which it searches places, or the words of its query; at 0 it takes the simplest or likeliest. Four characters count
    as a token.

    Args:
        span: Maximum number of distinct things that it keeps in mind at once; 1 or more.
        false_claim: Probability of claiming success where it would give up, from 0 to 1; ``faults`` explains it and
            the next two.
        slip: Probability of a wrong command, for each command that it writes.
        misjudge: Probability of a wrong judgement, for each judgement.
        exempt_plan: Whether a plan in full that exceeds the span is written in less detail instead of not at all.
        seed: Seed of the faults; in a run, that of the run unless it is given.

    Raises:
        ValueError: If the span is less than 1, a probability is not from 0 to 1, or another argument has a wrong type.
    """

    def __init__(
        self,
        span: int = 5,
        *,
        false_claim: float = 0.0,
        slip: float = 0.0,
        misjudge: float = 0.0,
        exempt_plan: bool = False,
        seed: int = 0,
    ) -> None:
        if type(span) is not int or span < 1:
            raise ValueError(f"expected a span of 1 or more, got {span!r}")
        self.faults = Faults(false_claim, slip, misjudge)
        for name, probability in self.faults._asdict().items():
            if type(probability) not in (int, float) or not 0 <= probability <= 1:
                raise ValueError(f"expected {name} to be a probability from 0 to 1, got {probability!r}")
        true_or_false("exempt_plan", exempt_plan)
        if type(seed) is not int or seed < 0:
            raise ValueError(f"expected a seed of 0 or more, got {seed!r}")
        self.span = span
        self.exempt_plan = exempt_plan
        self.seed = seed
        self.name = self._name()

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the completion; ``task failed!`` if the prompt is of no game that it knows."""
        asked = prompt_text(prompt)
        answered = partial(self._answer, temperature=temperature, sample=sample)
        form = next((form for form in FORMS if read_question(asked).cue in form.CUES), None)
        text = form.answer(asked, answered) if form else answered(asked)
        for end in stop:
            text = text.split(end, 1)[0]
        text = text[: CHARACTERS_PER_TOKEN * max_tokens]
        return Completion(text, {"prompt_tokens": _tokens(asked), "completion_tokens": _tokens(text)})

    def _answer(self, asked: str, *, temperature: float, sample: int) -> str:
        """Return the answer to a prompt, not cut off yet."""
        # If a prompt mentions several games, as in its examples, the last one is played.
        reader = max(READERS, key=lambda reader: asked.rfind(reader.MARK))
        text = "task failed! I do not know this game."
        question = read_question(asked)
        draws = Draws(self.faults, self.seed, f"{sample}/{asked}" if temperature > 0 else asked)
        if question.cue in WITHOUT_GAME:
            text = programs.answer(asked, question.cue, self.span, draws)
        elif reader.MARK in asked:
            reading = Reading(
                question=question,
                span=self.span,
                exempt_plan=self.exempt_plan,
                rng=random.Random(sample) if temperature > 0 else None,
                draws=draws,
                manual=read_manual(asked, reader.MARK),
            )
            text = reader.answer(asked, reading)
            text = with_claim(text, question.cue, progressed=_progressed(asked, reader.PROGRESS), draws=draws)
            text = with_slips(text, question.cue, partial(reader.names, asked, text), draws)
            text = in_own_words(text, question.cue, reading.manual)
        return text

    def _name(self) -> str:
        """Return the spec that makes an equal model."""
        options = [f"span={self.span}"]
        options += [f"{name}={probability}" for name, probability in self.faults._asdict().items() if probability]
        options += ["exempt_plan=true"] if self.exempt_plan else []
        options += [f"seed={self.seed}"] if any(self.faults) else []
        return f"simulated:{','.join(options)}"


def _progressed(asked: str, progress: re.Pattern[str]) -> bool:
    """Return whether the last action or goal in the transcript changed something."""
    transcript = _TASK.split(asked)[-1]
    _, turn, last = transcript.rpartition("\n> ")
    if turn:
        return progress.match(last.partition("\n")[2]) is not None
    return transcript.rpartition("\nSuccess: ")[2].startswith("yes")


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
