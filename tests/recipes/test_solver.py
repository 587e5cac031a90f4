"""Shortest plans: played action by action, and compared with two judges that know nothing of the
solver."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.recipes.milp import minimum_actions
from tests.recipes.packs import load, shapeless
from tests.recipes.play import fewest_actions, play
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.solver import Plan, shortest_plan
from textcraft_gym.recipes.splits import task_items

# Each of these is made of a slab, which can be made of it in turn (item tags only). The MILP does
# not know that one must come before the other, so where such a pair is in a tree, the breadth-first
# search is the judge.
IN_CYCLES = {
    "minecraft:chiseled_sandstone",
    "minecraft:chiseled_red_sandstone",
    "minecraft:purpur_pillar",
}


def parts(book: RecipeBook, goal: str) -> list[str]:
    """Return the items that are of use on the way to the goal."""
    slots = (
        slot for item in book.tree(goal) for recipe in book.recipes[item] for slot in recipe.slots
    )
    return sorted({member for slot in slots for member in book.members[slot.ingredient]})


def acyclic_tasks(book: RecipeBook) -> list[str]:
    return [
        goal for goal in task_items(book) if not book.mixes or IN_CYCLES.isdisjoint(book.tree(goal))
    ]


def check_played(book: RecipeBook, goal: str, held: dict[str, int]) -> int:
    """Return the length of the shortest plan, having played it."""
    plan = shortest_plan(book, goal, held)
    assert plan.length == play(book, plan, goal, held)
    return plan.length


# The judges, on what can be counted by hand.


@pytest.mark.parametrize("judge", [minimum_actions, fewest_actions, check_played])
@pytest.mark.parametrize(
    ("goal", "held", "actions"),
    [
        ("stick", {}, 2),  # bamboo, stick
        ("stick", {"bamboo": 1}, 2),
        ("stick", {"bamboo": 2}, 1),
        ("stick", {"stick": 64}, 2),  # one more stick than are held
        ("crafting_table", {}, 3),  # log, planks, table
        ("ladder", {}, 5),  # log, planks, twice four sticks, ladder
        ("ladder", {"oak_planks": 2}, 5),  # four sticks of the planks, then as from nothing
        ("ladder", {"oak_planks": 4}, 3),
        ("ladder", {"birch_planks": 1, "oak_planks": 2, "stick": 3}, 2),
    ],
)
def test_judges__agree_with_a_count_by_hand(
    judge: Callable[[RecipeBook, str, dict[str, int]], int],
    goal: str,
    held: dict[str, int],
    actions: int,
    group_book: RecipeBook,
) -> None:
    held = {f"minecraft:{item}": count for item, count in held.items()}
    assert judge(group_book, f"minecraft:{goal}", held) == actions


def test_play__refuses_what_cannot_be_played(group_book: RecipeBook) -> None:
    goal = "minecraft:crafting_table"
    good = shortest_plan(group_book, goal)
    bad = [
        good._replace(gets=()),
        good._replace(gets=(("minecraft:oak_planks", 4),)),
        good._replace(crafts=good.crafts[::-1]),
        good._replace(crafts=good.crafts[:-1]),
        good._replace(
            crafts=(good.crafts[0], good.crafts[1]._replace(using=(("minecraft:oak_planks", 3),)))
        ),
    ]
    for plan in bad:
        with pytest.raises(AssertionError):
            play(group_book, plan, goal, {})


# Both books.


def test_shortest_plan__is_minimal_for_every_task(book: RecipeBook) -> None:
    for goal in task_items(book):
        assert check_played(book, goal, {}) == minimum_actions(book, goal, {}), goal


def test_shortest_plan__is_minimal_for_items_of_depth_1(book: RecipeBook) -> None:
    for goal in book.recipes.keys() - set(task_items(book)):
        assert check_played(book, goal, {}) == minimum_actions(book, goal, {}), goal


def test_shortest_plan__has_the_published_lengths(group_book: RecipeBook) -> None:
    lengths: dict[int, list[int]] = {2: [], 3: [], 4: []}
    for goal in task_items(group_book):
        lengths[group_book.depths[goal]].append(shortest_plan(group_book, goal).length)
    table = {
        depth: (min(some), statistics.median(some), round(statistics.mean(some), 1), max(some))
        for depth, some in lengths.items()
    }
    assert table == {2: (3, 5, 4.8, 12), 3: (4, 8, 9.5, 23), 4: (7, 17, 17.3, 27)}


def midgames(book: RecipeBook, seed: int, number: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield tasks and inventories with some of what is of use, at times the goal itself."""
    rng = random.Random(f"{seed} {book.tags}")
    tasks = acyclic_tasks(book)
    for _ in range(number):
        goal = rng.choice(tasks)
        useful = [*parts(book, goal), goal]
        yield (
            goal,
            {
                item: rng.randint(1, 9)
                for item in rng.sample(useful, rng.randint(0, min(8, len(useful))))
            },
        )


