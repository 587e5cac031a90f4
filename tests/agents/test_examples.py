"""The examples in the prompts are true: what they show was played, and what they plan can be read
and leads there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.step_plan import Group, Plan, parse_plan
from textcraft_gym.agents.deps.deps import WHY, DEPSAgent
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.program.interpreter import Interpreter
from textcraft_gym.agents.program.parse import parse_program
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.moves import NO_INGREDIENTS, Making, Refused, understand
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import FIRST
from textcraft_gym.goals import Goal, has, parse_goals
from textcraft_gym.recipes.recipe import name_of
from textcraft_gym.registration import find

AGENTS = (
    "react",
    "adapt",
    "plan_and_execute",
    "reflexion",
    "deps",
    "zero_shot",
    "chain_of_thought",
    "inner_monologue",
    "code_as_policies",
    "progprompt",
    "progprompt_assertions",
)
BEGINS = {"minetechtree": "You are in the ", "textcraft": "Crafting commands:"}
PLAYED_IN = {
    "minetechtree": [
        ("bowl", 1003),
        ("stone_pickaxe", 1011),
        ("leather_boots", 1002),
        ("iron_nugget", 1021),
    ],
    "textcraft": [
        ("minecraft:beehive", 0)
    ],  # no example ends this episode, and any recipe works in it
}
"""Tasks and seeds: in the tech tree each example is in the world of one of them."""

BEFORE = {
    "craft 4 stick": ["mine 3 oak log"],
    "smelt 1 iron ingot": [
        "mine 3 oak log",
        "craft 12 oak planks using 3 oak log",
        "craft 4 stick using 2 oak planks",
        "craft 1 crafting table using 4 oak planks",
        "craft 1 wooden pickaxe using 3 oak planks, 2 stick",
        "mine 11 cobblestone with wooden pickaxe",
        "craft 1 stone pickaxe using 3 cobblestone, 2 stick",
        "craft 1 furnace using 8 cobblestone",
    ],
    "craft 1 crafting table": ["hunt 4 leather"],
    "craft hopper": ["get 2 spruce logs", *["craft 4 spruce planks using 1 spruce logs"] * 2],
}
"""What was done before the goal of an example was set."""

KINDS = {"log": "oak log", "planks": "oak planks"}
TAKES = {"planks": "1 oak log", "crafting table": "4 oak planks", "leather boots": "4 leather"}
"""What the programs' crafts take; a program leaves it to the controller."""


class Example(NamedTuple):
    """One example: ``inventory`` is what it says is held, empty where it does not."""

    game: str
    situation: str
    goal: str
    inventory: str
    lines: list[str]


def examples(agent: str, game: str = "minetechtree") -> list[Example]:
    shown = re.search(
        r"\n\nHere (?:is|are) .+?\.\n\n(.+)\n\nNow it is your turn", _prompt(agent, game), re.S
    )
    assert shown
    return [_example(game, text) for text in re.split(f"\n\n(?={BEGINS[game]})", shown[1])]


def _prompt(agent: str, game: str = "minetechtree") -> str:
    return Prompts().of(agent, game).text


def _example(game: str, shown: str) -> Example:
    situation, _, rest = shown.partition("\n\nGoal: ")
    goal, *lines = rest.splitlines()
    inventory = lines.pop(0) if lines[0].startswith("Inventory: ") else ""
    return Example(game, situation, goal.removesuffix("."), inventory, lines)


def begin(example: Example) -> Any:
    """Return the environment in which an example was played, where the example begins."""
    env = _in_its_world(example)
    for action in BEFORE.get(example.goal, []):
        env.step(action)
    if example.inventory:
        assert env.step("inventory")[0].rstrip() == example.inventory
    return env


def _in_its_world(example: Example) -> Any:
    for task, seed in PLAYED_IN[example.game]:
        env = find(
            {"minetechtree": "MineTechTree-v0", "textcraft": "TextCraft-v0"}[example.game]
        ).make()
        situation, _, goal = env.reset(seed=seed, options={"task": task})[0].partition("\n\nGoal: ")
        if example.game == "textcraft":
            return env
        if situation == example.situation:
            assert goal == f"{example.goal}." or example.goal in BEFORE
            return env
    raise AssertionError(f"no world looks like this:\n{example.situation}")


