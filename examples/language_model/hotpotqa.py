"""Training examples of HotpotQA, in the short prompts that the agents send, of made wikis.

The wikis are others than those that agents are measured in: each has a seed of its own, and so
other pages and questions. ReAct, ADaPT, Plan-and-Execute and Reflexion play with the teacher for
their model. Of a made wiki nobody knows anything without reading, and a chain of thought learns to
say so and to guess.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import gymnasium as gym
from dialogue import Branch, Example
from recorded import Record, Said, dialogues, packed, record
from scholar import MISTAKES, PART, RELATIONS, Hop, Scholar, hops_of, words_for
from teacher import FAILED

from textcraft_gym.agents.adapt.react import make_executor
from textcraft_gym.agents.contract.agent import Agent, Play, Routine
from textcraft_gym.agents.defaults import settings_for
from textcraft_gym.agents.games.hotpotqa.game_profile import PROFILE
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.envs.hotpotqa.rules import look_up, results, search
from textcraft_gym.envs.hotpotqa.tasks import Task
from textcraft_gym.envs.hotpotqa.wiki.kinds import Relation

SEEDS = range(1000, 100_000)
"""Seeds of the wikis for training."""
QUESTIONS = 60
"""Number of questions that are drawn of one wiki."""
PAGES = 1000
ERRING = 0.4
"""Share of the episodes in which the teacher errs."""
LONGEST_PLAN = 4
"""Longest plan in whose episode the teacher errs twice: an attempt has seven turns."""
AGENTS = {
    "react": 5,
    "adapt": 2,
    "plan_and_execute": 1,
    "reflexion": 2,
    "chain_of_thought": 0.5,
    "in vain": 1,
}
"""What is played, with its weight."""
PLAYS = {"bridge": 2, "comparison": 4}
"""How often a question of each type is played: a small model has to practise comparing."""


class Asked(NamedTuple):
    """A question for training: its environment, its task and the facts that it takes."""

    env: gym.Env[str, str]
    task: Task
    hops: list[Hop]

    @property
    def situation(self) -> str:
        """The beginning of every prompt."""
        return f"Question: {self.task.question.question}"

    def scholar(self, rng: random.Random, **how: Any) -> Scholar:
        """Return the teacher, who errs in some of the episodes."""
        mistakes: tuple[str, ...] = ()
        if rng.random() < ERRING and self.task.optimal_length < 6:
            most = 2 if self.task.optimal_length <= LONGEST_PLAN else 1
            mistakes = tuple(rng.sample(MISTAKES, rng.randint(1, most)))
        return Scholar(self.task, self.hops, rng, mistakes=mistakes, **how)


class Attempt:
    """The executor alone, at one step of a plan."""

    def __init__(self, task: str) -> None:
        self.task = task
        settings = settings_for("adapt", PROFILE.name)
        self.executor = make_executor(Prompts("short"), PROFILE, settings)

    def episode(self, play: Play) -> Routine:
        """Attempt the step."""
        situation, _ = PROFILE.read(play.first.observation)
        return (yield from self.executor.attempt(play, self.task, situation))


class Doubter:
    """The teacher at an impossible step: there is no such page, or the page does not say it.

    Args:
        relation: What is asked.
        thing: The thing, whose page does not say it, or that has no page.
        words: Words to look up.
    """

    def __init__(self, relation: Relation, thing: str, words: list[str]) -> None:
        self.question, self.thing, self.words = relation.question.format(thing), thing, words

    @property
    def task(self) -> str:
        """The step."""
        return f"{PART}{self.question[0].lower()}{self.question[1:-1]}"

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return the next line."""
        played = re.findall(r"^> ((?:search|lookup)\[.*)", prompt, re.MULTILINE)
        if "\nCould not find" in prompt:
            return Said(f" think: There is no page of {self.thing}. {FAILED}")
        if len(played) > len(self.words):
            return Said(f" think: The page of {self.thing} does not say it. {FAILED}")
        acts = prompt.endswith("\nOK.\n>")
        if not played:
            return Said(f" {search(self.thing)}" if acts else f" think: {self.question}")
        word = self.words[len(played) - 1]
        if acts:
            return Said(f" {look_up(word)}")
        trouble = "That word is not here." if len(played) > 1 else "It is not in view."
        return Said(f" think: {trouble} I look for the word {word}.")


def drawn(rng: random.Random) -> Iterator[Asked]:
    """Yield questions for training without end."""
    while True:
        env = gym.make(
            "HotpotQA-v0",
            split="train",
            pages=PAGES,
            wiki_seed=rng.choice(SEEDS),
            max_episode_steps=-1,
        )
        for task in rng.sample(env.unwrapped.tasks, QUESTIONS):
            hops = hops_of(task)
            if hops:
                yield Asked(env, task, hops)


def play(question: Asked, name: str, rng: random.Random) -> Record:
    """Return an episode of an agent."""
    scholar = question.scholar(rng, gives_up=name == "adapt", guesses=int(name == "reflexion"))
    roles = ("planner", "reflection")
    return record(question.env, agent(name), question.task.id, scholar, roles)


def play_in_vain(question: Asked, rng: random.Random) -> Record | None:
    """Return an attempt at a step that cannot be done; None if nothing is missing."""
    task, title = question.task, question.hops[-1].page.title
    missing = list(missing_from(task, title))
    if not missing or "(" in title:
        return None
    relation, words = rng.choice(missing)
    if rng.random() < 0.5:
        title = f"{title.split()[0]} of {rng.choice(task.question.titles).split()[-1]}"
        if task.world.wiki.find(title):
            return None
    doubter = Doubter(relation, title, words)
    return record(question.env, Attempt(doubter.task), task.id, doubter, ())


def missing_from(task: Task, title: str) -> Iterator[tuple[Relation, list[str]]]:
    """Yield what a page does not say, with the words to look up for it."""
    for relation in RELATIONS:
        words = words_for(relation.question)
        if words and not any(results(task.world, title, word) for word in words):
            yield relation, words


@cache
def agent(name: str) -> Agent:
    """Return an agent of HotpotQA with its short prompts."""
    made = make_agent(name, profile=PROFILE, prompts=Prompts("short"))
    assert not callable(made)  # noqa: S101
    return made


def examples(seed: int) -> Iterator[Example]:
    """Yield examples without end; the same seed gives the same ones."""
    rng = random.Random(f"hotpotqa/{seed}")
    for question in drawn(rng):
        situation = question.situation
        made: list[Branch] = []
        plays = PLAYS[question.task.question.type]
        for name in dict.fromkeys(rng.choices([*AGENTS], [*AGENTS.values()], k=plays)):
            played = play_in_vain(question, rng) if name == "in vain" else play(question, name, rng)
            if played:
                made += dialogues(situation, played.exchanges)
        yield from packed(situation, dict.fromkeys(made), rng)
