from __future__ import annotations

import re

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym import run_episode, tasks
from textcraft_gym.agents.contract.model import Message
from textcraft_gym.agents.games import TEXTCRAFT
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.agents.simulated.span import in_mind
from textcraft_gym.evaluation.episode import Episode
from textcraft_gym.evaluation.schedule import run_episodes

SITUATION = """Crafting commands:
craft 1 bookshelf using 6 planks, 3 book
craft 1 book using 1 leather, 3 paper
craft 3 paper using 3 sugar cane
craft 4 oak planks using 1 oak logs
craft 4 birch planks using 1 birch logs
craft 1 leather using 4 rabbit hide
craft 1 bowl using 3 planks"""


def complete(
    prompt, span: int = 99, temperature: float = 0.0, sample: int = 0, max_tokens: int = 300, **options: bool
) -> str:
    model = SimulatedModel(span, **options)
    how = {"stop": (), "max_tokens": max_tokens, "temperature": temperature, "sample": sample}
    answer = model.complete(prompt, **how)
    assert answer == model.complete(prompt, **how)
    return answer.text


def turn(*lines: str, task: str = "craft bookshelf", information: str = "", **how) -> str:
    prompt = Prompts().of("react", "textcraft").fill(situation=SITUATION, task=task, information=information)
    turns = zip(lines[::2], lines[1::2], strict=True)
    return complete(prompt + "".join(f" {line}\n{answer}\n>" for line, answer in turns), **how)


def plan(agent: str, task: str = "craft bookshelf", information: str = "", **how) -> str:
    prompt = Prompts().of(agent, "textcraft").fill(situation=SITUATION, task=task, information=information)
    return complete(prompt, **how)


THINK = "think: for 1 bookshelf I craft 1 bookshelf using 6 oak planks, 3 book, 1 times, 3 in mind"
PLANKS = "think: for 6 oak planks I craft 4 oak planks using 1 oak logs, 2 times, 4 in mind"


def test_simulated__opens_a_line_for_what_must_be_made_and_gets_the_rest():
    assert turn() == THINK
    assert turn(THINK, "OK.") == PLANKS
    assert turn(THINK, "OK.", PLANKS, "OK.") == "get 2 oak logs"
    got = (THINK, "OK.", PLANKS, "OK.", "get 2 oak logs", "Got 2 oak logs")
    craft = "craft 4 oak planks using 1 oak logs"
    assert turn(*got) == craft
    assert turn(*got, craft, "Crafted 4 minecraft:oak_planks") == craft


def test_simulated__closes_a_line_when_it_is_made():
    craft = ("craft 4 oak planks using 1 oak logs", "Crafted 4 minecraft:oak_planks")
    made = (THINK, "OK.", PLANKS, "OK.", "get 2 oak logs", "Got 2 oak logs", *craft, *craft)
    assert turn(*made).startswith("think: for 3 book I craft 1 book using 1 leather, 3 paper, 3 times, 5 in mind")


@pytest.mark.parametrize("span", [1, 2, 3, 4, 5, 9])
def test_simulated__says_what_it_would_have_to_keep_in_mind_when_that_is_too_much(span: int):
    assert (turn(span=span) == THINK) is (span >= 3)
    opened = turn(THINK, "OK.", span=span)
    if span < 4:
        assert opened.startswith(
            f"task failed! 4 things to keep in mind, and I keep {span}: bookshelf, oak planks, book,"
        )
    else:
        assert opened == PLANKS


def test_simulated__counts_what_is_in_hand_and_what_it_is_told_to_have():
    assert turn(task="get 2 leather", information="").startswith("think: for 2 leather I craft")
    assert turn(task="get 3 string") == "get 3 string"
    assert turn("get 3 string", "Got 3 string", task="get 3 string") == "Task completed!"
    held = "Inventory: [birch planks] (8) [book] (3) "
    opened = turn(information=held)
    assert "6 birch planks, 3 book" in opened
    assert turn(opened, "OK.", information=held) == "craft 1 bookshelf using 6 birch planks, 3 book"


def test_simulated__looks_when_it_misses_what_it_thought_it_held_and_then_makes_it():
    held = "Inventory: [oak planks] (8) [book] (3) "
    opened = turn(information=held)
    craft = ("craft 1 bookshelf using 6 oak planks, 3 book", "Could not find enough items to craft minecraft:bookshelf")
    assert turn(opened, "OK.", *craft, information=held) == "inventory"
    looked = (opened, "OK.", *craft, "inventory", "Inventory: [oak planks] (6) ")
    assert turn(*looked, information=held).startswith("think: for 3 book I craft 1 book")


