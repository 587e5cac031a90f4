"""The teacher of the searches: one of several samples is right; attempts are judged by progress."""

from __future__ import annotations

import random
import re

from player import Move, Searched, judged
from recorded import Said

_TURN = re.compile(r"Thought (\d+):$")


class Searcher:
    """Answers as the model of LATS and of tree of thoughts.

    Args:
        player: Plays the game.
        rng: Draws which sample is right.
        samples: Number of samples of a turn, of which one is right.
    """

    def __init__(self, player: Searched, rng: random.Random, samples: int) -> None:
        self.player, self.rng, self.samples = player, rng, samples
        self.turns: dict[str, list[Move]] = {}

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return the answer to a request."""
        if role == "judge":
            return Said(f" {judged(*self.player.judgement(prompt))}")
        if role == "reflection":
            return Said(f" {self.player.reflection(prompt)}")
        if prompt not in self.turns:
            self.turns[prompt] = self.sampled(prompt)
        moves = self.turns[prompt]
        thought, action, learnt = moves[sample % len(moves)]
        number = _TURN.findall(prompt)[0]
        return Said(f" {thought}\nAction {number}: {action}", learnt)

    def sampled(self, prompt: str) -> list[Move]:
        """Return the samples of a turn in random order."""
        right = self.player.move(prompt)
        others = [move for move in self.player.others(prompt) if move.action != right.action]
        wrong = self.rng.sample(others, min(len(others), self.samples - 1))
        moves = [right, *(move._replace(learnt=False) for move in wrong)]
        self.rng.shuffle(moves)
        return moves
