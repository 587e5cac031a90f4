"""AdaPlanner: what is played, what is asked and what is told after a failure."""

from __future__ import annotations

import errno
from pathlib import Path

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel, play
from tests.doubles import Recorded
from textcraft_gym import run_episode
from textcraft_gym.agents.adaplanner.adaplanner import (
    CHECK,
    FIRST_CHANGE,
    UNFINISHED,
    AdaPlannerAgent,
)
from textcraft_gym.agents.contract.agent import Node
from textcraft_gym.agents.games import ALFWORLD, DEFAULT, TEXTCRAFT
from textcraft_gym.agents.program.parse import MAX_CHARACTERS
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.episodes.schedule import run_episodes

PLATE = "pick_heat_then_place_in_recep-Plate-None-Fridge-5/trial_00001_receptacles10_distractors2_hidden0"
HEAD = "def solution(agent, start_from=1):\n"


def step(number: int, *lines: str) -> str:
    return f"    if start_from <= {number}:\n" + "".join(f"        {line}\n" for line in lines)


LOGS = step(1, "print('[Step 1] get logs')", "agent.get('oak logs', 2)", "n = agent.has('oak logs')",
            "assert n >= 2, f'Error in [Step 1]: {n} logs. {agent.report()}'")  # fmt: skip
PLANKS = step(2, "for _ in range(n):", "    agent.craft('oak planks', 4, '1 oak logs')",
              "assert agent.has('oak planks') >= 6, 'Error in [Step 2]'")  # fmt: skip
COMB = step(
    3,
    "agent.get('honeycomb', 3)",
    "assert agent.has('honeycomb') == 3, 'Error in [Step 3]: no honeycomb'",
)
WAX = COMB.replace("get('honeycomb', 3)", "get('honey', 3)")
HIVE = step(4, "agent.craft('beehive', 1, '6 oak planks, 3 honeycomb')")
GOOD = HEAD + LOGS + PLANKS + COMB + HIVE
BAD = HEAD + LOGS + PLANKS + WAX + HIVE


def adaplanner(*, planner=(), checker=("no",), refiner=(), ask=(), agent=None, **bounds):
    """Play the beehive, and return the episode, its actions and what each role was asked."""
    answers = {"planner": planner, "checker": checker, "refiner": refiner, "ask": ask}
    models = {role: ScriptedModel(*texts) for role, texts in answers.items()}
    episode = play(agent or AdaPlannerAgent(TEXTCRAFT), models, **bounds)
    actions = [action for action, _ in episode.transcript if action and action != "inventory"]
    return (
        episode,
        actions,
        {
            role: [str(request["prompt"]) for request in model.asked]
            for role, model in models.items()
        },
    )


MADE = ["get 2 oak logs", *["craft 4 oak planks using 1 oak logs"] * 2]


def steps(node: Node) -> list[tuple[str, bool | None]]:
    return [(part.task, part.outcome) for part in node.walk() if part.role == "executor"]


@pytest.mark.parametrize(
    "written",
    [
        GOOD,
        f"I think so:\n```python\n{GOOD}```\nThat is all.",
        f"```\n{GOOD}",
        GOOD.removeprefix(HEAD),
        GOOD.removeprefix(HEAD).lstrip(),
        f"from ast import literal_eval\n{GOOD}\nsolution(agent)\n",
    ],
)
def test_adaplanner__plays_the_function(written: str):
    episode, actions, prompts = adaplanner(planner=[written])
    assert (episode.won, episode.claimed_success) == (True, None)
    assert actions == [*MADE, "get 3 honeycomb", "craft 1 beehive using 6 oak planks, 3 honeycomb"]
    assert episode.calls == {"planner": 1, "checker": 1}
    assert prompts["checker"][0].endswith(f"\n\n{CHECK}")
    titles = ["[Step 1] get logs", "[Step 2]", "[Step 3]", "[Step 4]"]
    # The game ends the episode in the last one, before it could say.
    assert steps(episode.trace) == [*((title, True) for title in titles[:3]), (titles[3], None)]


