"""Generates a shop and its customers from a seed: the same, byte for byte, on every machine.

Products come in families that differ in one aspect: an attribute, a value, a detail, the seller or
the price. Every goal can be met: its product with its options has a reward of 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from textcraft_gym.envs.shuffle import Uniform, pick, shuffle
from textcraft_gym.envs.webshop.designs import Design, draw_designs
from textcraft_gym.envs.webshop.goals import Wish, price_upper
from textcraft_gym.envs.webshop.instruction_writer import Details, write_instruction
from textcraft_gym.envs.webshop.listing_writer import write_listing
from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.envs.webshop.product_templates import product_templates

PRODUCTS = 1000
"""Default number of products of a shop."""

# Measured on the real shop, or tuned to make shopping as hard as there; the tests measure both
# again.
GOALS = (1, 2, 2)
"""Number of goals for a product without options."""
GOALS_WITH_OPTIONS = (2, 3, 4, 4)
"""Number of goals for a product with options: people buy more of those."""
WANTED = (1, 2, 2, 3)
"""Number of attributes that a customer asks for."""
WANTED_WITH_OPTIONS = (1, 1, 1, 2)
"""Number of attributes that a customer asks for in addition to option values."""
ASKED = 0.88
"""Probability that a customer asks for a value of an option."""
DETAILS = {"kind": 0.4, "feature": 0.15, "use": 0.2, "fixed": 0.2}
"""Probability that a customer mentions a detail that the reward does not count."""

_ASIN_LETTERS = "0123456789BCDFGHJKLMNPQRSTVWXYZ"


def generate(
    seed: int = 0,
    products: int = PRODUCTS,
) -> tuple[tuple[Product, ...], tuple[Goal, ...]]:
    """Generate a shop.

    Args:
        seed: Determines the shop.
        products: Number of products, at least one for each template.

    Returns:
        The products in random order, and the goals of customers, at most four for a product.

    Raises:
        ValueError: If there are fewer products than templates.
    """
    templates = product_templates()
    if products < len(templates):
        raise ValueError(
            f"expected num_products >= {len(templates)} of a generated shop, got {products}"
        )
    rng = random.Random(f"shop {seed}").random
    share, remainder = divmod(products, len(templates))
    designs: list[Design] = []
    for index, template in enumerate(templates):
        designs += draw_designs(rng, template, share + 1 if index < remainder else share)
    asins: dict[str, None] = {}  # a dict, as a set has no order
    while len(asins) < products:
        asins["B0" + "".join(pick(rng, _ASIN_LETTERS) for _ in range(8))] = None
    titles: set[str] = set()
    # Shuffled, so that the members of a family are not next to each other.
    designs = shuffle(rng, designs)
    listings: list[Product] = []
    for design, asin in zip(designs, asins, strict=True):
        listings.append(write_listing(rng, design, asin, titles))
    bounds_rng = random.Random(f"bounds {seed}")
    goals: list[Goal] = []
    for design, product in zip(designs, listings, strict=True):
        goals += _draw_goals(rng, bounds_rng, design, product)
    return tuple(listings), tuple(goals)


def _draw_goals(
    rng: Uniform,
    bounds_rng: random.Random,
    design: Design,
    product: Product,
) -> Iterator[Goal]:
    """Draw the goals of some customers, all of different wording."""
    instructions: set[str] = set()
    counts = GOALS_WITH_OPTIONS if product.options else GOALS
    for _ in range(pick(rng, counts)):
        options = _draw_options(rng, product)
        attributes = shuffle(rng, product.attributes)
        wanted = attributes[: pick(rng, WANTED_WITH_OPTIONS if options else WANTED)]
        details = _draw_details(rng, design, options)
        instruction = write_instruction(rng, design.template, wanted, details)
        if instruction not in instructions:
            instructions.add(instruction)
            bound = price_upper(product.price, bounds_rng)
            wish = Wish(instruction, tuple(wanted), tuple(options.values()), bound)
            yield wish.goal(product, index=0)


def _draw_options(rng: Uniform, product: Product) -> dict[str, str]:
    """Draw the option values that a customer asks for, by option."""
    options: dict[str, str] = {}
    for option, values in product.options.items():
        if rng() < ASKED:
            options[option] = pick(rng, values)
    return options


def _draw_details(
    rng: Uniform,
    design: Design,
    options: dict[str, str],
) -> Details:
    """Draw the details that a customer mentions besides the options."""
    fixed = {option: value for option, value in design.fixed.items() if rng() < DETAILS["fixed"]}
    return Details(
        kind=design.kind.lower() if rng() < DETAILS["kind"] else "",
        feature=design.feature.lower() if rng() < DETAILS["feature"] else "",
        use=design.use.lower() if rng() < DETAILS["use"] else "",
        values={**options, **fixed},
    )