def test_shortest_plan__is_minimal_from_inventories_in_the_middle_of_a_game(
    book: RecipeBook,
) -> None:
    for goal, held in midgames(book, seed=0, number=150):
        assert check_played(book, goal, held) == minimum_actions(book, goal, held), (goal, held)


@pytest.mark.slow
def test_shortest_plan__is_minimal_from_many_inventories(book: RecipeBook) -> None:
    for goal, held in midgames(book, seed=1, number=5000):
        assert check_played(book, goal, held) == minimum_actions(book, goal, held), (goal, held)


def test_shortest_plan__shortens_as_it_is_played(book: RecipeBook) -> None:
    for goal in task_items(book)[::10]:
        plan, held = shortest_plan(book, goal), Counter[str]()
        for place, (item, count) in enumerate(plan.gets, 1):
            held[item] += count
            assert shortest_plan(book, goal, held).length == plan.length - place
        for place, (recipe, using) in enumerate(plan.crafts[:-1], 1):
            held.subtract(dict(using))
            held[recipe.output] += recipe.makes
            assert shortest_plan(book, goal, held).length == len(plan.crafts) - place


def test_shortest_plan__does_not_count_held_goals(book: RecipeBook) -> None:
    for goal in task_items(book)[::10]:
        assert shortest_plan(book, goal, {goal: 64}) == shortest_plan(book, goal)


def test_shortest_plan__is_one_craft_where_everything_is_held(book: RecipeBook) -> None:
    for goal in task_items(book):
        plenty = dict.fromkeys(parts(book, goal), 99)
        plan = shortest_plan(book, goal, plenty)
        assert (plan.gets, len(plan.crafts)) == ((), 1)


def test_shortest_plan__leaves_the_inventory_as_it_was(group_book: RecipeBook) -> None:
    held = {"minecraft:chest": 1, "minecraft:oak_log": 1}
    shortest_plan(group_book, "minecraft:chest", held)
    assert held == {"minecraft:chest": 1, "minecraft:oak_log": 1}


@pytest.mark.parametrize("goal", ["minecraft:bedrock", "minecraft:oak_logs", "chest", ""])
def test_shortest_plan__refuses_what_cannot_be_crafted(goal: str, group_book: RecipeBook) -> None:
    with pytest.raises(ValueError, match=f"^{goal} cannot be crafted$"):
        shortest_plan(group_book, goal)


def test_plan__counts_gets_and_crafts(group_book: RecipeBook) -> None:
    plan = shortest_plan(group_book, "minecraft:crafting_table")
    assert isinstance(plan, Plan)
    assert (len(plan.gets), len(plan.crafts), plan.length) == (1, 2, 3)
    assert [craft.recipe.output for craft in plan.crafts][1:] == ["minecraft:crafting_table"]


# Cycles.


def test_item_book__has_cycles_just_where_the_milp_is_no_judge(
    group_book: RecipeBook, item_book: RecipeBook
) -> None:
    for book, cyclic in ((group_book, set()), (item_book, IN_CYCLES)):
        for goal in book.recipes:
            below = {
                part
                for recipe in book.recipes[goal]
                for slot in recipe.slots
                for part in book.members[slot[0]]
            }
            in_cycle = any(goal in book.tree(part) for part in below)
            slabs = {
                "minecraft:sandstone_slab",
                "minecraft:red_sandstone_slab",
                "minecraft:purpur_slab",
            }
            assert in_cycle == bool(cyclic) * (goal in cyclic | slabs), goal


@pytest.mark.parametrize(
    "goal",
    [
        "chiseled_sandstone",
        "sandstone_slab",
        "sandstone_stairs",
        "red_sandstone_stairs",
        "purpur_pillar",
        "purpur_slab",
    ],
)
def test_shortest_plan__is_minimal_where_a_stone_and_its_slab_make_each_other(
    goal: str, item_book: RecipeBook
) -> None:
    goal = f"minecraft:{goal}"
    useful = [item for item in parts(item_book, goal) if item != goal and item in item_book.recipes]
    for counts in product((0, 1, 2, 3, 6), repeat=len(useful)):
        held = {item: count for item, count in zip(useful, counts, strict=True) if count}
        assert check_played(item_book, goal, held) == fewest_actions(item_book, goal, held), held


