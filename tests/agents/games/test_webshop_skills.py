"""ADaPT's skills for a shop, tried in one of which every page is written here."""

from __future__ import annotations

import re

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.adapt.plan_and_execute import PlanAndExecuteAgent
from textcraft_gym.agents.adapt.step_plan import Group, parse_plan
from textcraft_gym.agents.contract.agent import Node, Play, Routine, Step
from textcraft_gym.agents.contract.skill import Known
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.games import WEBSHOP
from textcraft_gym.agents.games.webshop.skills import brief, in_view
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.spaces import AnyText

FIRST, SECOND, THIRD = "B000000001", "B000000002", "B000000003"
INDEX = "\nWebShop \nInstruction:  \na red lamp \n[Search] "
LISTED = "".join(f"\n[{asin}] \nLamp {asin[-1]} \n$9.0 " for asin in (FIRST, SECOND, THIRD))
RESULTS = f"\n[Back to Search] \nPage 1 (Total results: 3) \n[Next >] {LISTED}"
ITEM = "\n[Back to Search] \n[< Prev] \ncolor [red]\nLamp {} \nPrice: $9.0 \n[Buy Now] "
NONE = "\n[Back to Search] \nPage 1 (Total results: 0) \n[Next >] "


class Counter(gym.Env[str, str]):
    """A shop of three lamps, of which the last cannot be opened; it is searched from its first
    page."""

    observation_space = action_space = AnyText()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.page, self.played, self.searching = "", [], True
        return INDEX, {}

    def step(self, action):
        self.played.append(action)
        return self.answer(action), 0.0, False, False, {}

    def answer(self, action: str) -> str:
        if action.startswith("search[") and self.searching:
            self.searching = False
            return RESULTS if "lamp" in action else NONE
        what = action.removeprefix("click[").removesuffix("]")
        if what == "back to search":
            self.searching = True
            return INDEX
        if what.upper() in (FIRST, SECOND):
            self.page = what[-1]
        elif what in ("description", "features"):
            return f"\n[Back to Search] \n[< Prev] \nthe {what} of lamp {self.page} "
        elif what != "< prev":
            return "Invalid action!"
        return ITEM.format(self.page)


class Attempting:
    """Attempts steps by the skills that fit them, and keeps what each tells."""

    def __init__(self, *steps: str) -> None:
        self.steps = steps
        self.told: list[str | None] = []
        self.briefs: list[str] = []

    def episode(self, play: Play) -> Routine:
        known = Known("WebShop\na red lamp")
        for step in self.steps:
            self.briefs.append(brief(play, known))
            (skill,) = [skill for skill in WEBSHOP.adapt.skills(Prompts()) if skill.fits(step)]
            self.told.append((yield from skill.attempt(play, step, known)))
            if self.told[-1] is None:
                known.failed.append(step)
            else:
                known.information = self.told[-1]
        self.briefs.append(brief(play, known))
        return None


def attempted(*steps: str, simple: tuple[str, ...] = (), detail: tuple[str, ...] = ()):
    """Return the agent that attempted steps, what it played, and what the two models were asked."""
    agent, shop = Attempting(*steps), Counter()
    models = {"simple_match": ScriptedModel(*simple), "detail_match": ScriptedModel(*detail)}
    run_episode(shop, agent, seed=0, model={"executor": ScriptedModel(), **models}, max_steps=99)
    return agent, shop.played, {role: model.asked for role, model in models.items()}


@pytest.mark.parametrize(
    ("step", "fitting"),
    [
        ("Search[a red lamp]", ["Search"]),
        ("search for a red lamp", ["Search"]),
        ("Search red lamp", ["Search"]),
        ("searching", []),
        ("SimpleMatch[a red lamp]", ["SimpleMatch"]),
        ("simple match a red lamp", ["SimpleMatch"]),
        (f"DetailMatch[{FIRST}, a red lamp]", ["DetailMatch"]),
        (f"detail match {FIRST}", ["DetailMatch"]),
        ("Buy[red]", []),
        ("buy the product", []),
        ("", []),
    ],
)
def test_skill__fits_steps_of_its_kind(step: str, fitting: list[str]):
    assert [
        type(skill).__name__ for skill in WEBSHOP.adapt.skills(Prompts()) if skill.fits(step)
    ] == fitting


