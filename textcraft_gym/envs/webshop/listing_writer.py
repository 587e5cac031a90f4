"""Writes the listing of a product as its seller would: title, bullets, description and price."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import compress

from textcraft_gym.envs.shuffle import Uniform, pick, shuffle
from textcraft_gym.envs.webshop.designs import ATTRIBUTES, Design
from textcraft_gym.envs.webshop.product import Product
from textcraft_gym.envs.webshop.product_templates import Bullet, attributes, parse_bullet, phrases
from textcraft_gym.envs.webshop.title_words import compose

# Measured on the real shop, or tuned to make shopping as hard as there; the tests measure both
# again.
IN_TITLE = 0.6
"""Probability that the title names an attribute, so that it need not be looked up further down."""
EXTRAS = 3
"""Number of further phrases of rarer words, of which a title has as many as it has room for."""
NAMES = 2
"""Number of phrases that only this title has."""
TITLE_WORDS = (8, 9, 10, 12, 14, 16, 18, 20)
BULLETS = (4, 4, 4, 5, 5, 5, 5, 6)
WITHOUT_DESCRIPTION = 0.3
PRICE_RANGES = 0.09
"""Probability that the price is a range."""
CENTS = (0.99, 0.99, 0.99, 0.99, 0.99, 0.95, 0.95, 0.49, 0.0, 0.88, 0.5)

_BULLET_FORMATS = (
    "{head}: {body}",
    "{HEAD} - {body}",
    "【{head}】{body}",
    "{body}",
    "✔ {HEAD}: {body}",
    "★{head}: {body}",
    "[{head}] {body}",
)
_AFTER_NAME = ("with ", "for ", "in ", "No ", "Supports ", "Source ", "Easy to ", "Great ")
"""Beginnings of attributes that a title cannot put before the name."""


def write_listing(
    rng: Uniform,
    design: Design,
    asin: str,
    titles: set[str],
) -> Product:
    """Write the listing of a design under a new title, and add that to ``titles``."""
    # Designs of the same phrasing get the same wording, as a seller's products of a family do.
    wording = random.Random(f"words {design.phrasing}").random
    is_named = [wording() < IN_TITLE for _ in range(max(ATTRIBUTES))]
    in_title = list(compress(design.attributes, is_named))
    # Drawn from ``rng``: a title has words of its own, beside those that a family shares.
    own = [compose(rng, design.template.category, "names") for _ in range(NAMES)]
    title = _write_title(wording, design, in_title, own)
    # Further draws from ``wording`` would change the bullets.
    while title in titles:
        title = _write_title(rng, design, in_title, own)
    titles.add(title)
    bullets, remaining = _write_bullets(wording, design, in_title)
    prices = _round_price(rng, design.price)
    return Product(
        asin=asin,
        title=title,
        description=_write_description(wording, design, remaining),
        bullets=bullets,
        prices=prices,
        price=round(prices[0] + (prices[-1] - prices[0]) * rng(), 2),
        options=design.values,
        attributes=tuple(shuffle(rng, design.attributes)),
        category=design.template.category,
        query=design.template.query,
        product_category=design.template.product_category,
    )


def _write_title(
    rng: Uniform,
    design: Design,
    attribute_names: Sequence[str],
    own: Sequence[str],
) -> str:
    """Add search words to the name until the title has the length that the seller likes."""
    # The order of the draws is part of every generated shop.
    template = design.template
    max_words = pick(rng, TITLE_WORDS)
    name, *other_names = shuffle(rng, template.names)
    required = [pick(rng, attributes()[attribute].titles) for attribute in attribute_names]
    core = _write_core(rng, design, name, required)
    use = f"for {_without_article(design.use)}"
    if rng() < 0.4:
        required.append(use)
    required = shuffle(rng, required)
    optional = [compose(rng, template.category, "extras") for _ in range(EXTRAS)]
    optional += shuffle(rng, [*template.gloss, *other_names, use])
    tail = _write_fixed_values(rng, list(map(_title_case, design.fixed.values())))
    parts = [core, *required, *own]
    for part in optional:
        if part not in parts and _count_words([*parts, part, tail]) <= max_words + 1:
            parts.append(part)
    return pick(rng, (", ", ", ", ", ", " ", " - ", " | ")).join(parts) + tail


def _write_core(
    rng: Uniform,
    design: Design,
    name: str,
    required: list[str],
) -> str:
    """Write the start of a title, which may take the first of the required attributes away."""
    core = f"{design.kind} {name}"
    if required and not required[0].startswith(_AFTER_NAME) and rng() < 0.5:
        core = f"{required.pop(0)} {core}"
    if rng() < 0.85:
        core = f"{design.seller} {core}"
    if rng() < 0.4:
        core += f" with {design.feature}"
    return core


def _write_fixed_values(rng: Uniform, values: Sequence[str]) -> str:
    """Name the values that cannot be chosen at the end of the title."""
    if not values:
        return ""
    return pick(rng, (" ({})", ", {}", " - {}")).format(", ".join(values))


def _count_words(parts: Sequence[str]) -> int:
    return len(" ".join(parts).split())


def _write_bullets(
    rng: Uniform,
    design: Design,
    in_title: Sequence[str],
) -> tuple[tuple[str, ...], list[Bullet]]:
    """Write the bullets, and return them with the features that are left for the description.

    Each attribute that the title does not name is in a bullet or left for the description.
    """
    bullet_format = pick(rng, _BULLET_FORMATS)
    chosen, remaining = _choose_bullets(rng, design, in_title)
    fields = _template_fields(design)
    written: list[str] = []
    for bullet in chosen:
        needs_head = bullet in design.template.bullets
        written.append(_write_bullet(bullet_format, bullet, needs_head, fields))
    return tuple(written), remaining


def _choose_bullets(
    rng: Uniform,
    design: Design,
    in_title: Sequence[str],
) -> tuple[list[Bullet], list[Bullet]]:
    """Choose the features in the bullets and those that are left for the description."""
    count = pick(rng, BULLETS)
    required: list[Bullet] = []
    of_title: list[Bullet] = []
    for name in design.attributes:
        bullet = pick(rng, attributes()[name].bullets)
        if name in in_title:
            of_title.append(bullet)
        else:
            required.append(bullet)
    is_described = rng() > WITHOUT_DESCRIPTION
    remaining: list[Bullet] = []
    if is_described and required and rng() < 0.3:
        remaining.append(required.pop())
    optional = _draw_optional_bullets(rng, design, of_title)
    chosen = shuffle(rng, [*required, *optional[: max(0, count - len(required))]])
    if not is_described:
        return chosen, []
    remaining += [bullet for bullet in design.template.bullets if bullet not in chosen]
    return chosen, remaining


def _draw_optional_bullets(
    rng: Uniform,
    design: Design,
    of_title: Sequence[Bullet],
) -> list[Bullet]:
    """Draw bullets that a listing may have: of attributes in the title, the template, a service."""
    optional = [bullet for bullet in of_title if rng() < 0.6]
    optional += shuffle(rng, design.template.bullets)[:3]
    if rng() < 0.4:
        optional.append(parse_bullet(pick(rng, phrases()["services"])))
    return optional


def _write_bullet(
    bullet_format: str,
    bullet: Bullet,
    needs_head: bool,
    fields: dict[str, str],
) -> str:
    """Write a bullet in the seller's format."""
    head = _capitalise(bullet.head.format(**fields))
    body = _capitalise(bullet.body.format(**fields))
    # The bodies of a template's bullets make no sense without their heads.
    if needs_head and bullet_format == "{body}":
        bullet_format = _BULLET_FORMATS[0]
    return bullet_format.format(head=head, HEAD=head.upper(), body=body)


