from __future__ import annotations

import math
from collections import Counter
from types import SimpleNamespace

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.contract.controller import Scene
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.deps.selector import (
    SELECTORS,
    candidates,
    choose,
    make_selector,
    sample_index,
)
from textcraft_gym.agents.games import MINETECHTREE, TEXTCRAFT
from textcraft_gym.goals import Goal, parse_goals

BOAT = Goal("craft", {"boat": 1}, {"planks": 5})
CHEST = Goal("craft", {"chest": 1}, {"planks": 8})
TORCH = Goal("craft", {"torch": 4}, {"coal": 1, "stick": 1})
IRON = Goal("mine", {"iron ore": 1}, {}, "stone pickaxe")
SHEEP = Goal("hunt", {"wool": 1})


def numbered(*goals: Goal) -> dict[int, tuple[Goal, ...]]:
    return dict(enumerate((goal.alternatives for goal in goals), 1))


def steps(pending: dict[int, tuple[Goal, ...]], held: dict[str, int]) -> list[int]:
    return list(candidates(pending, held))


def test_candidates__have_their_materials_and_their_tool():
    pending = numbered(BOAT, TORCH, IRON)
    assert steps(pending, {"oak planks": 5}) == [1]
    assert steps(pending, {"coal": 1, "stick": 1}) == [2]
    assert steps(pending, {"stone pickaxe": 1}) == [3]
    assert steps(pending, {"oak planks": 5, "stone pickaxe": 1}) == [1, 3]


def test_candidates__leave_what_the_others_need():
    pending = numbered(BOAT, CHEST, SHEEP)
    assert steps(pending, {"planks": 13}) == [1, 2, 3]
    assert steps(pending, {"planks": 12}) == [3]
    assert steps(pending, {"planks": 7}) == [1, 3]


def test_candidates__leave_the_tools_of_goals_that_cannot_be_pursued_yet():
    smelt = Goal("smelt", {"cooked beef": 1}, {"beef": 1}, "furnace")
    cart = Goal("craft", {"furnace minecart": 1}, {"minecart": 1, "furnace": 1})
    assert steps(numbered(smelt, cart, SHEEP), {"minecart": 1, "furnace": 1}) == [3]
    assert steps(numbered(smelt, cart, SHEEP), {"minecart": 1, "furnace": 2}) == [2, 3]
    assert steps(numbered(smelt, cart), {"minecart": 1, "furnace": 1}) == [2]


def test_candidates__leave_of_a_kind_what_is_needed_of_one_of_it():
    oak, stick = (
        Goal("craft", {"oak boat": 1}, {"oak planks": 5}),
        Goal("craft", {"stick": 4}, {"planks": 2}),
    )
    assert steps(numbered(stick, oak, SHEEP), {"oak planks": 6}) == [3]
    assert steps(numbered(stick, oak, SHEEP), {"oak planks": 7}) == [1, 2, 3]


def test_candidates__reserve_nothing_for_what_is_reached():
    clock = Goal("craft", {"clock": 1}, {"planks": 1, "gold ingot": 4})
    assert steps(numbered(clock, CHEST, SHEEP), {"planks": 8}) == [3]
    assert steps(numbered(clock, CHEST, SHEEP), {"planks": 8, "clock": 1}) == [1, 2, 3]


def test_candidates__are_the_first_where_none_is_free():
    assert steps(numbered(BOAT, CHEST), {"planks": 12}) == [1]
    assert steps(numbered(CHEST, TORCH), {}) == [1]
    assert steps({}, {}) == []


def test_candidates__are_those_of_which_one_alternative_can_be_pursued():
    either = Goal(
        "mine", {"cobblestone": 1}, {}, "wooden pickaxe", others=(Goal("mine", {"oak log": 1}),)
    )
    assert candidates(numbered(BOAT, either), {}) == {2: [either.others[0]]}
    assert candidates(numbered(BOAT, either), {"wooden pickaxe": 1}) == {
        2: list(either.alternatives)
    }


def test_candidates__are_alternatives_that_eat_nothing():
    birch, oak = (
        Goal("craft", {"planks": 4}, {"birch log": 1}),
        Goal("craft", {"planks": 4}, {"oak log": 1}),
    )
    either = Goal("craft", {"planks": 4}, {"birch log": 1}, others=(oak,))
    sign = Goal("craft", {"sign": 1}, {"oak log": 3})
    held = {"birch log": 1, "oak log": 3}
    assert candidates(numbered(either, sign), held) == {1: [either], 2: [sign]}
    assert candidates({1: [oak, birch], 2: [sign]}, held) == {1: [birch], 2: [sign]}