@pytest.mark.parametrize(
    "step", ["Search[a lamp]", "search for a lamp", "Search a lamp", "search for 'a [lamp]'"]
)
def test_search__plays_the_words_without_a_model(step: str):
    agent, played, requests = attempted(step)
    assert played == ["search[a lamp]"]
    assert agent.told == [f"The page in view:\n{RESULTS.strip()}"]
    assert requests == {"simple_match": [], "detail_match": []}


def test_search__goes_to_the_first_page_before():
    agent, played, _ = attempted("Search[lamp]", "Search[red lamp]")
    assert played == ["search[lamp]", "click[back to search]", "search[red lamp]"]
    assert agent.told[1] == f"The page in view:\n{RESULTS.strip()}"


def test_search__fails_where_nothing_is_found():
    agent, played, _ = attempted("Search[a sofa]")
    assert (played, agent.told) == (["search[a sofa]"], [None])


SIMPLE = "SimpleMatch[a red lamp]"


def test_simple_match__names_a_listed_product_in_its_last_line_and_opens_nothing():
    answer = f"{FIRST} may be blue, and B999999999 is not there.\nb000000002, not {FIRST}."
    agent, played, requests = attempted("Search[lamp]", SIMPLE, simple=(answer,))
    assert played == ["search[lamp]"]
    assert agent.told[1] == f"Product found: {SECOND}\nThe page in view:\n{RESULTS.strip()}"
    ((prompt, most),) = [
        (request["prompt"], request["max_tokens"]) for request in requests["simple_match"]
    ]
    situation = f"\n\nWebShop\na red lamp\n\nYour task is to: {SIMPLE}\n"
    assert prompt.endswith(f"{situation}{RESULTS.strip()}\n\nSimple match:")
    assert most == 400


@pytest.mark.parametrize("answer", ["none", "B999999999", "Lamp 1", f"{FIRST} may be blue.\nnone"])
def test_simple_match__gives_up_where_no_listed_product_is_named(answer: str):
    agent, *_ = attempted("Search[lamp]", SIMPLE, simple=(answer,))
    assert agent.told[1] is None


def test_simple_match__asks_nothing_where_no_results_are_in_view():
    agent, _, requests = attempted(SIMPLE)
    assert (agent.told, requests["simple_match"]) == ([None], [])


LOOK = ("click[features]", "click[< prev]")


def test_detail_match__reads_the_features_of_one_product():
    agent, played, requests = attempted(
        "Search[lamp]",
        f"DetailMatch[{SECOND}, red]",
        f"DetailMatch[{FIRST}, red]",
        detail=("No, blue.", " yes, red"),
    )
    assert played == [
        "search[lamp]",
        *("click[b000000002]", *LOOK, "click[< prev]"),
        *("click[b000000001]", *LOOK),
    ]
    assert agent.told[1] is None
    assert agent.told[2].startswith(f"Product found: {FIRST}\nThe page in view:\n[Back to Search]")
    prompts = [request["prompt"] for request in requests["detail_match"]]
    assert all(words in prompts[0] for words in ("\nLamp 2 \n", "the features of lamp 2"))
    assert "of lamp 2" not in prompts[1]
    assert prompts[1].endswith("\n\nDetail match:")
    assert [request["max_tokens"] for request in requests["detail_match"]] == [100, 100]


@pytest.mark.parametrize("step", [f"DetailMatch[{THIRD}, red]", "DetailMatch[a red lamp]"])
def test_detail_match__fails_where_no_product_is_opened(step: str):
    agent, _, requests = attempted("Search[lamp]", step)
    assert (agent.told[1], requests["detail_match"]) == (None, [])


