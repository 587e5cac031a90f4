"""A shop and its customers out of a seed, offline: the same seed is the same shop, byte for byte, on every machine.

Products come in families that differ in one thing: an attribute, a value, a detail, the seller or the price. What a
customer wants can be bought: the product of a goal with the options of the goal has a reward of 1.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

from textcraft_gym.envs.shuffle import Number, shuffle
from textcraft_gym.envs.webshop.customers import Details, pick, say
from textcraft_gym.envs.webshop.goals import Wish, price_upper
from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.envs.webshop.wares import Bullet, Ware, attributes, choices, phrases, read_bullet, sellers, wares

PRODUCTS = 1000
"""How many products a shop has unless told otherwise."""

# What was measured of the real shop, or tuned to be as hard as it is; the tests measure both again.
WITH_OPTIONS = (True, True, True, False, False, False, False)
"""Of so many families of a type, which have options."""
WITHOUT_DESCRIPTION = 0.3
PRICE_RANGES = 0.09
IN_TITLE = 0.6
"""How likely an attribute stands in the title, and not only further down."""
TITLE_WORDS = (8, 11, 13, 15, 16, 17, 20, 24)
BULLETS = (4, 4, 4, 5, 5, 5, 5, 6)
FAMILY = (2, 2, 3, 3, 4)
ATTRIBUTES = (1, 2, 3, 3, 3, 4, 5)
VALUES = (2, 4, 5, 6, 6, 7, 9, 12)
GOALS, GOALS_OF_CHOICE = (1, 2, 2), (2, 3, 4, 4)
"""How many customers want a product, and one with options: of those, people buy more."""
WANTED, WANTED_OF_CHOICE = (1, 2, 2, 3), (1, 1, 1, 2)
"""How many attributes a customer asks for, and one who has options to think of as well."""
ASKED = 0.95
"""How likely a customer cares for an option."""
DETAILS = {"kind": 0.25, "feature": 0.1, "use": 0.15, "fixed": 0.2}
"""How likely a customer tells what the reward does not count."""
CENTS = (0.99, 0.99, 0.99, 0.99, 0.99, 0.95, 0.95, 0.49, 0.0, 0.88, 0.5)

_HEADINGS = (
    "{head}: {body}",
    "{HEAD} - {body}",
    "【{head}】{body}",
    "{body}",
    "✔ {HEAD}: {body}",
    "★{head}: {body}",
    "[{head}] {body}",
)
_AFTER_NAME = ("with ", "for ", "in ", "No ", "Supports ", "Source ", "Easy to ", "Great ")
"""How an attribute in a title begins that cannot stand before the name."""
_ASIN_LETTERS = "0123456789BCDFGHJKLMNPQRSTVWXYZ"
_PACK = re.compile(r"(?:pack|set) of (\d+)")


class Design(NamedTuple):
    """A product before a seller describes it.

    Attributes:
        ware: Its type.
        seller: Who sells it.
        phrasing: Which words the seller takes; the same for a seller's products of a family.
        kind: What stands before its name.
        feature: What it comes with.
        use: What it is for.
        attributes: What it is.
        values: What can be chosen, by the name of the option.
        fixed: What cannot be chosen and stands in the title, by the name of the option.
        price: In dollars, before it is rounded as sellers do.
    """

    ware: Ware
    seller: str
    phrasing: int
    kind: str
    feature: str
    use: str
    attributes: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    fixed: dict[str, str]
    price: float


def generate(seed: int = 0, products: int = PRODUCTS) -> tuple[tuple[Product, ...], tuple[Goal, ...]]:
    """Make a shop.

    Args:
        seed: Which shop.
        products: How many products it has; at least as many as there are types of goods.

    Returns:
        The products, types mixed, and what customers want of them, at most four goals a product.

    Raises:
        ValueError: If there are fewer products than types.
    """
    if products < len(wares()):
        raise ValueError(f"expected products >= {len(wares())}, got {products}")
    number = random.Random(f"shop {seed}").random
    designs = [
        design for place, ware in enumerate(wares()) for design in _designs(number, ware, _share(products, place))
    ]
    asins: dict[str, None] = {}
    while len(asins) < products:
        asins["B0" + "".join(pick(number, _ASIN_LETTERS) for _ in range(8))] = None
    titles: set[str] = set()
    made = [
        (design, _product(number, design, asin, titles))
        for design, asin in zip(shuffle(number, designs), asins, strict=True)
    ]
    bounds = random.Random(f"bounds {seed}")
    goals = [goal for design, product in made for goal in _goals(number, bounds, design, product)]
    return tuple(product for _, product in made), tuple(goals)


def _share(products: int, place: int) -> int:
    """Return how many products the type at this place has."""
    return products // len(wares()) + (place < products % len(wares()))


# Families


def _designs(number: Number, ware: Ware, count: int) -> list[Design]:
    """Design all products of a type, in families."""
    designs: list[Design] = []
    for with_options in cycle(shuffle(number, WITH_OPTIONS)):
        if len(designs) == count:
            break
        base = _design(number, ware, with_options)
        designs.append(base)
        siblings = min(pick(number, FAMILY) - 1, count - len(designs))
        designs += [_sibling(number, base) for _ in range(siblings)]
    return designs


def _design(number: Number, ware: Ware, with_options: bool) -> Design:
    groups = shuffle(number, ware.attributes)[: pick(number, ATTRIBUTES)]
    values: dict[str, tuple[str, ...]] = {}
    fixed: dict[str, str] = {}
    shown = {name for name, _ in ware.options if number() < 0.9} or {ware.options[0][0]}
    for name, choice in ware.options:
        if with_options and name in shown:
            values[name] = _values(number, choice)
        elif number() < 0.5:
            fixed[name] = pick(number, choices()[choice].values)
    low, high = ware.prices
    # Powers and logarithms may differ in the last bit from machine to machine; products and roots do not.
    level = number()
    return Design(
        ware=ware,
        seller=pick(number, sellers()[ware.category]),
        phrasing=int(number() * 1e9),
        kind=pick(number, ware.kinds),
        feature=pick(number, ware.features),
        use=pick(number, ware.uses),
        attributes=tuple(pick(number, group) for group in groups),
        values=values,
        fixed=fixed,
        price=low + (high - low) * level * (0.3 + 0.7 * level),
    )


def _values(number: Number, choice: str) -> tuple[str, ...]:
    """Draw what can be chosen: sizes as neighbours, anything else in the order of the alphabet."""
    values, count = choices()[choice].values, pick(number, VALUES)
    if choices()[choice].in_order:
        start = int(number() * max(1, len(values) - count + 1))
        return values[start : start + count]
    return tuple(sorted(shuffle(number, values)[:count]))


def _sibling(number: Number, base: Design) -> Design:
    """Design what differs from the base in one thing; a rival's product differs in its words, too."""
    changes = (_other_attribute, _other_attribute, _other_attribute, _other_values, _other_detail, _rival, _rival)
    return pick(number, changes)(number, base)


