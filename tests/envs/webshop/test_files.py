"""The original's files: what is read of them, and what is said of those that cannot be read."""

from __future__ import annotations

import math

import pytest

from tests.envs.webshop.folder import ATTRIBUTES, ENTRIES, HUMAN, entry, write
from textcraft_gym.envs.webshop.files import ShopDataError, find_files, read_shop
from textcraft_gym.envs.webshop.product import Product
from textcraft_gym.errors import TextCraftGymError


def read(folder, goals="human", seed=0, progress=lambda read, size: None):
    return list(read_shop(find_files(folder, goals), seed, progress))


def products(folder, **arguments) -> dict[str, Product]:
    return {product.asin: product for product, _ in read(folder, **arguments)}


def test_read_shop__reads_products(tmp_path):
    loaded = products(write(tmp_path))
    assert list(loaded) == [entry["asin"] for entry in ENTRIES]
    assert loaded["B000000002"] == Product(
        asin="B000000002",
        title="Lamp B000000002",
        description="It shines.",
        bullets=("Warm light ", "Folds"),
        prices=(100.0,),
        price=100.0,
        options={"size": ("10 | 12", "xl")},
        attributes=("easy clean", "led"),
        category="garden",
        query="floor lamps",
        product_category="Home \u203a Lamps",
    )
    assert loaded["B000000003"].options == {"style": ("a",), "color": ("red", "blue", "red")}
    assert loaded["B000000003"].bullets == ("One",)
    assert (loaded["B000000003"].description, loaded["B000000003"].attributes) == ("", ())
    assert loaded["B000000004"].title == "<b>Lamp</b> \u0001\u0000 \u00e9\n"
    assert (loaded["B000000004"].options, loaded["B000000004"].attributes) == ({}, ())


def test_read_shop__draws_prices_of_ranges_from_the_seed(tmp_path):
    write(tmp_path)
    drawn = [products(tmp_path, seed=seed)["B000000001"] for seed in (0, 0, 1)]
    assert drawn[0].prices == (1299.0, 2000.5)
    assert drawn[0].price_tag == "$1299.0 to $2000.5"
    assert drawn[0].price == drawn[1].price != drawn[2].price
    assert all(1299 <= product.price <= 2000.5 for product in drawn)
    assert drawn[0].price == pytest.approx(1824.952, abs=0.001)


def test_read_shop__draws_the_same_prices_in_any_order(tmp_path):
    in_order = products(write(tmp_path))
    assert products(write(tmp_path, entries=ENTRIES[::-1])) == in_order


@pytest.mark.parametrize(
    ("pricing", "prices"),
    [
        (None, (100.0,)),
        ("", (100.0,)),
        ("$9.99", (9.99,)),
        ("$1,299.00", (1299.0,)),
        ("$1.00 - $2.00", (1.0, 2.0)),
        ("$1 - $2 - $3", (1.0, 2.0)),
        ("from $3", (3.0,)),
    ],
)
def test_read_shop__reads_prices(tmp_path, pricing, prices):
    assert products(write(tmp_path, entries=[entry("B1", pricing=pricing)]))["B1"].prices == prices


def test_read_shop__takes_a_price_that_is_missing_for_none(tmp_path):
    nameless = entry("B1")
    del nameless["pricing"]
    assert products(write(tmp_path, entries=[nameless]))["B1"].prices == (100.0,)


def test_read_shop__passes_over_what_the_original_passes_over(tmp_path):
    asins = ["nan", "B0123456789", "B1", "B1", "b1", "B2"]
    loaded = products(
        write(tmp_path, entries=[entry(asin, name=str(n)) for n, asin in enumerate(asins)])
    )
    assert {asin: product.title for asin, product in loaded.items()} == {"B1": "2", "B2": "5"}


def test_read_shop__reads_what_people_want(tmp_path):
    wishes = {product.asin: wishes for product, wishes in read(write(tmp_path))}
    assert [len(some) for some in wishes.values()] == [1, 1, 0, 0]
    (lamp,) = wishes["B000000001"]
    assert (lamp.text, lamp.attributes, lamp.options, lamp.price_upper) == (
        "i need a lamp",
        ("warm light",),
        (),
        math.inf,
    )
    (big,) = wishes["B000000002"]
    assert (big.options, big.price_upper) == (("xl",), 140.0)


def test_read_shop__reads_sentences_for_synthetic_goals(tmp_path):
    wishes = {
        product.asin: wishes
        for product, wishes in read(write(tmp_path, human=None), goals="synthetic")
    }
    assert [len(some) for some in wishes.values()] == [0, 1, 1, 0]
    assert [wish.options for wish in wishes["B000000003"]] == [None]


def test_read_shop__passes_over_sentences_without_attributes(tmp_path):
    sentence = {"instruction": "find a lamp", "instruction_attributes": []}
    write(
        tmp_path, attributes={"B000000001": sentence, "B000000002": {"instruction": "find a lamp"}}
    )
    assert [wishes for _, wishes in read(tmp_path, goals="synthetic")] == [[]] * len(ENTRIES)


