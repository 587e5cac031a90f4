"""Hypothesis strategies for what a player may say: lines that work, lines that almost do, and
anything."""

from __future__ import annotations

import re
from functools import cache

from hypothesis import strategies as st

from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.splits import task_items

anything = st.text(st.characters(), max_size=300)  # surrogates too
odd_counts = st.sampled_from(
    ["0", "-1", "1000000", "999999", "000005", "9" * 5000, "", "٣", "1.5", "+1"]
)
fragments = st.sampled_from(
    [
        "get ",
        "craft ",
        " using ",
        ", ",
        ",",
        "1 ",
        "2",
        "inventory",
        "minecraft:",
        "_",
        " ",
        "\n",
        "\t",
        "\0",
        "-",
        "🪵",
    ]
)


@cache
def trees(book: RecipeBook) -> list[list]:
    """The recipes of each task's tree; those of one tree have something to do with each other."""
    return [
        [recipe for item in book.tree(goal) for recipe in book.recipes[item]]
        for goal in task_items(book)
    ]


def makings(book: RecipeBook, recipes: list) -> list[str]:
    return sorted(
        {
            item
            for recipe in recipes
            for slot in recipe.slots
            for item in book.members[slot.ingredient]
        }
    )


def gets(book: RecipeBook, recipes: list) -> st.SearchStrategy[str]:
    items = st.sampled_from(makings(book, recipes))
    return st.builds(
        lambda count, item: f"get {count} {book.names[item]}", st.integers(1, 9), items
    )


@st.composite
def crafts(draw, book: RecipeBook, recipes: list) -> str:
    """A craft that fits a recipe; now and then a slot is filled with two kinds, which only real
    tags allow."""
    recipe = draw(st.sampled_from(recipes))
    offer: dict[str, int] = {}
    for ingredient, amount in recipe.slots:
        kinds = draw(
            st.lists(st.sampled_from(book.members[ingredient]), min_size=1, max_size=2, unique=True)
        )
        first = draw(st.integers(1, amount)) if len(kinds) > 1 else amount
        for item, count in zip(kinds, (first, amount - first), strict=False):
            if count:
                offer[item] = offer.get(item, 0) + count
    parts = draw(st.permutations([f"{count} {book.names[item]}" for item, count in offer.items()]))
    made = draw(st.sampled_from([f"{recipe.makes} ", f"{recipe.makes} ", "1 ", "7 ", ""]))
    return f"craft {made}{book.names[recipe.output]} using {', '.join(parts)}"


@st.composite
def spoilt(draw, lines: st.SearchStrategy[str]) -> str:
    """A line with one thing changed; some of these still work."""
    line = draw(lines)
    start, end = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
    how = draw(st.integers(0, 8))
    if how == 0:
        return line[:start] + draw(fragments) + line[start:]
    if how == 1:
        return line[:start] + line[start + 1 :]
    if how == 2:
        return line[:start] + draw(anything) + line[end:]
    if how == 3:
        numbers = list(re.finditer("[0-9]+", line))
        number = draw(st.sampled_from(numbers))
        return line[: number.start()] + draw(odd_counts) + line[number.end() :]
    if how == 4:
        verb, count, rest = line.split(" ", 2)
        return f"{verb} {count} {rest.replace(' ', '_', draw(st.integers(0, 3)))}"
    if how == 5:
        return f"{line}, {draw(st.sampled_from(['1 stick', '1 foo', 'foo', '', line.rpartition(', ')[2]]))}"
    if how == 6:  # one ingredient in two parts
        return re.sub(
            "(?<=using )([2-9])( [^,]+)",
            lambda part: f"1{part[2]}, {int(part[1]) - 1}{part[2]}",
            line,
        )
    if how == 7:
        return (
            draw(st.sampled_from(["  ", "\n", "\t\u00a0"]))
            + line
            + draw(st.sampled_from(["", " ", "\r\n"]))
        )
    return line.upper() if draw(st.booleans()) else line.replace("using 1 ", "using 1 minecraft:")


def lines(book: RecipeBook, recipes: list) -> st.SearchStrategy[str]:
    valid = gets(book, recipes) | crafts(book, recipes)
    looks = st.sampled_from(["inventory", "inventory:", "inventory.", " inventory ", "inventory!"])
    return valid | crafts(book, recipes) | spoilt(valid) | looks | anything


@st.composite
def episodes(draw, book: RecipeBook) -> tuple[dict[str, int], list[str]]:
    """What is held at first, and a dozen actions that have something to do with it."""
    recipes = draw(st.sampled_from(trees(book)))
    recipes = draw(st.lists(st.sampled_from(recipes), min_size=1, max_size=3))
    items = makings(book, recipes)
    held = draw(st.dictionaries(st.sampled_from(items), st.integers(1, 20), max_size=12))
    return held, draw(st.lists(lines(book, recipes), min_size=1, max_size=12))
