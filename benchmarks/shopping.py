"""Speed of the generated shop, and load and search times of a shop as large as the original's.

The speed is that of a random policy on admissible commands, which always searches for the
instruction, through ``gym.make`` with its default wrappers; resets are counted, and the median
round counts. Targets: 10,000 steps per second in the mode ``text_rich``, and 20,000 resets.

``--products 1180000`` is the original's size (half an hour, 12 GB of disk). It generates that many
products, in the original's file format and text lengths, in a temporary folder. Each start is a
separate process: the first reads the files, the second the cache that was just written, the third
the cache after the system has forgotten it. Targets: at most 8 GB of memory at the first, 5 s for
the others, and 50 ms for a search. The first start is compared with json.load of as many bytes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium as gym
from rates import random_rate, reset_rate

import textcraft_gym  # noqa: F401

QUERIES = 300
WORDS = 40_000
INSTRUCTIONS = 10_000
SAMPLE = 1 << 26
STEPS = 30_000
ROUNDS = 5
ENVS = 200


class EntryGenerator:
    """Generates entries of the original's files, with word frequencies like those of a language.

    Mean lengths in characters of JSON are about those of entries of the original: title 118,
    description 455 (none in 30%), bullets 780, options 520 (42% have some), images 380, path of
    categories 90, and 4,400 in all. One word in a hundred is a model number that no other product
    has, so that there are more terms than products.
    """

    def __init__(self) -> None:
        self.rng = random.Random(0)
        letters = "etaoinsrhldcumfpgwybvkxjqz"
        frequencies = [len(letters) - index for index in range(len(letters))]
        lengths = self.rng.choices(range(2, 11), k=WORDS)
        self.vocabulary = [
            "".join(self.rng.choices(letters, frequencies, k=length)) for length in lengths
        ]
        self.weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(WORDS)))
        self.models = itertools.count()
        # Not read by the shop, but part of the file.
        self.details = [
            {self.words(1, 3).title(): self.words(2, 12) for _ in range(self.rng.randint(12, 36))}
            for _ in range(500)
        ]

    def words(self, fewest: int, most: int) -> str:
        """Return ``fewest`` to ``most`` random words."""
        count = self.rng.randint(fewest, most)
        words = self.rng.choices(self.vocabulary, cum_weights=self.weights, k=count)
        if self.rng.random() < count / 100:
            words[-1] = f"m{next(self.models):x}"
        return " ".join(words)

    def product(self, index: int) -> dict[str, Any]:
        """Return an entry of ``items_shuffle.json``."""
        rng = self.rng
        images = [
            f"https://m.media-amazon.com/images/I/{index:08}{image}.jpg"
            for image in range(rng.randint(4, 10))
        ]
        length = int(12 * 25 ** rng.random())  # most are short, some are long
        return {
            "name": self.words(8, 24).title(),
            "product_information": rng.choice(self.details),
            "full_description": self.words(length, length).capitalize()
            if rng.random() > 0.3
            else "",
            "pricing": rng.choice([f"${rng.randint(5, 90)}.99", "$9.99 - $29.99", None]),
            "images": images,
            "product_category": " \u203a ".join(self.words(1, 3).title() for _ in range(4)),
            "average_rating": "",
            "small_description": [
                self.words(10, 34).capitalize() for _ in range(rng.randint(4, 6))
            ],
            "customization_options": self.options(index) if rng.random() < 0.42 else "",
            "asin": f"B{index:09}",
            "category": rng.choice(["beauty", "electronics", "fashion", "garden", "grocery"]),
            "query": self.words(2, 2),
            "page": 1,
        }

    def options(self, index: int) -> dict[str, Any]:
        """Return options in the original's format."""
        page = f"https://www.amazon.com/dp/B{index:09}"
        values = [
            {
                "is_selected": False,
                "url": f"{page}/ref=twister_{value}?_encoding=UTF8&psc=1",
                "value": self.words(1, 2).title(),
                "price_string": "",
                "price": 0,
                "image": f"https://m.media-amazon.com/images/I/{index:08}{value}.jpg",
            }
            for value in range(self.rng.randint(2, 9))
        ]
        return {"Color": values, "Size": None}


def make_files(folder: Path, products: int) -> None:
    """Write the three files of a data set."""
    generator = EntryGenerator()
    with (
        (folder / "items_shuffle.json").open("w") as stream,
        (folder / "items_ins_v2.json").open("w") as attributes,
        (folder / "items_human_ins.json").open("w") as human,
    ):
        for index in range(products):
            entry = generator.product(index)
            wanted = [generator.words(2, 2) for _ in range(4)]
            request = {
                "instruction": f"find me {generator.words(2, 8)}",
                "instruction_attributes": wanted[:2],
            }
            stream.write((", " if index else "[") + json.dumps(entry))
            start = (", " if index else "{") + json.dumps(entry["asin"]) + ": "
            attributes.write(start + json.dumps({"attributes": wanted} | request))
            if index < INSTRUCTIONS:
                human.write(start + json.dumps([instruction(generator, entry, wanted)]))
        stream.write("]")
        attributes.write("}")
        human.write("}")


