"""A live view of a model that plays: its thoughts, plans and actions in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from rich.padding import Padding
from rich.status import Status
from rich.text import Text

from textcraft_gym.agents.contract.agent import Ask, Node, Request
from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.redaction import redact
from textcraft_gym.cli.console import Console
from textcraft_gym.episodes.episode import Episode, run_episode
from textcraft_gym.printable import printable_lines
from textcraft_gym.reports.metrics import Claim, claim_of
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import is_won

INDENT = 2
NO_TERMINAL_WIDTH = 100_000
"""Columns where there is no terminal: no line breaks, as a note has at most 10,000 characters."""
CLAIMS: dict[Claim, str] = {
    "success": "The agent claims success",
    "failure": "The agent claims no success",
    "game": "The game ended the episode",
    "nothing": "The agent makes no claim",
}


def watch(spec: RunSpec, task: str | None = None) -> Episode:
    """Play one episode of a run, print it as it goes on, and return its record.

    Args:
        spec: The run; its seed is that of the episode.
        task: A task id; otherwise the seed draws one.

    Raises:
        ModelError: If the model cannot be made, or does not answer. What else the agent or the
            environment raises is passed on, too.
    """
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = NO_TERMINAL_WIDTH
    run = Run(spec)
    spec = run.spec
    named = spec.described()
    with console.status("loading the model") as status:
        agent, models = run.agent, spec.make_models()
        view = View(console, status, run.profile)
        player = named["agent"]
        if models:
            player += f" with {named['model']}"
        view.say(0, f"{player}, seed {spec.seed}", "dim")
        with closing(run):
            episode = run_episode(
                run.env,
                agent,
                task=task,
                seed=spec.seed,
                max_steps=spec.max_steps,
                model=models,
                max_calls=spec.max_calls,
                won_at=spec.won_at,
                temperature=spec.temperature,
                on_request=view.show,
            )
        view.end(episode)
    return episode


@dataclass
class Branch:
    """An open node of the trace, and how many of its parts are shown."""

    node: Node
    shown: int = 0

    @property
    def has_more(self) -> bool:
        """Whether there are parts that are not shown yet."""
        return self.shown < len(self.node.parts)


class View:
    """Prints the trace of an episode while it grows, indented by the levels of its tree.

    Args:
        console: Where it is printed.
        status: The line below, which says who is asked.
        profile: Tells the task in the first observation, and the answers to actions that changed
            nothing.
    """

    def __init__(
        self,
        console: Console,
        status: Status,
        profile: GameProfile,
    ) -> None:
        self.console = console
        self.status = status
        self.profile = profile
        self._branches: list[Branch] = []

    def show(self, request: Request, episode: Episode) -> None:
        """Print what is new in the trace, and say who is asked next."""
        self._grow(episode)
        self.status.update(f"asking the {request.role}" if isinstance(request, Ask) else "")

    def end(self, episode: Episode) -> None:
        """Print the rest of the trace, the result and what it took."""
        self._grow(episode, over=True)
        outcome = {True: "Won", False: "Lost", None: "Over"}[is_won(episode)]
        style = "bold green" if outcome == "Won" else "bold"
        self.say(0, f"{outcome} after {', '.join(_efforts(episode))}.", style)
        claim = f"{CLAIMS[claim_of(vars(episode))]}."
        played = f"Task {episode.task}, seed {episode.seed}"
        self.say(0, f"{claim} {played}, stop reason {episode.stop_reason}.")

    def say(
        self,
        level: int,
        text: str,
        style: str = "",
    ) -> None:
        """Print lines at a level of the tree."""
        encoding = self.console.encoding
        # A model may write anything, such as control characters that a terminal would obey.
        for line in printable_lines(redact(text)).split("\n"):
            shown = line.encode(encoding, "backslashreplace").decode(encoding)
            if shown:
                self.console.print(Padding.indent(Text(shown, style), INDENT * level))
            else:
                self.console.print("")

    def _grow(self, episode: Episode, *, over: bool = False) -> None:
        """Print what is new.

        A node is closed once its parent has a part after it; in the end, all are.
        """
        self._branches = self._branches or [Branch(episode.trace)]
        while True:
            *above, branch = self._branches
            if branch.has_more:
                branch.shown += 1
                self._show_part(branch.node, branch.node.parts[branch.shown - 1], episode)
            elif above and (over or above[-1].has_more):
                self._close()
            else:
                return

    def _show_part(
        self,
        node: Node,
        part: Node | int | str,
        episode: Episode,
    ) -> None:
        """Print one part of a node: a node that is opened, a note, or a turn of the game."""
        level = len(self._branches) - 1
        if isinstance(part, Node):
            # An attempt at a task and its plan are nodes of the same task, named only once.
            title = part.role if part.task == node.task else f"{part.role}: {part.task}"
            self.say(level, title, "bold cyan")
            self._branches.append(Branch(part))
        elif isinstance(part, str):
            self.say(level, part, "cyan" if node.role == "planner" else "dim italic")
        else:
            self._show_turn(part, level, episode)

    def _show_turn(
        self,
        index: int,
        level: int,
        episode: Episode,
    ) -> None:
        """Print an action with its observation, a reset, or a return to an earlier moment."""
        action, observation = episode.transcript[index]
        origin = dict(episode.restores).get(index)
        if origin is not None:
            self.say(level, f"Back to {_entry(episode, origin)}", "bold magenta")
        elif action is None:
            self._begin(observation, again=index > 0)
        else:
            is_no_op = observation.startswith(self.profile.no_op)
            self.say(level, f"> {action}", "bold")
            self.say(level, observation, "red" if is_no_op else "green")

    def _close(self) -> None:
        """Leave the innermost node and print its outcome, except for a plan that was made."""
        node = self._branches.pop().node
        is_made_plan = node.outcome and node.role == "planner"
        if node.outcome is None or is_made_plan:
            return
        if node.outcome:
            self.say(len(self._branches), "-> success", "green")
        else:
            self.say(len(self._branches), "-> failure", "red")

    def _begin(self, observation: str, *, again: bool) -> None:
        """Print the first observation; after a reset it is the same, and left out."""
        if again:
            self.say(0, "The game restarts.", "bold magenta")
            return
        _, task = self.profile.read(observation)
        for line in observation.split("\n"):
            self.say(0, line, "bold magenta" if task in line else "")
        self.say(0, "")


def _entry(episode: Episode, index: int) -> str:
    """Return an entry of a transcript in words."""
    action, _ = episode.transcript[index]
    if action is None:
        return f"the start of trial {_trial(episode, index)}."
    return f"entry {index}: > {action}"


def _trial(episode: Episode, index: int) -> int:
    """Return the number of the trial that an entry is in: of resets up to it, without returns."""
    returns = dict(episode.restores)
    trial = 0
    for position, (action, _) in enumerate(episode.transcript[: index + 1]):
        if action is None and position not in returns:
            trial += 1
    return trial


def _efforts(episode: Episode) -> Iterator[str]:
    """Yield what an episode took, in words."""
    yield "1 action" if episode.steps == 1 else f"{episode.steps} actions"
    if episode.calls:
        by_role = ", ".join(f"{role} {count}" for role, count in episode.calls.items())
        yield f"{sum(episode.calls.values())} calls ({by_role})"
    if episode.tokens:
        read = episode.tokens.get("prompt_tokens", 0)
        written = episode.tokens.get("completion_tokens", 0)
        yield f"{read:,} tokens read and {written:,} written"
    if episode.cost:
        yield f"a cost of {episode.cost:.4f}"
    yield f"{episode.seconds:.1f} seconds"
