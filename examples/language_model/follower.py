"""The teacher of AutoPlan: it plays by a plan, names its current step, and what the plan lacks.

Of the lines of a whole plan it names those that it went by, so that what it misses in a plan was
needed in the episode.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from player import Planned
from recorded import Said

NO_FLAW, KEEP = "I know of none.", "Leave the plan as it is."
LACKS, ADD = "The plan does not say this:", "Add this step:"
FAILURE = ("No turns are left: you failed.", "The episode is over: you failed.")


class Follower:
    """Answers as the model of AutoPlan.

    Args:
        player: Plays the game.
        plan: The lines of the plan; none for an episode without one.

    Attributes:
        used: The lines that it went by.
    """

    def __init__(self, player: Planned, plan: Sequence[str] = ()) -> None:
        self.player, self.plan = player, list(plan)
        self.used: dict[str, None] = {}

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return the answer to a request."""
        if role == "thought":
            return Said(f" {self.thought(prompt)}")
        if role == "action":
            _, action, learnt = self.player.move(prompt, errs=True)
            return Said(f" {action}", learnt)
        if role == "formalizer":
            return Said(f" {prompt.splitlines()[-2].removeprefix('The player wrote: ')}")
        answers = {"summary": self.summary, "flaws": self.flaws, "revision": self.revision}
        return Said(f" {answers[role](prompt)}")

    def thought(self, prompt: str) -> str:
        """Return the next thought, with the number of its step in the plan if it has it."""
        thought, action, _ = self.player.move(prompt)
        line = self.player.line(prompt, action)
        self.used[line] = None
        if line not in self.plan:
            return thought
        return f"{self.plan.index(line) + 1}. {thought}"

    def summary(self, prompt: str) -> str:
        """Return what was done, in steps."""
        return numbered(self.player.done(prompt))

    def flaws(self, prompt: str) -> str:
        """Return what went wrong, and what the plan lacks."""
        flaws = [f"{LACKS} {line}" for line in self.missing()]
        flaws += [f"This step is of one episode alone: {line}" for line in self.strange()]
        if any(words in prompt for words in FAILURE):
            flaws.insert(0, self.player.flaw(prompt))
        return " ".join(flaws) or NO_FLAW

    def revision(self, prompt: str) -> str:
        """Return what to add to the plan, and what to leave out."""
        changes = [f"{ADD} {line}" for line in self.missing()]
        changes += [f"Leave this step out: {line}" for line in self.strange()]
        return " ".join(changes) or KEEP

    def missing(self) -> list[str]:
        """Return the lines that it went by and that the plan lacks."""
        return [line for line in self.player.lines if line in self.used and line not in self.plan]

    def strange(self) -> list[str]:
        """Return the lines of the plan that are none of a whole one."""
        return [line for line in self.plan if line not in self.player.lines]


def new_plan(request: str, lines: Iterable[str]) -> str:
    """Return the plan with all of its lines that a request for it has, and no other line."""
    return numbered(line for line in lines if line in request)


def numbered(lines: Iterable[str]) -> str:
    """Return lines with their numbers."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
