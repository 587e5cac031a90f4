from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.faults import Draws, Faults, with_claim, with_slips
from textcraft_gym.evaluation.episode import Episode
from textcraft_gym.evaluation.schedule import run_episodes
from textcraft_gym.registration import make_for

GAMES = {
    "alfworld": ("ALFWorld-v0", "valid_unseen"),
    "minetechtree": ("MineTechTree-v0", "core71"),
    "textcraft": ("TextCraft-v0", "test"),
    "webshop": ("WebShopLite-v0", "adapt_test"),
}
PLAYERS = [
    *((game, agent) for game in GAMES for agent in ("react", "adapt", "plan_and_execute", "reflexion")),
    *((game, agent) for game in ("alfworld", "minetechtree", "textcraft") for agent in ("deps", "zero_shot")),
    *((game, agent) for game in ("minetechtree", "textcraft") for agent in ("inner_monologue", "progprompt")),
]
CRAFTS = "Crafting commands:\ncraft 4 oak planks using 1 oak logs\ncraft 1 bowl using 3 oak planks"


@cache
def played(game: str, agent: str, model: SimulatedModel, tasks: int = 8) -> tuple[Episode, ...]:
    name, split = GAMES[game]
    player = make_agent(agent, profile=game, args={"rounds": 3} if agent in ("deps", "zero_shot") else {})
    env = make_for(player, name, split=split)
    listed = env.get_wrapper_attr("tasks")
    jobs = [(task.id, 0) for task in listed[:: max(1, len(listed) // tasks)]]
    return tuple(run_episodes([env], player, jobs, model=model))


def asked(agent: str, game: str, situation: str, task: str, model: SimulatedModel, **more: str) -> str:
    turns = more.pop("turns", "")
    prompt = Prompts().of(agent, game).fill(**{"situation": situation, "task": task, "information": "", **more})
    return model.complete(prompt + turns, stop=(), max_tokens=500, temperature=0.0, sample=0).text


def some(draws: int = 200, **faults: float) -> list[Draws]:
    return [Draws(Faults(**faults), seed, "a prompt") for seed in range(draws)]


def test_draws__have_the_probability_and_depend_on_seed_prompt_and_kind_alone():
    for probability in (0.0, 0.2, 1.0):
        share = sum(draws.errs("slip") for draws in some(2000, slip=probability)) / 2000
        assert share == pytest.approx(probability, abs=0.03)
    faults = Faults(slip=0.5, misjudge=0.5)
    assert len({Draws(faults, seed, "a").errs("slip") for seed in range(9)}) == 2
    assert len({Draws(faults, 0, prompt).errs("slip") for prompt in "abcdefghi"}) == 2
    drawn = some(99, slip=0.5, misjudge=0.5)
    assert len({(draws.errs("slip"), draws.errs("misjudge"), draws.errs("slip", "1")) for draws in drawn}) == 8


def test_simulated__draws_the_same_in_another_process():
    code = (
        "from textcraft_gym.agents.simulated import SimulatedModel\n"
        "from textcraft_gym.agents.prompts import Prompts\n"
        f"prompt = Prompts().of('react', 'textcraft').fill(situation={CRAFTS!r}, task='craft bowl', information='')\n"
        "for seed in range(40):\n"
        "    model = SimulatedModel(1, false_claim=0.5, seed=seed)\n"
        "    print(model.complete(prompt, stop=(), max_tokens=99, temperature=0.0, sample=seed).text)"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    models = [SimulatedModel(1, false_claim=0.5, seed=seed) for seed in range(40)]
    here = [asked("react", "textcraft", CRAFTS, "craft bowl", model) for model in models]
    assert told.splitlines() == here
    assert len(set(here)) == 2


@pytest.mark.parametrize(("game", "agent"), PLAYERS)
def test_simulated__without_faults_no_seed_matters(game: str, agent: str):
    plain, seeded = played(game, agent, SimulatedModel(4)), played(game, agent, SimulatedModel(4, seed=7))
    assert [episode.transcript for episode in plain] == [episode.transcript for episode in seeded]


@pytest.mark.parametrize(("game", "agent"), PLAYERS)
@pytest.mark.parametrize("probability", [0.15, 1.0])
def test_simulated__with_every_fault_it_neither_breaks_nor_goes_on_for_ever(game: str, agent: str, probability: float):
    options = {"false_claim": probability, "slip": probability, "misjudge": probability}
    episodes = played(game, agent, SimulatedModel(9, **options))
    assert all(episode.error is None for episode in episodes)
    assert all(episode.stop_reason != "max_calls" for episode in episodes)
    if probability < 1:
        again = list(played.__wrapped__(game, agent, SimulatedModel(9, **options)))
        assert [episode.transcript for episode in again] == [episode.transcript for episode in episodes]
        others = [played(game, agent, SimulatedModel(9, **options, seed=seed)) for seed in (1, 2, 3)]
        assert any([e.transcript for e in other] != [e.transcript for e in episodes] for other in others)


@pytest.mark.parametrize("game", GAMES)
def test_false_claim__takes_the_place_of_every_failure(game: str):
    honest, false = (played(game, "react", SimulatedModel(2, false_claim=probability)) for probability in (0.0, 1.0))
    assert not any(episode.claimed_success for episode in honest if not episode.won)
    lost = [episode for episode in false if not episode.won]
    assert lost
    assert all(episode.claimed_success for episode in lost)


@pytest.mark.parametrize(
    ("cue", "answer", "claim"),
    [
        (Cue.TURN, "task failed! 3 things", "Task completed!"),
        (Cue.NEXT_GOAL, "task failed! 3 things", "done"),
        (Cue.CHOICE, "0", "done"),
        (Cue.DETAIL_MATCH, "task failed! 3 things", "Yes, that is it."),
        (Cue.PLAN, "task failed! 3 things", "task failed! 3 things"),
        (Cue.TURN, "get 2 oak logs", "get 2 oak logs"),
        (Cue.DETAIL_MATCH, "No, I find 20% of it.", "No, I find 20% of it."),
    ],
)
def test_with_claim__claims_success_where_success_can_be_claimed(cue: Cue, answer: str, claim: str):
    draws = Draws(Faults(false_claim=1.0), 0, "")
    assert with_claim(answer, cue, progressed=True, draws=draws) == claim
    assert with_claim(answer, cue, progressed=True, draws=Draws(Faults(), 0, "")) == answer


def test_misjudge__takes_a_step_for_done_only_after_an_action_that_changed_something():
    model = SimulatedModel(99, misjudge=1.0)
    assert asked("react", "textcraft", CRAFTS, "craft bowl", model).startswith("think: for 1 bowl")
    got = " get 1 oak logs\nGot 1 oak logs\n>"
    assert asked("react", "textcraft", CRAFTS, "craft bowl", model, turns=got) == "Task completed!"
    refused = " get 1 x\nCould not find x\n>"
    assert asked("react", "textcraft", CRAFTS, "craft bowl", model, turns=refused) != "Task completed!"


NAMES = [["oak logs", "birch logs", "oak planks", "oak"], ["desk 1", "desk 10", "shelf 1"], ["mug 1", "pen 2"]]


COMMANDS = ["get 2 oak logs", "take mug 1 from desk 1", "go to desk 10", "craft 4 oak planks using 2 oak logs"]


@given(st.sampled_from(COMMANDS), st.integers(0, 10**6))
def test_slip__is_one_wrong_amount_or_one_wrong_name(command: str, seed: int):
    draws = Draws(Faults(slip=1.0), seed, command)
    slipped = with_slips(command, Cue.TURN, lambda: NAMES, draws)
    assert slipped != command

    def parts(text: str) -> list[str]:
        return re.findall(r"(?:mug|pen|desk|shelf) \d+|\d+|(?:oak|birch) (?:logs|planks)|oak|[a-z]+", text)

    before, after = parts(command), parts(slipped)
    assert len(before) == len(after)
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 1
    (old, new), *_ = changed
    assert (old.isdigit() and new.isdigit() and int(new) > 0) or any({old, new} <= set(group) for group in NAMES)


PLANS = {
    Cue.PLAN: "# Comment 2\nStep 1: get 2 oak logs\nStep 2: go to desk 1\nExecution Order: (Step 1 AND Step 2)",
    Cue.GOALS: "get({'oak logs': 2}, null, null); # step 1\ncraft({'oak planks': 8}, {'oak logs': 2}, null); # step 2",
    Cue.NUMBERED_STEPS: "#1 pick a mug at desk 1\n#2 put the mug in shelf 1",
    Cue.PROGRAM: "def plan():\n    assert count('oak logs') >= 2 else get('oak logs', 2)\n    craft('oak planks', 8)",
}


@pytest.mark.parametrize("cue", PLANS)
def test_slip__is_in_the_commands_of_a_plan_and_nowhere_else(cue: Cue):
    changed = set()
    for draws in some(60, slip=0.5):
        lines = with_slips(PLANS[cue], cue, lambda: NAMES, draws).splitlines()
        for old, new in zip(PLANS[cue].splitlines(), lines, strict=True):
            if old != new:
                changed.add(old)
                assert re.match(r"(?:Step \d: |#\d )?", old)[0] == re.match(r"(?:Step \d: |#\d )?", new)[0]
                assert old.partition(" # ")[1:] == new.partition(" # ")[1:]
    commands = [line for line in PLANS[cue].splitlines() if not line.startswith(("# ", "Execution", "def"))]
    assert changed == set(commands)


@pytest.mark.parametrize("cue", [Cue.CHOICE, Cue.EXPLANATION, Cue.SIMPLE_MATCH, Cue.DETAIL_MATCH])
def test_slip__leaves_judgements_and_thoughts_and_ends_alone(cue: Cue):
    certain = Draws(Faults(slip=1.0), 0, "")
    assert with_slips("2 oak logs", cue, lambda: NAMES, certain) == "2 oak logs"
    for line in ("think: for 2 oak logs", "Task completed!", "task failed! 2 things: oak logs", "inventory"):
        assert with_slips(line, Cue.TURN, lambda: NAMES, certain) == line


def test_slip__is_noticed_by_the_reply_and_mended():
    model = SimulatedModel(99)
    think = asked("react", "textcraft", CRAFTS, "craft bowl", model)
    planks = asked("react", "textcraft", CRAFTS, "craft bowl", model, turns=f" {think}\nOK.\n>")
    opened = f" {think}\nOK.\n> {planks}\nOK.\n>"
    for slip, reply, then in (
        ("get 1 oak planks", "Could not find oak planks", "get 1 oak logs"),
        ("get 1 bowl", "Could not find bowl", "get 1 oak logs"),
        ("get 2 oak logs", "Got 2 oak logs", "craft 4 oak planks using 1 oak logs"),
        ("get 1 oak logs", "Could not find oak logs", "task failed! I see no other way than get 1 oak logs"),
    ):
        assert asked("react", "textcraft", CRAFTS, "craft bowl", model, turns=f"{opened} {slip}\n{reply}\n>") == then


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("fault", ["slip", "misjudge", "false_claim"])
def test_simulated__wins_less_with_more_of_a_fault_but_not_nothing(game: str, fault: str):
    span = 5 if fault == "false_claim" else 99

    def wins(probability: float) -> int:
        runs = [played(game, "adapt", SimulatedModel(span, **{fault: probability}, seed=seed), 12) for seed in (0, 1)]
        return sum(bool(episode.won) for run in runs for episode in run)

    none, few, all_ = wins(0.0), wins(0.05), wins(1.0)
    # In a shop, who claims that a product is right buys one, and wins no less than who gives up.
    assert all_ < none or (game, fault) == ("webshop", "false_claim")
    assert all_ <= few
    assert few > 0


MUG = (
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 1, a desk 1, a fridge 1, and a "
    "microwave 1."
)


def test_misjudge__blames_another_place_and_looks_at_the_same_again():
    why = (
        '#1 pick a mug at desk 1\nI failed on step 1 "pick a mug at desk 1": No command serves.\n'
        "You are not carrying anything.\nWhy did it fail? Explain in a sentence or two."
    )
    prompt = Prompts().of("deps", "alfworld").fill(situation=MUG, task="put a mug in cabinet", information="")

    def explained(model: SimulatedModel, explain: bool = True) -> tuple[str, str]:
        how = {"stop": (), "max_tokens": 300, "temperature": 0.0, "sample": 0}
        said = model.complete(f"{prompt}\n{why}", **how).text if explain else ""
        mend = f"{prompt}\n{why.rpartition(chr(10))[0]}\n{said}\nMend this: write a new plan."
        return said, model.complete(mend, **how).text.splitlines()[0]

    said, elsewhere = explained(SimulatedModel(99))
    assert said == "What I looked for was not there."
    assert re.fullmatch(r"#1 pick a mug at (?!desk)\w+ 1", elsewhere)
    wrong = SimulatedModel(99, misjudge=1.0)
    assert explained(wrong) == ("It is there, and I did not look well.", "#1 pick a mug at desk 1")
    assert explained(wrong, explain=False)[1] == "#1 pick a mug at desk 1"


def test_misjudge__plans_first_for_what_is_wrongly_blamed():
    situation = f"{CRAFTS}\ncraft 1 mushroom stew using 1 bowl, 1 brown mushroom"
    prompt = Prompts().of("deps", "textcraft").fill(situation=situation, task="craft mushroom stew", information="")
    failed = "craft({'bowl': 1}, {'oak planks': 3}, null);"
    description = f'{failed}\nI failed on step 1 "{failed}": no\nInventory: [oak logs] (1)'
    how = {"stop": (), "max_tokens": 300, "temperature": 0.0, "sample": 0}

    def mended(model: SimulatedModel) -> tuple[str, str]:
        said = model.complete(f"{prompt}\n{description}\nWhy did it fail?", **how).text
        plan = model.complete(f"{prompt}\n{description}\n{said}\nMend this: write a new plan.", **how).text
        return said, plan.splitlines()[0]

    right = ("I did not have 3 oak planks.", "craft({'oak planks': 3}, {'oak logs': 1}, null); # step 1")
    assert mended(SimulatedModel(99)) == right
    wrong = {mended(SimulatedModel(99, misjudge=1.0, seed=seed)) for seed in range(20)}
    assert right not in wrong
    assert ("I did not have 1 brown mushroom.", "get({'brown mushroom': 1}, null, null); # step 1") in wrong


@settings(deadline=None)
@given(st.text(), st.integers(0, 99))
def test_with_slips__bears_any_text(text: str, seed: int):
    for cue in Cue:
        assert isinstance(with_slips(text, cue, lambda: [[text], ["", "a"]], Draws(Faults(slip=0.7), seed, text)), str)


@pytest.mark.parametrize(
    "options",
    [{"slip": -0.1}, {"slip": 2}, {"misjudge": "often"}, {"false_claim": True}, {"exempt_plan": 1}, {"seed": -1}],
)
def test_simulated__refuses_what_is_no_probability(options: dict):
    with pytest.raises(ValueError, match="expected"):
        SimulatedModel(5, **options)
