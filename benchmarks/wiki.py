"""Speed and memory of wikis: making, opening, and searching, beside other packages of BM25.

Targets: a wiki of 1,000,000 paragraphs opens from the cache in 2 s, and a search takes 50 ms. The
words of its pages are drawn with the frequencies of a language, and each page has a word of its
own, so that there are a million terms.

The packages bm25s and rank-bm25 are compared where they are installed; neither is needed otherwise.
They rank the same terms by the same formula.

``--pages 1000000`` takes minutes, and 1.3 GB of disk in a temporary folder; each start is a
separate process.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from textcraft_gym.envs.hotpotqa.wiki.closed_wiki import ClosedWiki, write_wiki
from textcraft_gym.envs.hotpotqa.wiki.corpus import Page
from textcraft_gym.envs.hotpotqa.wiki.made import made_corpus
from textcraft_gym.storage.arrays import cached
from textcraft_gym.storage.search.analyzer import analyze
from textcraft_gym.storage.search.bm25 import K1, B

WORDS = 40_000
QUERIES = 300
TOP = 5
LETTERS = "etaoinsrhldcumfpgwybvkxjqz"


def draw_words() -> tuple[list[str], list[float]]:
    """Return a vocabulary, and the cumulative weights of its words."""
    rng = random.Random(0)
    frequencies = [len(LETTERS) - index for index in range(len(LETTERS))]
    lengths = rng.choices(range(2, 11), k=WORDS)
    vocabulary = ["".join(rng.choices(LETTERS, frequencies, k=length)) for length in lengths]
    return vocabulary, list(itertools.accumulate(1 / (rank + 3) for rank in range(WORDS)))


def draw_pages(count: int) -> Iterator[Page]:
    """Yield pages of one paragraph of three to five sentences, 40 to 100 words."""
    rng = random.Random(1)
    vocabulary, weights = draw_words()
    for index in range(count):
        words = rng.choices(vocabulary, cum_weights=weights, k=rng.randint(40, 100))
        title = f"{words[0].title()} {words[1].title()} x{index}"
        length = -(-len(words) // rng.randint(3, 5))
        sentences = (
            " ".join(words[start : start + length]) for start in range(0, len(words), length)
        )
        yield Page(title, (tuple(f"{sentence.capitalize()}." for sentence in sentences),))


def draw_queries() -> list[str]:
    """Return queries: names of two words, and every third time a question of eighteen."""
    rng = random.Random(2)
    vocabulary, weights = draw_words()
    counts = [18 if index % 3 == 0 else 2 for index in range(QUERIES)]
    return [" ".join(rng.choices(vocabulary, cum_weights=weights, k=count)) for count in counts]


def start(pages: int, cache: Path) -> dict[str, float]:
    """Open and search a wiki; return seconds, milliseconds and MiB."""
    os.environ["TEXTCRAFT_GYM_CACHE"] = str(cache)
    begin = time.perf_counter()
    wiki = ClosedWiki(
        cached("wiki.arrays", str(pages), lambda append: write_wiki(append, draw_pages(pages)))
    )
    opened = time.perf_counter() - begin
    titles = [title for _, title in zip(range(QUERIES), wiki, strict=False)]
    figures = {"open s": opened}
    for name, milliseconds in spread(wiki.similar, draw_queries()).items():
        figures[f"search {name} ms"] = milliseconds
    figures["title ms"] = spread(wiki.find, titles)["median"]
    figures["peak MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def spread(search: Callable[[str], object], queries: Sequence[str]) -> dict[str, float]:
    """Return the milliseconds of the median, the 95th percentile and the slowest of searches."""
    times = []
    for query in queries:
        begin = time.perf_counter()
        search(query)
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()
    figures = {
        "median": statistics.median(times),
        "95 %": times[len(times) * 95 // 100],
        "slowest": times[-1],
    }
    return {name: round(figure, 3) for name, figure in figures.items()}


def load(pages: int) -> None:
    """Print what opening and searching a wiki of a size takes, first without a cache."""
    with tempfile.TemporaryDirectory() as folder:
        for label in ("first start", "later start"):
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                figures = process.submit(start, pages, Path(folder)).result()
            print(
                f"{pages:,} pages, {label}: "
                + ", ".join(f"{name} {value:.2f}" for name, value in figures.items())
            )
        print(f"cache: {sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6:.0f} MB")


def compare(count: int) -> None:
    """Print index and search times of all packages on the same pages, and their equal rankings."""
    pages, queries = list(draw_pages(count)), draw_queries()
    begin = time.perf_counter()
    wiki = ClosedWiki.of(pages)
    print(
        f"{count:,} pages: index {time.perf_counter() - begin:.1f} s, "
        f"{spread(wiki.similar, queries)}"
    )
    terms = []
    for page in pages:
        paragraphs = [" ".join(sentences) for sentences in page.paragraphs]
        terms.append(analyze("\n".join([page.title, *paragraphs])))
    for name, make in (("bm25s", of_bm25s), ("rank_bm25", of_rank_bm25)):
        if not find_spec(name):
            print(f"{name} is not installed")
            continue
        begin = time.perf_counter()
        scores = make(terms)
        index_seconds = time.perf_counter() - begin
        same = sum(is_best(scores(query), pages, wiki.similar(query, TOP)) for query in queries)
        times = spread(
            lambda query, scores=scores: np.argpartition(scores(query), -TOP)[-TOP:], queries
        )
        print(f"{name}: index {index_seconds:.1f} s without analysis, {times}")
        print(f"{name}: {same} of {len(queries)} rankings equal")


def is_best(scores: np.ndarray, pages: Sequence[Page], titles: Sequence[str]) -> bool:
    """Return whether titles are ranked best first, up to the last digits of their scores."""
    indices = {page.title: index for index, page in enumerate(pages)}
    ranked = scores[[indices[title] for title in titles]]
    return np.allclose(ranked, np.sort(scores)[::-1][: len(titles)], rtol=1e-5)


def of_bm25s(terms: list[list[str]]) -> Callable[[str], np.ndarray]:
    """Return the search of bm25s."""
    import bm25s

    index = bm25s.BM25(method="lucene", k1=float(K1), b=float(B))
    index.index(terms, show_progress=False)
    return lambda query: index.get_scores(analyze(query))


def of_rank_bm25(terms: list[list[str]]) -> Callable[[str], np.ndarray]:
    """Return the search of rank-bm25, with the weights of terms that the others have."""
    from rank_bm25 import BM25Plus

    index = BM25Plus(terms, k1=float(K1), b=float(B), delta=0)
    frequencies: dict[str, int] = {}
    for term in itertools.chain.from_iterable(map(set, terms)):
        frequencies[term] = frequencies.get(term, 0) + 1
    index.idf = {
        term: np.log(1 + (len(terms) - df + 0.5) / (df + 0.5)) for term, df in frequencies.items()
    }
    return lambda query: index.get_scores(analyze(query)) / (float(K1) + 1)


def make(count: int) -> None:
    """Print what making a wiki takes."""
    begin = time.perf_counter()
    corpus = made_corpus(count)
    print(f"made {count:,} pages in {time.perf_counter() - begin:.2f} s")
    questions = [question.question for question in corpus.splits["test"][:QUERIES]]
    print(f"searches for questions: {spread(corpus.wiki.similar, questions)}")


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--made", type=int, default=5000, help="number of pages of a made wiki")
    parser.add_argument(
        "--compare", type=int, default=20_000, help="number of pages on which packages are compared"
    )
    parser.add_argument(
        "--pages", type=int, default=0, help="also open and search a wiki of this size"
    )
    options = parser.parse_args()
    make(options.made)
    compare(options.compare)
    if options.pages:
        load(options.pages)


if __name__ == "__main__":
    main()
