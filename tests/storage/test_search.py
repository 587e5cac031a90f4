"""Rankings against a search engine in plain Python, after the formulas; words and lengths against
Lucene's rules."""

from __future__ import annotations

import math
import random
import statistics
import struct
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.webshop.shelf import product
from textcraft_gym.storage.arrays import Arrays, in_memory
from textcraft_gym.storage.search import bm25
from textcraft_gym.storage.search.analyzer import STOP_WORDS, analyze
from textcraft_gym.storage.search.bm25 import Index, IndexWriter, quantise
from textcraft_gym.storage.search.stemmer import stem


def single(number: float) -> float:
    """Round to single precision."""
    return struct.unpack("f", struct.pack("f", number))[0]


def to_byte(length: int) -> int:
    """Lucene's SmallFloat.intToByte4."""
    free = 255 - to_int4(2**31 - 1)
    return length if length < free else free + to_int4(length - free)


def to_int4(number: int) -> int:
    bits = number.bit_length()
    return number if bits < 4 else number >> bits - 4 & 7 | bits - 3 << 3


def from_byte(byte: int) -> int:
    """Lucene's SmallFloat.byte4ToInt."""
    free = 255 - to_int4(2**31 - 1)
    if byte < free:
        return byte
    bits, shift = byte - free & 7, (byte - free >> 3) - 1
    return free + (bits if shift == -1 else (bits | 8) << shift)


def naive_scores(documents: list[list[str]], words: list[str]) -> list[float]:
    """BM25 term by term; documents are lists of words that no ending is taken from."""
    k1, b, unit = single(0.9), single(0.4), 1.0
    filled = [words for words in documents if words]
    average = single(sum(map(len, filled)) / len(filled)) if filled else 1.0
    having = {word: sum(word in other for other in documents) for word in words}
    scores = []
    for text in documents:
        kept = single(b * from_byte(to_byte(len(text))))
        length = single(k1 * single(single(unit - b) + single(kept / average)))
        inverse, total = single(unit / length), 0.0
        for word, times in Counter(words).items():
            weight = single(
                times
                * single(math.log(1 + (len(filled) - having[word] + 0.5) / (having[word] + 0.5)))
            )
            if word in text:
                total += single(
                    weight - single(weight / single(unit + single(text.count(word) * inverse)))
                )
        scores.append(single(total))
    return scores


def naive_search(
    documents: list[list[str]], keys: list[str], words: list[str], count: int
) -> list[int]:
    scores = naive_scores(documents, words)
    hits = [number for number, score in enumerate(scores) if score > 0]
    return sorted(hits, key=lambda number: (-scores[number], keys[number]))[:count]


WORDS = st.sampled_from(["lamp", "mug", "red", "sofa", "b07x", "42", "zip"])
TEXTS = st.lists(st.lists(WORDS, max_size=70), min_size=1, max_size=40)


@given(TEXTS, st.lists(WORDS, max_size=6), st.integers(1, 50), st.randoms(use_true_random=False))
def test_search__is_bm25_as_computed_term_by_term(documents, words, count, draw):
    keys = [f"B{number:03}" for number in range(len(documents))]
    draw.shuffle(keys)
    index = Index.build([" ".join(text) for text in documents], keys)
    scores = index.scores(" ".join(words))
    expected = naive_scores(documents, words)
    assert (list(scores) if scores is not None else [0.0] * len(documents)) == expected
    assert index.search(" ".join(words), count) == naive_search(documents, keys, words, count)


