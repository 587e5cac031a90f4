"""Run folders that are shown side by side, and the files that show them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from textcraft_gym.reports.calls import Calls
from textcraft_gym.reports.metrics import Errors
from textcraft_gym.reports.paper_formats import FORMATS
from textcraft_gym.reports.paper_table import PaperTable, paper_table
from textcraft_gym.reports.pools import Pool, pools
from textcraft_gym.reports.profiles import profile_of
from textcraft_gym.reports.records import Records, read_config, read_records
from textcraft_gym.reports.step_claims import STEPS, StepClaims, step_rows
from textcraft_gym.reports.tables import markdown_table
from textcraft_gym.reports.why import WHY_TITLE, Why, why, why_markdown


def named(runs: Sequence[Path]) -> dict[str, Path]:
    """Return run folders by their names; if two have the same, by their paths below one folder."""
    places = [Path(os.path.abspath(run)) for run in runs]
    names = [place.name for place in places]
    if len(set(names)) < len(names):
        above = os.path.commonpath([place.parent for place in places])
        names = [place.relative_to(above).as_posix() for place in places]
    return dict(zip(names, runs, strict=True))


class Folders:
    """Run folders by their names.

    Args:
        paths: The folder of each run.
        errors: Whether episodes that broke are left out of the files, or count as lost.
        with_causes: Whether the page and the table in Markdown say why episodes were lost.
        steps: The claims about steps of plans that they show; None for none.

    Attributes:
        paths: The same.
        records: The records of each run.
        configs: Its config.
        steps: As given.
    """

    def __init__(
        self,
        paths: Mapping[str, Path],
        errors: Errors = "exclude",
        *,
        with_causes: bool = False,
        steps: Mapping[str, StepClaims] | None = None,
    ) -> None:
        self.paths = paths
        self._errors = errors
        self._with_causes = with_causes
        self.steps = steps
        self.configs: dict[str, dict[str, Any]] = {}
        self.records: dict[str, Records] = {}
        for name, run in self.paths.items():
            self.configs[name] = read_config(run)
            self.records[name] = read_records(run)

    @cached_property
    def pools(self) -> list[Pool]:
        """The runs, with those that differ only in their seed as one."""
        return pools(self.records, self.configs)

    @cached_property
    def table(self) -> PaperTable:
        """The table for a paper."""
        return paper_table(self.pools, errors=self._errors)

    @cached_property
    def causes(self) -> dict[str, Why]:
        """Why the episodes of each run were lost; empty unless that is asked for."""
        found = {}
        for name, records in self.records.items() if self._with_causes else ():
            found[name] = why(records, profile_of(self.configs[name]["env"]))
        return found

    def file(self, suffix: str) -> str:
        """Return a file that shows the runs: a page for ``.html``, else a table or its plot."""
        if suffix in (".html", ".htm"):
            from textcraft_gym.reports.page import html_page

            calls = {name: Calls(run) for name, run in self.paths.items()}
            return html_page(
                self.records,
                self.configs,
                calls=calls,
                errors=self._errors,
                why=self.causes,
                steps=self.steps or {},
            )
        if suffix == ".svg":
            from textcraft_gym.reports.plots import figure

            return figure(self.table)
        parts = [FORMATS[suffix](self.table)]
        if suffix == ".md" and (causes := why_markdown(self.causes)):
            parts.append(f"{WHY_TITLE}:\n\n{causes}")
        if suffix == ".md" and self.steps is not None:
            parts.append(markdown_table(STEPS, step_rows(self.steps)))
        return "\n".join(parts)
