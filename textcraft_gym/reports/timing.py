"""How long episodes and completions took.

Times are not in ``metrics``: they differ when a run is repeated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Durations of episodes without an error, in seconds.

    Attributes:
        episodes: Number of these episodes.
        mean, median: Of the duration of an episode, during which other episodes may have been
            played, too.
        slow: The duration that 95% of the episodes do not exceed.
        longest: Of all episodes.
        model: Mean sum of the durations of an episode's completions.
        latency: Mean duration of a completion; None if none was asked for.
    """

    episodes: int
    mean: float
    median: float
    slow: float
    longest: float
    model: float
    latency: float | None

    @property
    def durations(self) -> tuple[float | None, ...]:
        """All durations, in the order of the attributes."""
        return self.mean, self.median, self.slow, self.longest, self.model, self.latency


def timing(records: Iterable[Mapping[str, Any]]) -> Timing | None:
    """Return the timing of episode records; None if none was timed."""
    timed = [record for record in records if not record.get("error") and record.get("seconds")]
    if not timed:
        return None
    seconds = sorted(record["seconds"] for record in timed)
    # Records of other programs may lack it.
    model = [record.get("model_seconds") or 0.0 for record in timed]
    calls = sum(sum(record["calls"].values()) for record in timed)
    return Timing(
        episodes=len(timed),
        mean=fmean(seconds),
        median=median(seconds),
        slow=_percentile(seconds, 0.95),
        longest=seconds[-1],
        model=fmean(model),
        latency=sum(model) / calls if calls else None,
    )


def latency(record: Mapping[str, Any]) -> float | None:
    """Return the mean seconds of a completion of an episode; None without completions or times."""
    calls = sum(record["calls"].values())
    seconds: float | None = record.get("model_seconds")
    if not calls or seconds is None:
        return None
    return float(seconds / calls)


def _percentile(ascending: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    return ascending[math.ceil(share * len(ascending)) - 1]


def in_words(seconds: float) -> str:
    """Return a duration for people, to the precision of a guess."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
