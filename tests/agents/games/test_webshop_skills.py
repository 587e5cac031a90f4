"""ADaPT's skills for a shop, tried in one of which every page is written here."""

from __future__ import annotations

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.contract.agent import Node, Play, Routine, Step
from textcraft_gym.agents.contract.skill import Known
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
    """A shop of three lamps, of which the last cannot be opened."""

    observation_space = action_space = AnyText()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.page, self.played = "", []
        return INDEX, {}

    def step(self, action):
        self.played.append(action)
        return self.answer(action), 0.0, False, False, {}

    def answer(self, action: str) -> str:
        if action.startswith("search["):
            return RESULTS if "lamp" in action else NONE
        what = action.removeprefix("click[").removesuffix("]")
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


def attempted(*steps: str, shortlist: tuple[str, ...] = (), match: tuple[str, ...] = ()):
    """Return the agent that attempted steps, what it played, and what the two models were asked."""
    agent, shop = Attempting(*steps), Counter()
    models = {"shortlist": ScriptedModel(*shortlist), "match": ScriptedModel(*match)}
    run_episode(shop, agent, seed=0, model={"executor": ScriptedModel(), **models}, max_steps=99)
    return agent, shop.played, {role: model.asked for role, model in models.items()}


@pytest.mark.parametrize(
    ("step", "fitting"),
    [
        ("search for a red lamp", ["Search"]),
        ("Search red lamp", ["Search"]),
        ("searching", []),
        ("Shortlist products", ["Shortlist"]),
        ("match products with the instruction", ["Match"]),
        ("buy the product", []),
        ("", []),
    ],
)
def test_skill__fits_steps_of_its_kind(step: str, fitting: list[str]):
    assert [type(skill).__name__ for skill in WEBSHOP.adapt.skills(Prompts()) if skill.fits(step)] == fitting


@pytest.mark.parametrize("step", ["search for a lamp", "Search a lamp", "search for 'a [lamp]'"])
def test_search__plays_the_words_without_a_model(step: str):
    agent, played, asked = attempted(step)
    assert played == ["search[a lamp]"]
    assert agent.told == [f"The page in view:\n{RESULTS.strip()}"]
    assert asked == {"shortlist": [], "match": []}


def test_search__fails_where_nothing_is_found():
    agent, played, _ = attempted("search for a sofa")
    assert (played, agent.told) == (["search[a sofa]"], [None])


def test_search__goes_back_to_the_page_that_takes_a_search():
    _, played, _ = attempted("search for a sofa", "search for lamp")
    assert played == ["search[a sofa]", "click[back to search]", "search[lamp]"]


def test_shortlist__keeps_what_is_named_and_listed():
    agent, played, asked = attempted(
        "search for lamp", "shortlist products", shortlist=(f"{SECOND}, b000000001, {SECOND} but not B999999999",)
    )
    assert played == ["search[lamp]"]
    assert agent.told[1] == f"Shortlisted: {SECOND}, {FIRST}\nThe page in view:\n{RESULTS.strip()}"
    ((prompt, most),) = [(one["prompt"], one["max_tokens"]) for one in asked["shortlist"]]
    situation = "\n\nWebShop\na red lamp\n\nYour task is to: shortlist products\n"
    assert prompt.endswith(f"{situation}{RESULTS.strip()}\n\nShortlist:")
    assert most == 400


@pytest.mark.parametrize("answer", ["none", "", "B999999999", "Lamp 1"])
def test_shortlist__fails_where_nothing_is_named(answer: str):
    agent, *_ = attempted("search for lamp", "shortlist products", shortlist=(answer,))
    assert agent.told[1] is None


MATCHED = ("search for lamp", "shortlist products", "match products")
LOOK = ("click[description]", "click[< prev]", "click[features]", "click[< prev]")


def test_match__opens_the_shortlisted_until_one_is_right():
    agent, played, asked = attempted(*MATCHED, shortlist=(f"{SECOND}, {FIRST}",), match=("No, blue.", " yes, red"))
    assert played == [
        "search[lamp]",
        *("click[b000000002]", *LOOK, "click[< prev]"),
        *("click[b000000001]", *LOOK),
    ]
    assert agent.told[2].startswith(f"Product found: {FIRST}\nThe page in view:\n[Back to Search]")
    prompts = [one["prompt"] for one in asked["match"]]
    assert all(words in prompts[0] for words in ("\nLamp 2 \n", "the description of lamp 2", "the features of lamp 2"))
    assert "of lamp 2" not in prompts[1]
    assert prompts[1].endswith("\n\nVerdict:")
    assert [one["max_tokens"] for one in asked["match"]] == [100, 100]


