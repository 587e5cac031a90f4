"""When a run stops before its last episode: at its budget, or if no episode can succeed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textcraft_gym.agents.contract.model import ModelUnavailable
from textcraft_gym.episodes.budget import Budget
from textcraft_gym.episodes.episode import Episode, Job
from textcraft_gym.errors import RunStopped

UNAVAILABLE_IN_A_ROW = 3
"""Number of episodes in a row without an answer from the model, after which a run stops."""
FAILED_FROM_THE_START = 10
"""Number of failed episodes before any is played, after which a run stops."""


class StopRule:
    """Gives out the jobs of a run while it may go on, which the ended episodes show.

    Args:
        budget: The run's budget, from which the episodes are paid.
        episodes: Number of episodes to play.

    Attributes:
        trouble: Why no further episode can succeed; empty as long as one may.
        left: Number of episodes that have not been played to their end.
    """

    def __init__(self, budget: Budget, episodes: int) -> None:
        self.budget = budget
        self.trouble = ""
        self.left = episodes
        self._patience = min(UNAVAILABLE_IN_A_ROW, episodes)  # a short run stops, too
        self._unavailable = 0
        self._failed = 0
        self._played = False

    def jobs(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Yield jobs until the run must stop."""
        for job in jobs:
            if self.trouble or self.budget.reached:
                return
            yield job

    def ended(self, episode: Episode) -> None:
        """Take note of an episode that ended."""
        self.budget.spend(episode.cost, sum(episode.tokens.values()))
        # An episode that the stop broke is played at the next start.
        self.left -= not was_stopped(episode)
        if not episode.error:
            self._unavailable, self._played = 0, True
        elif not was_stopped(episode):
            self._failed += 1
            self._unavailable += _is_of(episode.error, ModelUnavailable)
            self.trouble = self.trouble or self._trouble_after(episode.error)

    def stop(self, so_far: str) -> RunStopped | None:
        """Return why the run stopped early, and how to go on; None for one that did not.

        Args:
            so_far: What the run has, in words.
        """
        if self.trouble:
            reason = f"stopped: {self.trouble.removesuffix('.')}"  # an error may be a sentence
            return RunStopped(
                f"{reason}. {so_far}; fix this, and run it again to go on.",
                at_limit=False,
            )
        if self.left:
            reason = f"stopped at its limit: {self.budget.state}"
            how = "run it again with a higher limit" if self.budget.is_spent else "run it again"
            return RunStopped(f"{reason}. {so_far}; {how} to go on.", at_limit=True)
        return None

    def _trouble_after(self, error: str) -> str:
        if self._unavailable >= self._patience:
            return f"the model cannot be asked ({error})"
        if not self._played and self._failed >= FAILED_FROM_THE_START:
            return f"the first {self._failed} episodes all failed, the last with {error}"
        return ""


def was_stopped(episode: Episode) -> bool:
    """Return whether an episode was under way when its run stopped."""
    return _is_of(episode.error or "", RunStopped)


def _is_of(error: str, kind: type[Exception]) -> bool:
    """Return whether a recorded error is of a class, whose name begins it.

    From other processes only the text comes.
    """
    return error.startswith(f"{kind.__name__}: ")
