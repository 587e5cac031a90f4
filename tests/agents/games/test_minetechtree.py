"""Plans for the tech tree, as they are pursued: what is played for a goal, and what the planner
reads of it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.contract.agent import Act, Agent, Node, Play, Step
from textcraft_gym.agents.contract.controller import Scene, Subgoal
from textcraft_gym.agents.deps.code_as_policies import CodeAsPoliciesAgent, ProgPromptAgent
from textcraft_gym.agents.deps.deps import WHY, DEPAgent, DEPSAgent
from textcraft_gym.agents.deps.replanner import REPLAN
from textcraft_gym.agents.deps.zero_shot import ZeroShotAgent
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.games.minetechtree.controller import TechTreeController
from textcraft_gym.agents.games.minetechtree.knowledge import read_around
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.goals import MAX_COUNT, MAX_GOALS, Goal, is_reached, parse_goals

LONG = 10**6
"""Ticks in which all can be done."""
LOOKS = ("look", "inventory")

TABLE = """
craft({'planks': 12}, {'log': 3}, null); # step 2
craft({'crafting table': 1}, {'planks': 4}, null); # step 3
"""
PICKAXE = f"""
mine({{'log': 3}}, null, null); # step 1
{TABLE}
craft({{'stick': 4}}, {{'planks': 2}}, null);
craft({{'wooden pickaxe': 1}}, {{'planks': 3, 'stick': 2}}, 'crafting table');
"""
IRON = f"""
{PICKAXE}
mine({{'cobblestone': 11}}, null, 'wooden pickaxe');
craft({{'stone pickaxe': 1}}, {{'cobblestone': 3, 'stick': 2}}, 'crafting table');
mine({{'iron ore': 1}}, null, 'stone pickaxe');
craft({{'furnace': 1}}, {{'cobblestone': 8}}, 'crafting table');
smelt({{'iron ingot': 1}}, {{'iron ore': 1, 'planks': 1}}, 'furnace');
"""
BURNING = f"""
mine({{'log': 4}}, null, null);
{TABLE}
craft({{'stick': 8}}, {{'planks': 4}}, null);
craft({{'wooden pickaxe': 1}}, {{'planks': 3, 'stick': 2}}, 'crafting table');
mine({{'log': 2}}, null, null);
craft({{'planks': 3}}, {{'log': 1}}, null);
mine({{'coal': 1}}, null, 'wooden pickaxe');
mine({{'cobblestone': 11}}, null, 'wooden pickaxe');
craft({{'furnace': 1}}, {{'cobblestone': 8}}, 'crafting table');
"""
"""Leads to 3 cobblestone and all that burns."""

PLANS = {
    "bowl": "mine({'log': 2}, null, null)\ncraft({'planks': 8})\ncraft({'crafting table': 1})\ncraft({'bowl': 1})",
    "stone_pickaxe": f"""{PICKAXE}
        mine({{'cobblestone': 3}}, null, 'wooden pickaxe');
        craft({{'stone pickaxe': 1}}, {{'cobblestone': 3, 'stick': 2}}, 'crafting table');""",
    "leather_boots": f"""hunt({{'leather': 4}}, null, null);
        mine({{'log': 3}}, null, null);
        {TABLE}
        craft({{'leather boots': 1}}, {{'leather': 4}}, 'crafting table');
        equip({{'leather boots': 1}}, {{'leather boots': 1}}, null);""",
    "iron_nugget": f"{IRON}\ncraft({{'iron nugget': 9}}, {{'iron ingot': 1}}, null);",
    "torch": f"""{PICKAXE}
        mine({{'coal': 1}}, null, 'wooden pickaxe');
        craft({{'torch': 1}}, {{'coal': 1, 'stick': 1}}, null);""",
    "oak_boat+chest": """
        mine({'oak log': 5}, null, null);
        craft({'oak planks': 20}, {'oak log': 5}, null);
        craft({'crafting table': 1}, {'oak planks': 4}, null);
        craft({'oak boat': 1}, {'oak planks': 5}, 'crafting table');
        craft({'chest': 1}, {'planks': 8}, 'crafting table');""",
}


def played(
    agent: Agent, *answers: str, task: str = "diamond", seed: int = 0, **options: Any
) -> Episode:
    """Play with a model that says this; nothing may break."""
    return watched(agent, *answers, task=task, seed=seed, **options)[0]


def watched(
    agent: Agent, *answers: str, task: str = "diamond", seed: int = 0, **options: Any
) -> tuple[Episode, list[str]]:
    """Play, and return the last message of each question, too."""
    env = gym.make(
        "MineTechTree-v0", max_episode_steps=-1, **getattr(agent, "env_args", {}), **options
    )
    model = ScriptedModel(*answers)
    episode = run_episode(env, agent, task=task, seed=seed, model=model)
    assert episode.error is None, episode.traceback
    return episode, [question["prompt"][-1].content for question in model.asked]


def actions(episode: Episode) -> list[str]:
    """Return what was played, but for looking."""
    return [action for action, _ in episode.transcript if action and action not in LOOKS]


def pursued(plan: str, **options: Any) -> list[str]:
    """Return what a plan has played, with time for all of it."""
    return actions(played(ZeroShotAgent(MINETECHTREE), plan, ticks=LONG, **options))


def goal(line: str) -> Goal:
    return parse_goals(line)[0]


def scene(around: dict[str, int] | None = None, **held: int) -> Scene:
    return Scene(
        {name.replace("_", " "): count for name, count in held.items()}, "", "", around or {}
    )


def executed(node: Node) -> list[tuple[str, bool | None]]:
    return [(part.task, part.outcome) for part in node.walk() if part.role == "executor"]


CONTROLLER = TechTreeController(Prompts())
FIRST = Step("", 0.0, False, False, {})


@pytest.mark.parametrize(
    "agent", [DEPSAgent(MINETECHTREE, rounds=0), ZeroShotAgent(MINETECHTREE)], ids=["deps", "zs"]
)
@pytest.mark.parametrize("task", PLANS)
def test_plan__wins_its_task(task: str, agent: Agent):
    episode = played(agent, PLANS[task], task=task)
    assert (episode.won, episode.stop_reason) == (True, "terminated")


@pytest.mark.parametrize("selector", ["random", "nearest", "learned"])
def test_plan__wins_in_the_order_that_any_selector_finds(selector: str):
    episode = played(
        DEPSAgent(MINETECHTREE, rounds=0, selector=selector),
        PLANS["iron_nugget"],
        task="iron_nugget",
    )
    assert episode.won


def test_plan__is_played_as_it_says():
    wood = pursued(PLANS["stone_pickaxe"])[0].split(" ", 2)[2].removesuffix(" log")
    assert pursued(PLANS["stone_pickaxe"]) == [
        f"mine 3 {wood} log",
        f"craft 12 {wood} planks using 3 {wood} log",
        f"craft 1 crafting table using 4 {wood} planks",
        f"craft 4 stick using 2 {wood} planks",
        f"craft 1 wooden pickaxe using 2 stick, 3 {wood} planks",
        "mine 3 cobblestone with wooden pickaxe",
        "craft 1 stone pickaxe using 3 cobblestone, 2 stick",
    ]


def test_log__is_of_the_nearest_trees():
    env = gym.make("MineTechTree-v0")
    for seed in range(5):
        around = read_around(env.reset(seed=seed, options={"task": "diamond"})[0])
        trees = [name.removesuffix(" trees") for name in around if name.endswith(" trees")]
        program = played(CodeAsPoliciesAgent(MINETECHTREE), "mine('log', 2)", seed=seed)
        assert actions(program) == [f"mine 2 {trees[0]} log"]
        assert pursued("mine({'log': 2}, null, null)", seed=seed) == [f"mine 2 {trees[0]} log"]


def test_names__that_players_use_are_known_in_all_places_of_a_line():
    plan = [
        "mine({'wood': 1})",
        "craft({'planks': 4}, {'wood': 1})",
        "craft({'table': 1}, {'plank': 4})",
    ]
    words = [
        "mine({'log': 1})",
        "craft({'planks': 4}, {'log': 1})",
        "craft({'crafting table': 1}, {'planks': 4})",
    ]
    assert pursued("\n".join(plan)) == pursued("\n".join(words))
    assert len(pursued("\n".join(plan))) == 3


MIXED = "mine({'oak log': 2})\nmine({'birch log': 1})\ncraft({'planks': 12}, {'log': 3}, null)\n"


def test_planks__of_two_kinds_of_log_take_two_commands():
    assert pursued(MIXED)[2:] == [
        "craft 8 oak planks using 2 oak log",
        "craft 4 birch planks using 1 birch log",
    ]


def test_planks__are_made_of_no_more_logs_than_it_takes():
    plan = "mine({'oak log': 3})\ncraft({'planks': 5}, {'log': 3}, null)\ncraft({'planks': 9}, {'log': 3}, null)"
    assert pursued(plan)[1:] == [
        "craft 8 oak planks using 2 oak log",
        "craft 4 oak planks using 1 oak log",
    ]


def test_woods__are_mixed_where_any_will_do():
    plan = (
        MIXED
        + "craft({'crafting table': 1}, {'planks': 4}, null)\ncraft({'chest': 1}, {'planks': 8}, null)"
    )
    assert pursued(plan)[-2:] == [
        "craft 1 crafting table using 4 oak planks",
        "craft 1 chest using 4 oak planks, 4 birch planks",
    ]


def test_woods__are_those_that_the_plan_names():
    assert pursued(MIXED + "craft({'stick': 12}, {'birch planks': 6}, null)")[-1] == (
        "craft 12 stick using 4 birch planks, 2 oak planks"
    )
    assert (
        pursued(MIXED + "craft({'stick': 12}, {'planks': 6}, null)")[-1]
        == "craft 12 stick using 6 oak planks"
    )


def test_kind__is_reached_by_whatever_of_it_is_held():
    assert (
        pursued(
            "mine({'oak log': 1})\nmine({'birch log': 1})\nmine({'log': 2})\nmine({'logs': 2})"
        )[2:]
        == []
    )
    assert pursued("hunt({'white wool': 2})\nhunt({'wool': 2})\nhunt({'wool': 3})")[1:] == [
        "hunt 1 white wool"
    ]


@pytest.mark.parametrize(
    ("uses", "burnt"),
    [
        ("{'cobblestone': 3, 'coal': 1}", "1 coal"),
        ("{'cobblestone': 3, 'planks': 2}", "2 {} planks"),
        ("{'cobblestone': 3, 'log': 2}", "2 {} log"),
        ("{'cobblestone': 3, 'stick': 6}", "6 stick"),
        ("{'coal': 3, 'stick': 6}", "6 stick"),
        ("{'cobblestone': 3}", "2 {} planks"),
        ("null", "2 {} planks"),
    ],
)
def test_fuel__is_what_the_plan_says_or_planks(uses: str, burnt: str):
    episode = pursued(f"{BURNING}\nsmelt({{'stone': 3}}, {uses}, 'furnace')")
    wood = episode[0].split(" ", 2)[2].removesuffix(" log")
    assert episode[-1] == f"smelt 3 stone using 3 cobblestone, {burnt.format(wood)}"


@pytest.mark.parametrize(
    ("held", "burnt"),
    [
        ({"stick": 9, "coal": 1, "oak log": 1}, "1 coal"),
        ({"stick": 9, "coal": 1, "birch planks": 1}, "1 birch planks"),
        ({"stick": 9, "oak log": 1}, "1 oak log"),
        ({"stick": 9}, "2 stick"),
        ({}, "1 oak planks"),
    ],
)
def test_fuel__is_else_what_one_would_rather_burn(held: dict[str, int], burnt: str):
    pursuing = CONTROLLER.pursue(Play(FIRST), goal("smelt({'stone': 1})"), Scene(held, ""))
    assert next(pursuing) == Act(f"smelt 1 stone using 1 cobblestone, {burnt}")


def test_tool__is_the_one_of_the_plan_and_else_the_best():
    best = IRON + "mine({'cobblestone': 1})\nmine({'cobblestone': 2}, null, 'wooden pickaxe')"
    assert pursued(best)[-2:] == ["mine 1 cobblestone", "mine 1 cobblestone with wooden pickaxe"]


REFUSED = [
    (
        "mine({'cobblestone': 3}, null, 'wooden pickaxe')",
        "mine cobblestone",
        "requires 1 wooden pickaxe",
    ),
    ("mine({'cobblestone': 3}, null, null)", "mine cobblestone", "requires wooden pickaxe"),
    ("mine({'cobblestone': 3}, null, 'ladle')", "mine cobblestone", "there is no ladle"),
    (
        "craft({'chest': 1}, {'planks': 8}, 'crafting table')",
        "craft chest",
        "requires 8 oak planks",
    ),
    ("craft({'planks': 5}, {'log': 2}, null)", "craft oak planks", "requires 2 oak log"),
    (
        "mine({'oak log': 2})\ncraft({'planks': 8})\ncraft({'chest': 1}, {'planks': 8}, 'crafting table')",
        "craft chest",
        "requires crafting table",
    ),
    (
        "mine({'oak log': 1})\nhunt({'beef': 1})\nsmelt({'cooked beef': 1}, {'beef': 1, 'log': 1}, 'furnace')",
        "smelt cooked beef",
        "requires furnace",
    ),
    ("equip({'shield': 1}, {'shield': 1}, null)", "equip shield", "requires 1 shield"),
]


@pytest.mark.parametrize("feedback", ["reason", "terse"])
@pytest.mark.parametrize(("plan", "what", "why"), REFUSED)
def test_failure__is_told_in_the_words_of_the_environment(
    plan: str, what: str, why: str, feedback: str
):
    agent = DEPSAgent(MINETECHTREE, rounds=1, selector="fixed", feedback="reason")
    episode, messages = watched(agent, plan, "Because.", ticks=LONG, feedback=feedback)
    *done, failed = plan.splitlines()
    said = f"I succeeded on step {', '.join(map(str, range(1, len(done) + 1)))}. " if done else ""
    answer = f"Could not {what}: {why}" if feedback == "reason" else f"Could not {what}"
    inventory = episode.transcript[-1][1]
    assert (
        messages[1]
        == f'{said}I failed on step {len(done) + 1} "{failed}": {answer}\n{inventory}\n{WHY}'
    )
    assert messages[2] == REPLAN.format(task="obtain 1 diamond")
    assert (episode.won, episode.claimed_success) == (False, False)


@pytest.mark.parametrize(("plan", "what", "why"), REFUSED)
def test_failure__is_left_to_the_model_to_explain(plan: str, what: str, why: str):
    _, messages = watched(
        DEPSAgent(MINETECHTREE, rounds=1, selector="fixed"), plan, "Because.", ticks=LONG
    )
    failed = plan.splitlines()[-1]
    assert f' "{failed}".\nInventory: ' in messages[1].replace('I failed on step 1 "', ' "')
    assert what not in messages[1]
    assert why not in messages[1]


def test_miss__is_a_failure_like_any_other_and_is_planned_again():
    line = "mine({'oak log': 1})"
    env_args = {"reliability": {"log": 0.4}, "task": "diamond"}
    replans = []
    for seed in range(30):
        agent = DEPSAgent(MINETECHTREE, selector="fixed")
        episode, messages = watched(agent, *[line, "Because."] * 13, seed=seed, **env_args)
        missed = [answer for action, answer in episode.transcript if action == "mine 1 oak log"][
            :-1
        ]
        assert all(answer.startswith("Failed to mine oak log") for answer in missed)
        assert all(f'I failed on step 1 "{line}".\n' in said for said in messages[1::2])
        replans.append(len(missed))
    assert 0 in replans
    assert max(replans) >= 3


def test_failure__tells_of_trees_that_are_nowhere():
    env = gym.make("MineTechTree-v0")
    seed = next(
        n for n in range(50) if "acacia" not in env.reset(seed=n, options={"task": "diamond"})[0]
    )
    _, messages = watched(
        ZeroShotAgent(MINETECHTREE, rounds=1, feedback="reason"),
        "mine({'acacia log': 1})",
        seed=seed,
    )
    assert "Could not mine acacia log: there are no acacia trees in this world\n" in messages[1]


@pytest.mark.parametrize(
    ("line", "played"),
    [
        ("mine({'oak_logs': 1}, null, null)", "mine 1 oak log"),
        ("mine({'minecraft:birch_log': 2}, null, null)", "mine 2 birch log"),
        ("hunt({'raw_beef': 1}, null, null)", "hunt 1 beef"),
        ("hunt({'wool': 1}, null, null)", "hunt 1 white wool"),
        (
            "craft({'wood pickaxe': 1}, null, null)",
            "craft 1 wooden pickaxe using 2 stick, 3 oak planks",
        ),
        (
            "smelt({'iron ingots': 2}, null, null)",
            "smelt 2 iron ingot using 2 iron ore, 2 oak planks",
        ),
        ("mine({'coal ore': 1}, null, null)", "mine 1 coal"),
        ("craft({'wooden_slab': 1}, null, null)", "craft 6 oak slab using 3 oak planks"),
        ("craft({'workbench': 1}, null, null)", "craft 1 crafting table using 4 oak planks"),
    ],
)
def test_name__is_taken_for_the_known_one_that_is_most_like_it(line: str, played: str):
    assert pursued(line) == [played]


@pytest.mark.parametrize("verb", ["mine", "hunt", "craft", "smelt", "equip", "get"])
def test_name__that_is_like_none_is_not_known(verb: str):
    line = f"{verb}({{'unobtainium': 1}}, null, null)"
    episode, messages = watched(ZeroShotAgent(MINETECHTREE, rounds=1, feedback="reason"), line)
    assert messages[1].startswith(
        f'I failed on step 1 "{line}": I do not know unobtainium.\nInventory: '
    )
    assert actions(episode) == []


@pytest.mark.parametrize(
    ("line", "played"),
    [
        ("craft({'oak log': 1})", "mine 1 oak log"),
        ("mine({'leather': 1})", "hunt 1 leather"),
        ("get({'white wool': 1})", "hunt 1 white wool"),
        ("craft({'cobblestone': 3})", "mine 3 cobblestone"),
        ("craft({'iron ingot': 1})", "smelt 1 iron ingot using 1 iron ore, 1 oak planks"),
        ("smelt({'stick': 3})", "craft 4 stick using 2 oak planks"),
    ],
)
def test_verb__that_is_wrong_does_not_matter(line: str, played: str):
    assert pursued(line) == [played]


def test_goal__that_is_reached_plays_nothing():
    plan = "hunt({'leather': 2})\nhunt({'beef': 2})\nhunt({'leather': 1})\nhunt({'leather': 3})"
    episode = played(ZeroShotAgent(MINETECHTREE), plan, ticks=LONG)
    assert actions(episode) == ["hunt 2 leather", "hunt 1 leather"]
    assert [outcome for _, outcome in executed(episode.trace)] == [True] * 4
    assert episode.claimed_success is True


def test_goal__of_several_things_counts_what_the_first_gave_and_used_up():
    assert pursued("hunt({'leather': 2, 'white wool': 1, 'beef': 3})") == [
        "hunt 2 leather",
        "hunt 1 white wool",
        "hunt 1 beef",
    ]
    assert pursued("mine({'birch log': 1})\ncraft({'planks': 4, 'stick': 4})")[1:] == [
        "craft 4 birch planks using 1 birch log",
        "craft 4 stick using 2 birch planks",
    ]


def test_tool__that_breaks_fails_the_goal_that_is_not_done():
    mined = "mine({'cobblestone': 70}, null, 'wooden pickaxe')"
    episode = played(
        DEPAgent(MINETECHTREE, rounds=0), f"{PICKAXE}\n{mined}", ticks=LONG, durability=True
    )
    assert actions(episode)[-2:] == [
        "mine 70 cobblestone with wooden pickaxe",
        "mine 11 cobblestone with wooden pickaxe",
    ]
    assert episode.claimed_success is False


def test_equip__is_reached_only_when_it_is_worn():
    hold = "hunt({'leather': 4})\nmine({'log': 1})\ncraft({'planks': 4})\ncraft({'crafting table': 1})\n"
    made = f"{hold}craft({{'leather boots': 1}})\n"
    worn = "equip({'leather boots': 1}, {'leather boots': 1}, null)\n"
    assert not played(ZeroShotAgent(MINETECHTREE), made, task="leather_boots").won
    assert played(ZeroShotAgent(MINETECHTREE), made + worn, task="leather_boots").won
    assert pursued(made + worn + worn + "equip('leather_boot')\n")[5:] == ["equip leather boots"]
    assert not is_reached(goal(worn), {"leather boots": 1})


def test_equip__takes_in_hand_what_is_not_worn():
    assert pursued("mine({'oak log': 1})\nequip('oak log')\nequip('oak_log', 'hand')")[1:] == [
        "equip oak log"
    ]


EITHER = "mine({'oak log': 1}) or hunt({'beef': 1})"


def test_either__is_what_the_selector_finds_soonest():
    """In both worlds the fixed selector takes the first; the others take what is nearer."""
    firsts = {}
    env = gym.make("MineTechTree-v0", costs=True)
    for seed in range(20):
        costs = env.reset(seed=seed, options={"task": "diamond"})[1]["costs"]
        sooner = sum(costs["oak log"]) - sum(costs["beef"])
        if abs(sooner) > 150:
            expected = "mine 1 oak log" if sooner < 0 else "hunt 1 beef"
            firsts[expected] = seed
            for selector in ("learned", "nearest"):
                agent = DEPSAgent(MINETECHTREE, rounds=0, selector=selector)
                assert actions(played(agent, EITHER, seed=seed)) == [expected]
            assert actions(played(DEPAgent(MINETECHTREE, rounds=0), EITHER, seed=seed)) == [
                "mine 1 oak log"
            ]
    assert len(firsts) == 2


def test_either__is_reached_by_one():
    assert pursued(f"hunt({{'leather': 1}})\n{EITHER}")[1:] == []
    assert pursued(f"mine({{'oak log': 1}})\n{EITHER}")[1:] == []
    assert [alternative.name for alternative in CONTROLLER.alternatives(goal(EITHER), scene())] == [
        "oak log",
        "beef",
    ]


def test_alternatives__of_a_log_are_the_woods_in_sight():
    around = {"birch trees": 3, "cows": 4, "oak trees": 9}
    choices = [
        alternative.choice
        for alternative in CONTROLLER.alternatives(goal("mine({'log': 2})"), scene(around))
    ]
    assert sorted(choices) == ["birch log", "oak log"]
    assert [
        alternative.choice
        for alternative in CONTROLLER.alternatives(goal("mine({'log': 2})"), scene())
    ] == [""]
    assert [
        alternative.choice
        for alternative in CONTROLLER.alternatives(goal("mine({'oak log': 2})"), scene(around))
    ] == [""]


@pytest.mark.parametrize(
    ("line", "subgoal"),
    [
        ("mine({'log': 3})", Subgoal("mine", "birch log", 2, 3, "birch trees")),
        ("mine({'oak_logs': 3})", Subgoal("mine", "oak log", 2, 9, "oak trees")),
        ("mine({'acacia log': 3})", Subgoal("mine", "acacia log", 3, 0, "acacia trees")),
        ("get({'leather': 3})", Subgoal("hunt", "leather", 1, 4, "cows")),
        ("hunt({'leather': 1})", Subgoal("hunt", "leather", 0, 4, "cows")),
        (
            "mine({'cobblestone': 1})",
            Subgoal("mine", "cobblestone", 1, 7, "stone", "wooden pickaxe"),
        ),
        (
            "mine({'cobblestone': 1}, null, 'iron pickaxe')",
            Subgoal("mine", "cobblestone", 1, 7, "stone", "iron pickaxe"),
        ),
        (
            "craft({'chest': 1}, {'planks': 8}, null)",
            Subgoal("craft", "chest", 1, tool="crafting table"),
        ),
        ("smelt({'stone': 2})", Subgoal("smelt", "stone", 2, tool="furnace")),
        ("craft({'planks': 2})", Subgoal("craft", "oak planks", 2)),
        ("brew({'unobtainium': 2})", Subgoal("brew", "unobtainium", 2)),
        ("equip('shield')", Subgoal("equip", "shield", 1)),
    ],
)
def test_subgoal__is_what_comes_first(line: str, subgoal: Subgoal):
    around = {"birch trees": 3, "cows": 4, "stone": 7, "oak trees": 9}
    assert CONTROLLER.subgoal(goal(line), scene(around, oak_log=1, leather=2)) == subgoal


def test_subgoal__is_to_the_wood_that_was_chosen():
    around = {"birch trees": 3, "oak trees": 9}
    subgoals = [
        CONTROLLER.subgoal(alternative, scene(around))
        for alternative in CONTROLLER.alternatives(goal("mine({'log': 2})"), scene(around))
    ]
    assert sorted((subgoal.item, subgoal.steps) for subgoal in subgoals) == [
        ("birch log", 3),
        ("oak log", 9),
    ]


@pytest.mark.parametrize(
    "agent", [DEPAgent(MINETECHTREE), CodeAsPoliciesAgent(MINETECHTREE)], ids=["deps", "code"]
)
def test_time__that_runs_out_in_the_middle_of_a_plan_ends_the_episode(agent: Agent):
    plan = "hunt({'leather': 1})\nhunt({'leather': 9999})\nhunt({'beef': 9999})"
    program = "hunt('leather', 1)\nhunt('leather', 9999)\nhunt('beef', 9999)"
    episode = played(
        agent, program if isinstance(agent, CodeAsPoliciesAgent) else plan, task="bowl"
    )
    assert (episode.won, episode.stop_reason, episode.claimed_success) == (False, "truncated", None)
    assert episode.transcript[-1] == ("hunt 9998 leather", "Time is up.")
    assert [outcome for _, outcome in executed(episode.trace)] == [True, None]


NO_PLANS = [
    "Task completed!",
    "I would mine some logs first.",
    "mine 3 oak log",
    "Step 1: mine 3 oak log\nExecution Order: (Step 1)",
    "mine()",
    "mine({'oak log': 0})",
    "mine({'oak log': -3})",
    f"mine({{'oak log': {MAX_COUNT + 1}}})",
    "mine({'oak log': 1e3})",
    "mine({'oak log': 10 ** 9})",
    "mine({'oak log': 1}) or",
    "mine({'oak log': 1}) or fly",
    "or mine({'oak log': 1})",
    "x = mine({'oak log': 1})",
    "mine({'oak log': 1}).won",
    "import os",
    "__import__('os').system('true')",
    "{" * 3000,
    "\x00\ud800\u2028",
]


@pytest.mark.parametrize("said", NO_PLANS, ids=range(len(NO_PLANS)))
def test_planner__that_says_no_plan_is_told_so(said: str):
    episode, messages = watched(DEPSAgent(MINETECHTREE, rounds=1), said)
    assert (episode.won, episode.stop_reason, episode.claimed_success) == (False, "agent", False)
    assert actions(episode) == []
    assert (
        messages[1] == f"I found no step in that.\nInventory: You are not carrying anything.\n{WHY}"
    )


def test_plan__of_a_thousand_lines_is_followed_as_far_as_its_bound():
    episode = played(ZeroShotAgent(MINETECHTREE), "hunt({'leather': 1})\n" * 1000, ticks=LONG)
    assert len(executed(episode.trace)) == MAX_GOALS
    assert actions(episode) == ["hunt 1 leather"]


def test_plan__for_huge_numbers_takes_the_time_that_there_is():
    episode = played(ZeroShotAgent(MINETECHTREE), f"mine({{'log': {MAX_COUNT}}})")
    assert (episode.stop_reason, episode.transcript[-1][1]) == ("truncated", "Time is up.")
    line = f"craft({{'iron bars': {MAX_COUNT}}}, {{'iron ingot': {MAX_COUNT}}}, null)"
    assert pursued(line) == ["craft 10000 iron bars using 3750 iron ingot"]


def test_plan__that_uses_itself_up_ends():
    assert pursued("craft({'oak log': 1}, {'oak log': 1}, 'oak log')\n" * 3) == [
        "mine 1 oak log with oak log"
    ]


PIECES = [
    *("mine(", "hunt(", "craft(", "smelt(", "equip(", "fly("),
    *(
        "{'log': 2}",
        "{'planks': 8}",
        "{'oak_planks': 5}",
        "{'stick': 4}",
        "{'leather': 2, 'beef': 3}",
    ),
    *(
        "{'cobblestone': 3}",
        "{'iron ingot': 10000}",
        "{'unobtainium': 1}",
        "{'': 1}",
        "{'log': -1}",
        "'shield'",
    ),
    *(
        "'wooden pickaxe'",
        "'crafting table'",
        "null",
        ", ",
        ")",
        ");",
        " or ",
        "\n",
        " # step 3",
        "{",
        "x",
    ),
]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).filter(
        lambda pieces: "".join(pieces).strip()
    ),
    st.sampled_from(["fixed", "learned"]),
)
def test_plan__can_be_anything(pieces: list[str], selector: str):
    episode = played(DEPSAgent(MINETECHTREE, rounds=1, selector=selector), *["".join(pieces)] * 3)
    assert episode.stop_reason in ("agent", "truncated", "max_steps")


LINES = [
    *(
        "mine({'log': 3})",
        "craft({'planks': 8})",
        "craft({'stick': 4})",
        "craft({'crafting table': 1})",
    ),
    *(
        "mine({'oak log': 1}) or hunt({'beef': 1})",
        "craft({'wooden pickaxe': 1})",
        "mine({'stone': 1})",
    ),
    *(
        "mine({'cobblestone': 9}, null, 'wooden pickaxe')",
        "equip('stick')",
        "equip({'log': 1, 'stick': 2})",
    ),
    *(
        "craft({'furnace': 1})",
        "smelt({'stone': 1}, {'stick': 1}, 'furnace')",
        "fly({'leather boots': 2})",
    ),
]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=12),
    st.sampled_from(["random", "nearest"]),
)
def test_plan__can_have_its_lines_in_any_order(lines: list[str], selector: str):
    episode = played(DEPSAgent(MINETECHTREE, rounds=1, selector=selector), *["\n".join(lines)] * 3)
    assert episode.stop_reason in ("agent", "truncated", "max_steps")
    assert not any("Could not execute" in answer for _, answer in episode.transcript)


PROGRAMS = {
    "code": (
        CodeAsPoliciesAgent(MINETECHTREE),
        """
