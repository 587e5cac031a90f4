"""A small shop, made by hand: what is odd in a catalogue stands in it once."""

from __future__ import annotations

from dataclasses import dataclass, field

from textcraft_gym.envs.webshop.product import NO_PRICE, Goal, Product
from textcraft_gym.envs.webshop.state import Shop


def product(asin: str, title: str, **parts) -> Product:
    prices = parts.pop("prices", (9.99,))
    usual = {
        "description": "",
        "bullets": (),
        "options": {},
        "attributes": (),
        "category": "home",
        "query": "mugs",
        "product_category": "Home \u203a Kitchen \u203a Mugs",
    }
    return Product(asin=asin, title=title, prices=prices, price=prices[0], **(usual | parts))


LAMP = product(
    "B0LAMP0001",
    "Tall Reading Lamp",
    description="A lamp to read by.",
    bullets=("Dims in ten steps", "Warm light "),
    prices=(19.99, 27.5),
    options={"color": ("red", "dark blue", "<b>'&'</b>"), "size": ("small", "large")},
    attributes=("energy efficient", "easy to clean"),
    query="floor lamps",
    product_category="Home \u203a Lighting \u203a Lamps",
)
ODD = product(
    "B0ODD00002",
    "Caf\u00e9 Mug\n",
    description=" \n ",
    bullets=("", "  ", "\n", "Holds 3 dl"),
    prices=(NO_PRICE,),
    options={
        "color": ("red", "grey", "a[b]"),
        "trim": ("grey", "reviews", "search", "tea | coffee"),
    },
)
MUGS = tuple(
    product(f"B0MUG{number:05}", f"Mug number {number}", prices=(float(number),))
    for number in range(1, 12)
)
PRODUCTS = (LAMP, ODD, *MUGS)


@dataclass(frozen=True)
class Shelf:
    """Finds the products that have a word of the query in the title, in their order."""

    products: dict[str, Product] = field(
        default_factory=lambda: {product.asin: product for product in PRODUCTS}, repr=False
    )

    def search(self, query: str) -> tuple[str, ...]:
        words = set(query.split())
        return tuple(
            asin
            for asin, product in self.products.items()
            if words & set(product.title.lower().split())
        )


INSTRUCTION = "i need a red reading lamp, and price lower than 30.00 dollars"
GOAL = Goal(INSTRUCTION, LAMP, ("energy efficient",), ("red", "small"), 30.0)


def shop(**arguments) -> Shop:
    return Shop(Shelf(), **arguments)