@pytest.mark.parametrize("said", ["Could not find string", "Could not find a valid recipe for x", "Wrong item"])
def test_simulated__fails_where_it_knows_no_other_way(said: str):
    assert turn("get 3 string", said, task="get 3 string").startswith("task failed!")


def test_simulated__plans_one_level_down_or_in_full_as_it_is_asked():
    assert plan("adapt").splitlines() == [
        "Step 1: craft 6 oak planks",
        "Step 2: craft 3 book",
        "Step 3: craft 1 bookshelf using 6 oak planks, 3 book",
        "Execution Order: (Step 1 AND Step 2 AND Step 3)",
    ]
    full = plan("plan_and_execute").splitlines()
    assert [line.split(": ")[1].split(" using")[0] for line in full[:-1]] == [
        "get 2 oak logs",
        "craft 6 oak planks",
        "get 12 rabbit hide",
        "craft 3 leather",
        "get 9 sugar cane",
        "craft 9 paper",
        "craft 3 book",
        "craft 1 bookshelf",
    ]
    assert plan("plan_and_execute", span=4).startswith("task failed! 6 things to keep in mind, and I keep 4: ")
    assert plan("plan_and_execute", span=4, exempt_plan=True).splitlines() == [
        "Step 1: get 2 oak logs",
        "Step 2: craft 6 oak planks using 2 oak logs",
        "Step 3: craft 3 book",
        "Step 4: craft 1 bookshelf using 6 oak planks, 3 book",
        "Execution Order: (Step 1 AND Step 2 AND Step 3 AND Step 4)",
    ]
    assert plan("adapt", information="Inventory: [oak planks] (6) ").startswith("Step 1: craft 3 book\nStep 2: craft 1")
    assert plan("adapt", span=2).startswith("task failed! 3 things")


def test_simulated__reflects_by_dividing_the_step_that_failed():
    def reflect(information: str, transcript: str) -> str:
        prompt = Prompts().of("reflexion", "textcraft")
        filled = prompt.fill(
            situation=SITUATION, task="craft bookshelf", information=information, transcript=transcript
        )
        return complete(filled)

    first = reflect("", "> task failed!")
    assert [line.split(": ")[1].split(" using")[0] for line in first.splitlines()[1:]] == [
        "craft 6 oak planks",
        "craft 3 book",
        "craft 1 bookshelf",
    ]
    second = reflect(f"From an earlier trial: {first}", "> get 6 oak planks\nGot 6 oak planks\n> task failed!")
    assert [line.split(": ")[1].split(" using")[0] for line in second.splitlines()[1:]] == [
        "craft 6 oak planks",
        "craft 3 leather",
        "craft 9 paper",
        "craft 3 book",
        "craft 1 bookshelf",
    ]


def test_simulated__draws_only_where_it_is_asked_to():
    assert len({turn(temperature=0.7, sample=sample) for sample in range(40)}) == 2  # two kinds of planks are listed
    assert len({turn(temperature=0.0, sample=sample) for sample in range(40)}) == 1


def test_simulated__reads_a_dialogue_as_it_reads_a_text():
    prompt = Prompts().of("react", "textcraft").fill(situation=SITUATION, task="craft bookshelf", information="")
    instructions, _, rest = prompt.partition("\n\n")
    assert complete([Message("system", instructions), Message("user", rest)]) == complete(prompt)


def test_simulated__knows_when_it_does_not_know():
    assert complete("What is the capital of France?\n>").startswith("task failed!")
    assert complete("Crafting commands:\n\n>") == "I see no goal."
    assert complete("Say task failed! to give up.\n\nCrafting commands:\n\n>") == "task failed! I see no goal."
    with pytest.raises(ValueError, match="span"):
        SimulatedModel(0)


PIECES = [
    *SITUATION.splitlines(),
    *("Goal: craft 0 bookshelf.", "\n", "\n>", " craft ", "\n> ", "Inventory: [book] (9)", "\nStep 1: get 0 x"),
    *("Reflection:", "Plan in full:", "think: for 1 x I craft 1 x using 1 x, 1 times, 2 in mind", "Got 1 x"),
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text()))
def test_simulated__answers_anything(pieces: list[str]):
    for prompt in ("".join(pieces), SITUATION + "\n\nGoal: craft bookshelf.\n" + "".join(pieces)):
        assert isinstance(complete(prompt, span=4), str)


def played(agent: str, span: int) -> list[Episode]:
    env = gym.make("TextCraft-v0", split="test", max_episode_steps=-1)
    jobs = [(task.id, 0) for task in tasks("TextCraft-v0", "test")[::5]]
    return list(run_episodes([env], make_agent(agent, profile=TEXTCRAFT), jobs, model=SimulatedModel(span)))


