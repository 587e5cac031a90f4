"""The reward of a purchase: its type, attributes, options and price compared with the goal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import NamedTuple, TypeAlias

from textcraft_gym.envs.webshop.product import Goal, Product, WantedOption

Nouns: TypeAlias = Callable[[str], Iterable[str]]
"""Returns the nouns of a title, with repetitions."""

ALIKE = 85
"""Similarity, 0 to 100, above which two texts count as equal."""


class TypeMatch(NamedTuple):
    """The match of a product's type with the wanted one.

    Attributes:
        r_type: 1, 0.5, 0.1 or 0.
        query_match: Whether both were scraped from the same search.
        category_match: Whether their paths in the tree of categories share two levels or more.
        title_score: Number of distinct nouns that their titles share, over that of all nouns of the
            wanted title; 0.2 if that has none.
    """

    r_type: float
    query_match: bool
    category_match: bool
    title_score: float


class Reward(NamedTuple):
    """The reward of a purchase and its parts, each in 0..1, as the original reports them.

    Attributes:
        r_type: Match of its type of product with the wanted one; a factor of the score.
        r_att: Fraction of the wanted attributes that it has; None if none was wanted.
        r_option: Fraction of the wanted options that were chosen; None if none was wanted.
        r_price: 1 if it costs no more than the bound, else 0.
        score: The reward: ``r_type`` times the sum of the other parts, each times its weight.
        w_att: Weight of the attributes: their number over that of all wishes, the price being one.
        w_option: Weight of the options.
        w_price: Weight of the price.
        query_match: See ``TypeMatch``.
        category_match: See ``TypeMatch``.
        title_score: See ``TypeMatch``.
    """

    r_type: float
    r_att: float | None
    r_option: float | None
    r_price: float
    score: float
    w_att: float
    w_option: float
    w_price: float
    query_match: bool
    category_match: bool
    title_score: float


def default_nouns(title: str) -> list[str]:
    """Return the words of a title but function words and numbers, with repetitions.

    The original uses a part-of-speech tagger, which needs a language model.
    """
    words = (word.lower() for word in _WORD.findall(title))
    return [word for word in words if not word[0].isdigit() and word not in _NOT_NOUNS]


def reward(
    goal: Goal,
    product: Product,
    options: Mapping[str, str],
    nouns: Nouns = default_nouns,
) -> Reward:
    """Return the reward of buying ``product`` with the chosen ``options``, values by name."""
    r_type, query_match, category_match, title_score = match_types(goal.product, product, nouns)
    attributes = sum(has_attribute(product, wanted) for wanted in goal.attributes)
    chosen = sum(_is_chosen(wanted, options.values()) for wanted in goal.options)
    r_price = float(product.price <= goal.price_upper)
    # The price is one wish, also where it has no bound.
    wishes = len(goal.attributes) + len(goal.options) + 1
    return Reward(
        r_type=r_type,
        r_att=_fraction(attributes, len(goal.attributes)),
        r_option=_fraction(chosen, len(goal.options)),
        r_price=r_price,
        score=r_type * ((attributes + chosen + r_price) / wishes),
        w_att=len(goal.attributes) / wishes,
        w_option=len(goal.options) / wishes,
        w_price=1 / wishes,
        query_match=query_match,
        category_match=category_match,
        title_score=title_score,
    )


def _is_chosen(wanted: WantedOption, values: Iterable[str]) -> bool:
    return any(fits(wanted, value) for value in values)


def _fraction(met: int, wanted: int) -> float | None:
    if wanted == 0:
        return None
    return met / wanted


def match_types(wanted: Product, bought: Product, nouns: Nouns = default_nouns) -> TypeMatch:
    """Return the match of a product's type with the wanted one."""
    wanted_nouns = list(nouns(wanted.title))
    # The original's score of a title without nouns; it is not enough to count as alike.
    title_score = 0.2
    if wanted_nouns:
        # The distinct nouns in common over all wanted ones, repetitions included, as in the
        # original.
        title_score = len({*wanted_nouns} & {*nouns(bought.title)}) / len(wanted_nouns)
    query_match = wanted.query == bought.query
    # Two common categories, since the first level of the path is shared by a whole department.
    category_match = len(_categories(wanted) & _categories(bought)) > 1
    # As in the original, titles so unlike outweigh an equal query or category.
    if title_score == 0.0:
        r_type = 0.0
    elif title_score < 0.1:
        r_type = 0.1
    elif query_match or category_match or title_score > 0.2:
        r_type = 1.0
    else:
        r_type = 0.5
    return TypeMatch(r_type, query_match, category_match, title_score)


