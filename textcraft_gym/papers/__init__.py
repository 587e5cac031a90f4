"""The papers' tables: what they publish, what is played for each row, and how to play it.

``textcraft_gym.papers.ADAPT["table2"]`` is a table as values;
``textcraft-gym reproduce adapt/table2`` plays it.
"""

from textcraft_gym.papers.adapt import ADAPT
from textcraft_gym.papers.autoplan import AUTOPLAN
from textcraft_gym.papers.deps import DEPS
from textcraft_gym.papers.table import Paper

PAPERS: dict[str, Paper] = {paper.key: paper for paper in (ADAPT, DEPS, AUTOPLAN)}
"""The papers by their names on the command line."""

__all__ = ["ADAPT", "AUTOPLAN", "DEPS", "PAPERS"]