def test_match__fails_where_none_is_right():
    agent, played, asked = attempted(*MATCHED, shortlist=(FIRST,), match=("No", "Yes"))
    assert (agent.told[2], len(asked["match"]), played[-1]) == (None, 1, "click[< prev]")


def test_match__passes_over_what_cannot_be_opened():
    agent, played, asked = attempted(*MATCHED, shortlist=(f"{THIRD}, {SECOND}",), match=("Yes",))
    assert played[1:3] == ["click[b000000003]", "click[b000000002]"]
    assert agent.told[2].startswith(f"Product found: {SECOND}\n")
    assert len(asked["match"]) == 1


def test_match__takes_all_that_is_listed_where_nothing_was_shortlisted():
    _, played, _ = attempted("search for lamp", "match products", match=("No", "No"))
    assert [action for action in played if action.startswith("click[b")] == [
        "click[b000000001]",
        "click[b000000002]",
        "click[b000000003]",
    ]


def test_brief__tells_the_page_in_view_and_what_failed():
    agent, *_ = attempted("search for a sofa", "search for lamp", "shortlist products")
    failed = "What failed so far: search for a sofa"
    assert agent.briefs == [
        "",
        f"The page in view:\n{NONE.strip()}\n{failed}",
        f"The page in view:\n{RESULTS.strip()}\n{failed}",
        f"The page in view:\n{RESULTS.strip()}\n{failed}; shortlist products",
    ]


def test_in_view__is_the_last_page_not_the_last_answer():
    listed, item = Step(RESULTS, 0.0, False, False, {}), Step(ITEM, 0.0, False, False, {})
    clicked, dead = item._replace(observation="You have clicked red."), item._replace(observation="Invalid action!")
    turns = [("search[lamp]", listed), (f"click[{FIRST.lower()}]", item), ("click[red]", clicked)]
    play = Play(Step(INDEX, 0.0, False, False, {}), history=[*turns, (f"click[{SECOND.lower()}]", dead)])
    assert in_view(play) == f"Product found: {FIRST}\nThe page in view:\n{ITEM.strip()}"
    play.history.clear()
    assert in_view(play) == f"The page in view:\n{INDEX.strip()}"


SCALE = "Step 1: search for lamp\nStep 2: shortlist products\nStep 3: match products\nStep 4: buy the product"
PLAN = f"{SCALE}\nExecution Order: (Step 1 AND Step 2 AND Step 3 AND Step 4)"
MEND = "Step 1: search for red lamp\nStep 2: match products\nExecution Order: (Step 1 AND Step 2)"


def outline(node: Node) -> list:
    return [(one.task, one.role, one.depth, one.outcome) for one in node.walk() if one.role in ("skill", "executor")]


def test_adapt__begins_with_a_plan_and_attempts_its_steps_by_skills():
    shop = Counter()
    models = {
        "planner": ScriptedModel(PLAN, MEND),
        "shortlist": ScriptedModel(FIRST),
        "match": ScriptedModel("No", "No", "Yes"),
        "executor": ScriptedModel("click[buy now]", "Task completed!"),
    }
    episode = run_episode(shop, ADaPTAgent(WEBSHOP), seed=0, model=models)
    assert outline(episode.trace) == [
        ("search for lamp", "skill", 2, True),
        ("shortlist products", "skill", 2, True),
        ("match products", "skill", 2, False),
        ("search for red lamp", "skill", 3, True),
        ("match products", "skill", 3, True),
        ("buy the product", "executor", 2, True),
    ]
    assert episode.claimed_success
    asked = models["planner"].asked
    assert asked[0]["prompt"].endswith("Your task is to: buy what the instruction asks for\nPlan, one level down:")
    assert "\nWhat failed so far: match products\nPlan, one level down:" in asked[1]["prompt"]
    told = models["executor"].asked[0]["prompt"].rpartition("Your task is to: ")[2]
    assert told.startswith(f"buy the product\nProduct found: {SECOND}\nThe page in view:\n")


def test_adapt__never_divides_a_purchase():
    models = {
        "planner": ScriptedModel("Step 1: Buy the product\nExecution Order: (Step 1)", PLAN),
        "executor": ScriptedModel("task failed!"),
    }
    episode = run_episode(Counter(), ADaPTAgent(WEBSHOP), seed=0, model=models)
    assert (episode.calls, episode.claimed_success) == ({"planner": 1, "executor": 1}, False)


def test_adapt__executes_what_it_may_not_plan():
    models = {"executor": ScriptedModel("task failed!"), "planner": ScriptedModel()}
    episode = run_episode(Counter(), ADaPTAgent(WEBSHOP, d_max=1), seed=0, model=models)
    assert (episode.calls, outline(episode.trace)) == ({"executor": 1}, [(WEBSHOP.default_task, "executor", 1, False)])
