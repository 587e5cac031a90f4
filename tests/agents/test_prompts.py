"""What agents send, to the letter: in a short episode whose answers are written here.

``REGENERATE_GOLDEN=1 pytest tests/agents/test_prompts.py`` writes the files anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.agents.scripted import ScriptedModel, play
from textcraft_gym.agents import prompts as bundled
from textcraft_gym.agents.adaplanner.adaplanner import AdaPlannerAgent
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.adapt.plan_and_execute import PlanAndExecuteAgent
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.adapt.reflexion import ReflexionAgent
from textcraft_gym.agents.adapt.try_again import TryAgainAgent
from textcraft_gym.agents.autoplan.autoplan import AutoPlanAgent
from textcraft_gym.agents.contract.model import prompt_text
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.deps.deps import DEPAgent, DEPSAgent
from textcraft_gym.agents.deps.inner_monologue import InnerMonologueAgent
from textcraft_gym.agents.games import (
    ALFWORLD,
    DEFAULT,
    HOTPOTQA,
    MINETECHTREE,
    TABLETOP,
    TEXTCRAFT,
    WEBSHOP,
    game_names,
    load_profile,
)
from textcraft_gym.agents.games.alfworld.avatar import HouseholdAvatar
from textcraft_gym.agents.lats.lats import LATSAgent
from textcraft_gym.agents.prompts import PromptError, Prompts, Template
from textcraft_gym.agents.registry import AGENTS, find_agent, takes

GOLDEN = Path(__file__).parent / "golden"
PLAN = "Step 1: get 3 honeycomb\nStep 2: craft 8 oak planks\nExecution Order: (Step 1 AND Step 2)"

BEEHIVE = "minecraft:beehive"
PLATE = "pick_heat_then_place_in_recep-Plate-None-Fridge-5/trial_00001_receptacles10_distractors2_hidden0"
FIND = "Step 1: find and take a plate\nStep 2: heat it\nExecution Order: (Step 1 AND Step 2)"
FOUND = ["go to countertop 1", "take plate 2 from countertop 1", "Task completed!"]

CASE, COVER, FOLIO = "40-B0MG6PPCYP", "B0MG6PPCYP", "B08TPNMM1P"
SHOPPING = """Step 1: Search[tablet cover mint]
Step 2: SimpleMatch[tablet cover, mint green]
Step 3: Buy[mint green, orvane slate s7]
Execution Order: (Step 1 AND Step 2 AND Step 3)"""
DETAILS = f"""Step 1: DetailMatch[{FOLIO}, tablet cover]
Step 2: DetailMatch[{COVER}, tablet cover]
Step 3: Search[tablet cover]
Execution Order: (Step 1 OR Step 2 OR Step 3)"""
OPEN = ["think: a start", "search[tablet cover mint]", "click[b08tpnmm1p]"]

WOOD = "Step 1: mine 1 oak log\nStep 2: craft 4 oak planks\nExecution Order: (Step 1 AND Step 2)"
HIDES = "hunt({'leather': 4}, null, null); # step 1"
WEAR = "equip({'leather boots': 1}, {'leather boots': 1}, null); # step 2"

HONEY = """def solution(agent, start_from=1):
    if start_from <= 1:
        n = literal_eval(ask('How many?'))
    if start_from <= 2:
        agent.get('honey', n)
        assert agent.has('honey') == n, f'Error in [Step 2]: no honey. {agent.report()}'
