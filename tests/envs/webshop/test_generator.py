"""Made shops: the same everywhere, every goal can be bought, text as in the real shop, and as hard
to buy from."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import chain
from statistics import mean, median

import pytest

from tests.hash_seeds import printed
from textcraft_gym.envs.webshop.generator import PRODUCTS, generate
from textcraft_gym.envs.webshop.goals import SPLITS, split_range
from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.envs.webshop.product_templates import (
    attributes,
    choices,
    phrases,
    product_templates,
)
from textcraft_gym.envs.webshop.reward import reward
from textcraft_gym.envs.webshop.title_words import compose, title_words
from textcraft_gym.storage.search.bm25 import Index

GOLDEN = "7dd2e86fadcfc41fa19c572fce4c5a069339f7b14d6ad43a803caa701be2979f"
"""A new digest is a new version of the environment."""
DIGEST = """
import hashlib
from textcraft_gym.envs.webshop.generator import generate
products, goals = generate(0)
wanted = [(goal.instruction, goal.product.asin, goal.attributes, goal.options, goal.price_upper) for goal in goals]
print(hashlib.sha256(repr((products, wanted)).encode()).hexdigest())
"""
SEEDS = (0, 1, 2)
TEMPLATES = {template.query: template for template in product_templates()}


@lru_cache(maxsize=len(SEEDS))
def shop(seed: int) -> tuple[tuple[Product, ...], tuple[Goal, ...]]:
    return generate(seed)


def text_of(product: Product) -> str:
    return " ".join((product.title, *product.bullets, product.description)).lower()


def stands_in(attribute: str, text: str) -> bool:
    return all(word in text.lower() for word in attribute.split())


# The same everywhere


@pytest.mark.parametrize("hash_seed", [0, 17])
def test_generate__same_bytes_in_another_process(hash_seed):
    assert printed(hash_seed, DIGEST) == GOLDEN


def test_generate__another_seed_is_another_shop():
    titles = [{product.title for product in shop(seed)[0]} for seed in SEEDS]
    assert len(titles[0] & titles[1]) < PRODUCTS / 50


def test_generate__makes_as_many_products_as_asked_for():
    products, _ = generate(3, 150)
    assert len(products) == 150
    assert {product.query for product in products} == set(TEMPLATES)


def test_generate__fewer_products_than_types_raises():
    with pytest.raises(
        ValueError, match=f"expected num_products >= {len(TEMPLATES)} of a generated shop, got 10"
    ):
        generate(0, 10)


# Products


@pytest.mark.parametrize("seed", SEEDS)
def test_products__are_many_and_of_every_type(seed):
    products, _ = shop(seed)
    assert len(products) == PRODUCTS >= 1000
    assert len(TEMPLATES) >= 50
    assert {product.query for product in products} == set(TEMPLATES)
    assert {product.category for product in products} == {
        "fashion",
        "beauty",
        "grocery",
        "electronics",
        "garden",
    }
    assert all(len(product.product_category.split(" \u203a ")) >= 3 for product in products)


@pytest.mark.parametrize("seed", SEEDS)
def test_products__have_numbers_and_titles_of_their_own(seed):
    products, _ = shop(seed)
    assert all(re.fullmatch("B0[0-9A-Z]{8}", product.asin) for product in products)
    assert (
        len({product.asin for product in products})
        == len({product.title for product in products})
        == len(products)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_products__are_at_most_one_of_each_group_of_attributes(seed):
    for product in shop(seed)[0]:
        groups = TEMPLATES[product.query].attributes
        assert (
            len(product.attributes)
            == sum(bool({*group} & {*product.attributes}) for group in groups)
            >= 1
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_products__tell_each_attribute_somewhere(seed):
    for product in shop(seed)[0]:
        assert all(stands_in(attribute, text_of(product)) for attribute in product.attributes), (
            product.title
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_products__texts_are_filled_in(seed):
    for product in shop(seed)[0]:
        texts = [product.title, *product.bullets, product.description]
        assert not any(re.search("[{}]|  |^ | $", text) for text in texts), texts
        assert all(product.bullets)


@pytest.mark.parametrize("seed", SEEDS)
def test_products__values_are_in_lower_case_and_belong_to_one_option(seed):
    for product in shop(seed)[0]:
        values = [*chain(*product.options.values())]
        assert len(values) == len(set(values)), product.options
        assert all(value == value.lower().strip() and "/" not in value for value in values)


@pytest.mark.parametrize("seed", SEEDS)
def test_products__prices_have_two_digits_and_hold_the_price(seed):
    for product in shop(seed)[0]:
        assert all(price == round(price, 2) > 0 for price in (*product.prices, product.price))
        assert product.prices[0] <= product.price <= product.prices[-1]
        assert sorted({*product.prices}) == [*product.prices]


@pytest.mark.parametrize("seed", SEEDS)
def test_products__come_in_families_with_near_misses_and_decoys(seed):
    products, goals = shop(seed)
    types = defaultdict(list)
    for product in products:
        types[product.query].append((product, {*product.title.lower().split()}))
    alike = sum(
        any(
            other is not product and len(words & title) >= 0.5 * len(words | title)
            for other, words in types[query]
        )
        for query, members in types.items()
        for product, title in members
    )
    decoys = sum(
        any(
            {*goal.attributes} <= {*other.attributes} and other.price > goal.price_upper
            for other, _ in members
        )
        for goal in goals
        for members in [types[goal.product.query]]
    )
    assert alike > 0.4 * len(products)
    assert decoys > 0.25 * len(goals)


# Text as in the real shop; tolerances are what seeds differ by


@pytest.mark.parametrize("seed", SEEDS)
def test_products__measure_as_the_real_ones(seed):
    products, _ = shop(seed)
    assert mean(len(product.title.split()) for product in products) == pytest.approx(18, abs=1)
    assert 4 <= mean(len(product.bullets) for product in products) <= 5
    assert mean(not product.description for product in products) == pytest.approx(0.30, abs=0.04)
    assert mean(bool(product.options) for product in products) == pytest.approx(0.42, abs=0.04)
    values = [len(values) for product in products for values in product.options.values()]
    assert mean(values) == pytest.approx(6, abs=0.5)
    assert median(product.price for product in products) == pytest.approx(29, abs=3)
    assert mean(len(product.prices) == 2 for product in products) == pytest.approx(0.09, abs=0.03)


@pytest.mark.parametrize("seed", SEEDS)
def test_titles__have_as_many_different_words_as_the_real_ones(seed):
    """A sample of as many titles of the real shop has 5,319."""
    words = {
        word for product in shop(seed)[0] for word in re.findall("[a-z0-9]+", product.title.lower())
    }
    assert 5000 < len(words) < 5700


@pytest.mark.parametrize("seed", SEEDS)
def test_instructions__open_in_as_many_ways_as_the_real_ones(seed):
    """By their first three words; the real ones have 310."""
    openings = {tuple(goal.instruction.split()[:3]) for goal in shop(seed)[1]}
    assert 300 < len(openings) < 500


@pytest.mark.parametrize("seed", SEEDS)
def test_products__hide_two_attributes_in_five_from_the_title(seed):
    titles = [
        (product.title, attribute) for product in shop(seed)[0] for attribute in product.attributes
    ]
    assert mean(not stands_in(attribute, title) for title, attribute in titles) == pytest.approx(
        0.40, abs=0.04
    )


# Goals


@pytest.mark.parametrize("seed", SEEDS)
def test_goals__fill_every_split(seed):
    _, goals = shop(seed)
    assert len(goals) >= 2000
    sizes = {split: len(split_range(split, len(goals))) for split in SPLITS}
    assert (sizes["test"], sizes["dev"], sizes["adapt_test"], sizes["adapt_dev"]) == (
        500,
        1000,
        100,
        40,
    )
    assert sizes["train"] >= 500


@pytest.mark.parametrize("seed", SEEDS)
def test_goals__are_at_most_four_a_product(seed):
    products, goals = shop(seed)
    wanted = Counter(goal.product.asin for goal in goals)
    assert wanted.keys() == {product.asin for product in products}
    assert max(wanted.values()) == 4


@pytest.mark.parametrize("seed", SEEDS)
def test_goals__can_be_bought(seed):
    for goal in shop(seed)[1]:
        options = goal.product.options
        chosen = {
            name: value
            for name, values in options.items()
            for value in values
            if value in goal.options
        }
        assert {*chosen.values()} == {*goal.options}
        assert reward(goal, goal.product, chosen).score == 1
        assert goal.attributes
        assert goal.price_upper > goal.product.price
        assert goal.weight == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_goals__instructions_differ_and_read_as_people_write(seed):
    _, goals = shop(seed)
    assert len({goal.instruction for goal in goals}) == len(goals)
    for goal in goals:
        text = goal.instruction
        assert text.endswith(f", and price lower than {goal.price_upper:.2f} dollars")
        assert not re.search(r"[A-Z{}|;]|  |\.\.| ,|\b(\w+) \1\b|\bwith in\b|\bin with\b", text), (
            text
        )
        assert not re.search(r"\ba [aeio]|\ban [^aeiouh1l8r]|\ban us[bd]", text), text


@pytest.mark.parametrize("seed", SEEDS)
def test_goals__say_some_attributes_in_other_words(seed):
    said = [
        stands_in(attribute, goal.instruction)
        for goal in shop(seed)[1]
        for attribute in goal.attributes
    ]
    assert 0.4 < mean(said) < 0.75


@pytest.mark.parametrize("seed", SEEDS)
def test_goals__are_as_hard_as_the_real_ones(seed):
    """The naive buyer searches for the instruction and buys the first result as it is."""
    products, goals = shop(seed)
    documents = [product.document for product in products]
    index = Index.build(documents, [product.asin for product in products])
    results_by_goal = [
        [products[number] for number in index.search(goal.instruction, 10)] for goal in goals
    ]
    scores = [
        reward(goal, results[0], {}).score
        for goal, results in zip(goals, results_by_goal, strict=True)
    ]
    assert 0.20 <= mean(score == 1 for score in scores) <= 0.30
    assert 0.55 <= mean(scores) <= 0.60
    assert (
        0.80
        <= mean(
            goal.product in results for goal, results in zip(goals, results_by_goal, strict=True)
        )
        <= 0.95
    )


# Vocabulary


def test_product_templates__draw_from_what_there_is_and_use_it_all():
    used = {
        name for template in TEMPLATES.values() for group in template.attributes for name in group
    }
    assert used == set(attributes())
    assert {choice for template in TEMPLATES.values() for _, choice in template.options} == set(
        choices()
    )


def test_title_words__are_composed_for_every_department_of_what_there_is():
    departments = {template.category for template in TEMPLATES.values()}
    purposes = ("sellers", "kinds", "features", "uses", "extras", "names")
    composed = {f"{department} {purpose}" for department in departments for purpose in purposes}
    words = title_words()
    assert composed == {name for name in words if " " in name}
    used = {
        field
        for name in composed
        for phrase in words[name]
        for field in re.findall(r"{(\w+)}", phrase)
    }
    assert {field if field in words else field.removesuffix("s") for field in used} - {
        "code",
        "number",
    } == {name for name in words if " " not in name}
    rng = random.Random(0).random
    for department in departments:
        for purpose in purposes:
            phrases_of_it = {compose(rng, department, purpose) for _ in range(300)}
            assert len(phrases_of_it) > 60
            assert not any(
                re.search(r"[{}]|  |^ | $|[a-z]y\b.*ys\b|xs\b", phrase) for phrase in phrases_of_it
            )


def test_attributes__stand_in_their_titles_and_bullets():
    for name, attribute in attributes().items():
        texts = [*attribute.titles, *(bullet.body for bullet in attribute.bullets)]
        assert all(stands_in(name, text) for text in texts), name
        assert len(attribute.sentences) == 2


def test_vocabulary__repeats_nothing():
    lists = [choice.values for choice in choices().values()]
    lists += [*title_words().values(), *phrases().values()]
    for template in TEMPLATES.values():
        lists += [
            template.names,
            template.noun_phrases,
            template.kinds,
            template.features,
            template.uses,
            template.gloss,
            tuple(chain(*template.attributes)),
        ]
    for words in lists:
        assert len(words) == len(set(words)), words
