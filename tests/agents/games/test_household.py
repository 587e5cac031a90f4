"""What a player knows of a household, and the explorer, who plays with that alone."""

from __future__ import annotations

from collections import Counter, defaultdict

import gymnasium as gym
import pytest

from tests.envs.alfworld.judge import OFFICIAL
from textcraft_gym import run_episode, tasks
from textcraft_gym.agents.baselines.explorer import ExplorerAgent
from textcraft_gym.agents.games.alfworld.household import (
    USUAL_PLACES,
    Household,
    HouseholdTask,
    Next,
    likely,
    read_task,
)
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.generator import generate

HALL = "You are in the middle of a room. Looking quickly, you see a bed 1, a drawer 2, a drawer 1, a desk 1."


@pytest.mark.parametrize(
    ("sentence", "task"),
    [
        ("put a mug in cabinet.", HouseholdTask("mug", target="cabinet")),
        ("put some soapbar on cart.", HouseholdTask("soapbar", target="cart")),
        ("put the mug in cabinet 12", HouseholdTask("mug", target="cabinet 12")),
        ("put a hot egg in fridge.", HouseholdTask("egg", treatment="heat", target="fridge")),
        ("put a cool egg in fridge.", HouseholdTask("egg", treatment="cool", target="fridge")),
        (
            "clean some pan and put it in shelf.",
            HouseholdTask("pan", treatment="clean", target="shelf"),
        ),
        ("put two cd in safe.", HouseholdTask("cd", 2, target="safe")),
        ("find two cd and put them in safe.", HouseholdTask("cd", 2, target="safe")),
        ("look at book under the desklamp.", HouseholdTask("book", lamp="desklamp")),
        ("examine the book with the desklamp.", HouseholdTask("book", lamp="desklamp")),
        (
            "look at the book under the desklamp at desk 1, shelf",
            HouseholdTask("book", lamp="desklamp", places=("desk 1", "shelf")),
        ),
        ("heat the egg with microwave 1", HouseholdTask("egg", treatment="heat")),
        ("find and take a mug", HouseholdTask("mug")),
        (
            "Find and take another mug from desk 1, shelf 2 or bed",
            HouseholdTask("mug", places=("desk 1", "shelf 2", "bed")),
        ),
        ("sing a song", None),
        ("", None),
    ],
)
def test_task__is_read_from_what_games_and_plans_say(sentence: str, task: HouseholdTask | None):
    assert read_task(sentence) == task


def test_task__of_every_made_game_is_read():
    for task in tasks("ALFWorld-v0", "all")[::7]:
        goal, wanted = generate(task.id).goal, read_task(generate(task.id).task)
        assert wanted
        assert f"{wanted.thing}Type" == goal.otype.lower().replace("type", "Type")
        assert f"{wanted.target or wanted.lamp}Type" == goal.target.lower().replace("type", "Type")
        assert (wanted.amount == 2) is ("two" in task.task_type)
        assert wanted.treatment in task.task_type


def test_usual_places__are_as_counted_in_the_training_games():
    counts: Counter[tuple[str, str]] = Counter()
    places: defaultdict[str, Counter[str]] = defaultdict(Counter)
    actions: dict[str, int] = {}
    for task in tasks("ALFWorld-v0", "train")[::4]:
        game = Game(generate(task.id))
        kinds = Counter(name.split()[0] for name in game.receptacles)
        inside = [
            (
                game.receptacles[r].split()[0],
                {game.objects[item].split()[0] for item in things},
                r in game.openable,
            )
            for place, here in zip(game.first.places, game.here, strict=True)
            for r, things in zip(here, place.content.contents, strict=True)
        ]
        for place, things, openable in inside:
            counts.update((thing, place) for thing in things)
            actions[place] = max(actions.get(place, 1), 1 + openable)
        for thing in set().union(*(things for _, things, _ in inside)):
            places[thing].update(kinds)
    counted = {
        thing: sorted(
            (place for place in kinds if counts[thing, place]),
            key=lambda place: (-counts[thing, place] / kinds[place] / actions[place], place),
        )
        for thing, kinds in places.items()
    }
    assert dict(sorted(counted.items())) == USUAL_PLACES


def test_likely__puts_the_best_places_first_and_the_unusual_last():
    assert likely("laptop", ["drawer 1", "bed 1", "desk 2", "desk 1"]) == [
        "bed 1",
        "desk 2",
        "desk 1",
        "drawer 1",
    ]
    assert likely("unicorn", ["drawer 1", "bed 1"]) == ["drawer 1", "bed 1"]


def household_after(*turns: str) -> Household:
    household = Household(HALL)
    for command, answer in zip(turns[::2], turns[1::2], strict=True):
        household.read(command, answer)
    return household


def next_command(household: Household, task: HouseholdTask) -> str | None:
    step = household.next(task, lambda _: household.places)
    return step.command if step else None