"""
BOLD = """    if start_from <= 1:
        observation = agent.goto('countertop 1')
        assert agent.take('plate 9', 'countertop 1') == 'You pick it up.', f'Error in [Step 1]. {agent.report()}'"""

EPISODES = {
    "adaplanner": (
        BEEHIVE,
        AdaPlannerAgent(TEXTCRAFT, tries=2),
        {
            "planner": [HONEY],
            "checker": ["No."],
            "ask": ["3"],
            "refiner": [HONEY.replace("honey'", "honeycomb'"), "Step 2"],
        },
    ),
    "alfworld_adaplanner": (
        PLATE,
        AdaPlannerAgent(ALFWORLD, tries=2),
        {"planner": [BOLD[:-1]], "checker": [f"Yes.\n{BOLD}"], "refiner": ["I cannot."]},
    ),
    "react": (
        BEEHIVE,
        ReActAgent(TEXTCRAFT),
        {"executor": ["think: a start", "get 3 honeycomb", "fly", "task failed!"]},
    ),
    "adapt": (
        BEEHIVE,
        ADaPTAgent(TEXTCRAFT, settings=Settings(d_max=2)),
        {"executor": ["task failed!", "get 3 honeycomb", "Task completed!"], "planner": [PLAN]},
    ),
    "plan_and_execute": (
        BEEHIVE,
        PlanAndExecuteAgent(TEXTCRAFT),
        {"executor": ["get 3 honeycomb", "Task completed!", "task failed!"], "planner": [PLAN]},
    ),
    "try_again": (
        BEEHIVE,
        TryAgainAgent(TEXTCRAFT, settings=Settings(d_max=2)),
        {"executor": ["inventory", "task failed!", "get 1 honeycomb"]},
    ),
    "reflexion": (
        BEEHIVE,
        ReflexionAgent(TEXTCRAFT, settings=Settings(d_max=3)),
        {
            "executor": ["think: bees", "get 1 bee", "task failed!", "task failed!"],
            "reflection": ["Bees cannot be fetched.", "Nothing helped."],
        },
    ),
    "unknown_game": (
        BEEHIVE,
        ADaPTAgent(DEFAULT, settings=Settings(d_max=2)),
        {"executor": ["task failed!", "get 3 honeycomb", "Task completed!"], "planner": [PLAN]},
    ),
    "autoplan": (
        BEEHIVE,
        AutoPlanAgent(
            TEXTCRAFT,
            settings=Settings(turns=2),
            plan="1. Fetch {count} of each.\n2. Craft.",
            reflect="full",
        ),
        {
            "thought": ["Step 1.\nBees first.", "Still step 1."],
            "action": ["I get honeycomb", "fly"],
            "formalizer": ["get 3 honeycomb", "fly"],
            "summary": ["1. I got honeycomb."],
            "flaws": ["Nobody flies."],
            "revision": ["Craft the planks before."],
        },
    ),
    "alfworld_autoplan": (
        PLATE,
        AutoPlanAgent(ALFWORLD, settings=Settings(turns=1), reflect="full"),
        {
            "thought": ["To the counter."],
            "action": ["Walk to the counter"],
            "formalizer": ["go to countertop 1"],
            "summary": ["1. I went to a counter."],
            "flaws": ["I was slow."],
        },
    ),
    "hotpotqa_autoplan": (
        "q1",
        AutoPlanAgent(
            HOTPOTQA, settings=Settings(turns=2), plan="1. Search.\n2. Answer.", reflect="full"
        ),
        {
            "thought": ["Step 1.", "Still step 1."],
            "action": ["Search for the film", "Ines Calder"],
            "formalizer": ["search[Harrow Vale]", "search[Ines Calder]"],
            "summary": ["1. I found the director."],
            "flaws": ["No answer."],
            "revision": ["Answer in time."],
        },
    ),
    "hotpotqa_react": (
        "q1",
        ReActAgent(HOTPOTQA, form="numbered", settings=Settings(turns=4)),
        {
            "executor": [
                " The film.\nAction 1: Search[Harrow Vale]",
                " It is Quill Bay",
                " Finish[Quill Bay]",
            ]
        },
    ),
    "deps": (
        BEEHIVE,
        DEPSAgent(TEXTCRAFT, rounds=1),
        {
            "planner": ["get({'honeycomb': 3})\nmake a hive", "fly"],
            "explainer": ["I cannot."],
            "executor": [],
        },
    ),
    "alfworld_deps": (
        PLATE,
        DEPSAgent(ALFWORLD, rounds=0),
        {"planner": ["#1 pick a plate at countertop 1"], "controller": ["5", "0"], "executor": []},
    ),
    "alfworld_inner_monologue": (
        PLATE,
        InnerMonologueAgent(ALFWORLD, goals=2),
        {
            "planner": ["#1 pick a plate at countertop 1", "done"],
            "controller": ["5", "0"],
            "executor": [],
        },
    ),
    "alfworld_adapt": (
        PLATE,
        ADaPTAgent(ALFWORLD, settings=Settings(d_max=2)),
        {"executor": ["think: a start", "fly", "task failed!", *FOUND], "planner": [FIND]},
    ),
    "alfworld_plan_and_execute": (
        PLATE,
        PlanAndExecuteAgent(ALFWORLD),
        {"executor": FOUND, "planner": [FIND]},
    ),
    "alfworld_reflexion": (
        PLATE,
        ReflexionAgent(ALFWORLD, settings=Settings(d_max=2)),
        {
            "executor": ["go to fridge 1", "task failed!", "task failed!"],
            "reflection": ["It is not in the fridge."],
        },
    ),
    "webshop_adapt": (
        CASE,
        ADaPTAgent(WEBSHOP, settings=Settings(d_max=3)),
        {
            "planner": [SHOPPING, DETAILS],
            "simple_match": ["That it does not slip is not listed.\nnone"],
            "detail_match": [
                "No, it does not say mint green.",
                "Yes, the pad and the color are there.",
            ],
            "executor": ["click[mint green]", "click[orvane slate s7]", "click[buy now]"],
        },
    ),
    "minetechtree_react": (
        "bowl",
        ReActAgent(MINETECHTREE),
        {"executor": ["think: a start", "mine 1 oak log", "fly", "task failed!"]},
    ),
    "minetechtree_adapt": (
        "bowl",
        ADaPTAgent(MINETECHTREE, settings=Settings(d_max=2)),
        {"executor": ["task failed!", "mine 1 oak log", "Task completed!"], "planner": [WOOD]},
    ),
    "minetechtree_deps": (
        "leather_boots",
        DEPSAgent(MINETECHTREE, rounds=1),
        {"planner": [f"{HIDES}\n{WEAR}", "fly"], "explainer": ["I have no boots."], "executor": []},
    ),
    "minetechtree_inner_monologue": (
        "leather_boots",
        InnerMonologueAgent(MINETECHTREE),
        {"planner": [HIDES, WEAR, "fly", "done"], "executor": []},
    ),
    "tabletop_deps": (
        "stack-block-pyramid/0",
        DEPAgent(TABLETOP, rounds=1),
        {
            "planner": [
                "1. put the blue block on the lightest brown block\n2. put the pink block on the blue and white blocks",
                "fly",
            ],
            "explainer": ["The white block is not in the pyramid."],
            "executor": [],
        },
    ),
    "tabletop_inner_monologue": (
        "put-block-in-bowl/4",
        InnerMonologueAgent(TABLETOP),
        {
            "planner": [
                "1. put the red blocks in a red bowl",
                "fly",
                "2. put the gray blocks in a red bowl",
                "done",
            ]
        },
    ),
    "tabletop_react": (
        "put-block-in-bowl/4",
        ReActAgent(TABLETOP),
        {"executor": ["think: a start", "put the red blocks in a red bowl", "fly", "task failed!"]},
    ),
    "webshop_plan_and_execute": (
        CASE,
        PlanAndExecuteAgent(WEBSHOP),
        {"planner": [SHOPPING], "simple_match": [COVER], "executor": ["fly", "task failed!"]},
    ),
    "webshop_reflexion": (
        CASE,
        ReflexionAgent(WEBSHOP, settings=Settings(d_max=2)),
        {
            "executor": [*OPEN, "click[buy now]", "task failed!"],
            "reflection": [f"{FOLIO} was the wrong one."],
        },
    ),
    "lats": (
        BEEHIVE,
        LATSAgent(TEXTCRAFT, iterations=2, samples=1, root_samples=2, settings=Settings(turns=2)),
        {
            "executor": [
                " Honeycomb first.\nAction 1: get 3 honeycomb",
                " Honeycomb first.\nAction 1: get 3 honeycomb",
                " Enough.\nAction 2: task failed!",
                " I look.\nAction 2: inventory",
            ],
            "judge": ["It has begun. The score is 4."],
            "reflection": ["I gave up too early."],
        },
    ),
    "webshop_lats": (
        CASE,
        LATSAgent(WEBSHOP, iterations=2, samples=1, root_samples=1, settings=Settings(lookahead=2)),
        {
            "executor": [
                " I search.\nAction 1: search[tablet cover mint]",
                " The first.\nAction 2: Click[b08tpnmm1p]",
                " It fits.\nAction 3: click[buy now]",
                " The other.\nAction 2: click[b0mg6ppcyp]",
            ],
            "judge": ["The score is 5.", "The score is 6.", "The score is 8."],
            "reflection": [f"{FOLIO} was the wrong one."],
        },
    ),
}


@pytest.mark.parametrize("name", EPISODES)
def test_agent__sends_exactly_these_prompts(name: str):
    task, agent, answers = EPISODES[name]
    models = {role: ScriptedModel(*texts) for role, texts in answers.items()}
    play(agent, models, task)
    exchanges = ""
    for role, model in models.items():
        for request in model.asked:
            how = {key: request[key] for key in ("stop", "max_tokens", "temperature", "sample")}
            exchanges += f"=== {role} {how}\n{prompt_text(request['prompt'])}\n=== answers\n{request['answer']}\n"
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("REGENERATE_GOLDEN"):
        golden.write_text(exchanges, encoding="utf-8", newline="\n")
    assert exchanges == golden.read_text(encoding="utf-8")


SEARCHED = ["alfworld", "hotpotqa", "textcraft", "webshop", "default"]
PLANNED = {
    "adaplanner": ["alfworld", "minetechtree", "textcraft"],
    "best_of_n": SEARCHED,
    "chain_of_thought": ["hotpotqa", "minetechtree", "textcraft"],
    "code_as_policies": ["minetechtree", "textcraft"],
    "dep": ["alfworld", "minetechtree", "tabletop", "textcraft"],
    "deps": ["alfworld", "minetechtree", "tabletop", "textcraft"],
    "inner_monologue": ["alfworld", "minetechtree", "tabletop", "textcraft"],
    "lats": SEARCHED,
    "progprompt": ["minetechtree", "textcraft"],
    "tree_of_thoughts": SEARCHED,
    "zero_shot": ["alfworld", "minetechtree", "tabletop", "textcraft"],
}
"""The games of agents that do not play all."""


def test_prompts__are_there_for_every_agent_and_game():
    for name in AGENTS:
        if takes(name, "prompts"):
            for game in PLANNED.get(name, [*game_names(), "default"]):
                prompts = Prompts()
                find_agent(name)(load_profile(game), prompts)
                assert prompts.read
                assert all(text.isascii() for text in prompts.read.values())


COMMANDS = {
    "alfworld": "go open take move clean heat cool use inventory examine",
    "minetechtree": "mine hunt craft smelt equip inventory",
    "textcraft": "get craft inventory",
    "webshop": "search[ click[",
}


@pytest.mark.parametrize("game", COMMANDS)
def test_prompts__of_react_tell_each_command_and_show_most_of_them(game: str):
    """Those that only look around need no example."""
    instructions, _, shown = (
        Prompts().of("react", game).text.partition("{situation}")[0].partition("\nHere ")
    )
    commands = COMMANDS[game].split()
    for word in (*commands, "think:", "Task completed!", "task failed!"):
        assert word in instructions, word
    for word in commands:
        assert f"> {word}" in shown or word in ("examine", "inventory"), word


def test_prompts__of_a_folder_replace_the_bundled_ones(tmp_path: Path):
    (tmp_path / "react").mkdir()
    (tmp_path / "react" / "textcraft.txt").write_text(
        "{situation} and {task}, {other}\n{information}\n>\n"
    )
    prompts = Prompts(tmp_path)
    model = ScriptedModel()
    play(ADaPTAgent(TEXTCRAFT, prompts, settings=Settings(d_max=1)), {"executor": model})
    assert model.asked[0]["prompt"].endswith("3 honeycomb and craft beehive, {other}\n>")
    assert prompts.replaced == {"react/textcraft.txt"}
    assert set(prompts.read) == {
        "react/textcraft.txt",
        "adapt/textcraft.txt",
        "chat/textcraft.txt",
        "form/chat.txt",
        "form/tools.txt",
    }
    bundled = Prompts()
    ADaPTAgent(TEXTCRAFT, bundled)
    assert prompts.sha256 != bundled.sha256


GOAL_PLANNERS = {
    **dict.fromkeys(
        ("deps", "inner_monologue", "zero_shot"), ("alfworld", "minetechtree", "tabletop")
    ),
    **dict.fromkeys(("chain_of_thought", "code_as_policies", "progprompt"), ("minetechtree",)),
    "controller": ("alfworld",),
}
"""The short prompts of the planners of goals: those of the rows of DEPS's tables."""