def has_attribute(product: Product, wanted: str) -> bool:
    """Return whether a product has an attribute, or its title, bullets or description name it."""
    return (
        any(alike(attribute, wanted) for attribute in product.attributes)
        or wanted in product.title.lower()
        or wanted in " ".join(product.bullets).lower()
        or wanted in product.description.lower()
    )


def fits(wanted: WantedOption, chosen: str) -> bool:
    """Return whether a chosen option value matches the wanted one.

    Of a colour only the main one counts; but, as in the original, a wanted pair is compared as it
    is, ``color navy``.
    """
    if isinstance(wanted, str):
        return alike(main_colour(chosen), main_colour(wanted))
    return alike(main_colour(chosen), " ".join(wanted))


def written(wanted: WantedOption) -> str:
    """Return a wanted option for people to read: ``navy`` or ``color: navy``."""
    if isinstance(wanted, str):
        return wanted
    return ": ".join(wanted)


def main_colour(value: str) -> str:
    """Return the alphabetically first colour that a value contains, or else the value."""
    for colour in COLOURS:
        if colour in value:
            return colour
    return value


def alike(first: str, second: str) -> bool:
    """Return whether two texts have nearly the same words, processed and rounded as in thefuzz."""
    ratio = _token_set_ratio()(
        first.translate(_WITHOUT_LATIN_1),
        second.translate(_WITHOUT_LATIN_1),
    )
    return round(ratio) > ALIKE


@cache
def _token_set_ratio() -> Callable[[str, str], float]:
    """Return the measure of the words that texts share, 0 to 100; imported at first use."""
    from rapidfuzz.fuzz import token_set_ratio
    from rapidfuzz.utils import default_process

    return partial(token_set_ratio, processor=default_process)


# thefuzz's "force_ascii" removes these 128 characters only, so that emoji and Chinese are compared.
_WITHOUT_LATIN_1 = dict.fromkeys(range(128, 256))


def _categories(product: Product) -> set[str]:
    # The data writes a path with single angle quotation marks between its levels.
    return {part.strip() for part in product.product_category.split("\u203a")}


_COLOURS = (
    "alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown "
    "burgundy camel camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee "
    "cognac copper coral cranberry cream crystal dark denim eggplant elephant espresso fuchsia "
    "gold granite grape graphite grass gray green grey heather indigo ivory ivy khaki lavender "
    "lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor "
    "mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow red "
    "rose royal rust sand sapphire seashell silver skull slate steel stone stonewash sunflower tan "
    "taupe teal tiger turquoise violet walnut wheat white wine yellow"
)
COLOURS = tuple(_COLOURS.split())
"""The colours in alphabetical order, in which ``main_colour`` tries them."""

_WORD = re.compile("[A-Za-z0-9\u00c0-\u00ff]+(?:['\u2019.][A-Za-z0-9]+)*")

_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million"
)
_FUNCTION_WORDS = (
    "a about above across after against all along also although among an and another any anyone "
    "anything are around as at be because been before behind being below beside besides between "
    "beyond both but by can cannot could did do does doing down during each either else enough "
    "even ever every everyone everything few for from further had has have having he her here hers "
    "herself him himself his how however i if in inside into is it its itself just least less many "
    "may me might more most much must my myself near neither never no nobody none nor not nothing "
    "of off often on once only onto or other others our ours ourselves out outside over own per "
    "perhaps please quite rather really same several shall she should since so some someone "
    "something still such than that the their theirs them themselves then there these they this "
    "those though through throughout thus to together too toward towards under until unless up "
    "upon us very via was we well were what whatever when where whether which while who whoever "
    "whom whose why will with within without would yet you your yours yourself"
)
_NOT_NOUNS = frozenset((*_NUMBER_WORDS.split(), *_FUNCTION_WORDS.split()))
