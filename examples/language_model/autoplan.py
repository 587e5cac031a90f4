"""Training examples of AutoPlan in HotpotQA and ALFWorld, in the short prompts that it sends.

It plays with a plan that has some of the lines of a whole one, or with none, and is asked for
reflections; a plan anew is made of what two to eight episodes told. Some plans have a line that a
bad update leaves behind, which is to go. Some reflections miss a line that the plan has: a model
that learned of none wrote the whole plan again and again. Some actions are in the player's own
words, for the formalizer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

import gymnasium as gym
import hotpotqa
import households
from dialogue import Branch, Example, Span
from follower import ADD, LACKS, Follower, new_plan, numbered
from player import Episode
from recorded import Exchange, Record, Said, alone, dialogues, packed, record
from scholar import LINES as QUESTION_LINES
from tenant import LINES as HOUSEHOLD_LINES
from tenant import MISTAKES, Tenant

from textcraft_gym.agents.autoplan.autoplan import AutoPlanAgent
from textcraft_gym.agents.autoplan.update import Experience, update_prompt
from textcraft_gym.agents.autoplan.wording import Wording
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.games import ALFWORLD, HOTPOTQA
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.wrappers import HelpfulFeedback

ROLES = ("thought", "action", "formalizer", "summary", "flaws", "revision")
LINES = {"hotpotqa": QUESTION_LINES, "alfworld": HOUSEHOLD_LINES}
FORMALIZED = 0.5
"""Share of the episodes of which an action is formalized in an example of its own."""
FEW_TURNS = {"hotpotqa": 2, "alfworld": 6}
"""Turns of an episode that is to be lost, for reflections on it."""
BATCHES = (2, 3, 4, 4, 6, 8)
"""Episodes before a new plan: 4 in the paper, and 8 in one of its tables."""
AGAIN = (1, 1, 2, 3)
"""How often in a row a mistake is made: a model that saw none again repeats its own to the end."""
STRANGE = 0.3
"""Share of the plans with a line of one episode alone."""
MISTAKEN = 0.3
"""Share of the reflections that miss a line which the plan has."""
STRAY = {
    "hotpotqa": ("Search for {0}.", "Read {0} and then {1}.", "Look for {0} on the page of {1}."),
    "alfworld": ("Look for {0} at {1}.", "Go to {1}, {1}, {1}.", "Open {1}, then take {0} there."),
}
"""Lines that a small model writes into a plan after a bad batch."""
NAMES = {
    "hotpotqa": (
        ("the film", "the author", "the river", "the band"),
        ("the town", "the year", "the director", "the country"),
    ),
    "alfworld": (
        ("a pencil", "a baseballbat", "the mug 2", "a towel"),
        ("drawer 1", "sidetable 2", "shelf 3", "countertop 1"),
    ),
}
"""What stands in those lines."""
PHRASES = {
    "search": (
        "Let me open the page of {0}",
        "I search for {0} now.",
        "Read what the page {0} says",
    ),
    "lookup": ("look for the word {0} on this page", "Does the page have the word {0}?"),
    "finish": ("So the answer is {0}.", "The answer: {0}", "It must be {0}."),
    "go": ("I will walk over to {0}.", "Let me go to {0} and look.", "walk to {0}"),
    "open": ("I open the {0}.", "open up {0}"),
    "take": ("pick up {0} from {1}", "I take the {0} that is at {1}."),
    "move": ("put {0} on {1}", "I place the {0} in {1}."),
    "use": ("Turn on {0}", "switch the {0} on"),
    "clean": ("wash {0} in {1}", "I clean the {0} using {1}."),
    "heat": ("warm up {0} in {1}", "I heat the {0} using {1}."),
    "cool": ("chill {0} in {1}", "I cool the {0} using {1}."),
}
"""Other words for the actions, for the formalizer."""

_ARGUMENTS = re.compile(r"\w+\[(.*)\]|(?:go to|open|use) (.+)|\w+ (.+) (?:from|to|with) (.+)")


def drawn(rng: random.Random) -> Iterator[Episode]:
    """Yield questions and households for training without end, by turns."""
    questions = hotpotqa.drawn(rng)
    house = gym.make("ALFWorld-v0", split="train", max_episode_steps=-1)
    houses = (house, HelpfulFeedback(house))  # AutoPlan's game says why an action failed
    while True:
        yield reading(next(questions), rng)
        yield household(rng.choice(houses), households.draw_task(rng), rng, AGAIN)


def reading(question: hotpotqa.Asked, rng: random.Random) -> Episode:
    """Return an episode of a question."""
    text = question.situation
    return Episode(HOTPOTQA, question.env, question.task.id, text, text, question.scholar(rng))


def household(
    env: gym.Env[str, str], task: str, rng: random.Random, times: Sequence[int] = (1,)
) -> Episode:
    """Return an episode in a household, in three tenths of which the teacher errs.

    Args:
        env: The household.
        task: The task.
        rng: Draws the mistakes.
        times: How often in a row a mistake is made, one of these.
    """
    home = households.Situation(task)
    mistakes: list[str] = []
    for mistake in rng.sample(MISTAKES, 2) if rng.random() < 0.3 else ():
        mistakes += [mistake] * rng.choice(times)
    tenant = Tenant(home.text, home.task, rng, mistakes=tuple(mistakes))
    return Episode(ALFWORLD, env, task, home.text, home.sentence, tenant)


def play(
    episode: Episode, plan: Sequence[str], *, turns: int | None = None
) -> tuple[Record, Follower]:
    """Return an episode by a plan, and who played it."""
    agent = AutoPlanAgent(
        episode.profile,
        Prompts("short"),
        plan=f"{numbered(plan)}\n" if plan else None,
        reflect="full",
        settings=Settings(turns=turns) if turns else None,
    )
    follower = Follower(episode.player, plan)
    return record(episode.env, agent, episode.task, follower, ROLES), follower


def draw_plan(game: str, rng: random.Random) -> list[str]:
    """Return some lines of a plan: all, none, or all but one or two, and now and then a stray."""
    if rng.random() < 0.2:
        return []
    lines = LINES[game]
    left_out = rng.sample(lines, rng.choice((0, 0, 1, 2)))
    plan = [line for line in lines if line not in left_out]
    if rng.random() < STRANGE:
        stray = rng.choice(STRAY[game]).format(*map(rng.choice, NAMES[game]))
        plan.insert(rng.randrange(len(plan) + 1), stray)
    return plan


def update(game: str, plan: Sequence[str], experiences: Sequence[Experience]) -> Example:
    """Return a request for a new plan with its answer, whose situation is the plan so far."""
    prompt = update_prompt(Wording(Prompts("short"), game), numbered(plan), experiences)
    situation = prompt.partition("\n\n")[0]
    spans = (
        Span(prompt[len(situation) :], False),
        Span(f"\n{new_plan(prompt, LINES[game])}", True),
    )
    return Example(situation, (Branch("update", spans, end=True),))


def formalized(game: str, exchanges: Sequence[Exchange], rng: random.Random) -> Iterator[Example]:
    """Yield an action in other words, with the action as the game takes it."""
    action = rng.choice(exchanges).said.text.strip()
    verb = re.findall(r"\w+", action)[0]
    match = _ARGUMENTS.fullmatch(action)
    if match and verb in PHRASES:
        words = rng.choice(PHRASES[verb]).format(*filter(None, match.groups()))
        prompt = Wording(Prompts("short"), game).fill("formalizer", action=words)
        yield alone(Exchange("formalizer", prompt, Said(f" {action}"), "\n"))


def examples(seed: int) -> Iterator[Example]:
    """Yield examples without end; the same seed gives the same ones."""
    rng = random.Random(f"autoplan/{seed}")
    plans = {game: draw_plan(game, rng) for game in LINES}
    batches = {game: rng.choice(BATCHES) for game in LINES}
    experiences: dict[str, list[Experience]] = {game: [] for game in LINES}
    for episode in drawn(rng):
        game = episode.profile.name
        turns = FEW_TURNS[game] if rng.random() < 0.2 else None
        played, _ = play(episode, plans[game], turns=turns)
        yield from examples_of(played, episode, rng)
        lived = experiences[game]
        lived.append(mistaken(experience(played, episode), plans[game], LINES[game], rng))
        if len(lived) == batches[game]:
            yield update(game, plans[game], lived)
            plans[game], experiences[game] = draw_plan(game, rng), []
            batches[game] = rng.choice(BATCHES)


def examples_of(played: Record, episode: Episode, rng: random.Random) -> Iterator[Example]:
    """Yield the examples of one episode, without a new plan."""
    formal = [exchange for exchange in played.exchanges if exchange.role == "formalizer"]
    others = [exchange for exchange in played.exchanges if exchange.role != "formalizer"]
    branches = some(dialogues(episode.situation, others), rng)
    yield from packed(episode.situation, branches, rng)
    if rng.random() < FORMALIZED:
        if rng.random() < 0.3:
            yield alone(rng.choice(formal))
        else:
            yield from formalized(episode.profile.name, formal, rng)


def experience(played: Record, episode: Episode) -> Experience:
    """Return what AutoPlan keeps of an episode."""
    texts = {exchange.role: exchange.said.text.strip() for exchange in played.exchanges}
    reflection = [texts.get(role, "") for role in ROLES[3:]]
    return Experience(episode.objective, bool(played.episode.won), *reflection)


def mistaken(
    lived: Experience, plan: Sequence[str], lines: Sequence[str], rng: random.Random
) -> Experience:
    """Return an experience, some of whose reflections miss a line that the plan has."""
    known = [line for line in plan if line in lines]
    if not known or rng.random() >= MISTAKEN:
        return lived
    line = rng.choice(known)
    return lived._replace(flaws=f"{LACKS} {line}", revision=f"{ADD} {line}")


def some(branches: Sequence[Branch], rng: random.Random) -> list[Branch]:
    """Return the turns and one stand-alone answer: each of these repeats the episode."""
    turns = max(branches, key=lambda branch: sum(span.learnt for span in branch.spans))
    return [turns, rng.choice([branch for branch in branches if branch is not turns])]