def test_simulated__wins_what_a_patient_player_can_win():
    for agent in ("react", "adapt", "plan_and_execute"):
        assert all(episode.won or episode.task == "minecraft:painting" for episode in played(agent, 99))
    # A trial has a third of the turns that ReAct alone has.
    for agent in ("try_again", "reflexion"):
        assert all(episode.won for episode in played(agent, 99) if episode.steps < 20)


def test_simulated__fails_with_depth_and_adapt_recovers():
    def rate(agent: str, span: int) -> float:
        return sum(bool(episode.won) for episode in played(agent, span)) / 40

    react = [rate("react", span) for span in (1, 3, 5, 9)]
    assert react == sorted(react)
    assert react[0] < react[1] < react[2] < react[3]
    assert rate("adapt", 3) > react[1] + 0.3


@pytest.mark.parametrize("span", [3, 5])
def test_simulated__never_has_more_in_mind_than_its_span_and_says_so_in_the_trace(span: int):
    """An independent reading of the trace: the open thoughts of each part, and what they name."""
    opened = re.compile(r"think: for (\d+) .+ I craft \d+ (.+?) using (.+), \d+ times, (\d+) in mind")
    thoughts = 0
    for agent in ("react", "adapt"):
        for episode in played(agent, span):
            for node in episode.trace.walk():
                mind: list[tuple[str, list[str], int]] = []
                for part in node.parts:
                    if isinstance(part, str) and (found := opened.fullmatch(part)):
                        parts = [piece.partition(" ")[2] for piece in found[3].split(", ")]
                        mind.append((found[2], parts, int(found[1])))
                        named = {name for item, items, _ in mind for name in (item, *items)}
                        assert len(named) == int(found[4]) <= span
                        thoughts += 1
                    elif isinstance(part, int) and episode.transcript[part][1].startswith("Crafted "):
                        _, count, made = episode.transcript[part][1].split(" ", 2)
                        item, items, left = mind.pop()
                        assert made == "minecraft:" + item.replace(" ", "_")
                        if left > int(count):
                            mind.append((item, items, left - int(count)))
    assert thoughts > 100


def test_in_mind__counts_each_thing_once():
    assert in_mind([["a", "b"], ["b", "c"], []]) == ["a", "b", "c"]


def test_simulated__sees_nothing_but_the_prompt():
    """Whatever the environment's state, the same prompt has the same answer: a run replayed from its prompts alone."""

    class Recording(SimulatedModel):
        asked: list = []

        def complete(self, prompt, **how):
            completion = super().complete(prompt, **how)
            self.asked.append((prompt, how, completion))
            return completion

    env = gym.make("TextCraft-v0", split="test", max_episode_steps=-1)
    agent = make_agent("adapt", profile=TEXTCRAFT)
    run_episode(env, agent, task="minecraft:hopper", seed=0, model=Recording(3))
    assert len(Recording.asked) > 10
    for prompt, how, completion in reversed(Recording.asked):
        assert SimulatedModel(3).complete(prompt, **how) == completion


def test_simulated__reflects_no_more_than_it_can_keep_in_mind():
    prompt = Prompts().of("reflexion", "textcraft", needs=("transcript",))
    asked = prompt.fill(situation=SITUATION, task="craft bookshelf", information="", transcript="> task failed!")
    assert "3 things to keep in mind, and I keep 2" in complete(asked, span=2)
    assert "Step 3" in complete(asked, span=3)


def test_simulated__writes_no_more_tokens_than_it_may():
    assert len(plan("adapt", max_tokens=5)) == 20


def test_simulated__takes_the_command_that_needs_the_least_and_never_goes_round():
    situation = "Crafting commands:\ncraft 1 a using 1 b\ncraft 1 a using 1 c\ncraft 1 b using 1 a\ncraft 1 d using 1 b"
    prompt = Prompts().of("react", "textcraft")
    assert "craft 1 a using 1 c" in complete(prompt.fill(situation=situation, task="craft a", information=""))
    first = complete(prompt.fill(situation=situation, task="craft d", information=""))
    asked = prompt.fill(situation=situation, task="craft d", information="") + f" {first}\nOK.\n>"
    second = complete(asked)
    assert second.startswith("think: for 1 b I craft 1 b using 1 a")
    third = complete(f"{asked} {second}\nOK.\n>")
    assert third.startswith("think: for 1 a I craft 1 a using 1 c")


def test_simulated__looks_once_and_then_goes_on():
    held = "Inventory: [oak planks] (6) [book] (3) "
    opened = turn(information=held)
    craft = ("craft 1 bookshelf using 6 oak planks, 3 book", "Could not find enough items to craft minecraft:bookshelf")
    looked = (opened, "OK.", *craft, "inventory", "Inventory: [oak planks] (6) [book] (3) ", *craft)
    assert turn(*looked, information=held).startswith("task failed!")