SHORT_ALONE = {
    *(f"adaplanner/examples/alfworld_{kind}.txt" for kind in HouseholdAvatar.kinds),
    *(
        "adaplanner/alfworld.txt",
        "autoplan/alfworld.txt",
        "autoplan/hotpotqa.txt",
        "chain_of_thought/hotpotqa.txt",
        "react/hotpotqa_numbered.txt",
        "deps/minetechtree.txt",  # asks for another form of plan than that of zero-shot
    ),
    *(
        f"{prompt}/{game}.txt"
        for prompt in ("lats", "lats_value")
        for game in ("alfworld", "hotpotqa", "textcraft", "webshop")
    ),
}
"""Short prompts that are not the end of the standard one, which shows more or has the situation
last."""


def test_prompts__of_the_short_set_begin_with_the_situation():
    for name in SHORT_ALONE:
        agent, game = name.removesuffix(".txt").rsplit("/", 1)
        if agent.endswith("examples"):  # there are none
            assert Prompts("short").example(agent.partition("/")[0], game) == ""
        elif agent == "autoplan":
            assert "\n=== opening\n{situation}\n" in Prompts("short").of(agent, game).text
        else:
            assert Prompts("short").of(agent, game).text.startswith("{situation}\n")


def test_prompts__of_the_short_set_are_the_ends_of_the_standard_ones():
    folder = Path(bundled.__file__).parent
    short = {
        file.relative_to(folder / "short").as_posix(): file
        for file in (folder / "short").rglob("*.txt")
    }
    agents = ("adapt", "plan_and_execute", "react", "reflexion")
    games = {**dict.fromkeys(agents, game_names()), **GOAL_PLANNERS}
    ends = {f"{agent}/{game}.txt" for agent, of_agent in games.items() for game in of_agent}
    assert set(short) == ends | SHORT_ALONE
    for name, file in short.items():
        if name in SHORT_ALONE:
            continue
        text = file.read_text(encoding="utf-8")
        # Without the blank line, which is the standard prompt's.
        blank = "" if name.startswith("controller/") else "\n"
        ending = text.replace("{situation}\n", f"{{situation}}\n{blank}", 1)
        assert (folder / name).read_text(encoding="utf-8").endswith(f"\n\n{ending}"), name
        agent, game = name.removesuffix(".txt").split("/")
        assert Prompts("short", "0.3").of(agent, game).text == text.removesuffix("\n"), name


