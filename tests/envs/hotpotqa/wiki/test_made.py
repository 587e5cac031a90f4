"""A reader answers every question from the pages of a made wiki, and neither a single page nor a
guess does."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections import Counter, defaultdict

import pytest

from tests.envs.hotpotqa.wiki.reader import RELATIONS, Reader
from tests.envs.hotpotqa.wiki.shortcuts import SHORTCUTS, share
from textcraft_gym.envs.hotpotqa.wiki.kinds import KINDS
from textcraft_gym.envs.hotpotqa.wiki.made import SPLITS, made_corpus

PAGES = 5000
DIGEST = "7c44c7a10427be19"
"""That of a wiki of 1,000 pages: another one makes results with the old one incomparable."""


@pytest.fixture(scope="module")
def corpus():
    return made_corpus(PAGES)


@pytest.fixture(scope="module")
def pages(corpus):
    return [corpus.wiki.page(title) for title in corpus.wiki]


@pytest.fixture(scope="module")
def reader(pages):
    return Reader(pages)


@pytest.fixture(scope="module")
def questions(corpus):
    return [question for split in corpus.splits.values() for question in split]


def text_of(page) -> str:
    return " ".join(sentence for paragraph in page.paragraphs for sentence in paragraph)


# Pages


@pytest.mark.parametrize("count", [1000, 1234, PAGES])
def test_pages__are_as_many_as_asked_for_with_splits_of_fixed_sizes(count):
    corpus = made_corpus(count, seed=3)
    assert len(corpus.wiki) == len(set(corpus.wiki)) == count
    assert {split: len(questions) for split, questions in corpus.splits.items()} == SPLITS


def test_pages__have_three_to_twelve_sentences_in_paragraphs(pages):
    counts = Counter(sum(map(len, page.paragraphs)) for page in pages)
    assert min(counts) == 3
    assert 9 <= max(counts) <= 12
    assert len(Counter(len(page.paragraphs) for page in pages)) >= 3
    sentences = {
        sentence for page in pages for paragraph in page.paragraphs for sentence in paragraph
    }
    assert not [
        sentence
        for sentence in sentences
        if ". " in sentence or "{" in sentence or "  " in sentence
    ]


def test_pages__link_to_others(corpus, pages):
    titles = set(corpus.wiki)
    kinds = {kind for kind, *_ in RELATIONS}
    linked = [
        sum(name in titles for name in re.findall(r"(?:[A-Z]\w+)(?: [A-Z]\w+)*", text_of(page)))
        for page in pages
    ]
    assert sum(count >= 3 for count in linked) > 0.9 * len(pages)
    assert kinds == set(KINDS)


def test_pages__of_namesakes_are_listed_or_lead_to_each_other(corpus, pages):
    namesakes = defaultdict(list)
    for page in pages:
        if page.title.endswith(")"):
            namesakes[page.title.rpartition(" (")[0]].append(page.title)
    assert len(namesakes) == PAGES // 50
    listed = 0
    for name, titles in namesakes.items():
        text = text_of(corpus.wiki.find(name))
        listed += f"{name} may refer to:" in text
        assert all(title in text for title in titles)
    assert listed == 67


def test_redirects__lead_to_the_page_that_says_the_other_name(corpus, reader):
    others = [entry for entry in reader.entries if entry.alias]
    assert len(others) > 0.05 * PAGES
    for entry in others:
        assert corpus.wiki.find(entry.alias).title == entry.title
        assert corpus.wiki.page(entry.alias) is None


# Questions


def test_questions__have_one_answer_which_follows_from_the_pages(reader, questions):
    assert [
        question for question in questions if reader.answers(question.question) != {question.answer}
    ] == []


def test_questions__follow_from_their_gold_sentences_and_not_without_one(corpus, questions):
    for question in questions[::3]:
        pages = [
            corpus.wiki.page(title) for title in dict.fromkeys(title for title, _ in question.gold)
        ]
        assert Reader(pages, question.gold).answers(question.question) >= {question.answer}, (
            question
        )
        # Yes and no follow from names that are alike or not as well, without what says that a name
        # is another one.
        for left_out in range(len(question.gold) if question.answer not in ("yes", "no") else 0):
            gold = question.gold[:left_out] + question.gold[left_out + 1 :]
            assert question.answer not in Reader(pages, gold).answers(question.question), (
                question,
                left_out,
            )


def test_questions__follow_from_no_single_page(corpus, pages, reader, questions):
    texts = {page.title: f"{page.title} {text_of(page)}" for page in pages}
    entries = {entry.title: entry for entry in reader.entries}

    def naming(title: str) -> set[str]:
        entry = entries[title]
        names = [name for name in (entry.name, entry.alias) if name]
        return {title for title, text in texts.items() if any(name in text for name in names)}

    for question in questions[::3]:
        titles = list(dict.fromkeys(title for title, _ in question.gold))
        assert len(titles) >= 2
        if question.type == "bridge":
            assert not [title for title in naming(titles[0]) if question.answer in texts[title]], (
                question
            )
        elif question.level != "hard":
            first, second = (
                title for title in titles if entries[title].kind == entries[titles[0]].kind
            )
            assert not naming(first) & naming(second), question


def test_questions__have_ids_types_levels_and_ten_pages(corpus, questions):
    assert len({question.id for question in questions}) == len(questions)
    assert len({question.question for question in questions}) == len(questions)
    for split in corpus.splits.values():
        shares = Counter((question.type, question.level) for question in split)
        assert {group: count / len(split) for group, count in shares.items()} == {
            ("bridge", "easy"): 0.2,
            ("bridge", "medium"): 0.3,
            ("bridge", "hard"): 0.25,
            ("comparison", "easy"): 0.05,
            ("comparison", "medium"): 0.1,
            ("comparison", "hard"): 0.1,
        }
    for question in questions:
        assert len(question.titles) == len(set(question.titles)) == 10
        assert {title for title, _ in question.gold} <= set(question.titles)
        assert len(question.gold) == len(set(question.gold))
        assert all(corpus.wiki.page(title) for title in question.titles)
        pages = len({title for title, _ in question.gold})
        assert pages > 2 if question.level == "hard" else pages == 2 or question.level == "medium"


def test_questions__that_are_easy_name_titles_and_have_their_evidence_in_view(corpus, questions):
    for question in questions:
        if question.level == "easy":
            (first, number), (second, other) = question.gold
            assert max(number, other) < 5
            assert first in question.question
            assert second in (
                question.question
                if question.type == "comparison"
                else text_of(corpus.wiki.page(first))
            )


# Shortcuts: each test measures the share of exact matches of a player that takes one.

MOST = {
    "the most frequent answer": {"bridge": 0.01, "comparison": 0.4},
    "the best page of a search for the question": {"bridge": 0.05, "comparison": 0.6},
    "the best of the ten pages that says what is asked": {"bridge": 0.25, "comparison": 0.6},
    "an expert without its second hop": {"bridge": 0.02, "comparison": 0.6},
}


def test_shortcuts__answer_few_questions(corpus, reader, questions):
    assert set(MOST) == set(SHORTCUTS)
    for name, make in SHORTCUTS.items():
        for kind, most in MOST[name].items():
            assert (
                share(
                    [question for question in questions if question.type == kind],
                    make(corpus, reader),
                )
                < most
            ), (name, kind)


# The same everywhere.


def digest(corpus) -> str:
    contents = hashlib.sha256(corpus.wiki.fingerprint.encode())
    contents.update(
        repr(
            [
                (split, [tuple(question) for question in some])
                for split, some in corpus.splits.items()
            ]
        ).encode()
    )
    return contents.hexdigest()[:16]


def test_made__is_the_same_on_every_machine():
    assert digest(made_corpus(1000)) == DIGEST
    code = "from tests.envs.hotpotqa.wiki.test_made import *; print(digest(made_corpus(1000)))"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == DIGEST


def test_made__differs_by_seed_and_size(corpus):
    others = [made_corpus(1000), made_corpus(1000, seed=1), made_corpus(1001), corpus]
    assert len({other.wiki.fingerprint for other in others}) == 4
    ids = [{question.id for question in other.splits["test"]} for other in others]
    assert len(set().union(*ids)) == sum(map(len, ids))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pages": 999}, "pages in 1000"),
        ({"seed": -1}, "seed of 0"),
        ({"pages": 1e4}, "pages to be a whole number"),
    ],
)
def test_made__says_which_number_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        made_corpus(**arguments)
