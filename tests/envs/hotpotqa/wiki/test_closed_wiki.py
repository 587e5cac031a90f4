"""Titles that are found, and a search whose ranking is that of BM25 after the formula."""

from __future__ import annotations

import copy
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.envs.hotpotqa.wiki.closed_wiki import ClosedWiki
from textcraft_gym.envs.hotpotqa.wiki.corpus import Page


def page(title: str, *sentences: str) -> Page:
    return Page(title, (sentences,))


PAGES = (
    page("Mercer (film)", "It was shot in Sarn."),
    page("Mercer (band)", "They are from Sarn."),
    page("Sarn", "A village."),
    page("SARN", "A code."),
    page("Harrow Vale (film)", "A film."),
    page("Straße", "A street."),
    page("finish[yes]", "An album."),
    page("(Brackets)", "A song."),
    Page("Ode", (("A river.", " It is long."), ("It ends in the sea.",))),
)
REDIRECTS = {"Old Sarn": "Sarn", "sarn": "SARN"}
WIKI = ClosedWiki.of(PAGES, REDIRECTS)


@pytest.mark.parametrize(
    ("entity", "title"),
    [
        *((page.title, page.title) for page in PAGES),
        ("mercer (FILM)", "Mercer (film)"),
        ("sarn", "Sarn"),  # the first of those that differ in case
        (" old  sarn ", "Sarn"),
        ("Old_Sarn", "Sarn"),
        ("STRASSE", "Straße"),
        ("Harrow Vale", "Harrow Vale (film)"),
        ("harrow vale", "Harrow Vale (film)"),
        ("Sarn (village)", "Sarn"),
        ("old sarn (village)", "Sarn"),
        ("Mercer", None),  # two pages have this name
        ("Harrow Vale (band)", None),
        ("[Sarn]", None),
        ("", None),
        ("()", None),
        ("\ud800", None),
        ("(" * 10_000, None),
    ],
)
def test_find__takes_the_title_then_case_and_redirects_then_brackets(entity, title):
    for _ in range(2):  # the second time from those that are kept
        opened_page = WIKI.find(entity)
        assert (opened_page and opened_page.title) == title


def test_page__takes_the_exact_title_only():
    assert [WIKI.page(title.title) for title in PAGES] == list(PAGES)
    assert [WIKI.page(name) for name in ("sarn", "Old Sarn", "Harrow Vale", "")] == [None] * 4
    assert WIKI.page("Ode").paragraphs == (("A river.", " It is long."), ("It ends in the sea.",))


def test_wiki__has_its_titles_in_order_and_the_first_of_two_pages():
    wiki = ClosedWiki.of([*PAGES, page("Ode", "A poem.")])
    assert list(wiki) == [page.title for page in PAGES]
    assert len(wiki) == len(PAGES)
    assert wiki.page("Ode") == PAGES[-1]
    assert copy.deepcopy(wiki) is wiki


def test_fingerprint__is_that_of_pages_and_redirects():
    assert ClosedWiki.of(PAGES, REDIRECTS).fingerprint == WIKI.fingerprint
    others = [
        ClosedWiki.of(PAGES),
        ClosedWiki.of(PAGES[1:], REDIRECTS),
        ClosedWiki.of(PAGES, {**REDIRECTS, "a": "Ode"}),
    ]
    assert len({WIKI.fingerprint, *(wiki.fingerprint for wiki in others)}) == 4


def test_redirect__to_no_page_is_an_error():
    with pytest.raises(ValueError, match="redirect 'Old Sarn' to lead to a page, got 'Sarm'"):
        ClosedWiki.of(PAGES, {"Old Sarn": "Sarm"})


def test_wiki__of_no_pages_finds_nothing():
    wiki = ClosedWiki.of([])
    assert (len(wiki), list(wiki), wiki.find("Sarn"), wiki.similar("Sarn")) == (0, [], None, [])


def test_similar__is_of_all_pages_or_among_some():
    assert WIKI.similar("Sarn") == ["SARN", "Sarn", "Mercer (band)", "Mercer (film)"]
    assert WIKI.similar("Sarn", 1) == ["SARN"]
    assert WIKI.similar("Sarn", among=["Mercer (film)", "No page", "Ode", "Sarn"]) == [
        "Sarn",
        "Mercer (film)",
    ]
    assert WIKI.similar("Sarn", among=[]) == []
    assert WIKI.similar("the of") == []


def test_similar__reads_the_beginning_of_an_endless_entity():
    assert WIKI.similar("x " * 100_000 + "Sarn") == []


def naive_similar(pages: list[Page], entity: str, count: int, among: list[str] | None) -> list[str]:
    """BM25 page by page, in double precision, for words that no ending is taken from."""
    k1, b = 0.9, 0.4
    texts = [
        " ".join([page.title, *(words for part in page.paragraphs for words in part)])
        .lower()
        .split()
        for page in pages
    ]
    average = sum(map(len, texts)) / len(texts)
    scores = {}
    for page, text in zip(pages, texts, strict=True):
        score = 0.0
        for word, times in Counter(entity.split()).items():
            having = sum(word in other for other in texts)
            tf = text.count(word)
            idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            score += times * idf * tf / (tf + k1 * (1 - b + b * len(text) / average))
        scores[page.title] = round(score, 5)  # equal, but for the order in which terms are added
    titles = [title for title in scores if scores[title] and (among is None or title in among)]
    return sorted(titles, key=lambda title: (-scores[title], title))[:count]


WORDS = ("lamp", "mug", "red", "sofa", "zip", "42")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=60), min_size=1, max_size=20)


@given(
    TEXTS,
    st.lists(st.sampled_from(WORDS), max_size=5),
    st.integers(1, 8),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_similar__ranks_as_bm25_does(texts, words, count, some, draw):
    names = [f"{number:02}x" for number in range(len(texts))]
    draw.shuffle(names)
    pages = [
        Page(name, (tuple(text[:9]), tuple(text[9:])))
        for name, text in zip(names, texts, strict=True)
    ]
    among = names[: len(names) // 2] if some else None
    entity = " ".join(words)
    assert ClosedWiki.of(pages).similar(entity, count, among=among) == naive_similar(
        pages, entity, count, among
    )