def test_adaplanner__goes_on_where_the_functions_differ_with_the_variables_that_it_had():
    counted = GOOD.replace("'6 oak planks, 3 honeycomb'", "f'{n + 4} oak planks, 3 honeycomb'")
    episode, actions, prompts = adaplanner(
        planner=[BAD], refiner=[counted, "Step 3, since honey is no honeycomb."]
    )
    assert episode.won
    assert actions == [
        *MADE,
        "get 3 honey",
        "get 3 honeycomb",
        "craft 1 beehive using 6 oak planks, 3 honeycomb",
    ]
    assert episode.calls == {"planner": 1, "checker": 1, "refiner": 2}
    assert [outcome for _, outcome in steps(episode.trace)] == [True, True, False, True, None]
    said = {
        part.role: [text for text in part.parts if isinstance(text, str)]
        for part in episode.trace.walk()
    }
    assert said["refiner"] == [counted, "Step 3, since honey is no honeycomb."]
    assert (said["planner"], said["checker"]) == ([BAD], ["no"])
    (feedback,) = [text for text in episode.trace.parts if isinstance(text, str)]
    assert feedback.startswith("In line 13, ")
    mended, changed = prompts["refiner"]
    assert BAD.strip("\n") in mended
    assert (
        "In line 13, assert agent.has('honeycomb') == 3, 'Error in [Step 3]: no honeycomb'\nError in [Step 3]"
        in mended
    )
    assert changed.endswith(FIRST_CHANGE)
    assert changed.index(BAD.strip("\n")) < changed.index(counted.strip("\n"))


def test_adaplanner__tells_the_report_of_a_message():
    _, _, prompts = adaplanner(planner=[GOOD.replace("n >= 2", "n >= 9")])
    assert (
        "Error in [Step 1]: 2 logs. The last actions and their answers:\nget 2 oak logs\nGot 2 oak logs\ninventory\n"
        "Inventory: [oak logs] (2)\n"
    ) in prompts["refiner"][0]


def test_adaplanner__begins_anew_after_some_tries():
    """It goes on at the step that is told in the first tries only, and drops the variables where it
    does not."""
    last = GOOD.replace("n = agent.has('oak logs')", "n = n + 1")
    tries = [BAD, "3", BAD, "3", last]
    episode, actions, _ = adaplanner(
        planner=[BAD], refiner=tries, agent=AdaPlannerAgent(TEXTCRAFT, tries=4, resets=2)
    )
    assert actions == [*MADE, *["get 3 honey"] * 2, *MADE, "get 3 honey", "get 2 oak logs"]
    assert episode.claimed_success is False
    assert episode.calls["refiner"] == 6  # the last answer, to which step differs, is no number


def test_adaplanner__has_the_first_function_checked():
    broken = GOOD.replace("assert n", "assert (n", 1)
    for checker, won in (
        (f"Yes.\n```python\n{GOOD}```", True),
        ("yes", False),
        ("no", False),
        (f"No\n{GOOD}", False),
    ):
        episode, _, _ = adaplanner(
            planner=[broken], checker=[checker], agent=AdaPlannerAgent(TEXTCRAFT, tries=1)
        )
        assert episode.won == won
    episode, actions, prompts = adaplanner(planner=[broken], refiner=[GOOD])
    assert episode.won
    assert episode.calls["refiner"] == 1  # nothing was played that a step could be kept of
    assert "this is no program: " in prompts["refiner"][0]
    assert len(actions) == 5


def test_adaplanner__asks_what_its_function_asks():
    asking = GOOD.replace(
        "agent.get('oak logs', 2)", "agent.get(ask(f'Which {1 + 1} logs?'), literal_eval(ask('?')))"
    )
    episode, _, prompts = adaplanner(planner=[asking], ask=[" oak logs\n", "2"])
    assert episode.won
    assert prompts["ask"] == ["Which 2 logs?\nAnswer:", "?\nAnswer:"]
    assert episode.calls["ask"] == 2