def test_candidates__eat_what_another_needs_only_where_it_has_no_other_way():
    either = Goal("craft", {"x": 1}, {"planks": 8}, others=(Goal("craft", {"x": 1}, {"coal": 1}),))
    assert steps(numbered(BOAT, either), {"planks": 8, "coal": 1}) == [1, 2]
    assert steps(numbered(BOAT, either, SHEEP), {"planks": 8}) == [3]


@pytest.mark.parametrize(
    ("horizons", "likely"), [([0, 0], 0.5), ([0, 10], 0.731), ([20, 0], 0.119), ([0, math.inf], 1)]
)
def test_sample_index__takes_a_goal_by_the_softmax_of_its_horizon(
    horizons: list[float], likely: float
):
    drawn = Counter(sample_index(horizons, index / 1000) for index in range(1000))
    assert drawn[0] / 1000 == pytest.approx(likely, abs=0.002)


def test_sample_index__is_certain_where_one_is_far_sooner():
    assert {sample_index([500, 20, 400], uniform) for uniform in (0.001, 0.5, 0.999)} == {1}


def test_tau__is_the_temperature_of_the_softmax():
    """At the paper's 1 the sooner goal is taken almost always, at 10 not."""
    shares = {}
    for tau in (1, 10):
        selector = DEPSAgent(MINETECHTREE, tau=tau)
        drawn = [
            choose({1: [CHEST], 2: [TORCH]}, lambda goals: [5.0, 0.0], index / 1000, selector.tau)[
                0
            ]
            for index in range(1000)
        ]
        shares[tau] = drawn.count(2) / 1000
    assert shares == {1: pytest.approx(0.993, abs=0.002), 10: pytest.approx(0.622, abs=0.002)}
    for tau in (0, -1, True, "1", float("inf"), float("nan")):
        with pytest.raises(ValueError, match=r"expected (a tau above 0|tau to be a number)"):
            DEPSAgent(MINETECHTREE, tau=tau)


@pytest.mark.parametrize(("tau", "goals"), [(0.001, {1}), (1e9, {1, 2})])
def test_tau__is_what_the_agent_selects_with(tau: float, goals: set[int]):
    agent = DEPSAgent(MINETECHTREE, selector="learned", tau=tau)
    agent.selector.horizons = lambda each, scene, info: [
        float(index) for index, _ in enumerate(each)
    ]
    scene = Scene({}, "Inventory: You are not carrying anything.", "", {"oak trees": 5, "cows": 9})
    play = SimpleNamespace(last=SimpleNamespace(info={}))
    pending = {1: parse_goals("mine({'oak log': 1})")[0], 2: parse_goals("hunt({'beef': 1})")[0]}
    assert {agent.select(play, pending, scene, uniform)[0] for uniform in (0.1, 0.9)} == goals


def test_choose__takes_of_each_goal_the_way_that_is_soonest():
    times = {"boat": 50.0, "chest": 9.0, "torch": 9.0, "iron ore": 70.0, "wool": 400.0}

    def horizons(goals):
        return [times[goal.name] for goal in goals]

    assert choose({1: [BOAT, CHEST, TORCH], 2: [SHEEP]}, horizons, 0.5) == (1, CHEST)
    assert choose({1: [SHEEP], 2: [IRON, SHEEP, BOAT]}, horizons, 0.5) == (2, BOAT)
    assert {choose({1: [CHEST], 2: [TORCH]}, horizons, uniform)[0] for uniform in (0.1, 0.9)} == {
        1,
        2,
    }


def first_catch(selector: str, plan: str, seed: int = 3) -> str:
    """Return the first thing that is got of a plan."""
    return catches(selector, plan, seed)[0]


def catches(selector: str, plan: str, seed: int) -> list[str]:
    """Return what is got of a plan."""
    agent = DEPSAgent(MINETECHTREE, rounds=0, selector=selector)
    env = gym.make("MineTechTree-v0", max_episode_steps=-1, **agent.env_args)
    models = {"planner": ScriptedModel(plan), "executor": ScriptedModel()}
    episode = run_episode(env, agent, task="white_bed", seed=seed, model=models)
    assert episode.error is None
    return [
        action for action, _ in episode.transcript if action and action.startswith(("mine", "hunt"))
    ]


PLAN = "mine({'oak log': 2}, null, null)\nhunt({'beef': 1}, null, null)\nhunt({'white wool': 3}, null, null)"


