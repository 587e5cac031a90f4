"""Every word that an observation may contain, for agents that read tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from textcraft_gym.envs.webshop import pages, text
from textcraft_gym.envs.webshop.catalogue import Catalogue
from textcraft_gym.envs.webshop.product import Product
from textcraft_gym.envs.webshop.state import START, Shop


@lru_cache(maxsize=2)
def vocabulary(catalogue: Catalogue) -> str:
    """Return a text with every word of pages, answers and instructions in all modes."""
    shop = Shop(catalogue, show_attrs=True)
    asin = next(iter(catalogue.products))
    results = START._replace(page="results", results=(asin,), number=2)
    bought = results._replace(page="done", asin=asin, chosen=(("<>&'", ""),))
    states = [START, results, results._replace(page="item", asin=asin), bought]
    shown = [text.text_rich(pages.page(shop, "", state)) for state in states]
    answers = [
        *text.INVALID.values(),
        text.chosen(""),
        text.score(0.0),
        "[clicked button] [clicked button_]",
    ]
    products = chain.from_iterable(map(_printed, catalogue.products.values()))
    instructions = [goal.instruction for goal in catalogue.goals]
    return "\n".join([*shown, *answers, *products, *instructions, "[SEP] 0 1 2 3 4 5 6 7 8 9"])


def _printed(product: Product) -> Iterator[str]:
    """Yield all texts on the pages of a product."""
    yield from (
        product.asin,
        product.title,
        product.price_tag,
        product.description,
        *product.bullets,
    )
    yield from (product.category, product.query, product.product_category, *product.attributes)
    for name, values in product.options.items():
        # The last page shows the chosen values as JSON, which escapes accents.
        yield from (name, *values, json.dumps([name, *values]))