def test_prompts__that_a_set_lacks_are_the_standard_ones():
    short, standard = Prompts("short"), Prompts("standard")
    for agent, game in (("deps", "textcraft"), ("react", "default"), ("simple_match", "webshop")):
        assert short.of(agent, game) == standard.of(agent, game) == Prompts().of(agent, game)
    assert short.sha256 == standard.sha256
    assert (
        short.of("react", "textcraft")
        != standard.of("react", "textcraft")
        == Prompts().of("react", "textcraft")
    )
    assert short.sha256 != standard.sha256
    assert short.replaced == standard.replaced == set()


def test_prompts__of_a_folder_that_is_named_as_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "short" / "react").mkdir(parents=True)
    (tmp_path / "short" / "react" / "textcraft.txt").write_text("{situation}{task}{information}")
    monkeypatch.chdir(tmp_path)
    assert Prompts("./short").of("react", "textcraft").text == "{situation}{task}{information}"
    assert Prompts("short").of("react", "textcraft").text.endswith("\n>")


def test_prompts__say_what_is_wrong_with_them(tmp_path: Path):
    with pytest.raises(
        PromptError, match="nowhere is no folder of prompts, and no bundled set: standard, short"
    ):
        Prompts(tmp_path / "nowhere")
    (tmp_path / "react").mkdir()
    (tmp_path / "react" / "textcraft.txt").write_text("Goal: {goal}\n>")
    with pytest.raises(PromptError, match=r"lacks the placeholder \{situation\}"):
        ReActAgent(TEXTCRAFT, Prompts(tmp_path))
    with pytest.raises(PromptError, match=r"no prompt planner/textcraft.txt"):
        Prompts(tmp_path).of("planner", "textcraft")


def test_prompt__puts_values_in_their_places_once():
    prompt = Template("{situation}\n\n{information}\n{task}: {task} {n}\n{information}")
    filled = prompt.fill(situation="{task}", information="", task="x")
    assert filled == "{task}\n\nx: x {n}\n"
    assert prompt.fill(situation="s", information="i\nj", task="x") == "s\n\ni\nj\nx: x {n}\ni\nj"
