"""What a purchase earns: is it the kind of thing, has it the attributes and options, is it cheap enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rapidfuzz.fuzz import token_set_ratio
from rapidfuzz.utils import default_process

from textcraft_gym.envs.webshop.product import Goal, Product

Nouns: TypeAlias = Callable[[str], Iterable[str]]
"""Finds the nouns of a title, each as often as it stands there."""

ALIKE = 85
"""Texts that are more alike than this, of 100, count as the same."""


@dataclass(frozen=True, slots=True)
class Reward:
    """What a purchase earns, and its parts, each in 0..1.

    Attributes:
        r_type: Whether it is the kind of thing; the whole is multiplied by this.
        r_att: Which part of the attributes it has; None if none was asked for.
        r_option: Which part of the options was chosen; None if none was asked for.
        r_price: Whether it costs no more than the bound, 1 or 0.
        score: The whole.
    """

    r_type: float
    r_att: float | None
    r_option: float | None
    r_price: float
    score: float


def default_nouns(title: str) -> list[str]:
    """Return the words of a title that may be nouns: all but function words and numbers, each as often as it stands.

    The original asks a tagger, which needs a model of its own.
    """
    words = (word.lower() for word in _WORD.findall(title))
    return [word for word in words if not word[0].isdigit() and word not in _NO_NOUNS]


def reward(goal: Goal, product: Product, options: Mapping[str, str], nouns: Nouns = default_nouns) -> Reward:
    """Return what buying ``product`` with the chosen ``options``, value by name, earns."""
    r_type = type_reward(goal.product, product, nouns)
    attributes = sum(has_attribute(product, wanted) for wanted in goal.attributes)
    chosen = sum(any(fits(wanted, value) for value in options.values()) for wanted in goal.options)
    r_price = float(product.price <= goal.price_upper)
    asked = len(goal.attributes) + len(goal.options) + 1
    return Reward(
        r_type=r_type,
        r_att=attributes / len(goal.attributes) if goal.attributes else None,
        r_option=chosen / len(goal.options) if goal.options else None,
        r_price=r_price,
        score=r_type * ((attributes + chosen + r_price) / asked),
    )


def type_reward(wanted: Product, bought: Product, nouns: Nouns = default_nouns) -> float:
    """Return how far a product is the kind of thing that is wanted: 1, 0.5, 0.1 or 0."""
    called = list(nouns(wanted.title))
    likeness = len({*called} & {*nouns(bought.title)}) / len(called) if called else 0.2
    if likeness < 0.1:
        return 0.1 if likeness else 0.0
    related = wanted.query == bought.query or len(_departments(wanted) & _departments(bought)) > 1
    return 1.0 if related or likeness > 0.2 else 0.5


def has_attribute(product: Product, wanted: str) -> bool:
    """Return whether an attribute is known of a product, or stands in its title, its features or its description."""
    return (
        any(alike(attribute, wanted) for attribute in product.attributes)
        or wanted in product.title.lower()
        or wanted in " ".join(product.bullets).lower()
        or wanted in product.description.lower()
    )


def fits(wanted: str, chosen: str) -> bool:
    """Return whether the option value that was chosen passes for the wanted one; of colours, the main one counts."""
    return alike(main_colour(chosen), main_colour(wanted))


def main_colour(value: str) -> str:
    """Return the first colour, in the order of their names, that is found anywhere in a value; else the value."""
    return next((colour for colour in COLOURS if colour in value), value)


def alike(one: str, other: str) -> bool:
    """Return whether two texts have the same words, or nearly, as thefuzz reads and rounds them."""
    one, other = (default_process(text.translate(_WITHOUT_LATIN_1)) for text in (one, other))
    return round(token_set_ratio(one, other)) > ALIKE


# What thefuzz calls forcing a text to ASCII: only the next 128 characters go, so that emoji and Chinese are compared.
_WITHOUT_LATIN_1 = dict.fromkeys(range(128, 256))


def _departments(product: Product) -> set[str]:
    return {part.strip() for part in product.product_category.split("\u203a")}


_COLOURS = (
    "alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo "
    "caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream "
    "crystal dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather "
    "indigo ivory ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha "
    "multicolor mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal "
    "rust sand sapphire seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise "
    "violet walnut wheat white wine yellow"
)
COLOURS = tuple(_COLOURS.split())
"""What counts as a colour, in alphabetical order, which is the order of looking."""

_WORD = re.compile("[A-Za-z0-9\u00c0-\u00ff]+(?:['\u2019.][A-Za-z0-9]+)*")

_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million"
)
_FUNCTION_WORDS = (
    "a about above across after against all along also although among an and another any anyone anything are around "
    "as at be because been before behind being below beside besides between beyond both but by can cannot could did "
    "do does doing down during each either else enough even ever every everyone everything few for from further had "
    "has have having he her here hers herself him himself his how however i if in inside into is it its itself just "
    "least less many may me might more most much must my myself near neither never no nobody none nor not nothing of "
    "off often on once only onto or other others our ours ourselves out outside over own per perhaps please quite "
    "rather really same several shall she should since so some someone something still such than that the their "
    "theirs them themselves then there these they this those though through throughout thus to together too toward "
    "towards under until unless up upon us very via was we well were what whatever when where whether which while who "
    "whoever whom whose why will with within without would yet you your yours yourself"
)
_NO_NOUNS = frozenset((*_NUMBER_WORDS.split(), *_FUNCTION_WORDS.split()))