def test_adaplanner__is_told_that_nothing_failed_and_nothing_is_done():
    _, _, prompts = adaplanner(planner=[HEAD + LOGS], refiner=[GOOD, "2"])
    assert UNFINISHED in prompts["refiner"][0]


@pytest.mark.parametrize(
    "written",
    [
        "no program", "task failed!", "def solve(agent): pass", "import os\nos.system('x')", "x" * 100_000,
        HEAD + "    while True: pass", HEAD + "    while True: agent.inventory()", HEAD + "    import os",
        HEAD + "    agent.fly()", HEAD + "    agent.get(None, 1)", HEAD + "    agent.get('a')",
        HEAD + "    get('a', 1)",
        HEAD + "    ask()", HEAD + "    ask(agent)", HEAD + "    x = agent.play.node",
        HEAD + "    agent.get('a', agent)",
        HEAD + "    solution(agent)", HEAD + "    assert agent.has('a'), agent", HEAD + "    return 1",
        "{task} {source}",
        "def solution(): pass", "def solution(agent, start_from, more): pass", f"@x\n{HEAD}    pass",
        HEAD + "    assert 0, '{feedback}'", "\x00\ud800", "```", HEAD + "x" * 9000, HEAD + "    a = 1\n" * 5000,
    ],
)  # fmt: skip
def test_adaplanner__fails_and_does_not_break(written: str):
    episode, _, prompts_by_role = adaplanner(
        planner=[written], refiner=[written, "1"] * 9, max_steps=60
    )
    assert (episode.won, episode.error) == (False, None)
    assert episode.claimed_success is not True
    assert sum(episode.calls.values()) <= 12
    assert episode.steps <= 60
    assert all(
        len(prompt) < 3 * MAX_CHARACTERS
        for prompts in prompts_by_role.values()
        for prompt in prompts
    )


def test_adaplanner__shows_one_example_or_none():
    for examples in (0, 1):
        _, _, prompts = adaplanner(agent=AdaPlannerAgent(TEXTCRAFT, examples=examples, tries=1))
        assert (
            ("example" in prompts["planner"][0])
            == (prompts["planner"][0].count("def solution") == 2)
            == bool(examples)
        )
        assert "\n\nNow it is your turn." in prompts["planner"][0]
        assert "{" not in prompts["planner"][0].rpartition("Now it is your turn")[2]


def test_adaplanner__keeps_the_first_success_of_a_kind_as_text(tmp_path: Path):
    skills = tmp_path / "made" / "skills"
    agent = AdaPlannerAgent(TEXTCRAFT, examples=0, skills=str(skills), tries=2)
    adaplanner(planner=[HEAD + LOGS], refiner=[BAD, "1"], agent=agent)
    assert not skills.exists()
    adaplanner(planner=[BAD], refiner=[GOOD, "3"], agent=agent)
    (file,) = skills.iterdir()
    assert file.name == "task.txt"
    learned = file.read_text(encoding="utf-8")
    assert learned.startswith("Crafting commands:\n")
    assert learned.endswith(f"\n\nGoal: craft beehive.\n{GOOD}")
    _, _, prompts = adaplanner(planner=[GOOD.replace("n >= 2", "n > 1")], agent=agent)
    assert f"\n\n{learned}\nNow it is your turn" in prompts["planner"][0]
    assert file.read_text(encoding="utf-8") == learned
    file.write_bytes(b"raise \xff" + b"x" * 10**6)
    _, _, prompts = adaplanner(planner=[GOOD], agent=agent)
    assert "raise \ufffd" in prompts["planner"][0]
    assert len(prompts["planner"][0]) < 40_000