if count('log') < 2:
    mine('log', 2)
def make(item, n):
    while count(item) < n:
        if not craft(item, n):
            return False
    return True
make('planks', 8)
make('crafting_table', 1)
make('bowl', 4)
""",
    ),
    "looped": (
        CodeAsPoliciesAgent(MINETECHTREE),
        """
while not inventory.has('log', 2):
    mine('log', 2)
while not inventory.has('planks', 8):
    craft('planks', 8)
def make(item):
    while not inventory.has(item):
        craft(item)
make('crafting table')
make('bowl')
""",
    ),
    "imported": (
        ProgPromptAgent(MINETECHTREE),
        """
from actions import mine, craft

def obtain_bowl():
    # 1: 2 logs make 8 planks
    mine('log', 2)
    craft('planks', 8)
    craft('crafting table', 1)
    craft('bowl', 4)
""",
    ),
    "checked": (
        ProgPromptAgent(MINETECHTREE, assertions=True),
        """
def plan():
    assert count('log') >= 2 else mine('log', 2)
    assert count('planks') >= 8 else craft('planks', 8)
    assert count('crafting table') >= 1 else craft('crafting table', 1)
    craft('bowl', 4)
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program__wins(name: str):
    agent, program = PROGRAMS[name]
    episode = played(agent, program, task="bowl")
    assert episode.won
    assert len(actions(episode)) == 4


