"""A small data set in the form of the original's files."""

from __future__ import annotations

import json
from pathlib import Path


def entry(asin: str, **changes) -> dict:
    """Return a product as it stands in the file."""
    return {
        "asin": asin,
        "name": f"Lamp {asin}",
        "full_description": "It shines.",
        "pricing": "$12.50",
        "images": ["https://example.org/1.jpg"],
        "category": "garden",
        "query": "Floor Lamps ",
        "product_category": "Home \u203a Lamps",
        "average_rating": "",
        "small_description": ["Warm light ", "Folds"],
        "customization_options": "",
    } | changes


ENTRIES = [
    entry("B000000001", pricing="$1,299.00 - $2,000.50"),
    entry("B000000002", pricing=None, customization_options={
        "Size": [{"value": " 10/12 "}, {"value": "XL"}],
        "Color": None,
    }),
    entry("B000000003", small_description="One", full_description=None, customization_options={
        "Style": [{"value": "A", "image": None}],
        "COLOR": [{"value": "Red", "image": "x"}, {"value": "Blue"}, {"value": "Red"}],
    }),
    entry("B000000004", name="<b>Lamp</b> \u0001\u0000 \u00e9\n", pricing="$5.00", customization_options={}),
]  # fmt: skip
ATTRIBUTES = {
    "B000000001": {
        "attributes": ["warm light"],
        "instruction": None,
        "instruction_attributes": None,
    },
    "B000000002": {
        "attributes": ["easy clean", "led"],
        "instruction": "find a lamp",
        "instruction_attributes": ["led"],
    },
    "B000000003": {
        "attributes": [],
        "instruction": "get a light",
        "instruction_attributes": ["led", "folds"],
    },
    "B999999999": {
        "attributes": ["unsold"],
        "instruction": "unsold",
        "instruction_attributes": ["unsold"],
    },
}
HUMAN = {
    "B000000001": [
        {
            "instruction": "i need a lamp.",
            "instruction_attributes": ["warm light"],
            "instruction_options": [],
        },
        {
            "instruction": "i want no attributes",
            "instruction_attributes": [],
            "instruction_options": ["xl"],
        },
    ],
    "B000000002": [
        {
            "instruction": "a big lamp",
            "instruction_attributes": ["led"],
            "instruction_options": ["xl"],
            "worker": "A",
        },
    ],
    "B999999999": [
        {"instruction": "unsold", "instruction_attributes": ["unsold"], "instruction_options": []}
    ],
}


def write(folder: Path, entries=ENTRIES, attributes=ATTRIBUTES, human=HUMAN) -> Path:
    """Write the files; None leaves one out. Return the folder."""
    contents = {
        "items_shuffle.json": entries,
        "items_ins_v2.json": attributes,
        "items_human_ins.json": human,
    }
    for name, content in contents.items():
        if content is not None:
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder
