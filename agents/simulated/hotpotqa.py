"""The simulated model in HotpotQA: it answers from the sentences that it read in the prompt, and from nothing else.

It keeps in mind what the question names and what it has to find out, as far as no report or earlier trial tells it; the
commands take no place in its mind. Two habits come from the manual: to look a word up where the sentences in view do
not say what is wanted, and to choose the page of the right kind where several have a name. Without them it leaves such
a page, and opens the first that is listed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator

from textcraft_gym.agents.adapt.react import THOUGHT
from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.games.hotpotqa.game_profile import NO_OP
from textcraft_gym.agents.games.hotpotqa.language import (
    FACTS,
    Comparison,
    Fact,
    Goal,
    Term,
    Thing,
    Value,
    in_words,
    read_question,
    read_term,
    said,
    size,
    values,
)
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.judging import judgement
from textcraft_gym.agents.simulated.numbered import in_lines
from textcraft_gym.agents.simulated.reading import Reading
from textcraft_gym.agents.simulated.span import too_much

MARK = "Question: "
PROGRESS = re.compile(rf"(?!{'|'.join(map(re.escape, NO_OP))})\S")
"""Matches an observation after an action that showed something."""
SEARCH = "Search for each thing on the way to the answer, and read what its page says."
LOOK_UP = "Where the sentences in view do not say what is wanted, look a word of it up on the page."
CHOOSE = "Where several pages have a name, take the one whose kind stands in brackets behind it."
HABITS = {LOOK_UP: r"\blook\b[^\n.]*\bup\b", CHOOSE: r"\bkind\b[^\n]*\bbrackets\b|\([a-z]+\)\]"}
"""The habits, each with the pattern of a text that tells or shows it."""

_TASK = "\nYour task is to: "
_PART = "find out "
_ANSWERING = "answer the question"
_STARTED = "I keep in mind"
_READ = re.compile(r"^(search|lookup)\[(.*?)\]: (.*)$", re.MULTILINE)
_WRONG = re.compile(r"I answered (.+?), and it was not right\.")
_COMMAND = re.compile(r"(search|lookup|finish)\[(.*)\]")
_RIGHT = re.compile(r"which follows from these pages: (.+)\.$", re.MULTILINE)
_RESULT = re.compile(r"\(Result (\d+) / (\d+)\) (.*)", re.DOTALL)
_LISTED = re.compile(r"(?:Similar: \[|in the database: )(.*)", re.DOTALL)
_TITLE = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")
_END = re.compile(r"\.+(?:\s+|$)")
_SEE = "For the "
_NAME = re.compile(r"[A-Z][\w']*(?:(?: (?:and|by|for|of|the|to))* [A-Z][\w']*)*(?: \([a-z]+\))?")
_NO_NAMES = frozenset("A An Could In It OK On Question Result Similar Step Task The There Which Who Your".split())  # noqa: SIM905
WANDERING = 0.2
"""Probability, in a draw, of opening the page of any name that was read."""
_MAX_LISTED = 2
"""Maximum number of listed titles that it opens for a name."""


def answer(prompt: str, reading: Reading) -> str:
    """Return the answer to a prompt."""
    reader = look_back(prompt, reading)
    if reader.goal is None:
        return "task failed! I do not understand the question."
    match reading.question.cue:
        case Cue.TURN:
            return reader.turn()
        case Cue.REFLECTION:
            return reader.reflect()
        case Cue.JUDGEMENT:
            return reader.judge()
        case Cue.ANSWER:
            return reader.guess()
        case Cue.SUMMARY | Cue.FLAWS | Cue.REVISION:
            return reader.learn(prompt)
        case _:
            return reader.plan(in_full=reading.question.in_full)


def look_back(prompt: str, reading: Reading) -> Reader:
    """Return what a player read according to a prompt."""
    before, _, after = prompt.rpartition(_TASK)
    question = before.rpartition(MARK)[2].strip().partition("\n")[0]
    head, *turns = in_lines(after).split("\n> ")
    task, _, information = head.partition("\n")
    reader = Reader(question, task.strip(), f"{before}\n{information}", reading)
    reader.look_back(turns)
    return reader


def new_plan(told: Iterable[str]) -> list[str]:
    """Return the plan with the habits that some texts tell, as lines."""
    known = {habit for text in told for habit in habits(text)}
    return [SEARCH, *(habit for habit in HABITS if habit in known)]


def names(prompt: str, answer: str) -> list[list[str]]:
    """Return the names and titles in the question and in what was read, the words to look up, and yes and no."""
    told = prompt.rpartition(MARK)[2]
    words = [word for fact in FACTS for word in fact.words]
    named = [name for name in dict.fromkeys(_NAME.findall(told)) if name not in _NO_NAMES]
    return [named, words, ["yes", "no"]]


class Reader:
    """The model's reading of one prompt: what is asked, and what the pages said so far.

    Args:
        question: The question.
        task: The task: to answer it, or to find out a part of it.
        told: What reports and earlier trials tell, somewhere in this text.
        reading: The request, the limits and the draws.
    """

    def __init__(self, question: str, task: str, told: str, reading: Reading) -> None:
        self.is_part = task.lower().startswith(_PART)
        part = read_term(task[len(_PART) :].rstrip(".")) if self.is_part else None
        self.goal: Goal | None = part if isinstance(part, Value) else read_question(question)
        self.reading = reading
        self.draw = reading.rng.random() if reading.rng else None
        known = habits(reading.manual.text)
        self.looks_up, self.chooses = LOOK_UP in known, CHOOSE in known
        self.pages: dict[str, list[str]] = {}
        self.lists: dict[str, list[str]] = {}
        self.looked_up: set[tuple[str, str]] = set()
        self.open = ""
        self.answered = ""
        self.started = False
        self.evidence: dict[str, list[str]] = {}
        self.stuck_at = ""
        self.last = ("", "")
        self.wrong = set(_WRONG.findall(told))
        for verb, words, text in _READ.findall(told):
            self._hear(verb, words, text)
        self.things = [] if self.goal is None else self._things(self.goal)
        self.open = ""  # a page that was read before is not open any more

    def look_back(self, turns: Iterable[str]) -> None:
        """Read the transcript."""
        for turn in turns:
            action, _, observation = turn.partition("\n")
            self.last = action, observation
            self.started = self.started or _STARTED in action
            command = _COMMAND.fullmatch(action.strip())
            if command and command[1] == "finish":
                self.answered = command[2]
            elif command:
                self._hear(command[1], command[2], observation.strip())

    def turn(self) -> str:
        """Return the next line."""
        if not self.started:
            counted = f"{THOUGHT} {_STARTED} {', '.join(self.things)}: {len(self.things)}"
            return too_much([self.things], self.reading.span) or counted
        found = self._wander() or self._result()
        if found is None:
            return "task failed! I do not find it."
        if isinstance(found, str):
            return found
        return "Task completed!" if self.is_part else f"finish[{found.name}]"

    def plan(self, *, in_full: bool) -> str:
        """Return a plan: what to find out, in order, and the answer at the end."""
        wanted = [value for value in values(self.goal) if in_full or self._is_next(value)] if self.goal else []
        if complaint := too_much([[in_words(value) for value in wanted]], self.reading.span):
            return complaint
        if self.is_part and wanted == [self.goal]:
            return "There is nothing to divide."
        steps = [f"{_PART}{in_words(value)}" for value in wanted if self.is_part or value != self.goal]
        return write_plan([step] for step in (steps if self.is_part else [*steps, _ANSWERING]))

    def reflect(self) -> str:
        """Return what was answered and what was read, for the next trial, and a plan."""
        self._result()
        read = "\n".join(f"search[{title}]: {text}" for title, text in self._told())
        if self.reading.draws.errs("misjudge", "reflection"):  # it blames the pages, and keeps the answer
            return "The pages that I read were the wrong ones. New plan:\nStep 1: read others\nStep 2: answer"
        first = f"I answered {self.answered}, and it was not right." if self.answered else "I gave no answer in time."
        return f"{first} What was read:\n{read}\nNew plan:\nStep 1: go on from there\nStep 2: answer the question"

    def judge(self) -> str:
        """Return the judgement of an attempt: how much of what is wanted was read."""
        wanted = list(values(self.goal)) if self.goal else []
        found = sum(isinstance(self._find(value), Thing) for value in wanted)
        share = found / max(1, len(wanted))
        if self.answered:  # an answer that does not follow from what was read is a guess
            result = self._result()
            share = share if isinstance(result, Thing) and result.name == self.answered else 0.0
        return judgement(share, self.last[0], refused=self.last[1].startswith(NO_OP), draws=self.reading.draws)

    def learn(self, prompt: str) -> str:
        """Return what an episode teaches after its outcome is told, for AutoPlan."""
        if self.reading.question.cue is Cue.SUMMARY:
            return f"I read these pages: {', '.join(self.pages) or 'none'}."
        right = _RIGHT.findall(prompt)
        titles = right[-1].split(", ") if right else []
        self._result()
        lessons = []
        if self.stuck_at in titles and not self.looks_up:
            lessons.append(LOOK_UP)
        listed = {title for titles in self.lists.values() for title in titles}
        if not self.chooses and any(title in listed and title not in self.pages for title in titles):
            lessons.append(CHOOSE)
        return " ".join(["The plan does not say this:", *lessons]) if lessons else "I know of nothing to change."

    def guess(self) -> str:
        """Return an answer without anything read: it knows no fact of this wiki."""
        guessed = "unknown"
        if isinstance(self.goal, Comparison):
            first = self.goal.sides[0]
            guessed = "yes" if self.goal.wanted == "same" else first.name if isinstance(first, Thing) else guessed
        return f"# I know nothing of these things, so I guess.\nfinish[{guessed}]"

    def _hear(self, verb: str, words: str, text: str) -> None:
        """Read the answer to an action."""
        if verb == "lookup":
            result = _RESULT.fullmatch(text)
            if result:
                self.pages.setdefault(self.open, []).extend(_sentences(result[3]))
            if not result or result[1] == result[2]:
                self.looked_up.add((self.open, words))
        elif text.startswith("Could not find"):
            listed = _LISTED.search(text)
            self.lists[words] = [one or other for one, other in _TITLE.findall(listed[1])] if listed else []
            self.open = self.open if listed else ""
        elif not text.startswith(NO_OP):
            self.pages.setdefault(words, []).extend(_sentences(text))
            self.open = words

    def _result(self) -> Thing | str | None:
        """Return the value that is wanted or the answer, else the next action; None where it finds neither."""
        if not isinstance(self.goal, Comparison):
            return self._find(self.goal) if self.goal else None
        fact, sides, wanted = self.goal
        read: dict[int, tuple[Thing, Thing]] = {}
        for index in self._drawn_order(len(sides)):
            end = self._find(sides[index])
            value = self._read(end, fact) if isinstance(end, Thing) else end
            if not isinstance(end, Thing) or not isinstance(value, Thing):
                return value
            read[index] = end, value
        ends, found = zip(*(read[index] for index in sorted(read)), strict=True)
        if wanted == "same":
            answers = [Thing("yes"), Thing("no")] if found[0].name == found[1].name else [Thing("no"), Thing("yes")]
        else:
            sizes = [size(value.name) or () for value in found]
            answers = [*ends] if (sizes[0] > sizes[1]) == (wanted == "more") else [*ends[::-1]]
        return next((one for one in answers if one.name not in self.wrong), answers[0])

    def _drawn_order(self, count: int) -> list[int]:
        """Return the order in which to read the sides of a comparison: as asked, or shuffled by the draw."""
        order = list(range(count))
        if self.draw is not None:
            random.Random(f"{self.draw}/order").shuffle(order)
        return order

    def _wander(self) -> str | None:
        """Return the action that opens the page of any name that was read and not opened; only a draw wanders."""
        if self.draw is None or random.Random(f"{self.draw}/wander").random() >= WANDERING:
            return None
        read = " ".join(sentence for sentences in self.pages.values() for sentence in sentences)
        names = [
            name for name in dict.fromkeys(_NAME.findall(read)) if name not in _NO_NAMES and name not in self.pages
        ]
        return f"search[{random.Random(f'{self.draw}/name').choice(names)}]" if names else None

    def _find(self, term: Term) -> Thing | str | None:
        """Return the thing that a term stands for, else the next action on the way to it; None if there is none."""
        if isinstance(term, Thing):
            return term
        of = self._find(term.of)
        return self._read(of, term.fact) if isinstance(of, Thing) else of

    def _read(self, thing: Thing, fact: Fact) -> Thing | str | None:
        """Return what the page of a thing says, else the next action; None if it says nothing."""
        for title in self._titles(thing):
            if title not in self.pages:
                return f"search[{title}]"
            if not _is_of(self.pages[title], thing.kind):
                continue
            for sentence in self.pages[title]:
                if value := said(fact, sentence):
                    self.evidence.setdefault(title, []).append(sentence)
                    return value
            for word in fact.words if self.looks_up else ():
                if (title, word) not in self.looked_up:
                    return f"lookup[{word}]" if self.open == title else f"search[{title}]"
            self.stuck_at = title
            if thing.kind:  # this was the page, whatever others there are
                return None
        return None

    def _titles(self, thing: Thing) -> Iterator[str]:
        """Yield the titles under which the page of a thing may be, as far as they are known."""
        of_kind = f"{thing.name} ({thing.kind})"
        if thing.name not in self.lists:
            yield thing.name
        listed = self.lists.get(thing.name, [])
        if self.chooses:
            listed = sorted(listed, key=lambda title: (title != of_kind, not title.startswith(thing.name)))
        yield from listed[:_MAX_LISTED]
        if self.chooses and thing.kind and of_kind not in listed[:_MAX_LISTED] and of_kind not in self.lists:
            yield of_kind

    def _things(self, goal: Goal) -> list[str]:
        """Return what is to be kept in mind: what is wanted and not known yet, and what that is of."""
        things: list[str] = []
        for value in values(goal):
            if not isinstance(self._find(value), Thing):
                things += [in_words(value.of), in_words(value)]
        return list(dict.fromkeys(things))

    def _is_next(self, value: Value) -> bool:
        """Return whether a value is one level below the goal: one that is compared, or what the goal follows from."""
        if isinstance(self.goal, Comparison):
            return value in [Value(self.goal.fact, side) for side in self.goal.sides]
        return value == self.goal or (self.goal is not None and value == self.goal.of)

    def _told(self) -> Iterator[tuple[str, str]]:
        """Yield what was of use on each page: its first sentence, which tells its kind, and the evidence."""
        for title, sentences in self.evidence.items():
            yield title, " ".join(f"{sentence}." for sentence in dict.fromkeys([_lead(self.pages[title]), *sentences]))


def habits(text: str) -> list[str]:
    """Return the habits that a text tells or shows."""
    return [habit for habit, pattern in HABITS.items() if re.search(pattern, text, re.IGNORECASE)]


def _lead(sentences: list[str]) -> str:
    """Return the first sentence of a page that is about its thing, and not about another of the same name."""
    return next((sentence for sentence in sentences if not sentence.startswith(_SEE)), "")


def _is_of(sentences: list[str], kind: str) -> bool:
    """Return whether a page is of something of a kind, by its first sentence."""
    return not kind or re.search(rf"\b{re.escape(kind)}\b", _lead(sentences)) is not None


def _sentences(text: str) -> list[str]:
    """Return the sentences of what was shown, without the full stops."""
    return [part for part in _END.split(text) if part]
