"""How long the rest of a run takes, by the episodes that were played since its start.

Those that end first are the short ones, and easy groups of tasks may come before hard ones. A speed
so far, as progress bars have it, takes them for a fair sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

ENOUGH = 5
"""Number of episodes that must have ended."""
MAX_UNKNOWN = 0.2
"""Largest share of the rest that may be of groups whose first episodes have not ended."""


class Begun(NamedTuple):
    """An episode under way.

    Attributes:
        task: Its task.
        group: The task's group.
        start: When it began, in seconds.
        is_first: Whether it began before any other of its group had ended.
    """

    task: str
    group: str
    start: float
    is_first: bool


class TimeLeft:
    """Estimates the rest of a run.

    The mean duration of a group is the time of its episodes, with that of the ones under way so
    far, by the number that ended: the maximum likelihood of an exponential distribution with
    censored durations.

    Args:
        to_play: Number of episodes of each group.
        start: When the run began, in seconds.

    Attributes:
        under_way: The episodes that are being played, the oldest first.
    """

    def __init__(
        self,
        to_play: Mapping[str, int],
        start: float,
    ) -> None:
        self.under_way: list[Begun] = []
        self._start = start
        self._to_play = Counter(to_play)
        # Another thread may read while these grow: no key comes later.
        self._ended = Counter(dict.fromkeys(to_play, 0))
        self._seconds = dict.fromkeys(to_play, 0.0)

    def begin(
        self,
        task: str,
        group: str,
        now: float,
    ) -> None:
        """Take note of an episode that begins."""
        self.under_way.append(Begun(task, group, now, is_first=not self._ended[group]))

    def end(self, task: str, now: float) -> None:
        """Take note of an episode that ends."""
        for index, begun in enumerate(self.under_way):
            if begun.task == task:
                del self.under_way[index]
                self._ended[begun.group] += 1
                self._seconds[begun.group] += now - begun.start
                return

    def seconds(self, now: float) -> float | None:
        """Return how long the rest takes; None if the episodes so far do not tell."""
        if self._ended.total() < ENOUGH:
            return None
        seconds = dict(self._seconds)
        known = {group for group, ended in self._ended.items() if ended}
        for begun in self.under_way:
            seconds[begun.group] += now - begun.start
            if begun.is_first:
                known.discard(begun.group)
        means = {group: seconds[group] / self._ended[group] for group in known}

        rest = self._to_play - self._ended
        unknown = sum(count for group, count in rest.items() if group not in means)
        if unknown > MAX_UNKNOWN * rest.total():
            return None
        played = sum(seconds.values())
        mean = played / self._ended.total()
        work = sum(count * means.get(group, mean) for group, count in rest.items())
        at_once = played / (now - self._start)
        # An episode is no shorter for the workers that are idle beside it.
        longest = max((means.get(group, mean) for group in rest), default=0.0)
        return max(work / at_once, longest) if at_once else 0.0