def _other_attribute(number: Number, base: Design) -> Design:
    """Swap an attribute for one of its group or of a group that the base has none of; leave it out if there is none."""
    place = int(number() * len(base.attributes))
    before, after = base.attributes[:place], base.attributes[place + 1 :]
    free = (group for group in base.ware.attributes if not {*group} & {*before, *after})
    others = [(name,) for group in free for name in group if name != base.attributes[place]]
    return base._replace(attributes=(*before, *(pick(number, others) if others else ()), *after))


def _other_values(number: Number, base: Design) -> Design:
    """Change what can be chosen, or what is fixed where nothing can be; dearer the more there is in a pack."""
    option_choices = dict(base.ware.options)
    if base.values:
        name = pick(number, list(base.values))
        return base._replace(values={**base.values, name: _values(number, option_choices[name])})
    name = pick(number, base.ware.options)[0]
    value = pick(number, choices()[option_choices[name]].values)
    price = base.price * math.sqrt(_pieces(value) / _pieces(base.fixed.get(name, "")))
    return base._replace(fixed={**base.fixed, name: value}, price=price)


def _other_detail(number: Number, base: Design) -> Design:
    if number() < 0.5:
        return base._replace(kind=pick(number, base.ware.kinds))
    return base._replace(feature=pick(number, base.ware.features))


