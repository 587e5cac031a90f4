"""Designs of products: families that differ in one aspect, before sellers describe them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

from textcraft_gym.envs.shuffle import Uniform, pick, shuffle
from textcraft_gym.envs.webshop.product_templates import ProductTemplate, choices
from textcraft_gym.envs.webshop.title_words import compose

# Measured on the real shop, or tuned to make shopping as hard as there; the tests measure both
# again.
HAS_OPTIONS = (True, True, True, False, False, False, False)
"""Whether a family has options; the families of a template go through these in random order."""
FAMILY_SIZES = (2, 2, 2, 3, 3, 4)
ATTRIBUTES = (1, 2, 3, 3, 3, 4, 5)
"""Number of attributes of a design."""
VALUES = (2, 4, 5, 6, 6, 7, 9, 12)
"""Number of values of an option."""
SHOWN = 0.9
"""Probability that a design with options has each option of its template."""
COMPOSED = 0.65
"""Probability that a kind, feature or use is composed of rarer words, not of the template's."""
FIXED = 0.5
"""Probability that the title names a value for an option of the template that cannot be chosen."""

_PACK = re.compile(r"(?:pack|set) of (\d+)")


class Design(NamedTuple):
    """A product before a seller describes it.

    Attributes:
        template: Its type of goods.
        seller: The brand.
        phrasing: Seed of the seller's wording, shared by a seller's products of a family.
        kind: The phrase before its name, ``floral``.
        feature: The phrase after "with".
        use: The phrase after "for".
        attributes: Names of its attributes.
        values: Values to choose from, by option.
        fixed: Values that cannot be chosen and are named in the title, by option.
        price: Price in dollars, before it is rounded as sellers do.
    """

    template: ProductTemplate
    seller: str
    phrasing: int
    kind: str
    feature: str
    use: str
    attributes: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    fixed: dict[str, str]
    price: float


def draw_designs(
    rng: Uniform,
    template: ProductTemplate,
    count: int,
) -> Iterator[Design]:
    """Draw all designs of a template, family by family."""
    for has_options in cycle(shuffle(rng, HAS_OPTIONS)):
        if count == 0:
            return
        base = _draw_design(rng, template, has_options)
        siblings = min(pick(rng, FAMILY_SIZES), count) - 1
        yield base
        for _ in range(siblings):
            yield _draw_sibling(rng, base)
        count -= 1 + siblings


def _draw_design(rng: Uniform, template: ProductTemplate, has_options: bool) -> Design:
    groups = shuffle(rng, template.attributes)[: pick(rng, ATTRIBUTES)]
    values: dict[str, tuple[str, ...]] = {}
    fixed: dict[str, str] = {}
    # At least one option, so that a design with options has some.
    shown = {option for option, _ in template.options if rng() < SHOWN} or {template.options[0][0]}
    for option, choice in template.options:
        if has_options and option in shown:
            values[option] = _draw_values(rng, choice)
        elif rng() < FIXED:
            fixed[option] = pick(rng, choices()[choice].values)
    low, high = template.prices
    # Powers and logarithms may differ in the last bit from machine to machine; products and roots
    # do not.
    level = rng()
    return Design(
        template=template,
        seller=_draw_seller(rng, template),
        phrasing=int(rng() * 1e9),
        kind=_draw_phrase(rng, template, "kinds", template.kinds),
        feature=_draw_phrase(rng, template, "features", template.features),
        use=_draw_phrase(rng, template, "uses", template.uses),
        attributes=tuple(pick(rng, group) for group in groups),
        values=values,
        fixed=fixed,
        price=low + (high - low) * level * (0.3 + 0.7 * level),
    )


def _draw_seller(rng: Uniform, template: ProductTemplate) -> str:
    name = compose(rng, template.category, "sellers")
    if rng() < 0.3:
        return name.upper()
    return name


def _draw_phrase(
    rng: Uniform,
    template: ProductTemplate,
    purpose: str,
    usual: Sequence[str],
) -> str:
    if rng() < COMPOSED:
        return compose(rng, template.category, purpose)
    return pick(rng, usual)


def _draw_values(rng: Uniform, choice: str) -> tuple[str, ...]:
    """Draw the values of an option: neighbours of an ordered list, or any in alphabetical order."""
    values, count = choices()[choice].values, pick(rng, VALUES)
    if choices()[choice].in_order:
        start = int(rng() * max(1, len(values) - count + 1))
        return values[start : start + count]
    return tuple(sorted(shuffle(rng, values)[:count]))


def _draw_sibling(rng: Uniform, base: Design) -> Design:
    """Change one aspect of a design; another seller's product differs in its wording, too."""
    # Attributes and sellers are repeated, so that they are drawn more often.
    changes = (
        *[_change_attribute] * 3,
        _change_values,
        _change_detail,
        *[_change_seller] * 2,
    )
    return pick(rng, changes)(rng, base)


def _change_attribute(rng: Uniform, base: Design) -> Design:
    """Replace an attribute by one of its group or an unused one; remove it if there is none."""
    index = int(rng() * len(base.attributes))
    before, after = base.attributes[:index], base.attributes[index + 1 :]
    candidates: list[str] = []
    for group in base.template.attributes:
        # A product has at most one attribute of each group.
        if {*group}.isdisjoint((*before, *after)):
            candidates += [name for name in group if name != base.attributes[index]]
    if not candidates:
        return base._replace(attributes=(*before, *after))
    return base._replace(attributes=(*before, pick(rng, candidates), *after))


def _change_values(rng: Uniform, base: Design) -> Design:
    """Redraw the values of an option, or a fixed value where there are no options."""
    choice_of = dict(base.template.options)
    if base.values:
        option = pick(rng, list(base.values))
        return base._replace(values={**base.values, option: _draw_values(rng, choice_of[option])})
    option = pick(rng, base.template.options)[0]
    value = pick(rng, choices()[choice_of[option]].values)
    # Larger packs cost more.
    price = base.price * math.sqrt(_pack_size(value) / _pack_size(base.fixed.get(option, "")))
    return base._replace(fixed={**base.fixed, option: value}, price=price)


def _change_detail(rng: Uniform, base: Design) -> Design:
    template = base.template
    if rng() < 0.5:
        return base._replace(kind=_draw_phrase(rng, template, "kinds", template.kinds))
    return base._replace(feature=_draw_phrase(rng, template, "features", template.features))


def _change_seller(rng: Uniform, base: Design) -> Design:
    """Sell the same under another brand, often for much more."""
    seller = _draw_seller(rng, base.template)
    factor = 1.5 + 2.0 * rng() if rng() < 0.75 else 0.7
    return base._replace(seller=seller, phrasing=int(rng() * 1e9), price=base.price * factor)


def _pack_size(value: str) -> int:
    match = _PACK.search(value)
    if match is None:
        return 1
    return int(match[1])