def test_brief__tells_the_page_in_view_and_what_failed():
    agent, *_ = attempted("Search[a sofa]", "Search[lamp]", SIMPLE)
    failed = "What failed so far: Search[a sofa]"
    assert agent.briefs == [
        "",
        f"The page in view:\n{NONE.strip()}\n{failed}",
        f"The page in view:\n{RESULTS.strip()}\n{failed}",
        f"The page in view:\n{RESULTS.strip()}\n{failed}; {SIMPLE}",
    ]


def test_in_view__is_the_last_page_not_the_last_answer():
    listed, item = Step(RESULTS, 0.0, False, False, {}), Step(ITEM, 0.0, False, False, {})
    clicked, dead = (
        item._replace(observation="You have clicked red."),
        item._replace(observation="Invalid action!"),
    )
    turns = [("search[lamp]", listed), (f"click[{FIRST.lower()}]", item), ("click[red]", clicked)]
    play = Play(
        Step(INDEX, 0.0, False, False, {}), history=[*turns, (f"click[{SECOND.lower()}]", dead)]
    )
    assert in_view(play) == f"Product found: {FIRST}\nThe page in view:\n{ITEM.strip()}"
    index = item._replace(observation=INDEX)
    play.history.append(("click[back to search]", index))
    assert in_view(play) == f"The page in view:\n{INDEX.strip()}"
    play.history.clear()
    assert in_view(play) == f"The page in view:\n{INDEX.strip()}"


FIRST_PLAN = f"""Step 1: Search[lamp]
Step 2: {SIMPLE}
Step 3: Buy[red]
Execution Order: (Step 1 AND Step 2 AND Step 3)"""
DETAILS = f"""Step 1: DetailMatch[{FIRST}, red]
Step 2: DetailMatch[{SECOND}, red]
Step 3: Search[red lamp]
Step 4: {SIMPLE}
Execution Order: (Step 1 OR Step 2 OR (Step 3 AND Step 4))"""


def outline(node: Node) -> list:
    return [
        (part.task, part.role, part.depth, part.outcome)
        for part in node.walk()
        if part.role in ("skill", "executor")
    ]


def bought(
    planner: tuple[str, ...], simple: tuple[str, ...], detail: tuple[str, ...] = (), d_max: int = 3
):
    models = {
        "planner": ScriptedModel(*planner),
        "simple_match": ScriptedModel(*simple),
        "detail_match": ScriptedModel(*detail),
        "executor": ScriptedModel("click[buy now]", "Task completed!"),
    }
    return run_episode(
        Counter(), ADaPTAgent(WEBSHOP, settings=Settings(d_max=d_max)), seed=0, model=models
    ), models


def test_adapt__plans_search_simple_match_and_buy_at_level_0():
    episode, models = bought((FIRST_PLAN,), (SECOND,))
    assert outline(episode.trace) == [
        ("Search[lamp]", "skill", 1, True),
        (SIMPLE, "skill", 1, True),
        ("Buy[red]", "executor", 1, True),
    ]
    assert (episode.k_max, episode.calls) == (1, {"planner": 1, "simple_match": 1, "executor": 2})
    assert [(child.role, child.depth) for child in episode.trace.children] == [("task", 0)]
    requests = models["planner"].asked
    assert requests[0]["prompt"].endswith(
        "Your task is to: buy what the instruction asks for\nPlan, one level down:"
    )
    situation = models["executor"].asked[0]["prompt"].rpartition("Your task is to: ")[2]
    assert situation.startswith(
        f"Buy[red]\nProduct found: {SECOND}\nThe page in view:\n[Back to Search] \nPage 1"
    )


