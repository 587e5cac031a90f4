"""The faults of the simulated model: false claims, slips and misjudgements, each with a probability.

``false_claim``
    Where it would give up, it claims success instead: ``Task completed!`` in a turn, ``done`` for a next goal or a
    choice of commands, ``Yes`` for a product's page, the first product for a page of results.
``slip``
    A command that it writes is wrong in one place: another amount, or another name of the same sort that the prompt
    has, such as an item, a receptacle, a product or a value of an option. Each line of a plan or a program is a command
    of its own, of a function each call of a method; thoughts have no slips.
``misjudge``
    A judgement is wrong. After an action that changed something, it takes an unfinished task for finished; a verdict on
    a product is the opposite of the right one, the score of an attempt is turned around, a choice of commands is
    another one, and a reflection or the diagnosis of a failed goal blames something else. Where no explanation is asked
    for, the diagnosis is made with the new plan.

Each draw is a hash of the seed, the prompt, the kind of fault and, above a temperature of 0, the request's sample: the
same in every process and order, so that equal prompts of one run have equal faults at temperature 0.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from textcraft_gym.agents.adapt.react import COMPLETED, FAILED, THOUGHT
from textcraft_gym.agents.simulated.cues import Cue

Thing = TypeVar("Thing")
Fault: TypeAlias = Literal["false_claim", "slip", "misjudge"]
Names: TypeAlias = Sequence[Sequence[str]]
"""Names of things in groups of one sort, such as places, or the values of one option."""

CLAIMS = {Cue.TURN: "Task completed!", Cue.NEXT_GOAL: "done", Cue.CHOICE: "done", Cue.DETAIL_MATCH: "Yes, that is it."}
"""The claim of success in each kind of answer that can claim it."""

_PLAN_LINE = re.compile(r"^(Step \d+: |#\d+ |\d+\. |(?= *(?:assert |\w+\()))(.+?)( # step \d+)?$", re.MULTILINE)
_CALL = re.compile(r"^( +(?:\w+ = )?)(agent\..+)()$", re.MULTILINE)
_AMOUNT = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")


class Faults(NamedTuple):
    """The probability of each fault, from 0 to 1."""

    false_claim: float = 0.0
    slip: float = 0.0
    misjudge: float = 0.0


@dataclass(frozen=True)
class Draws:
    """The random draws of one request.

    Attributes:
        faults: The probabilities.
        seed: Seed of the run.
        request: The prompt, and the sample where the temperature is above 0.
    """

    faults: Faults
    seed: int
    request: str

    def errs(self, fault: Fault, about: str = "") -> bool:
        """Return whether a fault occurs; ``about`` tells occasions within one answer apart."""
        probability: float = getattr(self.faults, fault)
        return probability > 0 and self._uniform(f"{fault}/{about}") < probability

    def pick(self, choices: Sequence[Thing], about: str = "") -> Thing:
        """Return one of some choices."""
        return choices[int(len(choices) * self._uniform(f"pick/{about}"))]

    def _uniform(self, about: str) -> float:
        text = f"{self.seed}/{about}/{self.request}"
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
        return int.from_bytes(digest[:6], "big") / 2**48


def with_claim(answer: str, cue: Cue, *, progressed: bool, draws: Draws) -> str:
    """Return an answer, or a false claim of success in its place.

    Args:
        answer: The answer.
        cue: Its kind.
        progressed: Whether the last action changed something, after which it judges whether the task is done.
        draws: The draws of the request.
    """
    if cue not in CLAIMS:
        return answer
    if answer.startswith("task failed") or (cue is Cue.CHOICE and answer == "0"):
        return CLAIMS[cue] if draws.errs("false_claim") else answer
    judges = progressed and cue in (Cue.TURN, Cue.NEXT_GOAL)
    return CLAIMS[cue] if judges and draws.errs("misjudge", "done") else answer


def with_slips(answer: str, cue: Cue, read_names: Callable[[], Names], draws: Draws) -> str:
    """Return an answer with mistakes in some of its commands.

    Args:
        answer: The answer.
        cue: Its kind.
        read_names: Returns the names that the prompt has.
        draws: The draws of the request.
    """
    if cue is Cue.TURN:
        is_command = not answer.startswith(THOUGHT) and COMPLETED not in answer.lower() and FAILED not in answer
        return _mistaken(answer, read_names(), draws, "") if is_command and draws.errs("slip") else answer
    if cue in (Cue.CHOICE, Cue.EXPLANATION, Cue.JUDGEMENT, Cue.SIMPLE_MATCH, Cue.DETAIL_MATCH):
        return answer

    def line(found: re.Match[str]) -> str:
        label, command, comment = found.groups(default="")
        place = str(found.start())
        if draws.errs("slip", place):
            command = _mistaken(command, read_names(), draws, place)
        return f"{label}{command}{comment}"

    return (_CALL if cue is Cue.FUNCTION else _PLAN_LINE).sub(line, answer)


def _mistaken(command: str, names: Names, draws: Draws, about: str) -> str:
    """Return a command with another amount or another name in one place; unchanged if it has neither."""
    places = list(_places(command, names))
    if not places:
        return command
    (start, end), others = draws.pick(places, f"place/{about}")
    return f"{command[:start]}{draws.pick(others, f'other/{about}')}{command[end:]}"


def _places(command: str, names: Names) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """Yield the places of a command at which it can be mistaken, each with the texts that can stand there instead."""
    sort = {name: group for group in names for name in group}
    longest_first = sorted(filter(None, sort), key=len, reverse=True)
    taken: list[tuple[int, int]] = []
    if longest_first:
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
        for found in pattern.finditer(command):
            taken.append(found.span())
            if others := [name for name in dict.fromkeys(sort[found[0]]) if name != found[0]]:
                yield found.span(), others
    for found in _AMOUNT.finditer(command):
        if not any(start <= found.start() < end for start, end in taken):
            amount = int(found[0])
            yield found.span(), [str(other) for other in (amount - 1, amount + 1, 2 * amount) if other > 0]
