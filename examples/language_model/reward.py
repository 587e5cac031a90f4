"""Goes on from an adapter with rewards alone: expert iteration over groups of sampled episodes.

    python examples/language_model/reward.py --out runs/reward
    python examples/language_model/reward.py --out runs/reward --rounds 2    # goes on, or anew

The goals are deeper than any task that the model saw an expert do. In each round it plays some of
them, several episodes of each with the same task and seed. Of the goals that it both won and lost
it learns the episodes that it won, and then plays the next round: no expert is asked. Before the
first round and after each it plays other goals, greedily. What was played is kept in the file
played.sqlite, so that the same command goes on with an interrupted run, and with more rounds with a
finished one.

Where PyTorch finds a GPU, the model plays and learns there, in minutes. On a CPU with instructions
for bfloat16 PyTorch plays as well, and on any other llama.cpp.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import torch
from adapter import write_adapter
from base import Base, base_file
from dialogue import Branch, Example, Writer, after_situation
from encoding import load_tokenizer, parts
from gates import BATCHED_WORKERS, WORKERS, local_spec
from network import Network, fastest_dtype
from packed import Part
from prepare import Plan
from train import Training

from textcraft_gym.agents.adapt.react import make_executor
from textcraft_gym.agents.contract.agent import Node, Play, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.model import Model
from textcraft_gym.agents.defaults import settings_for
from textcraft_gym.agents.games.textcraft.game_profile import PROFILE
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.agents.models.weights import bundled_adapter, find_files
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.reports.paired import paired_interval
from textcraft_gym.reports.success import wilson_interval
from textcraft_gym.runs.rollouts import rollouts
from textcraft_gym.runs.run_spec import RunSpec

P, R = ParamSpec("P"), TypeVar("R")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCHED = fastest_dtype(DEVICE) == torch.bfloat16
"""Whether PyTorch plays."""
SLOTS = 320 if DEVICE.type == "cuda" else 48
"""Number of requests at once, where it does."""

BOOK = "made:depth=3,items=1200,seed=9002,names=borrowed,branching=1"
"""A book with no training seed. One ingredient a recipe, so that deep is not long as well."""
DEPTH = 3
"""Depth of the goals of rounds and test: deeper than any task of the demonstrations."""
TEST_GOALS = 80
TURNS = 30
"""Turns of an episode, thoughts included: the longest that is won takes 23."""
TEMPERATURE = 0.8
RATE = 4e-4
EPOCHS, PER_STEP = 3, 2
LONGEST, MOST = Plan.longest, Plan.most
REACT = Prompts("short").of("react", PROFILE.name)


class SampledReAct:
    """ReAct whose lines are sampled.

    Args:
        profile: The game to play.
        prompts: Source of the prompt ``react``.
        sample: Number of the sample; each gives other episodes.
        temperature: 0 for the likeliest lines.
    """

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        sample: int = 0,
        temperature: float = TEMPERATURE,
    ) -> None:
        self.profile, self.sample, self.temperature = profile, sample, temperature
        settings = replace(settings_for("react", profile.name), turns=TURNS)
        self.executor = make_executor(prompts or Prompts(), profile, settings)

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        return (
            yield from self.executor.attempt(
                play, task, situation, temperature=self.temperature, sample=self.sample
            )
        )


class Sampling(NamedTuple):
    """Episodes to play with one adapter.

    Attributes:
        goals: The goals.
        samples: Number of episodes of each goal, of the same task and seed.
        temperature: 0 for the likeliest lines.
    """

    goals: Sequence[str]
    samples: int = 1
    temperature: float = 0.0


Groups: TypeAlias = dict[str, list[Episode]]
"""The episodes of each goal."""


def play(
    model: str | Model, samplings: Sequence[Sampling], cassette: Path | None = None
) -> list[Groups]:
    """Return the episodes of each goal of each sampling."""
    base = RunSpec(
        "TextCraft-v0",
        split="all",
        agent=f"{Path(__file__).stem}:SampledReAct",
        model=make_model(model, cassette=cassette) if isinstance(model, str) else model,
        prompts="short",
        env_args={"recipes": BOOK},
        # A few slots are left for single questions.
        workers=min(BATCHED_WORKERS, SLOTS - 8) if BATCHED else WORKERS,
    )

    def played(sampling: Sampling, sample: int) -> list[Episode]:
        spec = replace(base, agent_args={"sample": sample, "temperature": sampling.temperature})
        return [*rollouts(spec, [(goal, 0) for goal in sampling.goals])]

    # A GPU answers all of them together; on a CPU more than one set of workers would only wait.
    threads = sum(sampling.samples for sampling in samplings) if DEVICE.type == "cuda" else 1
    with ThreadPoolExecutor(threads) as pool:
        running = [
            [pool.submit(played, sampling, sample) for sample in range(sampling.samples)]
            for sampling in samplings
        ]
        return [
            by_goal(chain.from_iterable(samples.result() for samples in sampled))
            for sampled in running
        ]


def by_goal(episodes: Iterable[Episode]) -> Groups:
    """Return the episodes of each goal.

    Raises:
        RuntimeError: If one broke.
    """
    groups: Groups = {}
    for episode in episodes:
        if episode.error:
            raise RuntimeError(f"{episode.task}: {episode.error}")
        groups.setdefault(str(episode.task), []).append(episode)
    return groups


def model_spec(adapter: Path) -> str:
    """Return the model with an adapter: by PyTorch, or by llama.cpp where that is faster."""
    if not BATCHED:
        return local_spec(adapter, torch.get_num_threads())
    # With the digest, so that no completion of an earlier round's adapter is played again.
    digest = find_files(adapter=str(adapter)).digest
    options = f"adapter={json.dumps(str(adapter))},digest={digest},slots={SLOTS}"
    return f"batched:BatchedModel,{options}"


def won_goals(groups: Mapping[str, Iterable[Episode]]) -> set[str]:
    """Return the goals of which an episode was won."""
    return {goal for goal, group in groups.items() if any(episode.won for episode in group)}


def share(won: int, played: int) -> dict[str, object]:
    """Return a share of episodes that were won, with its 95% Wilson interval."""
    return {
        "won": won,
        "of": played,
        "interval": _rounded(wilson_interval(won, played)),
    }


def _rounded(interval: Iterable[float]) -> list[float]:
    return [round(bound, 3) for bound in interval]


def learnable(groups: Iterable[list[Episode]]) -> list[Example]:
    """Return the won episodes of groups with lost ones: the others have nothing to compare."""
    examples = []
    for group in groups:
        won = [episode for episode in group if episode.won]
        if 0 < len(won) < len(group):
            examples.append(as_example(won))
    return examples


def as_example(group: Sequence[Episode]) -> Example:
    """Return episodes of one task and seed as dialogues to learn, turn by turn, without doubles."""
    situation, task = PROFILE.read(group[0].transcript[0][1])
    branches = dict.fromkeys(_dialogue(episode, situation, task) for episode in group)
    return Example(situation, tuple(branches))


def _dialogue(episode: Episode, situation: str, task: str) -> Branch:
    writer = Writer(after_situation(REACT, situation, task=task, information=""))
    attempt = next(part for part in episode.trace.parts if isinstance(part, Node))
    for part in attempt.parts:
        if isinstance(part, int):
            action, answer = episode.transcript[part]
            writer.turn(str(action), answer)
        elif isinstance(part, str):
            writer.turn(part, "OK.")
    return Branch("won", tuple(writer.spans))


def learn(training: Training, encoded: list[Part], rng: random.Random) -> float:
    """Learn each goal's episodes some times, a few goals a step, and return the mean loss."""
    losses = []
    for _ in range(EPOCHS):
        rng.shuffle(encoded)
        for at in range(0, len(encoded), PER_STEP):
            loss = training.step(encoded[at : at + PER_STEP], RATE)
            losses.append(loss)
    return sum(losses) / len(losses)