def test_adapt__has_its_planner_look_into_products_only_where_simple_match_failed():
    episode, models = bought((FIRST_PLAN, DETAILS), ("none",), ("No", "Yes"))
    assert outline(episode.trace) == [
        ("Search[lamp]", "skill", 1, True),
        (SIMPLE, "skill", 1, False),
        (f"DetailMatch[{FIRST}, red]", "skill", 2, False),
        (f"DetailMatch[{SECOND}, red]", "skill", 2, True),
        ("Buy[red]", "executor", 1, True),
    ]
    assert episode.k_max == 2
    requests = models["planner"].asked
    assert len(requests) == 2  # a DetailMatch that failed is planned no further
    assert f"Your task is to: {SIMPLE}\nThe page in view:\n" in requests[1]["prompt"]
    assert f"\nWhat failed so far: {SIMPLE}\nPlan, one level down:" in requests[1]["prompt"]
    situation = models["executor"].asked[0]["prompt"].rpartition("Your task is to: ")[2]
    assert situation.startswith(f"Buy[red]\nProduct found: {SECOND}\nThe page in view:\n")


@pytest.mark.parametrize(("d_max", "planned"), [(2, 2), (3, 3), (4, 4)])
def test_adapt__plans_as_many_levels_below_the_first_plan_as_d_max_allows(d_max: int, planned: int):
    episode, _ = bought((FIRST_PLAN, *[DETAILS] * 9), ("none",) * 9, ("No",) * 99, d_max=d_max)
    assert (episode.calls["planner"], episode.k_max, episode.claimed_success) == (
        planned,
        d_max,
        False,
    )


def test_adapt__never_divides_a_purchase():
    models = {
        "planner": ScriptedModel("Step 1: Buy[red]\nExecution Order: (Step 1)", FIRST_PLAN),
        "executor": ScriptedModel("task failed!"),
    }
    episode = run_episode(Counter(), ADaPTAgent(WEBSHOP), seed=0, model=models)
    assert (episode.calls, episode.claimed_success) == ({"planner": 1, "executor": 1}, False)


def test_adapt__executes_what_it_may_not_plan():
    models = {"executor": ScriptedModel("task failed!"), "planner": ScriptedModel()}
    episode = run_episode(
        Counter(), ADaPTAgent(WEBSHOP, settings=Settings(d_max=1)), seed=0, model=models
    )
    assert (episode.calls, outline(episode.trace)) == (
        {"executor": 1},
        [(WEBSHOP.default_task, "executor", 1, False)],
    )


def test_plan_and_execute__has_the_same_modules_for_its_one_plan():
    models = {
        "planner": ScriptedModel(FIRST_PLAN),
        "simple_match": ScriptedModel(SECOND),
        "executor": ScriptedModel("click[buy now]", "Task completed!"),
    }
    episode = run_episode(Counter(), PlanAndExecuteAgent(WEBSHOP), seed=0, model=models)
    assert outline(episode.trace) == [
        ("Search[lamp]", "skill", 2, True),
        (SIMPLE, "skill", 2, True),
        ("Buy[red]", "executor", 2, True),
    ]
    situation = models["executor"].asked[0]["prompt"].rpartition("Your task is to: ")[2]
    assert situation.startswith(
        f"Buy[red]\nProduct found: {SECOND}\nThe page in view:\n[Back to Search] \nPage 1"
    )


@pytest.mark.parametrize("agent", ["adapt", "plan_and_execute"])
def test_plans__of_the_examples_are_made_of_modules_and_buy_what_the_instruction_names(agent: str):
    shown = Prompts().of(agent, "webshop").text.partition("\n\nNow it is your turn.")[0]
    for step in re.findall(r"^Step \d: (.+)$", shown, re.MULTILINE):
        fitting = [
            type(skill).__name__ for skill in WEBSHOP.adapt.skills(Prompts()) if skill.fits(step)
        ]
        assert fitting == [step.partition("[")[0]] or step == "Buy[dark green, large]"
    plans = [
        parse_plan(plan)
        for plan in re.findall(r"(?:^Step .+\n)+Execution Order: .+", shown, re.MULTILINE)
    ]
    assert all(isinstance(plan, Group) for plan in plans)
