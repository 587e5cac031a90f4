"""HotpotQA as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args

from textcraft_gym.envs.hotpotqa import expert, rules, text
from textcraft_gym.envs.hotpotqa.rules import (
    START,
    Scope,
    Sentences,
    State,
    admissible_commands,
    apply,
)
from textcraft_gym.envs.hotpotqa.tasks import (
    MADE,
    PAGES,
    Reading,
    Task,
    find_task,
    open_library,
    split_names,
    split_tasks,
)
from textcraft_gym.envs.hotpotqa.text import DIALECTS, Dialect
from textcraft_gym.envs.hotpotqa.wiki.corpus import Corpus
from textcraft_gym.envs.text_env import Settings, Step, TextEnv
from textcraft_gym.errors import UnknownName, at_least, require


class HotpotQAEnv(TextEnv):
    """Answer a question that takes several pages of a wiki, by searches and lookups.

    **Actions** (any string; others change nothing; the first letter may be a capital):

    - ``search[title]``: open the page of this title and read its first five sentences. A title is
      found in another case, by a redirect or without its brackets as well. Where there is no such
      page, or the title may refer to several, the titles of similar pages are listed.
    - ``lookup[words]``: read the next sentence of the open page that has these words.
    - ``finish[answer]``: answer the question.
    - ``think[thought]``: nothing happens.

    **Observation**: text, as one of three programs writes it.

    - ``react``: ReAct's. ``Could not find X. Similar: [...].``, ``(Result 1 / 2) ...``,
      ``No more results.``, ``Episode finished, reward = 1``, ``Invalid action: X``.
    - ``autoplan``: AutoPlan's, in which a title must match in every character, and sentences are
      those of the data.
    - ``reflexion``: Reflexion's, in which a search that fails closes the page and lists nothing,
      the answer is told to be CORRECT or INCORRECT, and there is no ``think``.

    **Reward**: 1 for an answer that is the right one but for case, punctuation, articles and
    blanks, else 0.

    **Episode end**: terminates with ``finish``, and a step after that raises
    ``gymnasium.error.ResetNeeded``. Registered with ReAct's limit of 7 steps; AutoPlan's is 10 and
    Reflexion's 6 (``max_episode_steps``).

    **Info**: ``task``, ``won`` (bool: whether the answer is right), ``opened`` (titles of the pages
    that were opened) and ``gold_opened`` (those of them that the answer follows from); after the
    answer ``answer``, ``gt_answer``, ``gold`` (titles of all pages that it follows from), ``em``
    (the reward), ``f1`` (0 to 1, by common words) and ``question_idx`` (the number of the question
    in its split); after an action that did nothing ``invalid_reason``, one of ``rules.REASONS``;
    ``admissible_commands`` and ``expert_plan`` (lists of str) if asked for. The plan opens every
    page that the answer follows from; it is empty if the data does not tell the answer.

    **Reset options**: ``{"task": id}`` plays that question, from any split. Otherwise the seed
    draws one of the split.

    Args:
        split: ``train``, ``dev`` (the default, so that test is used only on purpose), ``test`` or
            ``all``; of the original's data those that there are, and ``react`` for the 500 of dev
            that ReAct is evaluated on.
        dialect: ``react``, ``autoplan`` or ``reflexion``.
        sentences: How pages are divided into sentences: ``period``, at every full stop and blank,
            or ``given``, as the data does; None for ``given`` in AutoPlan's dialect, else
            ``period``.
        scope: ``wiki`` to search all pages, ``question`` only those that the data gives with the
            question.
        data: ``made`` for a generated wiki, a folder or file of the original's data, or a
            ``Corpus``.
        pages: Number of pages of a generated wiki, 1,000 to 50,000.
        wiki_seed: Seed of a generated wiki.
        admissible: Whether info lists searches for titles in view, lookups of the question's words
            and of common relations (``rules.RELATIONS``), and once a page is open, answers in view:
            names, dates, numbers, and yes and no where the question asks for these. An answer in
            other words can be given, but is not listed.
        expert: Whether info has the rest of a plan that reads all evidence.
        render_mode: ``ansi`` renders the last action and its answer, ``human`` prints them.

    Raises:
        UnknownName: For an unknown split, task, dialect, division of sentences or scope.
        ValueError: If a number is out of bounds, or there is no question to play.
        WikiDataError: If the data cannot be read.

    **Ids**: ``HotpotQA-v0``.

    **Sources**: Yang et al., HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question
    Answering, 2018; Yao et
    al., ReAct: Synergizing Reasoning and Acting in Language Models, 2023, whose environment this
    is.

    **Versions**: v0.
    """

    game_profile = "hotpotqa"
    splits = staticmethod(split_names)

    def __init__(
        self,
        split: str = "dev",
        *,
        dialect: Dialect = "react",
        sentences: Sentences | None = None,
        scope: Scope = "wiki",
        data: str | Path | Corpus | Literal["made"] = MADE,
        pages: int = PAGES,
        wiki_seed: int = 0,
        admissible: bool = False,
        expert: bool = False,
        render_mode: str | None = None,
    ) -> None:
        require("hotpotqa", "Stemmer")
        super().__init__(admissible=admissible, expert=expert, render_mode=render_mode)
        if sentences is None:
            sentences = "given" if dialect == "autoplan" else "period"
        for name, value, known in (
            ("dialect", dialect, DIALECTS),
            ("division of sentences", sentences, get_args(Sentences)),
            ("scope", scope, get_args(Scope)),
        ):
            if value not in known:
                raise UnknownName.of(name, value, known)

        at_least("wiki_seed", wiki_seed, 0)
        self.reading = Reading(open_library(data, pages, wiki_seed), dialect, sentences, scope)
        self._data = data
        self.set_split(split)
        if scope == "question" and not self.tasks[0].question.titles:
            raise ValueError(
                f"expected questions with pages of their own for scope='question', {data} has none"
            )
        self._state: State = START

    def _set_split(self, split: str) -> None:
        if not split_tasks(self.reading, split):
            raise ValueError(f"split {split!r} of {self._data} has no question")
        self.split = split

    # Not built in __init__ for another attribute: the tasks of a split are shared by all
    # environments that play it.
    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the split."""
        return split_tasks(self.reading, self.split)

    @tasks.setter
    def tasks(self, tasks: Iterable[Any]) -> None:
        raise self.unsupported("choice of tasks", "its tasks are those of the split")

    @property
    def fingerprint(self) -> str:
        """SHA-256 of pages and questions: runs with equal fingerprints play the same wiki."""
        return self.reading.library.fingerprint

    def explain(self, action: str, reason: str) -> str:
        """Explain why the last action did nothing, given its ``invalid_reason``."""
        _, argument = rules.parse(action)
        if reason == rules.NO_SUCH_PAGE:
            return text.no_such_page(argument, self._state.listed)
        if reason == rules.NO_PAGE:
            return text.nothing_to_look_up(argument)
        if reason == rules.NO_MORE_RESULTS:
            return text.no_result(argument, self._state.page)
        return text.FORMS

    @property
    def vocabulary(self) -> str:
        """A text with every word that an observation may contain."""
        return self.reading.library.vocabulary

    def thoughts(
        self,
        task: Task,
        plan: Iterable[str],
    ) -> list[str]:
        """Return the thought before each action of a winning plan."""
        return expert.thoughts(task.world, list(plan))

    def possible_commands(self, tasks: Iterable[str] | None = None) -> list[str]:
        """Refuse.

        Raises:
            Unsupported: Always.
        """
        raise self.unsupported("possible_commands", "searches, lookups and answers are free text")

    def _find_task(self, name: Any) -> Task:
        return find_task(self.reading, name)

    def _begin(self, task: Task, draw: int) -> str:
        self._set_up(task)
        self._state = START
        return text.question(task.question.question)

    def _play(self, action: str) -> Step:
        self._state, observation, reason, _ = apply(self._world, self._state, action)
        answer = self._state.answer
        info = self._info()
        if reason:
            info["invalid_reason"] = reason
        if answer is None:
            return observation, 0.0, False, False, info
        info |= {
            "answer": answer,
            "gt_answer": self._world.question.answer,
            "gold": list(dict.fromkeys(title for title, _ in self._world.question.gold)),
            "em": info["won"],
            "f1": rules.f1(self._world.question, answer),
            "question_idx": self.task.number,
        }
        return observation, float(info["won"]), True, False, info

    def _info(self) -> dict[str, Any]:
        state = self._state
        info: dict[str, Any] = {
            "task": self._id,
            "won": state.answer is not None and rules.is_right(self._world.question, state.answer),
            "opened": list(state.opened),
            "gold_opened": [title for title in state.opened if title in self._gold],
        }
        if self.admissible:
            info["admissible_commands"] = admissible_commands(self._world, state)
        if self.expert:
            info["expert_plan"] = expert.plan(self._world, state)
        return info

    def _set_up(self, task: Task) -> None:
        self._id = task.id
        self._world = task.world
        self._gold = frozenset(title for title, _ in task.question.gold)

    def _settings(self) -> Settings:
        library, *arguments = self.reading
        names = Reading._fields[1:]
        return "HotpotQA", (("data", library.fingerprint), *zip(names, arguments, strict=True))

    def _position(self) -> State:
        return self._state

    def _go_back(
        self,
        task: Task,
        draw: int,
        position: State,
    ) -> None:
        self._set_up(task)
        self._state = position