def wins(env: Any, actions: Iterable[str]) -> bool:
    """Play actions, each of which must work, and return whether the last of them won."""
    won = False
    for action in actions:
        assert not won
        observation, _, won, _, info = env.step(action)
        assert "invalid_reason" not in info, f"{action}: {observation}"
    return won


def reflected() -> str:
    """Return the answer that is shown to who reflects."""
    match = re.search(
        r"An example of an answer:\n\n(.+)\n\nNow it is your turn", _prompt("reflexion"), re.S
    )
    assert match
    return match[1]


def steps(plan: Plan | None) -> list[str]:
    assert plan
    return (
        [plan] if isinstance(plan, str) else [step for part in plan.parts for step in steps(part)]
    )


def action_of(goal: Goal) -> str:
    """Return what does a goal in one go: in the order of its line, nothing of what it asks for is
    held before."""
    uses = [(KINDS.get(item, item), count) for item, count in goal.uses.items()]
    item, count = KINDS.get(goal.name, goal.name), goal.have[goal.name]
    if goal.verb in ("craft", "smelt"):
        action = text.make(goal.verb, item, count, tuple(uses))
        move = understand(action)
        assert isinstance(move, Making)
        assert name_of(move.station) == goal.tool
        return action
    return text.mine(item, count, goal.tool) if goal.verb == "mine" else text.hunt(item, count)


@pytest.mark.parametrize("agent", AGENTS)
def test_prompt__asks_as_that_of_textcraft_does(agent: str):
    prompt, textcraft = (_prompt(agent, game) for game in BEGINS)
    assert prompt.splitlines()[-1] == textcraft.splitlines()[-1]
    assert "\n\nNow it is your turn." in prompt
    assert "\n\n{situation}\n\nGoal: {task}.\n{information}\n" in prompt
    assert prompt.isascii()


@pytest.mark.parametrize("game", BEGINS)
def test_turns__are_answered_as_the_example_says(game: str):
    shown = examples("react", game)
    assert len(shown) == 3
    for example in shown:
        env = begin(example)
        won = False
        *turns, last = re.split(r"^> ", "\n".join(example.lines), flags=re.M)[1:]
        for turn in turns:
            action, _, answer = turn.rstrip("\n").partition("\n")
            if action.startswith("think: "):
                assert answer == "OK."
            else:
                observation, _, won, *_ = env.step(action)
                assert observation.rstrip() == answer
        assert last.startswith("think: ")
        assert last.endswith("Task completed!")
        if example.goal.startswith("obtain "):
            assert won
        else:
            assert re.sub(r"^\w+ (?:[0-9]+ )?", "", example.goal) in env.step("inventory")[0]


def test_plans__are_read_whole_and_each_step_can_be_done():
    planned = [*examples("adapt"), *examples("plan_and_execute")]
    for answer in [*("\n".join(example.lines) for example in planned), reflected()]:
        read = steps(parse_plan(answer))
        assert len(read) == len(re.findall(r"^Step [0-9]+: ", answer, re.M))
        for step in read:
            move = understand(step)
            assert not isinstance(move, Refused) or move.reason == NO_INGREDIENTS, step


def test_one_level_plans__end_with_the_goals_own_step():
    pickaxe, table = examples("adapt")
    begin(pickaxe)
    assert pickaxe.goal == "obtain 1 stone pickaxe"
    assert steps(parse_plan("\n".join(pickaxe.lines)))[-1].startswith(
        "craft 1 stone pickaxe using "
    )
    plan = parse_plan("\n".join(table.lines))
    assert isinstance(plan, Group)
    assert plan.logic == "any"
    for way in plan.parts:
        planks, crafted = steps(way)
        log = planks.removeprefix("craft 4 ").replace("planks", "log")
        assert crafted.startswith(table.goal)
        assert not wins(begin(table), [f"mine 1 {log}", f"{planks} using 1 {log}", crafted])


def test_full_plans__win():
    (example,) = examples("plan_and_execute")
    assert wins(begin(example), steps(parse_plan("\n".join(example.lines))))
    boots = next(
        example for example in examples("react") if example.goal == "obtain 1 leather boots"
    )
    assert wins(begin(boots), steps(parse_plan(reflected())))


