from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from textcraft_gym.agents import prompts as bundled
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.agents.simulated import SimulatedModel, alfworld, minetechtree, textcraft, webshop
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.manual import LINE_FORMS, Manual, in_own_words, read_manual
from textcraft_gym.evaluation.schedule import run_episodes
from textcraft_gym.registration import make_for

GAMES = {
    "alfworld": ("ALFWorld-v0", "valid_unseen"),
    "minetechtree": ("MineTechTree-v0", "core71"),
    "textcraft": ("TextCraft-v0", "test"),
    "webshop": ("WebShopLite-v0", "adapt_test"),
}
COMMANDS = {
    "alfworld": (alfworld, ["go", "open", "take", "move", "clean", "heat", "cool", "use", "inventory", "examine"]),
    "minetechtree": (minetechtree, ["mine", "hunt", "craft", "smelt", "equip", "inventory"]),
    "textcraft": (textcraft, ["get", "craft", "inventory"]),
    "webshop": (webshop, ["search[", "click["]),
}
MARKERS = ["think:", "Task completed!", "task failed!"]
EXAMPLES = re.compile(r"^(?:Here (?:is|are) |An example)", re.MULTILINE)
TEMPLATES = {
    path.relative_to(files(bundled)).as_posix(): path.read_text(encoding="utf-8")
    for path in Path(str(files(bundled))).glob("*/*.txt")
    if path.parent.name not in ("chat", "form")  # what chat models are told before a game, in which no situation stands
}
EMPTY = Manual("", "")


def without_manual(text: str) -> str:
    return text[text.index("{situation}") :]


def without_demonstrations(text: str) -> str:
    found = EXAMPLES.search(text)
    return f"{text[: found.start()]}{without_manual(text)}" if found else text