def test_read_shop__draws_bounds_from_the_seed(tmp_path):
    write(tmp_path)
    bounds = {read(tmp_path, seed=seed)[1][1][0].price_upper for seed in range(20)}
    assert bounds == {120.0, 130.0, 140.0}


def test_read_shop__tells_its_progress(tmp_path):
    calls = []
    read(write(tmp_path), progress=lambda read, size: calls.append((read, size)))
    sizes = [
        (tmp_path / name).stat().st_size for name in ("items_ins_v2.json", "items_human_ins.json")
    ]
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    # Before each entry of the three files, and at the end.
    assert calls == [
        *[(sizes[0], size)] * len(ATTRIBUTES),
        *[(sum(sizes), size)] * len(HUMAN),
        *[(size, size)] * (len(ENTRIES) + 1),
    ]


def test_find_files__takes_the_file_that_is_named_with_those_of_its_size(tmp_path):
    write(tmp_path)
    for name in ("items_shuffle", "items_ins_v2"):
        (tmp_path / f"{name}_1000.json").write_bytes((tmp_path / f"{name}.json").read_bytes())
    files = find_files(tmp_path / "items_shuffle_1000.json", "human")
    assert [file.name for file in files.all] == [
        "items_shuffle_1000.json",
        "items_ins_v2_1000.json",
        "items_human_ins.json",
    ]
    with pytest.raises(
        ShopDataError,
        match=r"expected one file .*, got items_shuffle.json, items_shuffle_1000.json",
    ):
        find_files(tmp_path, "human")


def test_find_files__takes_any_name_of_the_products(tmp_path):
    (write(tmp_path) / "items_shuffle.json").rename(tmp_path / "mine.json")
    assert find_files(str(tmp_path / "mine.json"), "synthetic").all == (
        tmp_path / "mine.json",
        tmp_path / "items_ins_v2.json",
    )


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        ("items_shuffle.json", "expected one file items_shuffle"),
        ("items_ins_v2.json", "expected items_ins_v2.json"),
        ("items_human_ins.json", "no file items_human_ins.json"),
    ],
)
def test_find_files__names_the_file_that_is_missing(tmp_path, missing, problem):
    (write(tmp_path) / missing).unlink()
    with pytest.raises(ShopDataError, match=problem):
        find_files(tmp_path, "human")


def test_find_files__names_a_folder_that_is_none(tmp_path):
    with pytest.raises(ShopDataError, match=r"nowhere: no such file or folder"):
        find_files(tmp_path / "nowhere", "human")


def without(key: str) -> dict:
    return {name: value for name, value in entry("B1").items() if name != key}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (without("asin"), "entry 1, key 'asin': is missing"),
        (without("name"), "entry 1, key 'name': is missing"),
        (without("category"), "entry 1, key 'category': is missing"),
        (without("query"), "entry 1, key 'query': is missing"),
        (without("product_category"), "entry 1, key 'product_category': is missing"),
        (entry(""), "entry 1, key 'asin': is empty"),
        (entry("B1", name=None), "entry 1, key 'name': is null"),
        (entry("B1", name=7), "entry 1, key 'name': expected a text, got 7"),
        (entry("B1", full_description=["x"]), "key 'full_description': expected a text"),
        (
            entry("B1", small_description=["x", None]),
            "key 'small_description': expected a list of texts",
        ),
        (entry("B1", pricing=9.99), "key 'pricing': expected a text, got 9.99"),
        (entry("B1", pricing="free"), "key 'pricing': expected a price in dollars, got 'free'"),
        (entry("B1", pricing="$1.2.3"), "key 'pricing': expected a price in dollars"),
        (entry("B1", pricing="$ - $"), "key 'pricing': expected a price in dollars"),
        (
            entry("B1", customization_options=["Red"]),
            "key 'customization_options': expected an object",
        ),
        (
            entry("B1", customization_options={"Color": "Red"}),
            "key 'customization_options.Color': expected a list",
        ),
        (
            entry("B1", customization_options={"Color": [{"value": None}]}),
            "key 'customization_options.Color': expected objects with a text as value",
        ),
        (
            entry("B1", customization_options={"Color": ["Red"]}),
            "expected objects with a text as value, got 'Red'",
        ),
        (None, "entry 1: expected an object, got None"),
        ("B1", "entry 1: expected an object, got 'B1'"),
    ],
)
def test_read_shop__says_where_a_product_is_bad(tmp_path, bad, message):
    with pytest.raises(ShopDataError) as error:
        read(write(tmp_path, entries=[entry("B0"), bad]))
    assert message in str(error.value)
    assert "items_shuffle.json" in str(error.value)
    assert isinstance(error.value, TextCraftGymError)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "attributes",
            {"B1": {"attributes": "red"}},
            "items_ins_v2.json, entry B1, key 'attributes': expected a list",
        ),
        ("attributes", {"B1": ["red"]}, "items_ins_v2.json, entry B1: expected an object"),
        ("attributes", [], "items_ins_v2.json, entry 0: not JSON, or truncated: expected {"),
        ("attributes", '{"B1": {', "items_ins_v2.json, entry 0: not JSON, or truncated"),
        ("human", {"B1": {"instruction": "x"}}, "items_human_ins.json, entry B1: expected a list"),
        ("human", {"B1": ["x"]}, "items_human_ins.json, entry B1[0]: expected an object"),
        (
            "human",
            {"B1": [{"instruction_attributes": ["x"]}]},
            "entry B1[0], key 'instruction': is missing",
        ),
        ("human", "", "items_human_ins.json, entry 0: not JSON, or truncated: expected {"),
        ("entries", "", "items_shuffle.json, entry 0: not JSON, or truncated"),
        ("entries", "[]", "items_shuffle.json: expected a list of products, got none"),
        ("entries", "{}", "items_shuffle.json, entry 0: not JSON, or truncated: expected ["),
        (
            "entries",
            "[] []",
            "items_shuffle.json, entry 0: not JSON, or truncated: expected nothing after ]",
        ),
        (
            "entries",
            f'[{{"price": {"9" * 5000}}}]',
            "items_shuffle.json, entry 0: not JSON, or truncated",
        ),
        ("entries", '[{"asin": NaN}]', "items_shuffle.json, entry 0: not JSON, or truncated"),
        (
            "entries",
            b"\x1f\x8b\x08".decode("latin-1"),
            "items_shuffle.json, entry 0: not JSON, or truncated",
        ),
    ],
)
def test_read_shop__says_which_file_is_bad(tmp_path, name, content, message):
    with pytest.raises(ShopDataError) as error:
        read(write(tmp_path, **({"entries": [entry("B1")]} | {name: content})))
    assert message in str(error.value)