@pytest.mark.parametrize(
    ("goal", "held", "actions"),
    [
        ("chiseled_sandstone", {"sandstone_slab": 2}, 1),
        (
            "chiseled_sandstone",
            {"chiseled_sandstone": 3},
            6,
        ),  # held goals are left: sand, 3 sandstone, slabs, goal
        ("chiseled_sandstone", {"chiseled_sandstone": 3, "sandstone": 3}, 2),
        ("chiseled_sandstone", {"sandstone": 1, "sand": 8}, 4),
        ("sandstone_stairs", {"chiseled_sandstone": 3, "sandstone_slab": 6}, 4),
        ("sandstone_stairs", {"chiseled_sandstone": 5, "sandstone": 1}, 1),
    ],
)
def test_shortest_plan__is_right_by_hand_on_chiseled_sandstone(
    goal: str, held: dict[str, int], actions: int, item_book: RecipeBook
) -> None:
    held = {f"minecraft:{item}": count for item, count in held.items()}
    assert check_played(item_book, f"minecraft:{goal}", held) == actions


def test_shortest_plan__cuts_a_cycle_the_way_that_the_inventory_asks_for(tmp_path: Path) -> None:
    recipes = [
        shapeless("coal", "char"),
        shapeless("char", "coal"),
        shapeless("coal", "ore", "pick"),
        shapeless("char", "log", "fire"),
        shapeless("torch", "coal", "char"),
    ]
    book = load(tmp_path, recipes)
    for coal, char, ore in product(range(3), range(3), range(2)):
        held = {"minecraft:coal": coal, "minecraft:char": char, "minecraft:ore": ore}
        assert check_played(book, "minecraft:torch", held) == fewest_actions(
            book, "minecraft:torch", held
        ), held


@pytest.fixture(scope="module")
def dyed_wool(tmp_path_factory: pytest.TempPathFactory) -> RecipeBook:
    """Sixteen wools, each dyed from any other, as since Minecraft 1.20; white wool is of string,
    too."""
    wools = [f"wool_{number}" for number in range(16)]
    recipes = [
        shapeless(wool, f"dye_{number}", [other for other in wools if other != wool])
        for number, wool in enumerate(wools)
    ]
    recipes += [
        shapeless("wool_0", *["string"] * 4),
        shapeless("red_bed", *["wool_5"] * 3, *["#wool"] * 3, *["plank"] * 3),
    ]
    return load(tmp_path_factory.mktemp("dyed wool"), recipes, {"wool": wools})


@pytest.mark.parametrize(
    ("goal", "held", "most"),
    [
        ("wool_7", {}, 4),  # string, white wool, dye, wool
        ("wool_7", {"wool_3": 1}, 2),
        ("wool_7", {"dye_7": 1, "wool_15": 2}, 1),
        ("wool_0", {}, 2),
        ("red_bed", {"wool_5": 3, "wool_9": 2, "wool_0": 1}, 2),
        ("red_bed", {"wool_5": 1, "wool_8": 2, "wool_9": 2, "wool_10": 1}, 5),
        ("red_bed", {}, 13),  # three things to get, six white wools, three red ones, the bed
    ],
)
def test_shortest_plan__finds_its_way_in_a_large_knot(
    goal: str, held: dict[str, int], most: int, dyed_wool: RecipeBook
) -> None:
    held = {f"minecraft:{item}": count for item, count in held.items()}
    assert check_played(dyed_wool, f"minecraft:{goal}", held) == most


# Made-up books without cycles: several recipes with yields of their own, tags that overlap,
# alternatives.


def made_up_book(rng: random.Random, folder: Path) -> RecipeBook:
    items = ["wood", "ore", "sand"]
    recipes, tags = [], {"early": items[:2]}
    for number in range(rng.randint(3, 6)):
        output = f"item_{number}"
        if number == 2:
            tags["late"] = rng.sample(items, 3)
        # No two recipes of an output take as many things, so that no offer fits two of them.
        for size in rng.sample(range(1, 10), rng.choice([1, 1, 2])):
            kinds = [rng.choice(items), rng.sample(items, 2), f"#{rng.choice(list(tags))}"]
            taken = [rng.choice(kinds) for _ in range(size)]
            recipes.append(shapeless(output, *taken, makes=rng.randint(1, 4)))
        items.append(output)
    return load(folder, recipes, tags)


def test_shortest_plan__is_minimal_in_made_up_books(tmp_path: Path) -> None:
    for seed in range(60):
        rng = random.Random(seed)
        book = made_up_book(rng, tmp_path / str(seed))
        goal = max(book.recipes)
        for held_kinds in (0, 3):
            held = {item: rng.randint(1, 6) for item in rng.sample(list(book.names), held_kinds)}
            assert check_played(book, goal, held) == minimum_actions(book, goal, held), (seed, held)
