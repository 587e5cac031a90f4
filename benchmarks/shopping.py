"""Speed of the generated shop, and load and search times of a shop of the original's size.

The speed is that of a random policy on admissible commands, which always searches for the instruction, through
``gym.make`` with its default wrappers; resets are counted, and the median round counts. Targets: 10,000 steps per
second in the mode ``text_rich``, and 20,000 resets.

``--products 100000`` (minutes, 0.5 GB of disk) generates that many products, in the original's file format and text
lengths, in a temporary folder. Each start is a separate process: the first reads the files, the second the cache.
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
from collections.abc import Iterator
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
STEPS = 30_000
ROUNDS = 5
ENVS = 200


class EntryGenerator:
    """Generates entries of the original's files, with word frequencies like those of a language."""

    def __init__(self) -> None:
        self.rng = random.Random(0)
        letters = "etaoinsrhldcumfpgwybvkxjqz"
        frequencies = [len(letters) - index for index in range(len(letters))]
        lengths = self.rng.choices(range(2, 11), k=WORDS)
        self.vocabulary = ["".join(self.rng.choices(letters, frequencies, k=length)) for length in lengths]
        self.weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(WORDS)))

    def words(self, fewest: int, most: int) -> str:
        """Return ``fewest`` to ``most`` random words."""
        count = self.rng.randint(fewest, most)
        return " ".join(self.rng.choices(self.vocabulary, cum_weights=self.weights, k=count))

    def product(self, index: int) -> dict[str, Any]:
        """Return an entry of ``items_shuffle.json``."""
        images = [
            f"https://m.media-amazon.com/images/I/{index:08}{image}.jpg" for image in range(self.rng.randint(1, 8))
        ]
        return {
            "name": self.words(10, 26).title(),
            "full_description": self.words(40, 160).capitalize() if self.rng.random() > 0.3 else "",
            "pricing": self.rng.choice([f"${self.rng.randint(5, 90)}.99", "$9.99 - $29.99", None]),
            "images": images,
            "product_category": " \u203a ".join(self.words(1, 2).title() for _ in range(4)),
            "average_rating": "",
            "small_description": [self.words(12, 40).capitalize() for _ in range(self.rng.randint(4, 6))],
            "customization_options": self.options(index) if self.rng.random() < 0.42 else "",
            "asin": f"B{index:09}",
            "category": self.rng.choice(["beauty", "electronics", "fashion", "garden", "grocery"]),
            "query": self.words(2, 2),
            "page": 1,
        }

    def options(self, index: int) -> dict[str, Any]:
        """Return options in the original's format."""
        values = [
            {
                "is_selected": False,
                "url": f"https://www.amazon.com/dp/B{index:09}/ref=twister_{value}?_encoding=UTF8&psc=1",
                "value": self.words(1, 2).title(),
                "price_string": "",
                "price": 0,
                "image": f"https://m.media-amazon.com/images/I/{index:08}{value}.jpg",
            }
            for value in range(self.rng.randint(2, 10))
        ]
        return {"Color": values, "Size": None}


def make_files(folder: Path, products: int) -> Path:
    """Write the three files of a data set; return the one of products."""
    generator = EntryGenerator()
    file = folder / "items_shuffle.json"
    with file.open("w") as stream:
        for index in range(products):
            stream.write("[" if index == 0 else ", ")
            json.dump(generator.product(index), stream)
        stream.write("]")
    attributes = {
        f"B{index:09}": {"attributes": [generator.words(2, 2) for _ in range(4)]} for index in range(products)
    }
    (folder / "items_ins_v2.json").write_text(json.dumps(attributes))
    instructions = {
        asin: [instruction(generator, entry["attributes"])]
        for asin, entry in itertools.islice(attributes.items(), INSTRUCTIONS)
    }
    (folder / "items_human_ins.json").write_text(json.dumps(instructions))
    return file


def instruction(generator: EntryGenerator, attributes: list[str]) -> dict[str, Any]:
    """Return an entry of ``items_human_ins.json``."""
    return {
        "instruction": f"i want {generator.words(6, 14)}",
        "instruction_attributes": attributes[:2],
        "instruction_options": [],
    }


def start(file: Path, cache: Path) -> dict[str, float]:
    """Load and search a shop; return seconds, milliseconds and MiB."""
    os.environ["TEXTCRAFT_GYM_CACHE"] = str(cache)
    from textcraft_gym.envs.webshop.catalogue import Catalogue

    start_time = time.perf_counter()
    catalogue = Catalogue.load(file)
    load_seconds = time.perf_counter() - start_time
    times = sorted(searches(catalogue))
    return {
        "load s": load_seconds,
        "median query ms": statistics.median(times),
        "95th percentile ms": times[len(times) * 95 // 100],
        "slowest ms": times[-1],
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


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
        print(f"{mode}: {statistics.median(rates):,.0f} steps/s, {rates[0]:,.0f} in the first round")
    resets = statistics.median(
        reset_rate(env, range(start, start + STEPS)) for start in range(0, ROUNDS * STEPS, STEPS)
    )
    print(f"{resets:,.0f} resets/s; {kib_per_env():.0f} KiB per environment")


def load(products: int) -> None:
    """Print load and search times of a shop of the given size."""
    with tempfile.TemporaryDirectory() as folder:
        file = make_files(Path(folder), products)
        print(f"{products} products, {file.stat().st_size / 1e6:.0f} MB")
        for label in ("first start", "later start"):
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                figures = process.submit(start, file, Path(folder) / "cache").result()
            print(f"{label}: " + ", ".join(f"{name} {value:.2f}" for name, value in figures.items()))
        cached = sum(file.stat().st_size for file in (Path(folder) / "cache").iterdir())
        print(f"cache: {cached / 1e6:.0f} MB")


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=0, help="also load and search a shop of this size")
    products = parser.parse_args().products
    play()
    if products:
        load(products)


if __name__ == "__main__":
    main()
