"""A made wiki: facts and names are invented, and equal numbers give equal wikis everywhere."""

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
    written = [article.page for article in articles.values()]
    for number, group in enumerate(facts.groups):
        if is_listed(number):
            written.append(list_namesakes(group))
    redirects = {thing.alias: thing.title for thing in facts.things if thing.alias}
    wiki = ClosedWiki.of(draw.shuffled(written), redirects)
    questions = Asker(facts, articles, Draw(f"questions {pages} {seed}")).questions()
    # Of one stream, so that the splits have no question in common.
    splits = {split: tuple(islice(questions, count)) for split, count in SPLITS.items()}
    return Corpus(wiki, splits)
