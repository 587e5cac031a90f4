from __future__ import annotations

from functools import cache

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym.agents.games import WEBSHOP
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.evaluation.episode import Episode
from textcraft_gym.evaluation.schedule import run_episodes

INSTRUCTION = "i need a lamp for reading that is energy efficient, in dark blue, and price lower than 30.00 dollars"
SITUATION = f"WebShop \nInstruction:  \n{INSTRUCTION} \n[Search]"
KEPT = "lamp, reading, efficient energy, blue dark"
BEGIN = f"think: I keep in mind {KEPT}: 4"
SEARCH = "search[lamp reading energy efficient dark blue]"
DEAR, MUG, LAMP, PLAIN = "B0000DEAR1", "B00000MUG1", "B0000LAMP1", "B0000LAMP2"
FOUND = {DEAR: "Reading Lamp Energy Efficient \n$31.0", MUG: "Mug \n$9.99", LAMP: "Lamp for Reading \n$19.99 to $40.0"}
RESULTS = "\n[Back to Search] \nPage 1 (Total results: 50) \n[Next >] " + "".join(
    f"\n[{asin}] \n{listed} " for asin, listed in FOUND.items()
)
NEXT_PAGE = f"\n[Back to Search] \nPage 2 (Total results: 50) \n[< Prev] \n[Next >] \n[{PLAIN}] \nLamp \n$5.0 "
LAST_PAGE = "\n[Back to Search] \nPage 3 (Total results: 50) \n[< Prev] \n[Next >] "
BUTTONS = "\nRating: N.A. \n[Description] \n[Features] \n[Reviews] \n[Buy Now] "
ITEM = f"\n[Back to Search] \n[< Prev] \ncolor [red][dark blue]\nLamp for Reading \nPrice: $19.99 to $40.0 {BUTTONS}"
OTHER = f"\n[Back to Search] \n[< Prev] \nMug \nPrice: $9.99 {BUTTONS}"
FEATURES = "\n[Back to Search] \n[< Prev] \n Uses little. Energy efficient. "

SEARCHED = (BEGIN, "OK.", SEARCH, RESULTS)
OPENED = (*SEARCHED, "click[b0000lamp1]", ITEM)
READ = (*OPENED, "click[features]", FEATURES, "click[< prev]", ITEM)
CHOSEN = (*READ, "click[dark blue]", "You have clicked dark blue.")


def complete(prompt: str, span: int = 99, temperature: float = 0.0, sample: int = 0) -> str:
    how = {"stop": (), "max_tokens": 400, "temperature": temperature, "sample": sample}
    return SimulatedModel(span).complete(prompt, **how).text


def filled(agent: str, task: str = WEBSHOP.default_task, information: str = "", **more: str) -> str:
    return Prompts().of(agent, "webshop").fill(situation=SITUATION, task=task, information=information, **more)


def turn(*lines: str, task: str = WEBSHOP.default_task, information: str = "", **how) -> str:
    turns = zip(lines[::2], lines[1::2], strict=True)
    return complete(filled("react", task, information) + "".join(f" {a}\n{b}\n>" for a, b in turns), **how)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ((), BEGIN),
        ((BEGIN, "OK."), SEARCH),
        (SEARCHED, "click[b0000lamp1]"),
        (OPENED, "click[features]"),
        ((*OPENED, "click[features]", FEATURES), "click[< prev]"),
        (READ, "click[dark blue]"),
        (CHOSEN, "click[buy now]"),
    ],
    ids=len,
)
def test_simulated__searches_opens_reads_chooses_and_buys(lines: tuple[str, ...], line: str):
    assert turn(*lines) == line


def test_simulated__leaves_what_is_not_like_it_and_turns_pages_until_it_has_looked_enough():
    mug = (*SEARCHED, "click[b00000mug1]", OTHER, "click[features]", FEATURES.replace("Energy", ""), "click[< prev]")
    left = (*mug, OTHER, "click[< prev]", RESULTS)
    assert turn(*mug, OTHER) == "click[< prev]"
    assert turn(*left) == "click[b0000lamp1]"
    assert turn(*left, span=5) == f"task failed! 6 things to keep in mind, and I keep 5: {KEPT}, {MUG}, {LAMP}"
    lamp = (*left, "click[b0000lamp1]", OTHER, "click[< prev]", RESULTS)
    assert turn(*lamp) == "click[next >]"
    assert turn(*lamp, "click[next >]", NEXT_PAGE) == "click[b0000lamp2]"
    assert turn(*lamp, "click[next >]", LAST_PAGE).startswith("task failed!")


def test_simulated__goes_on_where_a_click_does_nothing():
    dead = "Invalid action!"
    assert turn(*READ, "click[dark blue]", dead) == "click[buy now]"
    assert turn(*SEARCHED, "click[b0000lamp1]", dead) == "click[b0000lamp1]"
    assert turn(BEGIN, "OK.", SEARCH, dead) == "task failed! I find nothing like it."


