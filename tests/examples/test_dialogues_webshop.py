"""The dialogues of WebShop-lite are those that agents have there, and what is bought is right."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice, product

import gymnasium as gym
import pytest
import webshop as data
from dialogue import Branch, Example
from shopper import PRODUCTS, Wish, plain, title_values

from tests.agents.scripted import ScriptedModel
from tests.examples.dialogues import (
    branches,
    learns_only_the_players_lines,
    prompts,
    said,
    scripted,
    turns,
)
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.adapt.plan_and_execute import PlanAndExecuteAgent
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.adapt.reflexion import ReflexionAgent
from textcraft_gym.agents.adapt.step_plan import parse_plan
from textcraft_gym.agents.adapt.try_again import TryAgainAgent
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.games import WEBSHOP
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.webshop.product_templates import attributes
from textcraft_gym.episodes.episode import Episode

EXAMPLE_COUNT = 250
TASK_COUNT = 20
MODES = ("adapt", "react")
EXECUTORS = ("goal", "beginning", "next trial", "open", "buy")
SKILLS = ("simple match", "detail match")
PLANNERS = ("plan", "full plan", "reflection")
SHORT = Prompts("short")
Key = tuple[str, str]
"""A mode of the shop, and a task."""


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


@pytest.fixture(scope="module")
def situations() -> dict[Key, data.Situation]:
    """Situations in the registered environment, as each program shows it."""
    made = {}
    for mode in MODES:
        env = gym.make("WebShopLite-v0", mode=mode).unwrapped
        made |= {
            (mode, task.id): data.Situation(env.market, task.goal)
            for task in islice(env.tasks, TASK_COUNT)
        }
    return made


def play(agent, models: Mapping[str, ScriptedModel], key: Key) -> Episode:
    mode, task = key
    env = gym.make("WebShopLite-v0", mode=mode, max_episode_steps=-1)
    return run_episode(env, agent, task=task, seed=0, model=models)


def prompts_to(model: ScriptedModel) -> list[str]:
    return [request["prompt"] for request in model.asked]


def is_claim(branch: Branch) -> bool:
    return branch.text.endswith("Task completed!\n")


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 10)) == list(islice(data.examples(3), 10))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_kind_of_dialogue_and_are_short(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == {
        *EXECUTORS,
        *PLANNERS,
        *SKILLS,
    }
    for example in examples:
        sizes = [len(example.situation) + len(branch.text) for branch in example.branches]
        assert max(sizes) <= data.LONGEST
        assert sum(sizes) - (len(sizes) - 1) * len(example.situation) <= data.LONGEST


def test_examples__are_of_both_programs(examples: list[Example]):
    """ADaPT's lists products without their titles, ReAct's does not."""
    pages = [branch.text for _, branch in branches(examples, "open")]
    shown = Counter(bool(re.search(r"\[B0\w+\] ?\n\[B0", page)) for page in pages)
    assert min(shown[True], shown[False]) > len(pages) / 5


def test_examples__what_is_learnt_are_the_players_lines_only(examples: list[Example]):
    for _, branch in branches(examples, *EXECUTORS, *PLANNERS, *SKILLS):
        assert learns_only_the_players_lines(branch), branch.text


def test_shops__are_for_training_alone():
    registered = gym.make("WebShopLite-v0").unwrapped.market
    assert (
        not registered.products.keys()
        & data.training_shop(data.TRAINING_SHOPS[0]).shops[0].products.keys()
    )
    assert 0 not in data.TRAINING_SHOPS


@pytest.mark.parametrize("agent", [ReActAgent, TryAgainAgent])
def test_goals__are_what_react_and_the_first_trial_read_and_say(
    situations: dict[Key, data.Situation], agent: type
):
    won = Counter()
    for key, situation in situations.items():
        (goal,) = situation.goal(random.Random(str(key)))
        if goal is None:
            continue
        model = scripted(goal)
        episode = play(agent(WEBSHOP, SHORT, settings=Settings(turns=45)), {"executor": model}, key)
        expected = prompts(situation.text, goal)
        assert prompts_to(model)[: len(expected)] == expected
        assert episode.won == goal.text.endswith(": 1.0\n>"), goal.text
        won[key[0]] += episode.won
    assert min(won[mode] for mode in MODES) > 0.75 * TASK_COUNT


def test_wishes__are_behind_the_words_of_the_instruction_that_mean_them(
    situations: dict[Key, data.Situation],
):
    said = 0
    for situation in situations.values():
        thought, wish = situation.wish.understood, f"{situation.wish}."
        assert thought.endswith(wish)
        assert len(thought) < 260
        words, _, _ = thought.removesuffix(wish).strip().removesuffix(".").partition("\n")
        for meaning in filter(None, words.split("; ")):
            phrase, _, name = meaning.rpartition(" is ")
            assert phrase in situation.text.lower()
            assert name in (situation.wish.kinds[0], *situation.wish.attributes)
            said += 1
        (_, line, *_) = situation.beginning(random.Random(0)).spans
        assert line.text == f" think: {thought}\n"
    assert said > len(situations) / 2


def test_beginnings__are_those_of_goals(situations: dict[Key, data.Situation]):
    for key, situation in situations.items():
        beginning, (goal,) = (
            situation.beginning(random.Random(0)),
            situation.goal(random.Random(str(key))),
        )
        assert goal is None or goal.spans[: len(beginning.spans)] == beginning.spans


def test_modules__are_what_adapt_asks(situations: dict[Key, data.Situation]):
    """Whatever of the plans is needed: a title shows all, the pages do, another search finds it, or
    none does."""
    ways, won = Counter(), 0
    for key, situation in situations.items():
        script = script_of_adapt(situation, random.Random(str(key)))
        if script is None:
            continue
        way, models, questions = script
        episode = play(ADaPTAgent(WEBSHOP, SHORT), models, key)
        assert {role: prompts_to(model) for role, model in models.items()} == questions, way
        ways[way] += 1
        won += episode.won
    assert len(ways) >= 3
    assert won > 0.75 * len(situations)


def script_of_adapt(
    situation: data.Situation, rng: random.Random
) -> tuple[str, dict[str, ScriptedModel], dict[str, list[str]]] | None:
    """Return how the product is found, what each role says, and what it is asked; None if a step is
    too long."""
    simple = situation.simple_question()
    plans, details, steps = [situation.first_plan()], [], []
    way = "title"
    if situation.match:
        steps.append(situation.buy_found(rng))
    else:
        plans.append(situation.next_plan())
        way, opened = script_of_details(situation, details, steps, rng)
        if opened.page == "item":
            steps.append(situation.buy_in_view(opened, rng))
        else:
            plans.append(situation.last_plan(opened))
            steps.append(situation.open_step(situation.words, rng))
            last = situation.opened(situation.words, rng).state
            steps += [situation.buy_in_view(last, rng)] if last.page == "item" else []
    if None in steps:
        return None
    models = {
        "planner": scripted(*plans),
        "simple_match": scripted(*simple.branches),
        "detail_match": scripted(*(branch for detail in details for branch in detail.branches)),
        "executor": scripted(*steps),
    }
    questions = {
        "planner": prompts(situation.text, *plans),
        "simple_match": prompts(simple.situation, *simple.branches),
        "detail_match": [
            text for detail in details for text in prompts(detail.situation, *detail.branches)
        ],
        "executor": prompts(situation.text, *steps),
    }
    return way, models, questions


def script_of_details(
    situation: data.Situation, details: list[Example], steps: list[Branch], rng: random.Random
) -> tuple[str, data.State]:
    """Add the questions about products, and the search after them; return what helps, and the state
    after it."""
    for listing in situation.candidates:
        details.append(situation.detail_question(listing))
        if said(details[-1].branches[0])[0].endswith("So: Yes"):
            return "pages", situation.after(situation.results, f"click[{listing.asin}]")
    steps.append(situation.open_step(situation.wish.words, rng))
    return "search", situation.opened(situation.wish.words, rng).state


def test_steps__are_what_plan_and_execute_reads_and_says(situations: dict[Key, data.Situation]):
    won = 0
    for key, situation in situations.items():
        plan, opening = (
            situation.full_plan(),
            situation.open_step(situation.query, random.Random(0)),
        )
        if opening is None:
            continue
        steps = [opening]
        if is_claim(opening):
            opened = situation.opened(situation.query, random.Random(0)).state
            steps.append(situation.buy_in_view(opened, random.Random(1)))
        executor, planner = scripted(*steps), scripted(plan)
        episode = play(
            PlanAndExecuteAgent(WEBSHOP, SHORT), {"executor": executor, "planner": planner}, key
        )
        assert prompts_to(planner) == prompts(situation.text, plan)
        assert prompts_to(executor) == prompts(situation.text, *steps)
        assert episode.won == is_claim(opening)
        won += episode.won
    assert won > 0.75 * len(situations)


def test_trials__are_what_reflexion_reads_and_says(situations: dict[Key, data.Situation]):
    lessons = Counter()
    for key, situation in [
        (key, situation) for key, situation in situations.items() for _ in range(2)
    ]:
        made = {
            branch.kind: branch
            for branch in situation.another_trial(random.Random(f"{key}/{lessons}"))
            if branch
        }
        if len(made) < 2 or "From an earlier trial: " in made["reflection"].text:
            continue
        reflection, trial = made["reflection"], made["next trial"]
        transcript = reflection.text.partition("What you did:\n")[2].partition("\n\nReflection:")[0]
        lines = re.findall(r"^> (.*)", transcript, re.MULTILINE)
        executor, reflector = scripted(*lines, trial), scripted(reflection)
        models = {"executor": executor, "reflection": reflector}
        episode = play(ReflexionAgent(WEBSHOP, SHORT, settings=Settings(d_max=2)), models, key)
        assert prompts_to(reflector)[0] == prompts(situation.text, reflection)[0]
        assert prompts_to(executor)[len(lines) :] == prompts(situation.text, trial)
        assert episode.won == trial.text.endswith(": 1.0\n>")
        lessons[
            re.sub(r".*: |\d.*", "", said(reflection)[0].partition(" New plan")[0]).split(" ")[0],
            episode.won,
        ] += 1
    assert sum(count for (_, won), count in lessons.items() if won) > TASK_COUNT
    assert len({lesson for lesson, _ in lessons}) >= 3, lessons


def test_trials__do_not_open_again_what_was_not_right(situations: dict[Key, data.Situation]):
    avoided = 0
    for situation in situations.values():
        if situation.match is None:
            continue
        asin = situation.match.asin
        shopper = situation.shopper(
            situation.sentence, data.START, random.Random(0), avoided=[asin], slips=False
        )
        shopper.shop(f"search[{situation.query}]")
        assert f"click[{asin}]" not in shopper.transcript
        avoided += f"{asin}: bought before." in shopper.transcript
    assert avoided > 5


def test_purchases__are_right_and_mistakes_are_not_learnt(examples: list[Example]):
    wrong = bought = again = 0
    for _, branch in branches(examples, *EXECUTORS):
        for line, answer, learnt in turns(branch):
            if line.startswith("think:"):  # before a mistake that is made again
                again += not learnt
                continue
            if line == "click[buy now]":
                assert answer.endswith(": 1.0")
                bought += 1
            assert learnt != answer.startswith("Invalid action!"), line
            wrong += not learnt
    assert wrong > 5
    assert again
    assert bought > EXAMPLE_COUNT / 4


def test_values__that_are_wanted_are_all_chosen_before_the_purchase(examples: list[Example]):
    chosen = 0
    for _, branch in branches(examples, "buy"):
        if "click[buy now]" not in branch.text:  # given up, since no product has them
            assert "task failed!" in branch.text
            continue
        values = re.search(r"Buy\[(.*)\]", branch.text)[1]
        wanted = set() if values == "no option" else set(values.split(", "))
        clicked = {
            line[6:-1] for line, answer, _ in turns(branch) if answer.startswith("You have clicked")
        }
        clicked |= set(re.findall(r"(?<=[:.] )([^:]*): in the title\.", branch.text))
        assert ", ".join(sorted(clicked)) == ", ".join(sorted(wanted)) or len(clicked) == len(
            wanted
        ), branch.text
        chosen += bool(wanted)
    assert chosen > 5


def test_failures__are_said_in_one_sentence_after_some_products_are_refused(
    examples: list[Example],
):
    failed = [
        branch for _, branch in branches(examples, "goal", "open") if "task failed!" in branch.text
    ]
    assert failed
    for branch in failed:
        assert turns(branch)[-1][0].endswith("None fits. task failed!")
        weighed = re.findall(r"(?<=[:.] )B0\w{8}(?=: (?!B0))", " ".join(said(branch)))
        assert len({*weighed}) == PRODUCTS, branch.text


def test_verdicts__are_what_the_lines_of_products_say():
    reasons = Counter()
    for situation in islice(data.Situation.drawn(random.Random(5)), 100):
        for listing in situation.listings:
            verdict = situation.wish.verdict(listing)
            title = plain(listing.title)
            named = [kind for kind in situation.wish.kinds if plain(kind) in title]
            if price := re.search(r" ([0-9.]+) against ([0-9.]+): .* above", verdict):
                assert listing.price == float(price[1]) > float(price[2]) == situation.wish.most
            assert (f"no {situation.wish.kinds[0]}" in verdict) == (not named)
            for name, _ in product(situation.wish.attributes, named):
                says = any(plain(form) in title for form in (name, *attributes()[name].titles))
                assert price or f". {name}: {'yes' if says else 'to check'}." in verdict
            reasons[
                "price"
                if price
                else "kind"
                if not named
                else "check"
                if "to check" in verdict
                else "all"
            ] += 1
    assert min(reasons.values()) > 5
    assert len(reasons) == 4


@pytest.mark.parametrize(
    ("price", "bound", "said"),
    [
        (23.95, 60.0, "023.95 against 060: 0 0, 2 6, below"),
        (643.95, 160.0, "643.95 against 160: 6 1, above"),
        (17.0, 130.0, "017.00 against 130: 0 1, below"),
        (60.0, 60.0, "060.00 against 060: 0 0, 6 6, 0 0, 0 0, 0 0, equal"),
        (60.5, 60.0, "060.50 against 060: 0 0, 6 6, 0 0, 5 0, above"),
        (8.99, 9.5, "008.99 against 009.50: 0 0, 0 0, 8 9, below"),
        (8.99, math.inf, ""),
    ],
)
def test_prices__are_compared_digit_by_digit(price: float, bound: float, said: str):
    assert Wish(("dress",), (), (), bound).comparison(price) == said


def test_values__are_looked_up_as_soon_as_a_product_is_open(examples: list[Example]):
    """The first that is missing ends the look at the product, which is left."""
    places = Counter()
    for _, branch in branches(examples, "goal"):
        page = ""
        for line, answer, learnt in turns(branch):
            if line == "click[< prev]":  # its page, opened without a title, was enough
                page = ""
            if page and learnt and not re.match(r"think: (After )?B0", line):
                said, _, left = line.removeprefix("think: ").partition("To check: ")
                looked_up = re.findall(r"([^:]+): ([^.]+)\. ?", said)
                for value, place in looked_up:
                    assert (f"[{value}]" in page) == (place not in ("in the title", "not here"))
                    places[place] += 1
                assert looked_up or said.startswith("No option is named. ")
                assert bool(left) != line.endswith(("All is here.", "not here.")), line
                page = ""
            if re.fullmatch(r"click\[B0\w+\]", line) and "[Buy Now]" in answer:
                page = answer
    assert min(places["size"], places["in the title"], places["not here"]) > 5


def test_looks__go_on_as_long_as_something_is_left_to_check(examples: list[Example]):
    after = Counter()
    for _, branch in branches(examples, "goal"):
        lines = [line for line, _, learnt in turns(branch) if learnt]
        for thought, *following in zip(lines, lines[1:], lines[2:], strict=False):
            if "To check: " in thought:
                assert following[0] in ("click[features]", "click[< prev]")
                assert "click[features]" in following or "click[description]" in following
            elif thought.endswith("Not all is here."):
                assert following == ["click[< prev]", "click[< prev]"]
            elif thought.endswith("All is here."):
                assert following[0] != "click[features]"
                assert following[0] != "click[description]"
            after[thought.rpartition(". ")[2].partition(":")[0]] += 1
    assert min(after["To check"], after["All is here."], after["Not all is here."]) > 1


def test_verdicts__after_a_wrong_product_begin_with_it(examples: list[Example]):
    again = 0
    for _, branch in branches(examples, "goal"):
        opened = ""
        for line, *_ in turns(branch):
            if clicked := re.fullmatch(r"click\[(B0\w+)\]", line):
                opened = clicked[1]
            elif opened and re.match(rf"think: (?!{opened})(B0|After|None)", line):
                assert line.startswith(f"think: After {opened}: ")
                opened = ""
                again += 1
    assert again > 10


def test_details__are_of_what_the_pages_say():
    answers = Counter()
    for situation in islice(data.Situation.drawn(random.Random(5)), 100):
        for listing in situation.listings:
            (branch,) = situation.detail_question(listing).branches
            *_, answer = said(branch)[0].split(" So: ")
            answers[answer] += 1
            if answer == "Yes":
                options = situation.world.shop.options(listing.asin)
                assert situation.is_right(listing) or listing.price <= situation.wish.most
                for value in situation.wish.values:
                    assert value in options or value in listing.title.lower()
    assert min(answers["Yes"], answers["No"]) > 20


def test_plans__are_read_by_the_agents(examples: list[Example]):
    for _, branch in branches(examples, "plan", "full plan", "reflection"):
        assert parse_plan(branch.spans[1].text)


def test_values__that_stand_in_the_title_are_wanted_and_not_clicked():
    bought = 0
    rng = random.Random(7)
    for situation in islice(data.Situation.drawn(rng), 300):
        goal = situation.world.goal
        titled = [*title_values(goal)]
        if not titled:
            continue
        assert all(value in goal.instruction.lower() for value in titled)
        assert all(value in goal.product.title.lower() for value in titled)
        assert not {*titled} & {
            value for values in goal.product.options.values() for value in values
        }
        assert {*titled} <= {*situation.wish.values}
        branch = situation.whole(rng, "goal", "react")
        bought += branch is not None and f"{titled[0]}: in the title." in branch.text
    assert bought > 5


def test_bounds__close_to_the_price_still_allow_the_product():
    shop = data.training_shop(3)
    changed = 0
    for goal in shop.goals:
        tight = data.tightened(goal)
        assert goal.product.price < tight.price_upper <= goal.price_upper
        assert not math.isfinite(goal.price_upper) or (
            f"price lower than {tight.price_upper:.2f} dollars" in tight.instruction
        )
        changed += tight.price_upper < goal.price_upper
    assert changed > len(shop.goals) / 2
