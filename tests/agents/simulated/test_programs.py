"""The simulated model and the functions of AdaPlanner."""

from __future__ import annotations

import pytest

from textcraft_gym.agents.adaplanner.adaplanner import CHECK, FIRST_CHANGE, MEND
from textcraft_gym.agents.adaplanner.solution import read_solution
from textcraft_gym.agents.program.parse import ProgramError
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.simulated import SimulatedModel

ROOM = "You are in the middle of a room. Around you, you see a cabinet 2, a cabinet 1, a desk 1, and a bed 1."
TASK = "put a book in cabinet"
CRAFTS = "Crafting commands:\ncraft 4 oak planks using 1 oak logs\ncraft 1 chest using 8 planks"
QUESTION = "Which of these places may have a book, the likeliest first: ['cabinet 2', 'desk 1', 'bed 1', 'sink 1']?"


def said(prompt: str, span: int = 9, **faults: float) -> str:
    model = SimulatedModel(span, **faults)
    return model.complete(prompt, stop=(), max_tokens=9999, temperature=0.0, sample=0).text


def written(game: str, situation: str, task: str, information: str = "", examples: bool = True, **how) -> str:
    prompts = Prompts()
    example = prompts.example("adaplanner", f"{game}_{'put' if game == 'alfworld' else 'task'}")
    prompt = prompts.of("adaplanner", game).fill(
        situation=situation,
        task=task,
        information=information,
        example=f"Here is an example.\n\n{example}\n" if examples else "",
    )
    return said(prompt, **how)


def test_function__is_written_only_where_one_is_shown():
    for game, situation, task in (("alfworld", ROOM, TASK), ("textcraft", CRAFTS, "craft chest")):
        assert read_solution(written(game, situation, task))
        own = written(game, situation, task, examples=False)
        assert own.startswith("I ")
        with pytest.raises(ProgramError):
            read_solution(own)
        assert written(game, situation, task, span=1).startswith("task failed!")


def test_function__goes_on_in_the_places_that_the_assertion_leaves():
    first = written("alfworld", ROOM, TASK)
    assert "places = literal_eval(answer)" in first
    failure = "Error in [Step 2]: no book in ['desk 1', 'bed 1']. The last actions and their answers:\ngo to bed 1\nNo."
    second = written("alfworld", ROOM, TASK, MEND.format(source=first, feedback=failure))
    assert "        places = ['cabinet 2', 'cabinet 1']\n" in second
    assert second.partition("start_from <= 2")[2] == first.partition("start_from <= 2")[2]
    failure = "Error in [Step 2]: no book in ['cabinet 2', 'cabinet 1']. It is not there."
    assert written("alfworld", ROOM, TASK, MEND.format(source=second, feedback=failure)).startswith("task failed!")
    failure = "Error in [Step 3]: I do not hold book 1."
    assert written("alfworld", ROOM, TASK, MEND.format(source=first, feedback=failure)).startswith("task failed!")


def test_function__begins_with_what_the_report_says_is_held():
    first = written("textcraft", CRAFTS, "craft chest")
    assert "        agent.get('oak logs', 2)\n" in first
    assert "        for _ in range(2):\n            agent.craft('oak planks', 4, '1 oak logs')\n" in first
    report = "Error in [Step 2]: I do not have 8 oak planks. The last actions and their answers:\ninventory\n"
    mending = MEND.format(source=first, feedback=f"{report}Inventory: [oak logs] (1) [oak planks] (4)")
    second = written("textcraft", CRAFTS, "craft chest", mending)
    assert "agent.get(" not in second
    assert "        agent.craft('oak planks', 4, '1 oak logs')\n        assert agent.has('oak planks') >= 8" in second


def test_questions__are_answered_from_their_text():
    assert said(f"{QUESTION} Write a Python list.\nAnswer:") == "['desk 1', 'bed 1', 'cabinet 2']"
    assert said(f"{QUESTION} Write a Python list.\nAnswer:", span=1) == "['desk 1']"
    seen = "What is the number of the pen in this text: On the desk 1, you see a pencil 2, a pen 4, and a pen 3. Answer"
    assert said(f"{seen} with a number.\nAnswer:") == "4"
    assert said("Why?\nAnswer:") == "I do not know."
    assert said(f"x = 1\n\n{CHECK}") == "no"
    assert said(f"x = (\n\n{CHECK}") == "yes"


def test_change__is_the_first_step_that_differs():
    steps = "    if start_from <= 1:\n        a = 1\n    if start_from <= 2:\n        b = 2"
    one = f"def solution(agent, start_from=1):\n{steps}"
    for two, step in (
        (one.replace("b = 2", "b = 3"), "2"),
        (one.replace("a = 1", "a = 3"), "1"),
        (one, "1"),
        ("", "1"),
    ):
        question = f"The first program:\n{one}\n\nThe second program:\n{two}\n\n{FIRST_CHANGE}"
        assert said(question) == step
    question = f"The first program:\n{one}\n\nThe second program:\n{one}\n\n{FIRST_CHANGE}"
    assert said(question, misjudge=1.0) == "2"


def test_slips__are_in_calls_alone():
    right, wrong = (written("textcraft", CRAFTS, "craft chest", slip=slip).split("\n") for slip in (0.0, 1.0))
    differing = [line for line, other in zip(right, wrong, strict=True) if line != other]
    assert differing == [line for line in right if line.strip().startswith("agent.")]