def test_household__looks_into_one_place_after_the_other():
    household = household_after()
    assert household.places == ["bed 1", "drawer 2", "drawer 1", "desk 1"]
    task = HouseholdTask("cd", target="desk")
    assert household.next(task, lambda _: household.places) == Next("go to bed 1", "cd", "bed")
    household.read("go to bed 1", "You arrive at bed 1. On the bed 1, you see a pillow 1.")
    assert next_command(household, task) == "go to drawer 2"
    household.read("go to drawer 2", "You arrive at drawer 2. The drawer 2 is closed.")
    assert next_command(household, task) == "open drawer 2"
    household.read(
        "open drawer 2",
        "You open the drawer 2. The drawer 2 is open. In it, you see a cd 2, and a pen 1.",
    )
    assert next_command(household, task) == "take cd 2 from drawer 2"
    household.read("take cd 2 from drawer 2", "You pick up the cd 2 from the drawer 2.")
    assert next_command(household, task) == "go to desk 1"
    household.read("go to desk 1", "You arrive at desk 1. On the desk 1, you see nothing.")
    assert next_command(household, task) == "move cd 2 to desk 1"
    household.read("move cd 2 to desk 1", "You move the cd 2 to the desk 1.")
    assert household.done(task)


def test_household__stands_at_a_place_that_it_cannot_go_to():
    household = household_after(
        "go to drawer 2",
        "You arrive at drawer 2. The drawer 2 is closed.",
        "go to drawer 1",
        "Nothing happens.",
    )
    assert next_command(household, HouseholdTask("cd", places=("drawer 1",))) == "examine drawer 1"
    household.read("examine drawer 1", "The drawer 1 is closed.")
    assert next_command(household, HouseholdTask("cd", places=("drawer",))) == "open drawer 2"


def test_household__finds_out_that_it_went_elsewhere_since_it_was_told():
    household = household_after("take cd 1 from bed 1", "You pick up the cd 1 from the bed 1.")
    assert next_command(household, HouseholdTask("cd", target="bed 1")) == "examine bed 1"
    household.read("examine bed 1", "Nothing happens.")
    assert next_command(household, HouseholdTask("cd", target="bed 1")) == "go to bed 1"


def test_household__looks_into_its_hand_where_it_can_take_nothing():
    seen = "You arrive at bed 1. On the bed 1, you see a cd 1."
    household = household_after("go to bed 1", seen, "take cd 1 from bed 1", "Nothing happens.")
    assert next_command(household, HouseholdTask("cd")) == "inventory"
    household.read("inventory", "You are carrying: a cd 2.")
    assert household.done(HouseholdTask("cd"))
    assert next_command(household, HouseholdTask("pen")) == "move cd 2 to bed 1"


def test_household__gives_up_when_it_has_looked_everywhere():
    household = household_after(
        "go to desk 1",
        "You arrive at desk 1. On the desk 1, you see nothing.",
        "inventory",
        "You are not carrying anything.",
    )
    assert next_command(household, HouseholdTask("cd", places=("desk",))) is None


def test_household__says_it_in_the_other_dialect_where_the_first_does_nothing():
    household = household_after("take cd 1 from bed 1", "You pick up the cd 1 from the bed 1.")
    household.read("examine bed 1", "On the bed 1, you see nothing.")
    household.read("move cd 1 to bed 1", "Nothing happens.")
    assert next_command(household, HouseholdTask("cd", target="bed")) == "put cd 1 in/on bed 1"
    household.read("put cd 1 in/on bed 1", "You put the cd 1 in/on the bed 1.")
    assert household.done(HouseholdTask("cd", target="bed"))


def test_household__knows_the_dialect_from_an_arrival():
    for where, command in (("loc 7", "put cd 1 in/on bed 1"), ("bed 1", "move cd 1 to bed 1")):
        household = household_after(
            "go to bed 1", f"You arrive at {where}. On the bed 1, you see a cd 1."
        )
        household.read("take cd 1 from bed 1", "You pick up the cd 1 from the bed 1.")
        assert next_command(household, HouseholdTask("cd", target="bed")) == command
        household.read(command, "Nothing happens.")
        assert next_command(household, HouseholdTask("cd", target="bed")) is None


class Mute(gym.Wrapper):
    """Tells nothing but text."""

    def reset(self, **arguments):
        observation, info = super().reset(**arguments)
        return observation, {"task": info["task"]}

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated, {"won": info["won"]}


@pytest.mark.parametrize(
    "arguments", [{}, {"dialect": "0.3"}, {"hidden": 100, "receptacles": 40}], ids=str
)
def test_explorer__wins_every_made_game_by_its_text_alone(arguments: dict):
    env = Mute(gym.make("ALFWorld-v0", split="valid_unseen", max_episode_steps=-1, **arguments))
    for task in env.get_wrapper_attr("tasks"):
        episode = run_episode(env, ExplorerAgent(), task=task.id, seed=0)
        assert episode.won, task.id
        assert episode.steps >= task.optimal_length


@pytest.mark.official_games
def test_explorer__wins_official_games_within_their_limit():
    env = Mute(gym.make("ALFWorld-v0", games=str(OFFICIAL), split="all"))
    for task in env.get_wrapper_attr("tasks"):
        assert run_episode(env, ExplorerAgent(), task=task.id, seed=0).won, task.id


def test_explorer__plays_nothing_where_it_reads_no_household():
    episode = run_episode(
        gym.make("TextCraft-v0"), ExplorerAgent(), task="minecraft:beehive", seed=0
    )
    assert (episode.won, episode.claimed_success, episode.steps) == (False, False, 0)