@pytest.mark.parametrize("span", [3, 4, 5])
def test_simulated__fails_where_it_would_have_to_keep_too_much_in_mind(span: int):
    assert turn(span=span) == (BEGIN if span > 3 else f"task failed! 4 things to keep in mind, and I keep 3: {KEPT}")
    begun = turn(*SEARCHED, span=span)
    if span < 5:
        assert begun == f"task failed! 5 things to keep in mind, and I keep {span}: {KEPT}, {LAMP}"
    else:
        assert begun == "click[b0000lamp1]"


STEPS = {
    "search for reading lamp": ((BEGIN, "OK."), "search[reading lamp]"),
    "open a lamp": (SEARCHED, "click[b0000lamp1]"),
    "choose the options": (OPENED, "click[dark blue]"),
    "buy the product": (OPENED, "click[dark blue]"),
}


@pytest.mark.parametrize("task", STEPS)
def test_simulated__does_a_step_of_a_plan(task: str):
    lines, line = STEPS[task]
    assert turn(*lines, task=task) == line


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        ("search for reading lamp", SEARCHED),
        ("open a lamp", OPENED),
        ("choose the options", CHOSEN),
    ],
)
def test_simulated__says_that_a_step_is_done(task: str, lines: tuple[str, ...]):
    assert turn(*lines, task=task) == "Task completed!"


def test_simulated__searches_but_once_for_what_is_not_there():
    lines = (BEGIN, "OK.", "search[sofa]", LAST_PAGE)
    assert turn(*lines, task="search for sofa") == "task failed! Nothing is found."


def test_simulated__searches_from_the_page_that_takes_a_search():
    told = {"information": f"The page in view:\n{LAST_PAGE.strip()}"}
    back = (BEGIN, "OK.", "click[back to search]", f"\n{SITUATION} ")
    assert turn(BEGIN, "OK.", **told) == "click[back to search]"
    assert turn(*back, **told) == SEARCH


def test_simulated__goes_on_from_what_it_is_told():
    told = f"Product found: {LAMP}\nThe page in view:\n{ITEM.strip()}"
    step = {"task": "buy the product", "information": told}
    assert turn(**step) == BEGIN
    assert turn(BEGIN, "OK.", **step) == "click[dark blue]"
    assert turn(BEGIN, "OK.", "click[dark blue]", "You have clicked dark blue.", **step) == "click[buy now]"
    listed = f"The page in view:\n{RESULTS.strip()}"
    assert turn(BEGIN, "OK.", information=listed) == "click[b0000lamp1]"
    found = {"task": "Buy[dark blue]", "information": f"Product found: {MUG}\n{listed}"}
    assert turn(BEGIN, "OK.", **found) == "click[b00000mug1]"
    assert turn(BEGIN, "OK.", "click[b00000mug1]", OTHER, **found) == "click[buy now]"


def plan(agent: str, **how) -> list[str]:
    task, information = how.pop("task", WEBSHOP.default_task), how.pop("information", "")
    return complete(filled(agent, task, information), **how).splitlines()


ABOUT = INSTRUCTION.partition(", and price")[0]
SIMPLE = f"SimpleMatch[{ABOUT}]"


def test_simulated__plans():
    assert plan("adapt") == [
        "Step 1: Search[lamp reading energy efficient dark blue]",
        f"Step 2: {SIMPLE}",
        "Step 3: Buy[the options named]",
        "Execution Order: (Step 1 AND Step 2 AND Step 3)",
    ]
    assert plan("plan_and_execute")[1:4] == [
        "Step 2: open a product that fits",
        "Step 3: choose the options",
        "Step 4: buy the product",
    ]
    assert plan("adapt", span=3) == [f"task failed! 4 things to keep in mind, and I keep 3: {KEPT}"]


def test_simulated__looks_into_products_where_none_was_certain_and_searches_with_fewer_words_after():
    told = f"The page in view:\n{RESULTS.strip()}\nWhat failed so far: {SIMPLE}"
    assert plan("adapt", task=SIMPLE, information=told) == [
        f"Step 1: DetailMatch[{LAMP}, {ABOUT}]",
        f"Step 2: DetailMatch[{MUG}, {ABOUT}]",
        "Step 3: Search[lamp reading energy]",
        f"Step 4: {SIMPLE}",
        "Execution Order: (Step 1 OR Step 2 OR (Step 3 AND Step 4))",
    ]
    nothing = f"The page in view:\n{LAST_PAGE.strip()}\nWhat failed so far: {SIMPLE}"
    assert plan("adapt", task=SIMPLE, information=nothing)[-1] == "Execution Order: ((Step 1 AND Step 2))"
    failed = {"task": "Search[x]", "information": "What failed so far: Search[x]"}
    assert plan("adapt", **failed) == ["Step 1: Search[lamp reading energy]", "Execution Order: (Step 1)"]


