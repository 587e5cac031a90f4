"""A made wiki: all facts and names are invented, and the same numbers give the same wiki on every machine."""

from __future__ import annotations

from itertools import islice

from textcraft_gym.envs.hotpotqa.wiki.articles import Writer, list_namesakes
from textcraft_gym.envs.hotpotqa.wiki.closed_wiki import ClosedWiki
from textcraft_gym.envs.hotpotqa.wiki.corpus import Corpus
from textcraft_gym.envs.hotpotqa.wiki.facts import Facts, is_listed
from textcraft_gym.envs.hotpotqa.wiki.names import Draw
from textcraft_gym.envs.hotpotqa.wiki.questions import Asker
from textcraft_gym.errors import at_least, between

MIN_PAGES, MAX_PAGES = 1000, 50_000
SPLITS = {"train": 1000, "dev": 200, "test": 500}
"""Number of questions of each split."""

_PAGES_PER_GROUP = 50
"""Number of pages for each group of things of the same name."""


def made_corpus(pages: int = 5000, seed: int = 0) -> Corpus:
    """Make a wiki with its questions.

    Args:
        pages: Number of pages, 1,000 to 50,000.
        seed: Determines the wiki.

    Raises:
        ValueError: If a number is out of bounds.
    """
    between("pages", pages, MIN_PAGES, MAX_PAGES)
    at_least("seed", seed, 0)
    draw = Draw(f"wiki {pages} {seed}")
    groups = pages // _PAGES_PER_GROUP
    facts = Facts(pages - sum(map(is_listed, range(groups))), groups, draw)
    writer = Writer(facts, draw)
    articles = {thing: writer.write(thing) for thing in facts.things}
    lists = [
        list_namesakes(group) for number, group in enumerate(facts.groups) if is_listed(number)
    ]
    redirects = {thing.alias: thing.title for thing in facts.things if thing.alias}
    wiki = ClosedWiki.of(
        draw.shuffled([*(article.page for article in articles.values()), *lists]), redirects
    )
    questions = Asker(facts, articles, Draw(f"questions {pages} {seed}")).questions()
    return Corpus(wiki, {split: tuple(islice(questions, count)) for split, count in SPLITS.items()})