def test_adaplanner__wins_although_its_skill_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    agent = AdaPlannerAgent(TEXTCRAFT, examples=0, skills=tmp_path / "skills")
    episode, _, _ = adaplanner(planner=[GOOD], agent=agent)
    assert episode.won
    assert "The skill cannot be written: No space left on device" in str(episode.trace)
    assert list((tmp_path / "skills").iterdir()) == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"tries": 0}, "expected tries of 1 or more, got 0"),
        ({"resets": -1}, "expected resets of 0 or more, got -1"),
        ({"examples": 2}, "expected examples to be 0 or 1, got 2"),
        ({"examples": True}, "expected examples to be 0 or 1, got True"),
    ],
)
def test_adaplanner__says_which_number_is_out_of_bounds(args: dict, message: str):
    with pytest.raises(ValueError, match=message):
        AdaPlannerAgent(TEXTCRAFT, **args)


def test_adaplanner__needs_an_avatar():
    with pytest.raises(ValueError, match="there is no avatar for the game default"):
        AdaPlannerAgent(DEFAULT)


HOT = HEAD + (
    step(1, "print('[Step 1] find it')", "seen = agent.goto(agent.receptacles and 'countertop 1')",
         "assert agent.location == 'countertop 1' and 'plate 2' in seen, seen",
         "assert agent.put('plate 2', 'fridge 1') == None")
    + step(2, "agent.take('plate 2', 'countertop 1')", "agent.take('plate 2', 'countertop 1')",
           "assert agent.holding == 'plate 2', f'{agent.holding} at {agent.location}'")
    + step(3, "agent.goto('microwave 1')", "assert 'You heat' in agent.heat('plate 2', 'microwave 1'), agent.report()")
    + step(4, "seen = agent.goto('fridge 1')", "if 'closed' in seen: seen = agent.open_receptacle('fridge 1')",
           "agent.put('plate 2', 'fridge 1')")
)  # fmt: skip


def test_adaplanner__keeps_a_success_in_the_form_of_the_examples(tmp_path: Path):
    models = {role: ScriptedModel(text) for role, text in {"planner": HOT, "checker": "no"}.items()}
    agent = AdaPlannerAgent(ALFWORLD, skills=tmp_path)
    assert run_episode(gym.make("ALFWorld-v0"), agent, task=PLATE, seed=0, model=models).won
    learned = (tmp_path / "heat.txt").read_text(encoding="utf-8")
    opening, _, source = learned.partition("\ndef solution")
    bundled = agent.examples["heat"].partition("\ndef solution")[0]
    assert opening.startswith(bundled[:70])
    assert opening.rpartition("\n\n")[2].startswith("Your task is to: ")
    assert f"def solution{source}" == HOT


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_adaplanner__plays_in_a_household_of_either_dialect(dialect: str):
    env = gym.make("ALFWorld-v0", dialect=dialect)
    models = {role: ScriptedModel(text) for role, text in {"planner": HOT, "checker": "no"}.items()}
    episode = run_episode(env, AdaPlannerAgent(ALFWORLD), task=PLATE, seed=0, model=models)
    assert episode.won, episode.transcript
    assert episode.steps == 7
    shown = models["planner"].asked[0]["prompt"]
    assert "put a hot cup in diningtable" in shown  # the example is of the same kind


def test_adaplanner__wins_with_a_model_that_mends_its_searches():
    """Where a thing is not in its usual places, the model reads from the assertion which ones are
    left."""
    env = gym.make("ALFWorld-v0", split="valid_unseen", max_episode_steps=-1)
    jobs = [(task.id, 0) for task in env.get_wrapper_attr("tasks")[::6]]

    def played(**args: int):
        agent = make_agent("adaplanner", profile=ALFWORLD, args=args)
        return list(run_episodes([env], agent, jobs, model=Recorded("adaplanner_tries")))

    mended, once = played(), played(tries=1)
    wins = [sum(bool(episode.won) for episode in episodes) for episodes in (mended, once)]
    assert wins[0] > wins[1] > 0
    assert any(episode.won and episode.calls.get("refiner") for episode in mended)