def test_program__counts_kinds_and_what_is_worn_is_a_thing_of_its_own():
    program = "hunt('leather', 4)\nif count('leather') == 4 and count('log') == 0:\n    mine('birch log', 1)"
    more = f"{program}\nassert count('log') == 1\nassert not equip('shield')\nhunt('beef', 4)"
    episode = played(CodeAsPoliciesAgent(MINETECHTREE), more, ticks=LONG)
    assert actions(episode) == ["hunt 4 leather", "mine 1 birch log", "equip shield"]
    assert episode.claimed_success is True
    assert "Could not equip shield: requires 1 shield" in [
        p for p in episode.trace.parts if isinstance(p, str)
    ]


@pytest.mark.parametrize("shaky", ["mine 2", "craft 8"])
def test_program__repeats_in_a_loop_what_misses_and_without_one_does_not(shaky: str):
    """The controller misses some of the time: listing 8's loop tries again, and a call alone does
    not."""
    kind = {"mine 2": "log", "craft 8": "craft"}[shaky]
    looped, alone = (
        played(agent, PROGRAMS[name][1], task="bowl", reliability={kind: 0.3}, seed=3)
        for name, agent in (
            ("looped", CodeAsPoliciesAgent(MINETECHTREE)),
            ("imported", ProgPromptAgent(MINETECHTREE)),
        )
    )
    assert sum(action.startswith(shaky) for action in actions(looped)) > 1
    assert (looped.won, alone.won) == (True, False)


