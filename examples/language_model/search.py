"""Training examples of LATS and tree of thoughts, in their short prompts, in all of their games.

Of the samples of a turn the right one is learnt. The judgements are of right and of wrong attempts,
of each score some.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import autoplan
import gymnasium as gym
import hotpotqa
import households
import textcraft
import webshop
from buyer import Buyer, TrainingShopEnv
from dialogue import Branch, Example
from maker import Maker
from player import Episode
from recorded import Record, dialogues, packed, record
from searcher import Searcher

from textcraft_gym.agents.games import TEXTCRAFT, WEBSHOP
from textcraft_gym.agents.lats.lats import LATSAgent
from textcraft_gym.agents.lats.tree_of_thoughts import TreeOfThoughtsAgent
from textcraft_gym.agents.prompts import Prompts

SAMPLES = 3
"""Number of samples of a turn, of which one is right."""
JUDGED = 3
"""Number of judgements of one episode that are learnt, each of another score."""
LONGEST_PLAN, MOST_PLACES, MOST_ACTIONS = 5, 12, 10
"""Most actions of a question's plan, places of a household, and actions of a goal's plan."""
GOALS_A_BOOK, GOALS_A_SHOP = 4, 30
"""Number of goals that are drawn of one book and of one shop."""


def drawn(rng: random.Random) -> Iterator[Episode]:
    """Yield episodes for training of each game by turns, without end."""
    streams = questions(rng), homes(rng), goals(rng), purchases(rng)
    while True:
        for stream in streams:
            yield next(stream)


def questions(rng: random.Random) -> Iterator[Episode]:
    """Yield questions of made wikis without end."""
    for question in hotpotqa.drawn(rng):
        if question.task.optimal_length <= LONGEST_PLAN:
            yield autoplan.reading(question, rng)


def homes(rng: random.Random) -> Iterator[Episode]:
    """Yield small households and tasks of one thing without end."""
    env = gym.make("ALFWorld-v0", split="train", max_episode_steps=-1)
    while True:
        episode = autoplan.household(env, households.draw_task(rng), rng)
        if len(episode.player.places) <= MOST_PLACES and episode.player.task.amount == 1:
            yield episode


def goals(rng: random.Random) -> Iterator[Episode]:
    """Yield goals of Minecraft's and made books without end, no deeper than the executor's."""
    minecraft = gym.make("TextCraft-v0", split="dev", max_episode_steps=-1)
    while True:
        env = minecraft
        if rng.random() < 0.5:
            items, book_seed = rng.choice((80, 120)), rng.randrange(textcraft.TRAINING_SEEDS)
            made = f"made:depth=3,items={items},seed={book_seed}"
            env = gym.make("TextCraft-v0", split="all", recipes=made, max_episode_steps=-1)
        tasks = [task for task in env.unwrapped.tasks if task.depth <= textcraft.EXECUTOR_DEPTH]
        for task in rng.sample(tasks, min(GOALS_A_BOOK, len(tasks))):
            maker = Maker(task, rng)
            if maker.length <= MOST_ACTIONS:
                opening, _ = env.reset(seed=0, options={"task": task.id})
                situation, sentence = TEXTCRAFT.read(opening)
                yield Episode(TEXTCRAFT, env, task.id, situation, sentence, maker)


def purchases(rng: random.Random) -> Iterator[Episode]:
    """Yield purchases in shops for training without end."""
    while True:
        env = TrainingShopEnv(rng.choice(webshop.TRAINING_SHOPS))
        for task in rng.sample(env.tasks, GOALS_A_SHOP):
            buyer = Buyer(task, rng)
            if buyer.is_known:
                opening, _ = env.reset(seed=0, options={"task": task.id})
                situation, sentence = WEBSHOP.read(opening)
                yield Episode(WEBSHOP, env, task.id, situation, sentence, buyer)


def play(episode: Episode, rng: random.Random, *, tree_of_thoughts: bool = False) -> Record:
    """Return an episode of a search."""
    prompts = Prompts("short")
    agent: LATSAgent | TreeOfThoughtsAgent
    if tree_of_thoughts:
        agent = TreeOfThoughtsAgent(episode.profile, prompts, order="depth", samples=SAMPLES)
    else:
        agent = LATSAgent(episode.profile, prompts, samples=SAMPLES, root_samples=SAMPLES)
    searcher = Searcher(episode.player, rng, SAMPLES)
    roles = ("judge", "reflection")
    return record(episode.env, agent, episode.task, searcher, roles, max_calls=1000)


def examples(seed: int) -> Iterator[Example]:
    """Yield examples without end; the same seed gives the same ones."""
    rng = random.Random(f"search/{seed}")
    for episode in drawn(rng):
        played = play(episode, rng, tree_of_thoughts=rng.random() < 0.3)
        if played.episode.won:
            branches = some(dialogues(episode.situation, played.exchanges), rng)
            yield from packed(episode.situation, branches, rng)


def some(branches: Sequence[Branch], rng: random.Random) -> list[Branch]:
    """Return the way to the end, the reflections, and judgements of different scores."""
    attempts = [branch for branch in branches if branch.kind == "executor"]
    turns = max(attempts, key=lambda branch: sum(span.learnt for span in branch.spans))
    judged = [branch for branch in branches if branch.kind == "judge"]
    rng.shuffle(judged)
    by_score = {branch.text.rpartition(" ")[2]: branch for branch in judged}
    scores = rng.sample(sorted(by_score), min(JUDGED, len(by_score)))
    reflections = [branch for branch in branches if branch.kind == "reflection"]
    return [turns, *reflections, *(by_score[score] for score in scores)]