@given(
    TEXTS,
    st.lists(WORDS, max_size=6),
    st.integers(1, 8),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_search__that_leaves_lists_out_finds_the_same(documents, words, count, seeds, draw):
    keys = [f"B{number:03}" for number in range(len(documents))]
    draw.shuffle(keys)
    index = Index.build([" ".join(text) for text in documents], keys)
    with mock.patch.multiple(bm25, SMALL=0, SEEDS=seeds, SEED_TERMS=1):
        assert index.search(" ".join(words), count) == naive_search(documents, keys, words, count)


def test_search__reads_few_documents_for_the_frequent_words_of_a_question():
    rng = random.Random(0)
    frequencies = [1 / (rank + 1) for rank in range(2000)]
    texts = [
        rng.choices([f"w{rank}" for rank in range(2000)], frequencies, k=40) for _ in range(4000)
    ]
    index = Index.build(
        [" ".join(text) for text in texts], [f"{number:05}" for number in range(len(texts))]
    )
    scored = []
    for _ in range(30):
        query = " ".join(rng.choices([f"w{rank}" for rank in range(2000)], frequencies, k=12))
        plain = index.search(query, 5)
        with mock.patch.multiple(bm25, SMALL=0, SEEDS=100):
            assert index.search(query, 5) == plain
            scored.append(len(bm25._candidates(index._terms(query), 5, len(texts))))
    assert statistics.median(scored) < len(texts) / 20


def test_search__among_some_documents_scores_them_as_among_all():
    texts = [f"red lamp {'mug ' * (number % 7)}" for number in range(50)]
    index = Index.build(texts, [f"{number:02}" for number in range(50)])
    some = np.array([3, 4, 9, 11, 40])
    assert index.search("mug lamp red", 50, some) == [
        document for document in index.search("mug lamp red") if document in some
    ]


def test_search__scores_as_computed_by_hand():
    index = Index.build(["red lamp", "red red mug", "blue mug", "sofa"], ["A", "B", "C", "D"])
    # Four documents of 2, 3, 2 and 1 terms; "red" is in two of them: idf = ln(1 + (4 - 2 + .5) / (2
    # + .5)) = ln 2.
    first = math.log(2) * 1 / (1 + 0.9 * (0.6 + 0.4 * 2 / 2))
    second = math.log(2) * 2 / (2 + 0.9 * (0.6 + 0.4 * 3 / 2))
    assert list(index.scores("red")) == pytest.approx([first, second, 0, 0], rel=1e-6)
    assert index.search("red") == [1, 0]
    # "lamp" is in one: idf = ln(1 + 3.5 / 1.5).
    rare = math.log(1 + 3.5 / 1.5) * 1 / (1 + 0.9 * (0.6 + 0.4 * 2 / 2))
    assert list(index.scores("lamp red")) == pytest.approx([first + rare, second, 0, 0], rel=1e-6)
    assert index.search("lamp red") == [0, 1]


def test_search__counts_a_word_as_often_as_it_is_asked_for():
    index = Index.build(["red lamp", "blue mug"], ["A", "B"])
    assert list(index.scores("red red")) == pytest.approx([2 * index.scores("red")[0], 0])


def test_search__orders_equal_scores_by_key():
    index = Index.build(["red"] * 60, [f"B{number:02}" for number in reversed(range(60))])
    assert index.search("red") == list(range(59, 9, -1))
    assert index.search("red", 3) == [59, 58, 57]


def test_search__keeps_the_best_where_ties_go_over_the_end():
    texts = ["red sofa bed", *["red"] * 4, "red red"]
    assert Index.build(texts, ["F", "E", "D", "C", "B", "A"]).search("red", 3) == [5, 4, 3]


@pytest.mark.parametrize("words", ["", "   ", "the", "unheard", "!!"])
def test_search__finds_nothing_without_a_known_word(words):
    assert Index.build(["the red lamp", ""], ["A", "B"]).search(words) == []


def test_search__takes_documents_without_words():
    index = Index.build(["", "the", "lamp"], ["A", "B", "C"])
    assert index.search("lamp") == [2]
    assert Index.build([], []).search("lamp") == []
    assert Index.build([""], ["A"]).search("lamp") == []


@given(TEXTS, st.integers(1, 60), st.booleans(), st.randoms(use_true_random=False))
def test_index__built_in_blocks_is_the_same(documents, block, exact_lengths, draw):
    keys = [f"B{number:03}" for number in range(len(documents))]
    draw.shuffle(keys)
    whole = index_arrays(documents, keys, exact_lengths)
    with mock.patch.object(bm25, "BLOCK", block):
        blocks = index_arrays(documents, keys, exact_lengths)
    assert whole.keys() == blocks.keys()
    for name, part in whole.items():
        assert part.dtype == blocks[name].dtype
        assert part.tolist() == blocks[name].tolist()


def index_arrays(documents: list[list[str]], keys: list[str], exact_lengths: bool) -> Arrays:
    with IndexWriter() as writer:
        for text in documents:
            writer.add(" ".join(text))
        return in_memory(
            lambda append: writer.write(append, keys=keys, exact_lengths=exact_lengths)
        )


def test_index__of_thousands_in_blocks_finds_what_is_computed_term_by_term():
    rng = random.Random(0)
    words = [f"w{rank}" for rank in range(3000)]
    frequencies = [1 / (rank + 1) for rank in range(len(words))]
    documents = [rng.choices(words, frequencies, k=rng.randint(0, 60)) for _ in range(3000)]
    keys = [f"{number:05}" for number in rng.sample(range(10**5), len(documents))]
    with mock.patch.multiple(bm25, BLOCK=1000, SMALL=0):
        index = Index.build([" ".join(text) for text in documents], keys)
        for _ in range(5):
            query = rng.choices(words, frequencies, k=rng.randint(1, 6))
            assert index.search(" ".join(query)) == naive_search(documents, keys, query, 50)


def test_index__is_built_and_written_in_parts_of_a_block():
    rng = random.Random(0)
    documents = [[f"w{rng.randrange(500)}" for _ in range(20)] for _ in range(2000)]
    keys = [f"{number:05}" for number in range(len(documents))]
    sizes: dict[str, list[int]] = {}
    with mock.patch.object(bm25, "BLOCK", 1000), IndexWriter() as writer:
        for text in documents:
            writer.add(" ".join(text))
            assert len(writer._terms) < 1000
        writer.write(lambda name, part: sizes.setdefault(name, []).append(part.size), keys=keys)
    for name in ("index.documents", "index.tf_norm"):
        assert max(sizes[name]) <= 1000 < sum(sizes[name]) / 30


def test_index__asks_for_a_key_for_each_document():
    with pytest.raises(ValueError, match="expected 2 keys, one a document, got 1"):
        Index.build(["red", "lamp"], ["A"])


def test_quantise__keeps_what_lucene_keeps_in_a_byte():
    for length in (*range(5000), 2**20 - 1, 2**20, 2**31 - 1):
        assert quantise(length) == from_byte(to_byte(length))


@pytest.mark.parametrize(
    ("length", "kept"),
    [(0, 0), (39, 39), (40, 40), (41, 40), (43, 42), (56, 56), (59, 56), (100, 96), (1000, 984)],
)
def test_quantise__pins_lengths(length, kept):
    assert quantise(length) == kept


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("Red LAMPS", ["red", "lamp"]),
        ("the and with of lamp", ["lamp"]),
        ("women's men\u2019S girls' 's", ["women", "men", "girl", "s"]),
        ("don't can\u2019t o'neil", ["don't", "can\u2019t", "o'neil"]),
        ("t-shirt wi-fi 4-pack", ["t", "shirt", "wi", "fi", "4", "pack"]),
        ("2.5oz 3,000 1.5.2 a.b.c 10' x 12'", ["2.5oz", "3,000", "1.5.2", "a.b.c", "10", "x", "12"]),
        ("usb3.0 3.a a.3 a,b 1:2", ["usb3.0", "3", "3", "b", "1", "2"]),
        ("material:solid color: red", ["material:solid", "color", "red"]),
        ("snake_case _x_ __ 5_6", ["snake_cas", "_x_", "5_6"]),
        ("AT&T 50% $9.99 #1 18\"x20\"", ["t", "50", "9.99", "1", "18", "x20"]),
        ("caf\u00e9 \u00dcber \u00bd\u00b2", ["caf\u00e9", "\u00fcber"]),
        ("cafe\u0301s soft\u00adly", ["cafe\u0301", "soft\u00adli"]),
        ("中文 カタカナ ひら 한국", ["中", "文", "カタカナ", "ひ", "ら", "한국"]),
        ("\u2764\ufe0f\u2764 \U0001f381\u2714", ["\u2764\ufe0f", "\u2764", "\U0001f381", "\u2714"]),
        ("\U0001f469\u200d\U0001f373 1\ufe0f\u20e3", ["\U0001f469\u200d\U0001f373", "1\ufe0f\u20e3"]),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"]),
        ("\u00a9 2020\u00ae \u2122\ufe0f \u2605\u3010x", ["\u00a9", "2020", "\u00ae", "\u2122\ufe0f", "\u2605", "x"]),
        # These as Lucene 9.5 splits them.
        ("soft\u2661\u266c\u265a \u261e\u2765", ["soft", "\u2661", "\u266c", "\u265a", "\u261e", "\u2765"]),
        ("\uff76\uff9f\u30a2 a\uff9f \uff9f", ["\uff76\uff9f\u30a2", "a\uff9f"]),
        ("\u2764\ufe0e ok #\ufe0f\u20e3", ["\u2764", "ok", "#\ufe0f\u20e3"]),
        ("\U0001f44d\U0001f3fd \U0001f3fd", ["\U0001f44d\U0001f3fd", "\U0001f3fd"]),
        ("\u4e00\u0301_\u30ab_", ["\u4e00\u0301", "_\u30ab_"]),
        ("\U0001d401\U0001d428\U0001d425\U0001d41d", ["\U0001d401\U0001d428\U0001d425\U0001d41d"]),
    ],
)  # fmt: skip
def test_analyze__splits_as_lucene_does(text, terms):
    assert analyze(text) == terms


