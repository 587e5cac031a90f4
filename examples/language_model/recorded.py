"""Training examples by playing: a teacher answers an agent, and the requests become dialogues.

So the prompts are the agent's own, and a teacher says no more than what it answers.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import gymnasium as gym
from dialogue import LONGEST, Branch, Example, Span

from textcraft_gym import run_episode
from textcraft_gym.agents.contract.agent import Agent
from textcraft_gym.agents.contract.model import Completion, CompletionRequest, Prompt, prompt_text
from textcraft_gym.episodes.episode import Episode

LONGEST_ALONE = 5000
"""Maximum number of characters of a dialogue with its situation: about 1,700 tokens."""


class Said(NamedTuple):
    """A teacher's answer, with its leading blank or line break, and whether it is learnt."""

    text: str
    learnt: bool = True


class Teacher(Protocol):
    """Plays one episode; it knows what to answer from the prompt, and what it was made with."""

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return the answer to an agent's request; ``sample`` numbers requests of equal text."""


class Exchange(NamedTuple):
    """A request and its answer.

    Attributes:
        role: Who was asked.
        prompt: The request.
        said: The answer.
        stop: The stop sequence that ends the answer; empty where the model ends its text.
    """

    role: str
    prompt: str
    said: Said
    stop: str

    @property
    def text(self) -> str:
        """The request with the answer, up to where an agent goes on."""
        return f"{self.prompt}{self.said.text}{self.stop}"


class Record(NamedTuple):
    """An episode and all that was asked in it."""

    episode: Episode
    exchanges: tuple[Exchange, ...]


class _Role:
    """The teacher as the model of one role."""

    def __init__(self, role: str, teacher: Teacher, exchanges: list[Exchange]) -> None:
        self.role, self.teacher, self.exchanges = role, teacher, exchanges

    def complete(self, prompt: Prompt, *, stop: tuple[str, ...], **_: Any) -> Completion:
        """Return the teacher's answer, and keep it."""
        text = prompt_text(prompt)
        sample = sum(exchange.prompt == text for exchange in self.exchanges)
        said = self.teacher.answer(self.role, text, sample)
        self.exchanges.append(Exchange(self.role, text, said, stop[0] if stop else ""))
        return Completion(said.text, {"completion_tokens": 1})

    def complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        """Return the answers to a batch of requests in order, so that draws never race."""
        return [self.complete(request.prompt, stop=request.stop) for request in requests]


def record(
    env: gym.Env[str, str],
    agent: Agent,
    task: str,
    teacher: Teacher,
    roles: Iterable[str],
    **how: Any,
) -> Record:
    """Return an episode that an agent plays with a teacher for the model of each of its roles."""
    exchanges: list[Exchange] = []
    models: Mapping[str, Any] = {
        role: _Role(role, teacher, exchanges) for role in ("executor", *roles)
    }
    return Record(run_episode(env, agent, task=task, seed=0, model=models, **how), tuple(exchanges))


def dialogues(situation: str, exchanges: Iterable[Exchange]) -> list[Branch]:
    """Return the dialogues about a situation: one for each chain of requests that continue.

    An answer that ends a model's text ends its dialogue, and what goes on from it is another one.
    Where a search goes on from a turn in several ways, what came before is learnt once. A dialogue
    of which nothing is learnt is left out, and so is a request without the situation.
    """
    about = [exchange for exchange in exchanges if exchange.prompt.startswith(situation)]
    made: list[Branch] = []
    known: set[str] = set()
    # The chain of most learnt answers first: it is learnt whole, the others from where they part.
    for chain in sorted(_chains(about), key=_learnt_answers, reverse=True):
        learnt = [exchange.said.learnt and exchange.text not in known for exchange in chain]
        if any(learnt):
            made.append(_branch(chain, learnt, len(situation)))
            known.update(exchange.text for exchange in chain)
    return made


def sampled(situation: str, played: Record, most: int, rng: random.Random) -> list[Branch]:
    """Return some of the dialogues of an episode; none of a lost one."""
    if not played.episode.won:
        return []
    made = dialogues(situation, played.exchanges)
    return rng.sample(made, min(len(made), most))


def alone(exchange: Exchange) -> Example:
    """Return the example of a lone request, whose situation is all of it but the last line."""
    situation = exchange.prompt.rpartition("\n")[0]
    return Example(situation, (_branch([exchange], [exchange.said.learnt], len(situation)),))


def packed(situation: str, branches: Iterable[Branch], rng: random.Random) -> Iterator[Example]:
    """Yield dialogues about a situation in random order, packed into examples."""
    shuffled = list(branches)
    rng.shuffle(shuffled)
    taken: list[Branch] = []
    room = LONGEST - len(situation)
    for branch in shuffled:
        if len(situation) + len(branch.text) > LONGEST_ALONE:
            continue
        if taken and len(branch.text) > room:
            yield Example(situation, tuple(taken))
            taken, room = [], LONGEST - len(situation)
        taken.append(branch)
        room -= len(branch.text)
    if taken:
        yield Example(situation, tuple(taken))


def _goes_on(exchange: Exchange, before: Exchange) -> bool:
    return bool(before.stop) and exchange.prompt.startswith(before.text)


def _chains(exchanges: Iterable[Exchange]) -> list[list[Exchange]]:
    """Return each request after those that it goes on from."""
    chains: list[list[Exchange]] = []
    for exchange in exchanges:
        before = [chain for chain in chains if _goes_on(exchange, chain[-1])]
        chains.append([*max(before, key=len, default=[]), exchange])
    return chains


def _learnt_answers(chain: Sequence[Exchange]) -> int:
    return sum(exchange.said.learnt for exchange in chain)


def _branch(chain: Sequence[Exchange], learnt: Sequence[bool], start: int) -> Branch:
    spans: list[Span] = []
    for exchange, is_learnt in zip(chain, learnt, strict=True):
        answer = f"{exchange.said.text}{exchange.stop}"
        spans += [Span(exchange.prompt[start:], False), Span(answer, is_learnt)]
        start = len(exchange.prompt) + len(answer)
    last = chain[-1]
    return Branch(last.role, tuple(spans), end=not last.stop)