@pytest.mark.parametrize("agent", ["deps", "zero_shot", "chain_of_thought", "inner_monologue"])
def test_goals__that_explain_a_line_can_be_done(agent: str):
    shown = re.findall(r"such as (\w+\(.+\));$", _prompt(agent), re.M)
    assert len(shown) == 3
    for (goal,) in map(parse_goals, shown):
        for alternative in goal.alternatives:
            assert not isinstance(understand(action_of(alternative)), Refused)


@pytest.mark.parametrize("agent", ["deps", "zero_shot", "chain_of_thought"])
def test_goals__are_read_whole_and_win(agent: str):
    example, *_ = examples(agent)
    first, *lines = example.lines
    assert first == _prompt(agent).splitlines()[-1]
    goals = parse_goals("\n".join(lines))
    assert len(goals) == sum(not line.startswith("#") for line in lines)
    assert wins(begin(example), map(action_of, goals))
    assert len({goal.name for goal in goals}) == len(goals)


def test_replanned_goals__are_a_dialogue_of_deps_word_for_word():
    _, example = examples("deps")
    first, *lines = example.lines
    said = "\n".join(lines)
    plan, reported, explained, replan = re.split(
        rf"\n(?=I succeeded)|(?<={re.escape(WHY)})\n|\n(?=Mend this)", said
    )
    request, mended = replan.split("\n", 1)
    model = ScriptedModel(plan, explained, mended)
    env = begin(example).unwrapped
    episode = run_episode(
        env, DEPSAgent(MINETECHTREE, rounds=1), task="bowl", seed=1003, model=model
    )
    assert episode.won
    task, *dialogue = model.asked[-1]["prompt"]
    assert task.content.endswith(first)
    assert [message.content for message in dialogue] == [plan, reported, explained, request]


def test_single_goals__lead_to_what_is_told_after_each():
    (example,) = examples("inner_monologue")
    game, state = begin(example).unwrapped.game, FIRST
    *rounds, last = re.split(r"^Next goal:\n", "\n".join(example.lines), flags=re.M)[1:]
    for said in rounds:
        line, *answer = said.splitlines()
        (goal,) = parse_goals(line)
        state, *_ = apply(game, state, action_of(goal))
        assert answer == [
            "Success: yes",
            *text.look(game, state).splitlines(),
            text.inventory(state),
        ]
    assert last == "done"
    assert state.obtained == {aim.item for aim in game.aims}


@pytest.mark.parametrize("agent", ["code_as_policies", "progprompt", "progprompt_assertions"])
def test_programs__are_read_and_win(agent: str):
    (example,) = examples(agent)
    first, *lines = example.lines
    assert first == _prompt(agent).splitlines()[-1]
    env = begin(example)
    actions: list[str] = []

    def count(thing):
        counted = re.findall(r"([0-9]+) ([^,]+)", env.step("inventory")[0])
        return has({item: int(count) for count, item in counted}, thing)

    def call(name, arguments):
        yield from ()
        thing, number = [*arguments, 1][:2]
        if name == "count":
            return count(thing)
        item = KINDS.get(thing, thing)
        action = f"{name} {item}" if name == "equip" else f"{name} {number} {item}"
        actions.append(f"{action} using {TAKES[thing]}" if name == "craft" else action)
        assert wins(env, actions[-1:]) == (name == "equip")
        return True

    class Held:
        def call(self, name, arguments):
            yield from ()
            assert name == "has"
            return count(arguments[0]) >= arguments[1]

    interpreter = Interpreter(call, objects={"inventory": Held()}, imports=True)
    assert not list(interpreter.run(parse_program("\n".join(lines), checks=True)))
    assert actions[-1] == "equip leather boots"
    assert len(actions) == 6


def test_programs__of_the_papers_listings_have_their_form():
    """Each step of listing 8 is a loop; listing 5 has imports and no assertions, which are Singh et
    al.'s."""
    for game in BEGINS:
        loops, imports, asserts = (
            "\n".join(examples(agent, game)[0].lines)
            for agent in ("code_as_policies", "progprompt", "progprompt_assertions")
        )
        steps = re.findall(r"^ *(?!equip)\w+\('", loops, re.M)
        assert len(steps) == loops.count("while not inventory.has(") > 2
        assert "\nfrom actions import " in imports
        assert "assert" not in imports
        assert " else " in asserts