def _rival(number: Number, base: Design) -> Design:
    """Sell the same under another name, often for much more."""
    seller = pick(number, sellers()[base.ware.category])
    dearer = 1.5 + 2.0 * number() if number() < 0.75 else 0.7
    return base._replace(seller=seller, phrasing=int(number() * 1e9), price=base.price * dearer)


def _pieces(value: str) -> int:
    found = _PACK.search(value)
    return int(found[1]) if found else 1


# Texts


def _product(number: Number, design: Design, asin: str, titles: set[str]) -> Product:
    """Write what a seller writes of a design, under a title that no other product has."""
    words = random.Random(f"words {design.phrasing}").random
    shown = [words() < IN_TITLE for _ in range(max(ATTRIBUTES))]
    in_title = [name for name, titled in zip(design.attributes, shown, strict=False) if titled]
    title = _title(words, design, in_title)
    while title in titles:
        title = _title(number, design, in_title)
    titles.add(title)
    bullets, left = _bullets(words, design, in_title)
    prices = _prices(number, design.price)
    return Product(
        asin=asin,
        title=title,
        description=_description(words, design, left),
        bullets=bullets,
        prices=prices,
        price=round(prices[0] + (prices[-1] - prices[0]) * number(), 2),
        options=design.values,
        attributes=tuple(shuffle(number, design.attributes)),
        category=design.ware.category,
        query=design.ware.query,
        product_category=design.ware.product_category,
    )


def _title(words: Number, design: Design, attribute_names: Sequence[str]) -> str:
    """Pile up what customers may search for until the title is as long as the seller likes it."""
    ware, aim = design.ware, pick(words, TITLE_WORDS)
    name, *other_names = shuffle(words, ware.names)
    said = [pick(words, attributes()[attribute].titles) for attribute in attribute_names]
    core = f"{design.kind} {name}"
    if said and not said[0].startswith(_AFTER_NAME) and words() < 0.5:
        core = f"{said.pop(0)} {core}"
    if words() < 0.75:
        core = f"{design.seller} {core}"
    if words() < 0.6:
        core += f" with {design.feature}"
    use = f"for {_place(design.use)}"
    must = shuffle(words, [*said, use] if words() < 0.7 else said)
    may = shuffle(words, [*ware.gloss, *other_names, use])
    tail = _tail(words, [_titled(value) for value in design.fixed.values()])
    parts = [core, *must]
    for part in may:
        if part not in parts and _count([*parts, part, tail]) <= aim + 1:
            parts.append(part)
    return pick(words, (", ", ", ", ", ", " ", " - ", " | ")).join(parts) + tail


def _tail(words: Number, values: Sequence[str]) -> str:
    """Say what one gets where nothing can be chosen."""
    if not values:
        return ""
    return pick(words, (" ({})", ", {}", " - {}")).format(", ".join(values))


def _count(parts: Sequence[str]) -> int:
    return len(" ".join(parts).split())