@cache
def wins(game: str, agent: str, span: int, change: str = "", folder: Path | None = None) -> int:
    if change and folder:
        for name, text in TEMPLATES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(globals()[change](text), encoding="utf-8")
    name, split = GAMES[game]
    player = make_agent(agent, profile=game, prompts=Prompts(folder))
    env = make_for(player, name, split=split)
    tasks = env.get_wrapper_attr("tasks")
    jobs = [(task.id, 0) for task in tasks[:: max(1, len(tasks) // 20)]]
    return sum(bool(episode.won) for episode in run_episodes([env], player, jobs, model=SimulatedModel(span)))


@pytest.mark.parametrize("agent", ["react", "adapt"])
@pytest.mark.parametrize("game", GAMES)
def test_simulated__plays_worse_without_instructions_or_demonstrations(game: str, agent: str, tmp_path: Path):
    shipped = wins(game, agent, 6)
    assert wins(game, agent, 6, "without_manual", tmp_path / "bare") == 0
    assert wins(game, agent, 6, "without_demonstrations", tmp_path / "told") < shipped


@pytest.mark.parametrize("game", ["minetechtree", "textcraft"])
@pytest.mark.parametrize("agent", ["deps", "inner_monologue", "progprompt"])
def test_simulated__plans_worse_without_instructions_or_demonstrations(game: str, agent: str, tmp_path: Path):
    shipped = wins(game, agent, 6)
    assert wins(game, agent, 6, "without_manual", tmp_path / "bare") == 0
    assert wins(game, agent, 6, "without_demonstrations", tmp_path / "told") < shipped


def manual_of(name: str, game: str) -> Manual:
    template = Prompts().of(name, game)
    values = dict.fromkeys(("situation", "information", "transcript", "commands"), "")
    mark = COMMANDS[game][0].MARK
    return read_manual(template.fill(**{**values, "situation": mark, "task": "do it"}), mark)


@pytest.mark.parametrize("game", GAMES)
def test_manual__of_the_bundled_executors_lacks_nothing(game: str):
    manual = manual_of("react", game)
    commands = COMMANDS[game][1]
    assert [form for form in [*commands, *MARKERS] if not manual.tells(re.escape(form))] == []
    played = [form for form in commands if form not in ("examine", "inventory")]
    assert manual.unseen(played) == []
    assert game != "alfworld" or manual.tells("likel")
    assert game != "webshop" or manual.tells("option")


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_manual__of_the_bundled_planners_shows_the_form_of_their_lines(name: str):
    agent, game = name.removesuffix(".txt").split("/")
    if game not in GAMES:
        return
    forms = {
        "adapt": [Cue.PLAN],
        "plan_and_execute": [Cue.PLAN],
        "deps": [] if game == "alfworld" else [Cue.GOALS],
        "chain_of_thought": [Cue.GOALS],
        "code_as_policies": [Cue.PROGRAM],
        "progprompt": [Cue.PROGRAM],
    }
    manual = manual_of(agent, game)
    assert all(manual.shows(LINE_FORMS[cue]) for cue in forms.get(agent, []))
    if forms.get(agent) == [Cue.PLAN]:
        plan = "Step 1: a\nStep 2: b\nExecution Order: (Step 1 OR Step 2)"
        assert in_own_words(plan, Cue.PLAN, manual) == plan


def test_manual__is_what_stands_above_the_task_and_shows_what_follows_the_word_example():
    prompt = (
        "Write get or mend.\n\nHere is an example.\n\nCrafting commands:\nx\n\nGoal: craft a.\n> get a\n\n"
        "Crafting commands:\ncraft b\n\nGoal: craft c.\n> fetch d\nOK.\n>"
    )
    manual = read_manual(prompt, textcraft.MARK)
    assert [form for form in ("get", "mend", "craft", "fetch") if manual.tells(form)] == ["get", "mend", "craft"]
    assert manual.unseen(["get", "mend", "craft", "get"]) == ["mend"]
    bare = read_manual(prompt[prompt.rindex("Crafting") :], textcraft.MARK)
    assert (bare.tells("get"), bare.tells("craft b"), bare.demonstrations) == (False, True, "")


@pytest.mark.parametrize(
    ("cue", "answer", "own"),
    [
        (Cue.TURN, "think: for 1 bowl", "for 1 bowl"),
        (Cue.TURN, "Task completed!", "That is all."),
        (Cue.TURN, "task failed! I see no way.", "I see no way."),
        (Cue.TURN, "go to desk 1", "I go to desk 1"),
        (Cue.TURN, "search[red mug]", "I search red mug"),
        (Cue.PLAN, "Step 1: a\nStep 2: b\nExecution Order: (Step 1 OR Step 2)", "- a\n- b"),
        (Cue.NUMBERED_STEPS, "#1 pick a mug at desk 1", "- pick a mug at desk 1"),
        (Cue.GOALS, "get({'oak logs': 2}, null, null); # step 1", "get oak logs 2 null null step 1"),
        (Cue.PROGRAM, "get('oak logs', 2)", "get oak logs 2"),
        (Cue.NEXT_GOAL, "done", "That is all."),
        (Cue.CHOICE, "3", "The one that fits."),
        (Cue.SIMPLE_MATCH, "B000000001", "The one that fits."),
        (Cue.DETAIL_MATCH, "Yes, I find 90% of it.", "I find 90% of it."),
        (Cue.EXPLANATION, "I did not have 1 x.", "I did not have 1 x."),
    ],
)
def test_in_own_words__uses_only_forms_that_were_read(cue: Cue, answer: str, own: str):
    assert in_own_words(answer, cue, EMPTY) == own
    assert in_own_words(answer, cue, Manual(f"{answer}\nYes, a number, done, think: search[ OR", "")) == answer


def test_in_own_words__joins_by_or_only_where_or_was_read():
    plan = "Step 1: a\nStep 2: b\nExecution Order: (Step 1 OR Step 2)"
    told = Manual("Step 1, then the Execution Order, or not", "")
    assert in_own_words(plan, Cue.PLAN, told) == "Step 1: a\nStep 2: b"
    both = plan.replace("OR", "AND")
    assert in_own_words(both, Cue.PLAN, told) == both


ROOM = "You are in the middle of a room. Looking quickly around you, you see a desk 1, a bed 1, and a sinkbasin 1."


def in_the_room(manual: str, task: str, span: int = 99) -> str:
    prompt = f"{manual}\n\n{ROOM}\n\nYour task is to: {task}\n>"
    return SimulatedModel(span).complete(prompt, stop=(), max_tokens=99, temperature=0.0, sample=0).text


def test_simulated__keeps_in_mind_what_was_told_but_never_shown():
    told = "You can think: and go, take, move and clean. Say task failed! or Task completed!"
    whole = f"{ROOM}\n\nYour task is to: clean some cup and put it in bed\n> go to desk 1\n> take cup 1 from desk 1\n"
    shown = f"{told}\n\nHere is an example.\n\n{whole}> clean cup 1 with sinkbasin 1\n> move cup 1 to bed 1"
    task = "clean some mug and put it in desk"
    assert "mug, sinkbasin, desk, go, take, clean, move in mind" in in_the_room(told, task)
    assert "I keep mug, desk in mind" in in_the_room(shown, task)
    assert "I keep mug, desk, the end in mind" not in in_the_room(shown, task)
    assert "I keep mug, the end in mind" in in_the_room(shown, "find and take a mug")
    assert "5 things to keep in mind, and I keep 4" in in_the_room(told, "put a mug in desk", span=4)
    assert in_the_room("", task).startswith("to clean some mug")


def test_simulated__looks_in_alphabetical_order_unless_it_is_told_to_begin_with_the_likeliest_place():
    told = "You can think: and go. For example, go to desk 1. take it"
    assert "may be in the bed" in in_the_room(told, "find and take a mug")
    assert "may be in the desk" in in_the_room(f"{told} Look first where it is likeliest.", "find and take a mug")
