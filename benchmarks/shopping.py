"""How fast the made shop is played, and how a shop of the real one's size is loaded and searched.

Playing is a random policy on what is admissible, whose every search is for the instruction, through ``gym.make`` with
its default wrappers, resets counted in; the middle round counts. It should take 10,000 steps a second in the mode
``text_rich`` and 20,000 resets.

With ``--products 100000`` (some minutes, 0.5 GB of disk) that many are made, in the files and at the length of the
original's, in a folder that is removed after. Each start is a process of its own: the first reads the files, the second
what the first has kept.
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


class Maker:
    """Makes entries of the original's files, of words as frequent as those of a language."""

    def __init__(self) -> None:
        self.draw = random.Random(0)
        letters = "etaoinsrhldcumfpgwybvkxjqz"
        common = [len(letters) - place for place in range(len(letters))]
        lengths = self.draw.choices(range(2, 11), k=WORDS)
        self.vocabulary = ["".join(self.draw.choices(letters, common, k=length)) for length in lengths]
        self.weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(WORDS)))

    def words(self, fewest: int, most: int) -> str:
        """Return some words."""
        count = self.draw.randint(fewest, most)
        return " ".join(self.draw.choices(self.vocabulary, cum_weights=self.weights, k=count))

    def product(self, number: int) -> dict[str, Any]:
        """Return an entry of ``items_shuffle.json``."""
        images = [
            f"https://m.media-amazon.com/images/I/{number:08}{image}.jpg" for image in range(self.draw.randint(1, 8))
        ]
        return {
            "name": self.words(10, 26).title(),
            "full_description": self.words(40, 160).capitalize() if self.draw.random() > 0.3 else "",
            "pricing": self.draw.choice([f"${self.draw.randint(5, 90)}.99", "$9.99 - $29.99", None]),
            "images": images,
            "product_category": " \u203a ".join(self.words(1, 2).title() for _ in range(4)),
            "average_rating": "",
            "small_description": [self.words(12, 40).capitalize() for _ in range(self.draw.randint(4, 6))],
            "customization_options": self.options(number) if self.draw.random() < 0.42 else "",
            "asin": f"B{number:09}",
            "category": self.draw.choice(["beauty", "electronics", "fashion", "garden", "grocery"]),
            "query": self.words(2, 2),
            "page": 1,
        }

    def options(self, number: int) -> dict[str, Any]:
        """Return options with what the original keeps of each value."""
        values = [
            {
                "is_selected": False,
                "url": f"https://www.amazon.com/dp/B{number:09}/ref=twister_{value}?_encoding=UTF8&psc=1",
                "value": self.words(1, 2).title(),
                "price_string": "",
                "price": 0,
                "image": f"https://m.media-amazon.com/images/I/{number:08}{value}.jpg",
            }
            for value in range(self.draw.randint(2, 10))
        ]
        return {"Color": values, "Size": None}


def make_files(folder: Path, products: int) -> Path:
    """Write the three files of a data set; return that of products."""
    maker = Maker()
    file = folder / "items_shuffle.json"
    with file.open("w") as stream:
        for number in range(products):
            stream.write("[" if number == 0 else ", ")
            json.dump(maker.product(number), stream)
        stream.write("]")
    attributes = {f"B{number:09}": {"attributes": [maker.words(2, 2) for _ in range(4)]} for number in range(products)}
    (folder / "items_ins_v2.json").write_text(json.dumps(attributes))
    wanted = {
        asin: [wish(maker, known["attributes"])] for asin, known in itertools.islice(attributes.items(), INSTRUCTIONS)
    }
    (folder / "items_human_ins.json").write_text(json.dumps(wanted))
    return file


def wish(maker: Maker, attributes: list[str]) -> dict[str, Any]:
    """Return an entry of ``items_human_ins.json``."""
    return {
        "instruction": f"i want {maker.words(6, 14)}",
        "instruction_attributes": attributes[:2],
        "instruction_options": [],
    }


def start(file: Path, cache: Path) -> dict[str, float]:
    """Load and search a shop; return seconds, milliseconds and MiB."""
    os.environ["TEXTCRAFT_GYM_CACHE"] = str(cache)
    from textcraft_gym.envs.webshop.catalogue import Catalogue

    begun = time.perf_counter()
    catalogue = Catalogue.load(file)
    loaded = time.perf_counter() - begun
    times = sorted(searches(catalogue))
    return {
        "load s": loaded,
        "query ms": statistics.median(times),
        "of which 95 % below": times[len(times) * 95 // 100],
        "the slowest": times[-1],
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def searches(catalogue: Any) -> Iterator[float]:
    """Yield milliseconds of searches for what customers want, each made once."""
    for number in range(min(QUERIES, len(catalogue.goals))):
        words = catalogue.goals[number].instruction
        begun = time.perf_counter()
        catalogue.index.search(words)
        yield (time.perf_counter() - begun) * 1000


def kib_an_env() -> float:
    """Return the memory of one more environment in the middle of an episode."""

    def played(seed: int) -> gym.Env[str, str]:
        env = gym.make("WebShopLite-v0", mode="text_rich", admissible=True)
        _, info = env.reset(seed=seed)
        for _ in range(2):  # to the last product of the first page
            info = env.step(info["admissible_commands"][-2:][0])[4]
        return env

    envs = [played(seed) for seed in range(ENVS)]
    tracemalloc.start()
    envs += [played(seed) for seed in range(ENVS)]
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return taken / (len(envs) - ENVS) / 1024


def play() -> None:
    """Print how fast the made shop is played."""
    for mode in ("text_rich", "text", "react"):
        env = gym.make("WebShopLite-v0", mode=mode, admissible=True)
        rates = [random_rate(env, STEPS) for _ in range(ROUNDS)]
        print(f"{mode}: {statistics.median(rates):,.0f} steps/s, {rates[0]:,.0f} in the first round")
    resets = statistics.median(
        reset_rate(env, range(start, start + STEPS)) for start in range(0, ROUNDS * STEPS, STEPS)
    )
    print(f"{resets:,.0f} resets/s; {kib_an_env():.0f} KiB for one more environment")


def load(products: int) -> None:
    """Print how a shop of so many products is loaded and searched."""
    with tempfile.TemporaryDirectory() as folder:
        file = make_files(Path(folder), products)
        print(f"{products} products, {file.stat().st_size / 1e6:.0f} MB")
        for called in ("first start", "later start"):
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                numbers = process.submit(start, file, Path(folder) / "cache").result()
            print(f"{called}: " + ", ".join(f"{name} {number:.2f}" for name, number in numbers.items()))
        kept = sum(one.stat().st_size for one in (Path(folder) / "cache").iterdir())
        print(f"kept: {kept / 1e6:.0f} MB")


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=0, help="load and search a shop of so many, too")
    products = parser.parse_args().products
    play()
    if products:
        load(products)


if __name__ == "__main__":
    main()