def in_subprocess(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return a function's result from a process of its own.

    There PyTorch's threads do not slow llama.cpp's, and its end frees the memory of a GPU.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(function, *args, **kwargs).result()


def run(
    training: Training,
    tokenizer: Any,
    test: Sequence[str],
    rounds: Sequence[Sequence[str]],
    samples: int,
    rng: random.Random,
    out: Path,
) -> Iterator[dict[str, object]]:
    """Test, then play, learn and test in rounds; return a row for each test and round."""
    adapter = out / "adapter.gguf"

    def play_now(*samplings: Sampling) -> list[Groups]:
        write_adapter(training.factors, adapter)
        model, cassette = model_spec(adapter), out / "played.sqlite"
        return in_subprocess(play, model, samplings, cassette)

    # A test is played together with the next round, since both are of one adapter.
    sampled = [Sampling(goals, samples, TEMPERATURE) for goals in rounds]
    tested, *played = play_now(Sampling(test), *sampled[:1])
    before = won_goals(tested)
    yield {"test": 0} | share(len(before), len(test))
    for number in range(1, len(rounds) + 1):
        (groups,) = played
        examples = learnable(groups.values())
        encoded: list[Part] = []
        for example in examples:
            encoded += parts(tokenizer, example, LONGEST, MOST)
        loss = learn(training, encoded, rng) if encoded else None
        episodes = [*chain.from_iterable(groups.values())]
        won = share(sum(bool(episode.won) for episode in episodes), len(episodes))
        yield {"round": number} | won | {"goals_learnt": len(examples), "loss": loss}
        tested, *played = play_now(Sampling(test), *sampled[number : number + 1])
        yield {"test": number} | compared(before, won_goals(tested), len(test))


def compared(before: set[str], after: set[str], played: int) -> dict[str, object]:
    """Return the share of goals won, and its paired difference to before with a 95% interval."""
    gained, lost = len(after - before), len(before - after)
    changes = [Fraction(1)] * gained + [Fraction(-1)] * lost
    changes += [Fraction(0)] * (played - len(changes))
    difference = _rounded(paired_interval(changes))
    return share(len(after), played) | {"gained": gained, "lost": lost, "difference": difference}


def draw_goals(
    rng: random.Random, test: int, rounds: int, each: int
) -> tuple[list[str], list[list[str]]]:
    """Return goals of the test, and others for each round.

    Raises:
        ValueError: If the book has too few.
    """
    goals = sorted(item for item, depth in RecipeBook.load(BOOK).depths.items() if depth == DEPTH)
    rng.shuffle(goals)
    if len(goals) < test + rounds * each:
        raise ValueError(f"the book has {len(goals)} goals: too few for these rounds and the test")
    return goals[:test], [goals[at : at + each] for at in range(test, test + rounds * each, each)]


def main() -> None:
    """Play and learn in rounds, and print what was won before and after."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--start",
        type=Path,
        help="the adapter to go on from, a GGUF file; by default that of the package",
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder of this run")
    parser.add_argument(
        "--rounds",
        type=int,
        default=1,
        help="of play and learning, each with a test",
    )
    parser.add_argument("--goals", type=int, default=40, help="goals of a round")
    parser.add_argument("--samples", type=int, default=4, help="episodes of each goal")
    parser.add_argument("--test-goals", type=int, default=TEST_GOALS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = options.start or bundled_adapter()
    if start is None:
        parser.error("the package has no adapter: name one with --start")
    rng = random.Random(options.seed)
    try:
        test, rounds = draw_goals(rng, options.test_goals, options.rounds, options.goals)
    except ValueError as error:
        parser.error(str(error))
    torch.backends.cuda.enable_cudnn_sdp(False)  # it would prepare each new shape anew
    try:
        training = Training(Network(Base(base_file()), DEVICE), options.seed, start)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    plan: dict[str, object] = {"book": BOOK, "start_sha256": sha256(start.read_bytes()).hexdigest()}
    plan |= {name: value for name, value in vars(options).items() if isinstance(value, int)}
    tokenizer = load_tokenizer(base_file())
    started = time.monotonic()
    rows = run(training, tokenizer, test, rounds, options.samples, rng, options.out)
    with (options.out / "log.jsonl").open("w", encoding="utf-8") as log:
        try:
            for row in chain([{"plan": plan}], rows):
                row["seconds"] = round(time.monotonic() - started)
                print(json.dumps(row), flush=True)
                print(json.dumps(row), file=log, flush=True)
        except MemoryError as error:
            parser.error(str(error))


if __name__ == "__main__":
    main()