def _write_description(
    rng: Uniform,
    design: Design,
    bullets: Sequence[Bullet],
) -> str:
    """Write some sentences, among them one of each of the bullets; none without bullets."""
    if not bullets:
        return ""
    openings = (*phrases()["descriptions"], *phrases()[f"{design.template.category} descriptions"])
    sentences = shuffle(rng, openings)[: pick(rng, (1, 2, 2, 3))]
    sentences += [f"{bullet.head}: {bullet.body}" for bullet in bullets]
    if rng() < 0.5:
        sentences.append(pick(rng, phrases()["endings"]))
    fields = _template_fields(design)
    return " ".join(_capitalise(sentence.format(**fields)) for sentence in sentences)


def _template_fields(design: Design) -> dict[str, str]:
    """Return the fields that phrases about a design may have."""
    return {
        "seller": design.seller,
        "name": design.template.names[0],
        "item": design.template.item,
        "kind": _lower_case(design.kind),
        "feature": _lower_case(design.feature),
        "use": _lower_case(re.sub("^my ", "your ", design.use)),
        "place": _lower_case(_without_article(design.use)),
    }


def _round_price(rng: Uniform, price: float) -> tuple[float, ...]:
    """Round a price as sellers do; sometimes it is a range, since it depends on the options."""
    low = round(int(price) + pick(rng, CENTS), 2)
    if rng() >= PRICE_RANGES:
        return (low,)
    return (low, round(int(low * (1.2 + 0.7 * rng())) + 0.99, 2))


def _without_article(use: str) -> str:
    """Drop the article, as titles do: ``Kitchen`` for ``my Kitchen``."""
    return re.sub("^(?:my|the|a) ", "", use)


def _lower_case(text: str) -> str:
    """Write as within a sentence, keeping abbreviations: ``LED lights``, ``a side slit``."""
    words: list[str] = []
    for word in text.split():
        is_abbreviation = sum(map(str.isupper, word)) > 1
        words.append(word if is_abbreviation else word.lower())
    return " ".join(words)


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _title_case(value: str) -> str:
    return value.replace(" | ", "/").title()