def instruction(
    generator: EntryGenerator, entry: dict[str, Any], attributes: list[str]
) -> dict[str, Any]:
    """Return an entry of ``items_human_ins.json``: a request of some title words and others."""
    title = entry["name"].lower().split()
    words = generator.rng.sample(title, min(len(title), 6))
    return {
        "instruction": f"i want {generator.words(4, 8)} {' '.join(words)}",
        "instruction_attributes": attributes[:2],
        "instruction_options": [],
    }


def start(file: Path, cache: Path) -> dict[str, float]:
    """Load and search a shop; return seconds, milliseconds and MiB."""
    os.environ["TEXTCRAFT_GYM_CACHE"] = str(cache)
    from textcraft_gym.envs.webshop.catalogue import Catalogue

    start_time, start_cpu = time.perf_counter(), time.process_time()
    catalogue = Catalogue.load(file)
    load_seconds, load_cpu = time.perf_counter() - start_time, time.process_time() - start_cpu
    first, *others = searches(catalogue)
    others.sort()
    peaks = (
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return {
        "load s": load_seconds,
        "of these on the processor": load_cpu,
        "first query ms": first,
        "median of others ms": statistics.median(others),
        "95th percentile ms": others[len(others) * 95 // 100],
        "slowest ms": others[-1],
        "peak MiB": sum(peaks) / 1024,
    }


def json_seconds(file: Path) -> float:
    """Return the processor time of json.load of as many bytes as a file has, from its start."""
    with file.open() as stream:
        text = stream.read(SAMPLE)
    if len(text) == SAMPLE:
        text = text[: text.rindex(', {"name"')] + "]"
    start_cpu = time.process_time()
    json.loads(text)
    return (time.process_time() - start_cpu) * file.stat().st_size / len(text)


def forget(folder: Path) -> None:
    """Have the system drop the files of a folder from memory, where it can."""
    if not hasattr(os, "posix_fadvise"):
        return
    for file in folder.iterdir():
        with file.open("rb") as stream:
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def searches(catalogue: Any) -> Iterator[float]:
    """Yield the milliseconds of a search for each of the first instructions."""
    for goal in catalogue.goals[:QUERIES]:
        words = goal.instruction
        start_time = time.perf_counter()
        catalogue.index.search(words)
        yield (time.perf_counter() - start_time) * 1000


def kib_per_env() -> float:
    """Return the memory of an environment in the middle of an episode, in KiB."""

    def played(seed: int) -> gym.Env[str, str]:
        env = gym.make("WebShopLite-v0", mode="text_rich", admissible=True)
        _, info = env.reset(seed=seed)
        for _ in range(2):  # to the last product of the first page
            info = env.step(info["admissible_commands"][-2:][0])[4]
        return env

    envs = [played(seed) for seed in range(ENVS)]
    tracemalloc.start()
    envs += [played(seed) for seed in range(ENVS)]
    allocated = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return allocated / (len(envs) - ENVS) / 1024


def play() -> None:
    """Print the speed of the generated shop."""
    for mode in ("text_rich", "text", "react"):
        env = gym.make("WebShopLite-v0", mode=mode, admissible=True)
        rates = [random_rate(env, STEPS) for _ in range(ROUNDS)]
        print(
            f"{mode}: {statistics.median(rates):,.0f} steps/s, {rates[0]:,.0f} in the first round"
        )
    resets = statistics.median(
        reset_rate(env, range(start, start + STEPS)) for start in range(0, ROUNDS * STEPS, STEPS)
    )
    print(f"{resets:,.0f} resets/s; {kib_per_env():.0f} KiB per environment")


def load(file: Path, cache: Path) -> None:
    """Print load and search times of a shop."""
    baseline = alone(json_seconds, file)
    print(
        f"{file.stat().st_size / 1e6:,.0f} MB of products; json.load of as many: {baseline:.1f} s",
        flush=True,
    )
    for label in ("first start", "later start", "later start, cold"):
        if label.endswith("cold"):
            forget(cache)
        figures = alone(start, file, cache)
        print(
            f"{label}: " + ", ".join(f"{name} {value:,.2f}" for name, value in figures.items()),
            flush=True,
        )
        if label == "first start":
            print(
                f"that is {figures['of these on the processor'] / baseline:.1f} times json.load",
                flush=True,
            )
    print(f"cache: {sum(file.stat().st_size for file in cache.iterdir()) / 1e6:,.0f} MB")


def alone(measure: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a process of its own, whose memory begins small."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(measure, *arguments).result()


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--products", type=int, default=0, help="also load and search a shop of this size"
    )
    parser.add_argument(
        "--files", type=Path, help="measure with items_shuffle.json of this folder instead"
    )
    options = parser.parse_args()
    if not options.files:
        play()
    if options.products or options.files:
        with tempfile.TemporaryDirectory() as folder:
            files = options.files or Path(folder)
            if not options.files:
                make_files(files, options.products)
            load(files / "items_shuffle.json", Path(folder) / "cache")


if __name__ == "__main__":
    main()