def test_simulated__names_a_product_only_where_its_title_has_every_word_asked_for():
    certain = f"\n[{PLAIN}] \nEnergy Efficient Lamp for Reading, Dark Blue \n$29.0 "
    dear = certain.replace("$29.0", "$30.01")
    assert complete(filled("simple_match", SIMPLE, RESULTS + certain)) == PLAIN
    assert complete(filled("simple_match", SIMPLE, RESULTS + dear)) == "none"
    assert complete(filled("simple_match", SIMPLE, RESULTS)) == "none"
    assert complete(filled("simple_match", SIMPLE, RESULTS + certain), span=3).startswith("task failed!")


@pytest.mark.parametrize(
    ("page", "verdict"),
    [
        (f"{ITEM}\nFeatures:\n{FEATURES}", "Yes, I find 100% of it."),
        (ITEM, "Yes, I find 67% of it."),
        (OTHER, "No, I find 0% of it."),
        (ITEM.replace("$19.99", "$30.01"), "No, I find 67% of it."),
        (FEATURES, "No, I find 33% of it."),
    ],
)
def test_simulated__judges_a_product_by_words_and_price(page: str, verdict: str):
    assert complete(filled("detail_match", f"DetailMatch[{LAMP}]", page)) == verdict


def test_simulated__reflects_on_what_it_bought_and_buys_something_else_after():
    transcript = "".join(f"> {a}\n{b}\n" for a, b in zip(CHOSEN[::2], CHOSEN[1::2], strict=True))
    bought = complete(filled("reflexion", transcript=f"{transcript}> click[buy now]\n"))
    assert bought.startswith(f"I bought {LAMP}, and it was not right. New plan:\nStep 1: ")
    assert complete(filled("reflexion", transcript="> fly\nInvalid action!")).startswith("I bought nothing.")
    assert turn(*SEARCHED, information=f"From an earlier trial: {bought}") == "click[b00000mug1]"


def test_simulated__draws_what_to_search_for_only_where_it_is_asked_to():
    assert len({turn(BEGIN, "OK.", temperature=0.7, sample=sample) for sample in range(20)}) > 10
    assert len({turn(BEGIN, "OK.", sample=sample) for sample in range(9)}) == 1


def test_simulated__reads_the_instruction_whatever_it_says():
    odd = "i need a WebShop Instruction: mug"
    assert complete(filled("react").replace(INSTRUCTION, odd)).startswith("think: I keep in mind instruction mug")
    assert complete("WebShop\n\nYour task is to: buy\n>") == "I see no instruction."


PIECES = [
    *("\n\nYour task is to: ", "buy the product", SIMPLE, "\n", "\n>", "\n> ", BEGIN, SEARCH, RESULTS, ITEM),
    *(OTHER, FEATURES, NEXT_PAGE, "Invalid action!", "You have clicked red.", "click[b0000lamp1]", "click[< prev]"),
    *("The page in view:\n", "Product found: ", "What failed so far", "Simple match:", "Detail match:", "Reflection:"),
    *("Plan in full:", "Price: $", "[Buy Now]", "WebShop", "Instruction:\n", f"I bought {LAMP}"),
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text()))
def test_simulated__answers_anything(pieces: list[str]):
    for start in ("WebShop", SITUATION, f"{SITUATION}\n\nYour task is to: {WEBSHOP.default_task}\n"):
        assert isinstance(complete(start + "".join(pieces), span=4), str)


@cache
def played(agent: str, span: int) -> tuple[Episode, ...]:
    env = gym.make("WebShopLite-v0", split="adapt_test", max_episode_steps=-1)
    jobs = [(task.id, 0) for task in env.get_wrapper_attr("tasks")]
    return tuple(run_episodes([env], make_agent(agent, profile=WEBSHOP), jobs, model=SimulatedModel(span)))


def wins(agent: str, span: int) -> int:
    return sum(bool(episode.won) for episode in played(agent, span))


@pytest.mark.parametrize("agent", ["react", "adapt", "plan_and_execute", "try_again", "reflexion"])
def test_simulated__buys_more_of_what_is_asked_for_the_more_it_can_keep_in_mind(agent: str):
    few, some, all_of_it = (wins(agent, span) for span in (3, 6, 99))
    assert few < some < all_of_it
    assert few < 15
    assert all_of_it > 40
    assert not any(episode.error for episode in played(agent, 99))


def test_simulated__fails_where_it_looks_at_many_and_adapt_keeps_one_in_mind():
    for span in (3, 4, 5):
        others = [wins(agent, span) for agent in ("react", "plan_and_execute", "try_again", "reflexion")]
        assert wins("adapt", span) > max(others), span


def test_simulated__wins_more_where_a_purchase_that_was_wrong_may_be_made_again():
    assert wins("react", 99) < wins("reflexion", 99)
    assert wins("react", 99) < wins("try_again", 99)