@pytest.mark.parametrize("selector", ["learned", "nearest"])
def test_selector__goes_where_it_is_soonest_done(selector: str):
    env = gym.make("MineTechTree-v0", costs=True)
    caught = Counter[str]()
    for seed in range(40):
        _, info = env.reset(seed=seed, options={"task": "white_bed"})
        (to_trees, each_log), (to_cows, each_cow) = info["costs"]["oak log"], info["costs"]["beef"]
        sooner = to_cows + each_cow - to_trees - 2 * each_log
        if abs(sooner) > 150:
            first = first_catch(selector, "mine({'oak log': 2})\nhunt({'beef': 1})", seed)
            assert first == ("mine 2 oak log" if sooner > 0 else "hunt 1 beef")
            caught[first] += 1
    assert min(caught.values()) >= 5


def test_nearest__goes_by_what_is_printed_and_knows_nothing_else():
    controller = DEPSAgent(MINETECHTREE).controller
    selector = make_selector("nearest", controller, "minetechtree")
    wood, beef, planks = controller.goals(
        "mine({'oak log': 2})\nhunt({'beef': 1})\ncraft({'planks': 4})"
    )
    scene = Scene({}, "", "", {"cows": 5, "oak trees": 9})
    assert selector.horizons([wood, beef], scene, {}) == [math.inf, 0.0]
    assert selector.horizons([wood, beef, planks], scene, {}) == [math.inf, math.inf, 0.0]
    untold = scene._replace(distances={"cows": None, "oak trees": None}, sight="names")
    assert selector.horizons([wood, beef], untold, {}) == [0.0, 0.0]


@pytest.mark.parametrize("around", ["exact", "rough", "names"])
@pytest.mark.parametrize("selector", SELECTORS)
def test_selector__plays_however_distances_are_told(selector: str, around: str):
    agent = DEPSAgent(MINETECHTREE, rounds=0, selector=selector)
    env = gym.make("MineTechTree-v0", max_episode_steps=-1, around=around)
    for seed in range(3):
        models = {
            "planner": ScriptedModel("mine({'log': 2})\nhunt({'beef': 1})"),
            "executor": ScriptedModel(),
        }
        episode = run_episode(env, agent, task="white_bed", seed=seed, model=models)
        assert (episode.error, episode.claimed_success) == (None, True)


def test_learned__knows_that_what_belongs_to_a_landscape_is_near_in_it():
    """Where no distance is told, trees are nearer in the forest than cows are, and cows nearer in
    the plains."""
    controller = DEPSAgent(MINETECHTREE).controller
    selector = make_selector("learned", controller, "minetechtree")
    wood, beef = controller.goals("mine({'oak log': 1})\nhunt({'beef': 1})")
    untold: dict[str, int | None] = {"cows": None, "oak trees": None}
    for place, sooner in (("forest", wood), ("plains", beef)):
        scene = Scene({}, "", "", untold, "names", place)
        horizons = selector.horizons([wood, beef], scene, {})
        assert [wood, beef][horizons.index(min(horizons))] is sooner
        assert abs(horizons[0] - horizons[1]) > 100


@pytest.mark.parametrize("selector", SELECTORS)
def test_selector__is_offered_only_alternatives_that_can_be_pursued(selector: str):
    either = "mine({'cobblestone': 1}, null, 'wooden pickaxe') or mine({'oak log': 1}, null, null)"
    assert {first_catch(selector, either, seed) for seed in range(5)} == {"mine 1 oak log"}


def test_selector__is_offered_no_alternative_to_what_is_reached():
    plan = "hunt({'beef': 1})\nhunt({'beef': 1}, {'beef': 1}) or hunt({'porkchop': 1}, {'beef': 1})"
    assert all(catches("random", plan, seed) == ["hunt 1 beef"] for seed in range(8))


def test_selector__keeps_the_order_or_none():
    assert first_catch("fixed", PLAN) == "mine 2 oak log"
    assert len({first_catch("random", PLAN, seed).split()[-1] for seed in range(20)}) == 3


@pytest.mark.parametrize("selector", SELECTORS)
def test_selector__takes_the_nearest_of_all_woods(selector: str):
    observation, _ = gym.make("MineTechTree-v0").reset(seed=3, options={"task": "white_bed"})
    trees = [part.rpartition(" trees")[0] for part in observation.split(", ") if " trees " in part]
    first = first_catch(selector, "mine({'log': 2}, null, null)")
    assert first == f"mine 2 {trees[0].rpartition(': ')[2]} log"


def test_selector__must_be_one_that_the_game_has():
    with pytest.raises(
        ValueError,
        match="expected selector to be one of fixed, random, nearest, learned, got 'best'",
    ):
        DEPSAgent(MINETECHTREE, selector="best")
    for name in ("learned", "nearest"):
        with pytest.raises(ValueError, match="nothing takes time in the game textcraft"):
            DEPSAgent(TEXTCRAFT, selector=name)