def test_program__whose_loop_gets_nowhere_is_stopped():
    """Nothing is spent by what is refused: without bounds of its own the loop would go on for
    ever."""
    for call in ("craft('stick', 4)", "count('stick')"):
        episode = played(
            CodeAsPoliciesAgent(MINETECHTREE), f"while not inventory.has('stick', 4): {call}"
        )
        assert (episode.won, episode.stop_reason, episode.steps) == (
            False,
            "max_steps",
            MINETECHTREE.max_steps,
        )


BAD_PROGRAMS = [
    "inventory",
    "inventory.held",
    "inventory.get('log')",
    "inventory.has()",
    "inventory.has('log', '2')",
    "inventory.has.has('log')",
    "from actions.more import mine\nmine('log', 1)",
    "import actions",
    "no program",
    "import os\nos.remove('x')\nmine('log', 1)",
    "from sys import exit\nexit()",
    "mine.__globals__['x']",
    "mine('log', 1).won",
    "().__class__.__bases__",
    "mine()",
    "mine(1, 2)",
    "mine('log', '2')",
    "mine(['log'], 1)",
    "mine('log', True)",
    "while True: pass",
    "n = 0\nwhile True:\n    n += 1",
    "def f(): f()\nf()",
    "assert count('log') >= 1",
    "x = 'a' * 10 ** 9",
    "mine('x' * 99)",
    "(" * 4000,
    "\x00",
]