@pytest.mark.parametrize("left", [1, 10, 200, -300, -2, -1])
def test_read_shop__says_that_a_file_is_cut_off(tmp_path, left):
    file = write(tmp_path) / "items_shuffle.json"
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(ShopDataError, match=r"entry \d: not JSON, or truncated"):
        read(tmp_path)


BOMB = "[" * 50_000 + "]" * 50_000


@pytest.mark.parametrize(
    ("name", "content", "entry_at"),
    [
        ("entries", BOMB, 0),
        ("entries", "[" * 100_000, 0),
        ("entries", '{"a":' * 20_000 + "1" + "}" * 20_000, 0),
        ("entries", f'[{{"asin": "nan"}}, {{"asin": "B2", "images": {BOMB}}}]', 1),
        ("entries", f'[{{"asin": "B1", "images": {"[" * 64}{"]" * 64}}}]', 0),
        ("attributes", f'{{"B1": {BOMB}}}', 0),
        ("attributes", '{"B1":' * 50_000, 0),
        ("human", f'{{"B1": [{{"instruction": {BOMB}}}]}}', 0),
    ],
)
def test_read_shop__gives_up_brackets_nested_without_end(tmp_path, name, content, entry_at):
    facts = {"B1": {"attributes": []}}
    with pytest.raises(
        ShopDataError, match=rf"json, entry {entry_at}: (nested more than 64|not JSON)"
    ):
        for _ in read_shop(
            find_files(write(tmp_path, **({"attributes": facts} | {name: content})), "human"),
            0,
            print,
        ):
            pass


def test_read_shop__reads_what_is_nested_moderately_and_brackets_in_texts(tmp_path):
    odd = entry(
        "B1",
        full_description='"[{' * 5000,
        images=[[[["x"]]]],
        more={"a": [{"b": [1, 2.5, None, True]}]},
    )
    assert products(write(tmp_path, entries=[odd]))["B1"].description == '"[{' * 5000


@pytest.mark.parametrize("name", ["items_shuffle", "items_ins_v2", "items_human_ins"])
def test_read_shop__passes_over_a_byte_order_mark(tmp_path, name):
    plain = read(write(tmp_path))
    file = tmp_path / f"{name}.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert read(tmp_path) == plain


def test_read_shop__reads_the_first_entries_if_asked_for_some(tmp_path):
    write(tmp_path)
    assert (
        list(read_shop(find_files(tmp_path, "human"), 0, lambda *_: None, num_products=2))
        == read(tmp_path)[:2]
    )


def test_read_shop__reads_emoji_and_halves_of_them(tmp_path):
    (title,) = (
        product.title
        for product, _ in read(write(tmp_path, entries=[entry("B1", name="\U0001f381 \u00e9")]))
    )
    assert title == "\U0001f381 \u00e9"
    (title,) = (
        product.title
        for product, _ in read(write(tmp_path, entries=[entry("B1", name="half \ud83c.")]))
    )
    assert title.startswith("half ")
    title.encode()  # nothing is left that cannot be written


def test_read_shop__asks_for_a_text_among_goals_of_people(tmp_path):
    bad = HUMAN | {
        "B000000001": [
            {"instruction": 3, "instruction_attributes": ["x"], "instruction_options": []}
        ]
    }
    with pytest.raises(
        ShopDataError, match=r"entry B000000001\[0\], key 'instruction': expected a text, got 3"
    ):
        read(write(tmp_path, human=bad))
