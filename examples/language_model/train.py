"""Trains an adapter of a small language model on dialogues of the worlds' experts.

    python examples/language_model/train.py --out runs/lm --tokens 3000000
    python examples/language_model/train.py --out runs/lm --worlds textcraft=0.7,alfworld=0.3
    python examples/language_model/train.py --out runs/lm --resume        # after an interruption
    python examples/language_model/train.py --out runs/lm --resume --tokens 4000000    # for longer

The same seed gives the same data, on a CPU and on a GPU. A checkpoint is written every few minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
import worlds
from adapter import write_adapter
from dialogue import Branch, Example
from network import Encoded, base_file, compile_layers, encode, load_model, load_tokenizer, loss_of, make_batch

from textcraft_gym.evaluation.runner import evaluate

P, R = ParamSpec("P"), TypeVar("R")
POOL = 48
"""Examples that are sorted by length, so that those of a step are of nearly one length."""


DEV_CALLS = 30
"""Completions that a goal of dev may take while the model is trained: most take half of them, and the others time."""


def _option(default: Any, about: str) -> Any:
    return field(default=default, metadata={"help": about})


@dataclass(frozen=True)
class Plan:
    """The options that determine a training run; the command line has them, too."""

    worlds: str = _option(
        "textcraft=0.68,alfworld=0.22,minetechtree=0.06,webshop=0.04", "worlds, and their shares of the examples"
    )
    seed: int = _option(0, "seed of the data and of the adapter's first weights")
    tokens: int = _option(3_000_000, "tokens to train on in all, padding not counted")
    examples: int = _option(1, "examples of a step; each has several dialogues")
    longest: int = _option(1_200, "most tokens of an example; a longer one is divided")
    most: int = _option(1_800, "most tokens of an example of one dialogue; a longer one is left out")
    rate: float = _option(1e-3, "highest learning rate, after the warm-up; it then falls to 0 along a straight line")
    warm_up: float = _option(0.02, "share of the tokens over which the learning rate rises")

    def __post_init__(self) -> None:
        worlds.read_shares(self.worlds)
        if not 0 < self.warm_up < 1:
            raise ValueError(f"expected a warm-up above 0 and below 1, got {self.warm_up}")

    def rate_at(self, tokens: int) -> float:
        """Return the learning rate after a number of tokens."""
        done = tokens / self.tokens
        return self.rate * min(1.0, done / self.warm_up, max(0.0, 1 - done) / (1 - self.warm_up))


class Training:
    """A run: the model, the optimiser and how far it has come.

    Args:
        plan: What determines the run.
        device: Where it computes.
    """

    def __init__(self, plan: Plan, device: torch.device) -> None:
        self.plan, self.device = plan, device
        torch.manual_seed(plan.seed)
        file = base_file()
        self.tokenizer = load_tokenizer(file)
        self.model = load_model(file, device)
        self.weights = {name: weight for name, weight in self.model.named_parameters() if weight.requires_grad}
        # The adapter is computed with in bfloat16, and kept and updated in float32.
        self.masters = {name: weight.detach().float() for name, weight in self.weights.items()}
        self.optimiser = torch.optim.AdamW(self.masters.values(), lr=plan.rate, weight_decay=0.0, fused=True)
        self.rate: Callable[[int], float] = plan.rate_at
        self.tokens = self.steps = self.examples = 0
        self.data_sha256 = ""

    def constant_rate(self, rate: float) -> None:
        """Learn at one rate from here on, with a new optimiser."""
        self.optimiser = torch.optim.AdamW(self.masters.values(), lr=rate, weight_decay=0.0, fused=True)
        self.rate = lambda tokens: rate

    def batches(self) -> Iterator[list[Encoded]]:
        """Return the batches that follow those that were learnt.

        Raises:
            ValueError: If the data is not what was learnt, as when a teacher was changed since.
        """
        stream = batches(self.plan, self.tokenizer)
        again, examples = "", 0
        while examples < self.examples:
            batch = next(stream)
            again, examples = digest(again, batch), examples + len(batch)
        if again != self.data_sha256:
            raise ValueError("the data differs from the checkpoint's: a teacher has changed since")
        return stream

    def step(self, examples: list[Encoded]) -> float:
        """Learn from one batch and return its loss."""
        loss = loss_of(self.model, make_batch(examples, self.device))
        loss.backward()  # type: ignore[no-untyped-call]
        for name, master in self.masters.items():
            weight = self.weights[name]
            master.grad = None if weight.grad is None else weight.grad.float()
            weight.grad = None
        torch.nn.utils.clip_grad_norm_(self.masters.values(), 1.0)
        self.tokens += sum(len(example.ids) for example in examples)
        self.steps += 1
        self.examples += len(examples)
        self.data_sha256 = digest(self.data_sha256, examples)
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate(self.tokens)
        self.optimiser.step()
        with torch.no_grad():
            for name, master in self.masters.items():
                self.weights[name].copy_(master)
        return float(loss.detach())

    def save(self, folder: Path) -> None:
        """Write the adapter as it is now, and then a checkpoint, so that a finished one has its adapter."""
        write_adapter(self.masters, folder / "adapter.part")
        (folder / "adapter.part").replace(folder / "adapter.gguf")
        state = {
            "plan": asdict(self.plan),
            "masters": self.masters,
            "optimiser": self.optimiser.state_dict(),
            "progress": (self.tokens, self.steps, self.examples, self.data_sha256),
        }
        torch.save(state, folder / "checkpoint.part")
        (folder / "checkpoint.part").replace(folder / "checkpoint.pt")

    def load(self, folder: Path) -> None:
        """Go on from a checkpoint."""
        state = torch.load(folder / "checkpoint.pt", map_location=self.device, weights_only=True)
        self.set_weights(state["masters"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.tokens, self.steps, self.examples, self.data_sha256 = state["progress"]

    def set_weights(self, masters: Mapping[str, torch.Tensor]) -> None:
        """Take over the weights of an adapter."""
        with torch.no_grad():
            for name, master in self.masters.items():
                master.copy_(masters[name])
                self.weights[name].copy_(master)


def digest(before: str, examples: list[Encoded]) -> str:
    """Return a SHA-256 of what was learnt before, as its own digest, and of a batch."""
    return hashlib.sha256(f"{before}{[tuple(example) for example in examples]}".encode()).hexdigest()


def batches(plan: Plan, tokenizer: Any) -> Iterator[list[Encoded]]:
    """Yield batches without end."""
    examples = worlds.examples(plan.worlds, plan.seed)
    stream = (part for example in examples for part in parts(tokenizer, example, plan.longest, plan.most))
    rng = random.Random(plan.seed)
    while True:
        pool = sorted(islice(stream, POOL), key=lambda encoded: len(encoded.ids))
        groups = [pool[at : at + plan.examples] for at in range(0, POOL, plan.examples)]
        rng.shuffle(groups)
        yield from groups


def parts(tokenizer: Any, example: Example, longest: int, most: int) -> Iterator[Encoded]:
    """Yield an example in tokens, in as many parts as it takes, each the situation and the next dialogues that fit.

    A dialogue that does not fit alone is a part of its own; only one of more than ``most`` tokens is left out. To leave
    out the last of each example instead would leave out most of what follows a long situation.
    """
    dialogues: tuple[Branch, ...] = ()
    part = None
    for dialogue in example.branches:
        longer = encode(tokenizer, example._replace(branches=(*dialogues, dialogue)))
        if part and len(longer.ids) > longest:
            yield part
            dialogues, longer = (), encode(tokenizer, example._replace(branches=(dialogue,)))
            part = None
        if len(longer.ids) <= most:
            dialogues, part = (*dialogues, dialogue), longer
    if part:
        yield part


def in_subprocess(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what a function returns in another process, where PyTorch's threads do not slow those of llama.cpp."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(function, *args, **kwargs).result()


def play_dev(adapter: Path, goals: int, threads: int) -> dict[str, int]:
    """Return how many goals of dev ReAct wins with an adapter, of the first ones in the order of the gates.

    An episode that broke, as for want of memory, is an error and not among the goals.
    """
    from gates import GATES, gate_spec, local_spec, write_goals  # played with an extra of its own, [local]

    with tempfile.TemporaryDirectory() as folder:
        drawn = write_goals(Path(folder) / "goals.jsonl")
        spec = replace(gate_spec(GATES["dev"], local_spec(adapter, threads), drawn, goals), max_calls=DEV_CALLS)
        records = evaluate(spec, Path(folder) / "run")
    played = [record for record in records if not record["error"]]
    won = sum(bool(record["won"]) for record in played)
    return {"dev_goals": len(played), "dev_won": won, "dev_errors": len(records) - len(played)}


def main() -> None:
    """Train, with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in fields(Plan):
        name, about = f"--{option.name.replace('_', '-')}", f"{option.metadata['help']} ({option.default})"
        parser.add_argument(name, type=type(option.default), default=argparse.SUPPRESS, help=about)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the run")
    parser.add_argument(
        "--resume", action="store_true", help="go on from the folder's checkpoint, with its plan or more --tokens"
    )
    parser.add_argument("--save-every", type=int, default=200_000, help="tokens between checkpoints")
    parser.add_argument(
        "--dev-goals", type=int, default=0, help="goals of dev to play at each checkpoint (extra [local])"
    )
    parser.add_argument("--compile", action="store_true", help="compile the layers, which takes a C++ compiler")
    parser.add_argument("--threads", type=int, default=0, help="threads on a CPU; 0 for all cores")
    options = parser.parse_args()
    out: Path = options.out
    if options.resume != (out / "checkpoint.pt").is_file():
        parser.error(f"{out} has {'no checkpoint to go on from' if options.resume else 'a checkpoint: --resume it'}")
    if options.threads:
        torch.set_num_threads(options.threads)
    given = {name: of for name, of in vars(options).items() if name in {option.name for option in fields(Plan)}}
    try:
        plan = _continued(out, given) if options.resume else Plan(**given)
        training = Training(plan, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
        if options.resume:
            training.load(out)
        if training.tokens >= plan.tokens:
            parser.exit(message=f"{out} is finished\n")
        following = training.batches()
    except ValueError as error:
        parser.error(str(error))
    if options.compile:
        compile_layers(training.model)
    out.mkdir(parents=True, exist_ok=True)
    if options.resume:
        _cut(out / "log.jsonl", training.tokens)
    with (out / "log.jsonl").open("a" if options.resume else "w", encoding="utf-8") as log:
        _run(training, following, out, log, options.save_every, options.dev_goals)


def _continued(out: Path, given: Mapping[str, Any]) -> Plan:
    """Return the plan of a folder's checkpoint, with other tokens if they are given."""
    begun: dict[str, Any] = torch.load(out / "checkpoint.pt", "cpu", weights_only=True)["plan"]
    if others := [name for name, of in given.items() if name != "tokens" and of != begun[name]]:
        raise ValueError(f"{out} goes on with its own plan: only the tokens can be changed, not {', '.join(others)}")
    return Plan(**{**begun, **given})


def _cut(log: Path, tokens: int) -> None:
    """Drop the rows of a log that were written after the last checkpoint, and will be written again."""
    rows = log.read_text(encoding="utf-8").splitlines(keepends=True) if log.is_file() else []
    log.write_text("".join(row for row in rows if json.loads(row).get("tokens", 0) <= tokens), encoding="utf-8")


def _run(
    training: Training, following: Iterator[list[Encoded]], out: Path, log: Any, save_every: int, dev_goals: int
) -> None:
    def write(row: dict[str, Any]) -> None:
        print(json.dumps(row), file=log, flush=True)
        print(*row.values(), flush=True)

    started, first, saved = time.perf_counter(), training.tokens, training.tokens
    recent: list[float] = []
    write({"plan": asdict(training.plan)})
    for batch in following:
        recent.append(training.step(batch))
        finished = training.tokens >= training.plan.tokens
        if finished or training.steps % 10 == 0:
            speed = (training.tokens - first) / (time.perf_counter() - started)
            loss = round(sum(recent) / len(recent), 4)
            row = {"tokens": training.tokens, "steps": training.steps, "loss": loss, "tokens_per_second": round(speed)}
            write(row)
            recent.clear()
        if finished or training.tokens - saved >= save_every:
            training.save(out)
            saved = training.tokens
            write({"tokens": training.tokens, "data_sha256": training.data_sha256})
            if dev_goals:
                played = in_subprocess(play_dev, out / "adapter.gguf", dev_goals, torch.get_num_threads())
                write({"tokens": training.tokens, **played})
        if finished:
            return


if __name__ == "__main__":
    main()
