"""How a run is doing: success, rates, cost, time, and the tasks under way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from textcraft_gym.agents.contract.agent import Ask, Request
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.reports.metrics import TaskOutcomes, outcome_of
from textcraft_gym.reports.records import Key, Record
from textcraft_gym.reports.success import success
from textcraft_gym.reports.tables import interval, money, percent
from textcraft_gym.reports.time_left import TimeLeft

LONG_CALL = 10.0
"""Seconds from which a call of a model is long, so that those under way are told."""


class Tally:
    """Counts the episodes of a run as they end, and what those under way have taken so far.

    Args:
        total: Number of episodes of the run.
        done: The records of earlier starts, which count in no rate.
        to_play: Number of episodes of each group that are still to be played.
        max_cost: The run's limit of money; None for none.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        total: int,
        done: Iterable[Record] = (),
        to_play: Mapping[str, int] | None = None,
        max_cost: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self.max_cost = max_cost
        self.clock = clock
        self.ended = self.won = self.unknown = self.errors = self.calls = self.tokens = 0
        self.cost = 0.0
        self._tasks = TaskOutcomes()
        for record in done:
            self._count(record)
        self._before = (self.calls, self.tokens)
        self._started = clock()
        self._asking: dict[Key, float] = {}
        # Calls, tokens and cost of the episodes under way.
        self._taken: dict[Key, tuple[int, int, float]] = {}
        self._time_left = TimeLeft(to_play or {}, self._started)

    @property
    def under_way(self) -> list[str]:
        """The tasks that are being played, the oldest first."""
        return [begun.task for begun in self._time_left.under_way]

    def begin(self, task: Mapping[str, Any]) -> None:
        """Take note of an episode that begins, by its record's fields about the task."""
        self._time_left.begin(task["task"], task["group"], self.clock())

    def ask(
        self,
        key: Key,
        request: Request,
        episode: Episode,
    ) -> None:
        """Take note of what an episode asks for: the answer of a model, or something else.

        Args:
            key: The key of the episode.
            request: What it asks for.
            episode: The episode so far.
        """
        calls, tokens = sum(episode.calls.values()), sum(episode.tokens.values())
        self._taken[key] = calls, tokens, episode.cost
        if isinstance(request, Ask):
            self._asking[key] = self.clock()
        else:
            self._asking.pop(key, None)

    def add(self, record: Record) -> None:
        """Count an episode that ended."""
        key = record["task"], record.get("repeat", 0)
        self._asking.pop(key, None)
        self._taken.pop(key, None)
        self._time_left.end(record["task"], self.clock())
        self._count(record)

    def _count(self, record: Record) -> None:
        self.ended += 1
        self.errors += bool(record.get("error"))
        outcome = outcome_of(record)
        self.won += outcome == "won"
        self.unknown += outcome == "unknown"
        self._tasks.add(record)
        self.calls += sum(record["calls"].values())
        self.tokens += sum(record["tokens"].values())
        self.cost += record["cost"] + record.get("spent_before", 0.0)

    def line(self) -> str:
        """Return how the run is doing."""
        parts = [self._success(), f"errors {self.errors}"]
        asking = list(self._asking.values())  # read once: it changes in another thread
        if asking and self.clock() - min(asking) >= LONG_CALL:
            parts.append(f"asking {len(asking)}")
        seconds = self.elapsed
        under_way = list(self._taken.values())
        all_calls = self.calls + sum(calls for calls, _, _ in under_way)
        all_tokens = self.tokens + sum(tokens for _, tokens, _ in under_way)
        calls_before, tokens_before = self._before
        calls, tokens = all_calls - calls_before, all_tokens - tokens_before
        if calls and seconds > 0:
            parts += [f"{calls / seconds:,.1f} calls/s", f"{tokens / seconds:,.0f} tokens/s"]
        if all_calls:
            limit = "" if self.max_cost is None else f" of {self.max_cost:g}"
            cost = self.cost + sum(cost for _, _, cost in under_way)
            parts.append(f"cost {money(cost)}{limit}")
        return ", ".join(parts)

    @property
    def elapsed(self) -> float:
        """Seconds since this start."""
        return self.clock() - self._started

    @property
    def left(self) -> float | None:
        """Seconds that the rest takes; None as long as that cannot be told."""
        return self._time_left.seconds(self.clock())

    def _success(self) -> str:
        played = self.ended - self.errors
        if self.unknown:
            return f"played {played}"
        if not played:
            return "won 0"
        rate = success(self._tasks.values())
        within = interval(rate.low, rate.high)
        return f"won {self.won} ({percent(rate.mean)}, interval {within}%)"
