"""Every word that the game writes, for learners with a vocabulary."""

from __future__ import annotations

from functools import cache
from itertools import chain

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.facts import HOME_BIOMES, OTHER_BIOMES, SOURCES
from textcraft_gym.envs.minetechtree.state import FIRST, Aim, Game, Place, Point, World
from textcraft_gym.envs.minetechtree.techtree import tech_tree


@cache
def vocabulary() -> str:
    """Return every word that the game writes, apart from words echoed from an action."""
    tree = tech_tree()
    biomes = [biome.name for biome in (*HOME_BIOMES, *OTHER_BIOMES)]
    places = []
    for source in SOURCES.values():
        places += [Place(source, Point(0, 0, down)) for down in (0, 1)]
    world = World(tuple(places), ((biomes[0], Point(0, 0)),))
    game = Game(world, tuple(Aim(item, worn=True) for item in tree.names), 0)
    views = [text.reset(game, FIRST), text.look(game._replace(around="rough"), FIRST)]
    fixed = (
        text.EMPTY_HANDED,
        text.TIME_IS_UP,
        text.TOO_LATE,
        text.AGAIN,
        text.AN_INGREDIENT,
        text.ACTIONS,
    )
    digits = "0 1 2 3 4 5 6 7 8 9"
    lines = [*views, *_answers(), *fixed, *_REFUSALS, text.wrong_item(""), text.unknown(""), digits]
    return "\n".join([*lines, *biomes, *tree.names.values()])


def _answers() -> list[str]:
    """Return an answer of each form."""
    tree = tech_tree()
    item, amount = next(iter(tree.names)), 1
    held = FIRST._replace(inventory={item: amount}, equipped={"hand": item})
    techniques = chain.from_iterable((*tree.crafts.values(), *tree.smelts.values()))
    verbs = ("mine", "hunt", "craft", "smelt")
    return [
        *(text.done(verb, {item: amount}) + text.could_not(verb, "") for verb in verbs),
        text.equipped(item),
        text.could_not("equip", ""),
        text.inventory(held),
        text.requires(((item, 2),), {item: 1}),
        *(text.missed(verb, "") for verb in (*verbs, "equip")),
        text.broken(item),
        text.takes(techniques, 1),
    ]


_REFUSALS = (
    "say what of it: or",
    "say using what",
    "named first",
    "does not burn",
    "fuel for 0.5 more is needed",
    "requires fuel, named last",
    "there is no",
    "it nothing here gives it",
    "there are no in this world",
)
"""Why nothing happened, as ``rules`` says it, without the names in it."""
