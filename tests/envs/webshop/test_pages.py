"""Pages in every format, word for word. A changed word is a new version of the environment.

``REGENERATE_GOLDEN=1 pytest tests/envs/webshop/test_pages.py`` writes the files anew.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.envs.webshop.shelf import INSTRUCTION, LAMP, ODD, Shelf, shop
from textcraft_gym.envs.webshop import text
from textcraft_gym.envs.webshop.pages import page
from textcraft_gym.envs.webshop.rules import navigate
from textcraft_gym.envs.webshop.state import START, Shop, State, Transition
from textcraft_gym.envs.webshop.text import MODES

GOLDEN = Path(__file__).parent / "golden"
LAMP_PAGE = ["search[lamp]", "click[b0lamp0001]"]
ODD_PAGE = ["search[mug]", "click[b0odd00002]"]
WAYS: dict[str, list[str]] = {
    "index": [],
    "results": ["search[mug lamp]"],
    "results_visited": ["search[mug lamp]", "click[b0odd00002]", "click[< prev]"],
    "results_second_page": ["search[mug lamp]", "click[next >]"],
    "results_past_the_end": ["search[mug lamp]", "click[next >]", "click[next >]"],
    "results_none": ["search[sofa]"],
    "item": LAMP_PAGE,
    "item_one_chosen": [*LAMP_PAGE, "click[dark blue]"],
    "item_two_chosen": [*LAMP_PAGE, "click[small]", "click[red]"],
    "item_without_options": ["search[number]", "click[b0mug00001]"],
    "item_odd": ODD_PAGE,
    "item_odd_chosen": [*ODD_PAGE, "click[grey]"],
    "description": [*LAMP_PAGE, "click[red]", "click[description]"],
    "description_blank": [*ODD_PAGE, "click[description]"],
    "features": [*LAMP_PAGE, "click[features]"],
    "features_odd": [*ODD_PAGE, "click[features]"],
    "features_none": ["search[number]", "click[b0mug00001]", "click[features]"],
    "reviews": [*LAMP_PAGE, "click[reviews]"],
    "attributes": [*LAMP_PAGE, "click[attributes]"],
    "done": [*LAMP_PAGE, "click[<b>'&'</b>]", "click[small]", "click[buy now]"],
    "done_without_options": ["search[number]", "click[b0mug00001]", "click[buy now]"],
}


def there(way: list[str], store: Shop) -> State:
    state = START
    for action in way:
        state, reason, _ = navigate(store, state, action)
        assert not reason
    return state


def shown(name: str, show_attrs: bool) -> dict:
    lines = {}
    for mode, render in MODES.items():
        store = shop(mode=mode, show_attrs=show_attrs)
        nodes = page(store, INSTRUCTION, there(WAYS[name], store), score=2 / 3)
        lines[mode] = render(nodes).split("\n")
    return {"nodes": [" ".join(map(repr, node)) for node in nodes], **lines}


@pytest.mark.parametrize("name", WAYS)
def test_page__is_word_for_word_the_golden_one(name):
    pages = shown(name, show_attrs=name == "attributes")
    file = GOLDEN / f"{name}.json"
    if os.environ.get("REGENERATE_GOLDEN"):
        file.write_text(json.dumps(pages, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert pages == json.loads(file.read_text(encoding="utf-8"))


def test_golden_files__are_those_of_the_pages():
    assert {file.stem for file in GOLDEN.iterdir()} == set(WAYS)


def test_attributes__change_no_page_but_the_products():
    for name in WAYS.keys() - {"attributes"}:
        plain, with_attributes = shown(name, False), shown(name, True)
        if name.startswith("item"):
            with_attributes["nodes"].remove("'button' 'Attributes'")
            assert "[Attributes] " in with_attributes["react"]
            assert plain["nodes"] == with_attributes["nodes"]
        else:
            assert plain == with_attributes


def test_text__is_stripped_nodes_on_a_line():
    store = shop()
    said = text.text(page(store, INSTRUCTION, START))
    assert said == f"WebShop [SEP] Instruction: [SEP] {INSTRUCTION} [SEP] Search"
    said = text.text(page(store, INSTRUCTION, there(WAYS["features"], store)))
    header = f"Instruction: [SEP] {INSTRUCTION} [SEP] Back to Search"
    assert said == f"{header} [SEP] < Prev [SEP] Dims in ten steps [SEP] Warm light"


def test_text_rich__marks_buttons_and_says_what_was_clicked():
    store = shop()
    said = text.text_rich(page(store, INSTRUCTION, START))
    assert said == f"WebShop\nInstruction: \n{INSTRUCTION}\n[button] Search [button_]\n"
    said = text.text_rich(page(store, INSTRUCTION, there(["search[lamp]"], store)))
    assert said == (
        f"Instruction:\n{INSTRUCTION}\n[button] Back to Search [button_]\n"
        "Page 1 (Total results: 1)\n[button] Next > [button_]\n"
        "\n[button] B0LAMP0001 [button_]\nTall Reading Lamp\n$19.99 to $27.5\n"
    )
    said = text.text_rich(
        page(
            store,
            INSTRUCTION,
            there([*LAMP_PAGE, "click[red]", "click[small]", "click[< prev]"], store),
        )
    )
    assert "\n\n[clicked button] B0LAMP0001 [clicked button_]\n" in said
    said = text.text_rich(
        page(store, INSTRUCTION, there([*LAMP_PAGE, "click[red]", "click[small]"], store))
    )
    assert said == (
        "You have clicked small.\nYou have clicked red.\n"
        f"Instruction:\n{INSTRUCTION}\n[button] Back to Search [button_]\n[button] < Prev [button_]\n"
        "color\n  [clicked button] red [clicked button_]\n  [button] dark blue [button_]\n"
        "  [button] <b>'&'</b> [button_]\nsize\n  [clicked button] small [clicked button_]\n"
        "  [button] large [button_]\nTall Reading Lamp\nPrice: $19.99 to $27.5\nRating: N.A.\n"
        "[button] Description [button_]\n[button] Features [button_]\n[button] Reviews [button_]\n"
        "[button] Buy Now [button_]\n"
    )


@pytest.mark.parametrize("value", ['8"', "caf\u00e9", "a\\b", "\u2665"])
def test_text_rich__never_marks_a_chosen_value_that_json_escapes(value):
    shelf = Shelf({LAMP.asin: replace(LAMP, options={"size": (value, "small")})})
    nodes = page(Shop(shelf), INSTRUCTION, State("item", asin=LAMP.asin, chosen=(("size", value),)))
    said = text.text_rich(nodes)
    assert f"size\n  [button] {value} [button_]\n  [button] small [button_]\n" in said
    assert "clicked" not in said
    assert f"size [[{value}]][small]" in text.react(nodes)


def test_react__is_the_format_of_the_prompts_of_reference_agents():
    store = shop(mode="react")
    said = text.react(page(store, INSTRUCTION, START))
    assert said == f"\nWebShop \nInstruction:  \n{INSTRUCTION} \n[Search] "
    said = text.react(page(store, INSTRUCTION, there(["search[number lamp]"], store)))
    assert said == (
        "\n[Back to Search] \nPage 1 (Total results: 12) \n[Next >] \n[B0LAMP0001] \nTall Reading Lamp \n"
        "$19.99 to $27.5 \n[B0MUG00001] \nMug number 1 \n$1.0 \n[B0MUG00002] \nMug number 2 \n$2.0 "
    )
    said = text.react(page(store, INSTRUCTION, there([*LAMP_PAGE, "click[dark blue]"], store)))
    assert said == (
        "\n[Back to Search] \n[< Prev] \ncolor [red][[dark blue]][<b>'&'</b>]\nsize [small][large]\nTall Reading Lamp "
        "\nPrice: $19.99 to $27.5 \nRating: N.A. \n[Description] \n[Features] \n[Reviews] \n[Buy Now] "
    )


def test_react__answers_in_a_line_where_no_page_is_new():
    state = there(LAMP_PAGE, shop())
    invalid, bought = (
        Transition(state, reason="not_on_page"),
        Transition(state._replace(page="done")),
    )
    for mode in ("react", "adapt"):
        assert (
            text.short_answer(mode, Transition(state, chosen="red"), 0.0) == "You have clicked red."
        )
        assert (
            text.short_answer(mode, bought, 2 / 3)
            == "Your score (min 0.0, max 1.0): 0.6666666666666666"
        )
        assert text.short_answer(mode, Transition(state), 0.0) is None
    assert text.short_answer("react", invalid, 0.0) == "Invalid action!"
    assert text.short_answer("adapt", invalid, 0.0) == "Invalid action! Try a different action."
    assert all(text.short_answer("text", turn, 0.0) is None for turn in (invalid, bought))


@pytest.mark.parametrize(("mode", "bare"), [("react", False), ("adapt", True)])
@pytest.mark.parametrize("in_full", [3, 10])
def test_results_of_a_program__are_ten_a_page_of_which_the_first_are_shown_in_full(
    mode, bare, in_full
):
    store = shop(mode=mode, products_per_page=in_full)
    asins = [f"B0MUG{number:05}" for number in range(1, 12)]
    for way, on_page in (
        (["search[number]"], asins[:10]),
        (["search[number]", "click[next >]"], asins[10:]),
    ):
        said = text.react(page(store, INSTRUCTION, there(way, store))).partition("[Next >] ")[2]
        full = "".join(
            f"\n[{asin}] \n{store.products[asin].title} \n{store.products[asin].price_tag} "
            for asin in on_page[:in_full]
        )
        assert said == full + (
            "".join(f"\n[{asin}] " for asin in on_page[in_full:]) if bare else ""
        )


@pytest.mark.parametrize(
    ("blank", "node"),
    [("", None), (" ", " "), ("\t  ", " "), (" \n ", None), ("\r\f", " "), ("\u00a0", "\u00a0")],
)
def test_node__of_blanks_is_one_space_and_with_a_new_line_none(blank, node):
    shelf = Shelf({LAMP.asin: replace(LAMP, description=blank)})
    state = State("sub", asin=LAMP.asin, sub_page="description")
    content = page(Shop(shelf), INSTRUCTION, state)[4:]
    assert content == ([] if node is None else [("text", node)])
    assert text.react(content) == ("" if node in (None, " ") else f"\n{node} ")
    assert text.text_rich(content) == ("" if node is None else f"{node}\n")


def test_first_page__says_the_instruction_in_every_mode():
    for render in MODES.values():
        assert INSTRUCTION in render(page(shop(), INSTRUCTION, START))


def test_done__says_the_chosen_options_as_safe_json():
    state = State("done", asin=ODD.asin, chosen=(("a", "<&>"), ("b", "it's caf\u00e9")))
    words = [words for _, words in page(shop(), INSTRUCTION, state, 0.5)]
    assert words[8] == r'{"a": "\u003c\u0026\u003e", "b": "it\u0027s caf\u00e9"}'
    assert words[words.index("Your score (min 0.0, max 1.0)") + 1] == "0.5"
    assert INSTRUCTION not in words