def _bullets(words: Number, design: Design, in_title: Sequence[str]) -> tuple[tuple[str, ...], list[Bullet]]:
    """Write the features; what the title keeps quiet about is among them or left to the description."""
    heading = pick(words, _HEADINGS)
    count = pick(words, BULLETS)
    told = {name: pick(words, attributes()[name].bullets) for name in design.attributes}
    described = words() > WITHOUT_DESCRIPTION
    must = [bullet for name, bullet in told.items() if name not in in_title]
    left = [must.pop()] if described and must and words() < 0.3 else []
    may = [bullet for name, bullet in told.items() if name in in_title and words() < 0.6]
    may += shuffle(words, design.ware.bullets)[:3]
    if words() < 0.4:
        may.append(read_bullet(pick(words, phrases()["services"])))
    chosen = shuffle(words, [*must, *may[: max(0, count - len(must))]])
    written = tuple(_listed(heading, bullet, bullet in design.ware.bullets, _facts(design)) for bullet in chosen)
    return written, [*left, *(bullet for bullet in design.ware.bullets if bullet not in chosen)] if described else []


def _listed(heading: str, bullet: Bullet, of_type: bool, facts: dict[str, str]) -> str:
    """Write a feature in the seller's way; those of a type need their heading to be understood."""
    head, body = (_sentence(text.format(**facts)) for text in bullet)
    way = _HEADINGS[0] if of_type and heading == "{body}" else heading
    return way.format(head=head, HEAD=head.upper(), body=body)


def _description(words: Number, design: Design, bullets: Sequence[Bullet]) -> str:
    """Write some sentences, one of them of each bullet that waits to be told; nothing where there is none."""
    if not bullets:
        return ""
    openings = (*phrases()["descriptions"], *phrases()[f"{design.ware.category} descriptions"])
    opening = shuffle(words, openings)[: pick(words, (1, 2, 2, 3))]
    told = [f"{bullet.head}: {bullet.body}" for bullet in bullets]
    ending = [pick(words, phrases()["endings"])] if words() < 0.5 else []
    facts = _facts(design)
    return " ".join(_sentence(text.format(**facts)) for text in (*opening, *told, *ending))


def _facts(design: Design) -> dict[str, str]:
    """Return what texts about a design can fill in."""
    return {
        "seller": design.seller,
        "name": design.ware.names[0],
        "item": design.ware.item,
        "kind": _plain(design.kind),
        "feature": _plain(design.feature),
        "use": _plain(re.sub("^my ", "your ", design.use)),
        "place": _plain(_place(design.use)),
    }


def _prices(number: Number, price: float) -> tuple[float, ...]:
    """Round a price as sellers do; some ask for more, depending on what is chosen."""
    low = round(int(price) + pick(number, CENTS), 2)
    if number() >= PRICE_RANGES:
        return (low,)
    return (low, round(int(low * (1.2 + 0.7 * number())) + 0.99, 2))


def _place(use: str) -> str:
    """Leave out what titles leave out: ``Kitchen`` of ``my Kitchen``."""
    return re.sub("^(?:my|the|a) ", "", use)


def _plain(text: str) -> str:
    """Write as within a sentence: ``LED lights``, ``a side slit``."""
    return " ".join(word if sum(map(str.isupper, word)) > 1 else word.lower() for word in text.split())


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _titled(value: str) -> str:
    return value.replace(" | ", "/").title()


# Customers


def _goals(number: Number, bounds: random.Random, design: Design, product: Product) -> Iterator[Goal]:
    """Say what some customers want, each in words of their own."""
    said: set[str] = set()
    for _ in range(pick(number, GOALS_OF_CHOICE if product.options else GOALS)):
        options = {name: pick(number, values) for name, values in product.options.items() if number() < ASKED}
        wanted = shuffle(number, product.attributes)[: pick(number, WANTED_OF_CHOICE if options else WANTED)]
        told = {name: value for name, value in design.fixed.items() if number() < DETAILS["fixed"]}
        details = Details(
            kind=design.kind.lower() if number() < DETAILS["kind"] else "",
            feature=design.feature.lower() if number() < DETAILS["feature"] else "",
            use=design.use.lower() if number() < DETAILS["use"] else "",
            values={**options, **told},
        )
        text = say(number, design.ware, wanted, details)
        if text not in said:
            said.add(text)
            bound = price_upper(product.price, bounds)
            yield Wish(text, tuple(wanted), tuple(options.values()), bound).goal(product, 0)