@pytest.mark.parametrize(
    "agent", [CodeAsPoliciesAgent(MINETECHTREE), ProgPromptAgent(MINETECHTREE)], ids=["cap", "pp"]
)
@pytest.mark.parametrize("program", BAD_PROGRAMS, ids=range(len(BAD_PROGRAMS)))
def test_program__that_breaks_is_one_that_failed(program: str, agent: Agent):
    episode = played(agent, program)
    assert (episode.won, episode.stop_reason, episode.claimed_success) == (False, "agent", False)
    assert actions(episode) == []


@pytest.mark.parametrize(
    "program",
    [
        "```\n```",
        "mine('log', -1)",
        "mine('log', 0)",
        "equip('shield', 0)",
        "equip('unobtainium')",
        "fly('unobtainium', 9)",
        "# mine('log')",
    ],
)
def test_program__for_nothing_plays_nothing(program: str):
    assert actions(played(CodeAsPoliciesAgent(MINETECHTREE), program)) == []


def test_program__that_acts_for_ever_is_stopped():
    episode = played(CodeAsPoliciesAgent(MINETECHTREE), "while True: equip('shield')")
    assert (episode.stop_reason, episode.steps) == ("max_steps", MINETECHTREE.max_steps)
    episode = played(
        CodeAsPoliciesAgent(MINETECHTREE), "while True: hunt('leather', count('leather') + 1)"
    )
    assert (episode.stop_reason, episode.transcript[-1][1]) == ("truncated", "Time is up.")
    episode = played(CodeAsPoliciesAgent(MINETECHTREE), "mine('log', 1000000)")
    assert "Could not execute mine 1000000" in episode.transcript[-1][1]