@pytest.mark.parametrize("part", ["_", "a_", "1,", "a'", "\u0301", "\u2764\u200d", "\u30ab_"])
def test_analyze__takes_time_that_grows_with_the_length_only(part):
    assert len(analyze(part * 200_000)) <= 200_000


def test_analyze__drops_lucenes_stop_words_only():
    assert len(STOP_WORDS) == 33
    assert analyze(" ".join(STOP_WORDS)) == []
    assert analyze("I from your have") == ["i", "from", "your", "have"]


@pytest.mark.parametrize(
    ("word", "left"),
    [
        # Of Porter's paper, and none of Porter2's changes.
        ("caresses", "caress"), ("ponies", "poni"), ("skies", "ski"), ("dying", "dy"), ("agreed", "agre"),
        ("hopping", "hop"), ("falling", "fall"), ("happy", "happi"), ("relational", "relat"), ("lovely", "love"),
        ("generically", "gener"), ("fluently", "fluentli"), ("adjustable", "adjust"), ("controllable", "control"),
        # Of his program.
        ("us", "us"), ("xs", "xs"), ("trekking", "trek"), ("revved", "rev"), ("wheeled", "wheel"), ("buzzing", "buzz"),
        ("possibly", "possibl"), ("visibly", "visibl"), ("doubly", "doubli"), ("washably", "washabl"),
        ("technology", "technolog"), ("technologies", "technolog"), ("logy", "logi"),
    ],
)  # fmt: skip
def test_stem__is_the_original_porter(word, left):
    assert stem(word) == left


@given(st.text())
def test_analyze__takes_any_text(text):
    assert all(analyze(text))


def test_document__is_title_description_first_bullet_and_options():
    options = {"size": ("small", "10 | 12"), "color": ("red",)}
    lamp = product(
        "B0", "A Lamp", description="Bright. ", bullets=("First", "Second"), options=options
    )
    assert lamp.document == "a lamp bright.  first size: small, 10 | 12, and color: red"
    assert product("B0", "A Lamp").document == "a lamp   "
