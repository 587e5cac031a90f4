"""The teacher in HotpotQA: a reader who looks up one fact after another, and tells what it read.

It knows which pages the answer follows from, and so searches for no others; but it searches for
names that it has read, and answers when all the evidence stands in the prompt. A thought is the
sentence that was sought, and the next question in a few words. What is not in view it looks up by
the words of the question, and then by those that pages have for it, always in the same order: which
of them a page has, nobody can know.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from player import Move, Planned, Searched, in_steps, still_open
from recorded import Said
from teacher import COMPLETED, FAILED, compared

from textcraft_gym.envs.hotpotqa import expert
from textcraft_gym.envs.hotpotqa.rules import (
    COMMON,
    LOOKUP,
    SEARCH,
    START,
    State,
    World,
    apply,
    find,
    finish,
    look_up,
    parse,
    results,
    search,
    sentences,
    shown,
    titles_in,
)
from textcraft_gym.envs.hotpotqa.rules import (
    RELATIONS as WORDS,
)
from textcraft_gym.envs.hotpotqa.tasks import Task
from textcraft_gym.envs.hotpotqa.wiki.corpus import Page
from textcraft_gym.envs.hotpotqa.wiki.kinds import KINDS, Relation

ANSWER = "answer the question"
PART = "find out "
MISTAKES = ("plain", "other", "word", "misspelt")
"""A name without its kind; another name in view, on whose page some words are looked up in vain; a
look-up of a word that the page lacks; a name with its last letters twice."""
TWICE = 3
"""The number of those letters."""
AGAIN = 0.4
"""Share of the wrong pages that are opened again, in place of looking words up."""
LESS = ("first", "earlier", "fewer")
LINES = (
    "Search for the thing that the question names.",
    "Where no sentence in view says what is asked, look a word of it up on the page.",
    "Where only other titles are listed, search for the one of the right kind.",
    "Search for what was found, and so on up to the last fact.",
    "Answer what the pages say, in as few words as they do.",
)
"""A plan for every question."""

_ACTION = re.compile(
    r"^(?:> |Action: |Action \d+: )?((?:search|lookup)\[[^\n]*?\])(?=\n|: |$)", re.MULTILINE
)
_TASK = re.compile(r"\nYour task is to: (.+)")
_KIND = re.compile(r"(.+) \((\w+)\)")
_COMPARED = re.compile(r"first|earlier|later|more|fewer")
_DATE = re.compile(r"\d+ \w+ (\d+)")
_GIVEN = re.compile(r"finish\[(.*)\]")


def _relations() -> list[Relation]:
    """Return the relations of all kinds, those of equal words once."""
    relations: dict[tuple[str, str], Relation] = {}
    for kind in KINDS.values():
        for relation in kind.relations:
            relations[relation.question, relation.noun] = relation
    return list(relations.values())


RELATIONS = _relations()


@cache
def forms_of(question: str) -> list[str]:
    """Return the sentences that answer a relation's question, of things of any kind."""
    forms: set[str] = set()
    for relation in RELATIONS:
        if relation.question == question:
            forms.update(relation.sentences)
    return sorted(forms)


@cache
def words_for(question: str) -> list[str]:
    """Return the words to look up for a relation's question, in order, as few as find any form."""
    telling = [word for word in re.findall(r"[a-z]{3,}", question) if word not in COMMON]
    missing = {form: re.sub(r"\{\w\}", "", form).lower() for form in forms_of(question)}
    words: list[str] = []
    # "born in" finds the town of a page that says before on which day somebody was born.
    phrases = [next((known for known in WORDS if known.startswith(word)), word) for word in telling]
    for word in (*phrases, *telling, *WORDS):
        found = [form for form, plain in missing.items() if word.lower() in plain]
        if found:
            words.append(word)
        for form in found:
            del missing[form]
    return words


class Hop(NamedTuple):
    """One fact on the way to the answer.

    Attributes:
        page: The page that says it.
        relation: What is asked.
        thing: The thing as the question names it.
        name: The thing as a reader names it who knows what the hop before tells.
        evidence: The sentences of the page that are needed.
    """

    page: Page
    relation: Relation
    thing: str
    name: str
    evidence: tuple[str, ...]

    @property
    def question(self) -> str:
        """What is asked, of the thing itself."""
        return self.relation.question.format(self.name)

    @property
    def part(self) -> str:
        """The hop as a step of a plan, which knows no more than the question."""
        words = self.relation.question.format(self.thing).rstrip("?")
        return f"{PART}{words[0].lower()}{words[1:]}"

    @property
    def said(self) -> str:
        """The evidence as it is quoted."""
        return " ".join(self.evidence)

    @property
    def value(self) -> str:
        """The value that the evidence says; empty if it says none."""
        for form in forms_of(self.relation.question):
            pattern = re.escape(form).replace(r"\{s\}", ".+").replace(r"\{k\}", ".+")
            for sentence in self.evidence:
                match = re.fullmatch(pattern.replace(r"\{v\}", "(.+)"), sentence)
                if match:
                    return match[1]
        return ""


class Chain(NamedTuple):
    """What a question asks: one way to a fact, or two whose ends are compared.

    Attributes:
        ways: The relations of each way, in order, and the thing that it begins with.
        wanted: The word of a comparison: ``first``, ``same`` and so on; empty for none.
    """

    ways: tuple[tuple[str, tuple[Relation, ...]], ...]
    wanted: str = ""


def read_question(words: str) -> Chain | None:
    """Return what a question asks; None if it has another form than those of made wikis."""
    for relation in RELATIONS:
        forms = [*relation.compare, relation.same]
        for form in filter(None, forms):
            sides = _compared(form, words)
            if sides:
                wanted = "same" if form == relation.same else _COMPARED.findall(form)[0]
                return Chain(tuple((thing, (*steps, relation)) for thing, steps in sides), wanted)
    for relation in RELATIONS:
        before, after = relation.question.split("{}")
        if words.startswith(before) and words.endswith(after):
            thing, steps = way(words[len(before) : len(words) - len(after)])
            if steps:
                return Chain(((thing, (*steps, relation)),))
    return None


def shortened(first: str, second: str) -> tuple[str, str]:
    """Return two values as they are compared: of dates of different years the years alone."""
    dates = [_DATE.fullmatch(value) for value in (first, second)]
    if all(dates):
        years = tuple(date[1] for date in dates if date)
        if len({*years}) == 2:
            return years[0], years[1]
    return first, second


def _compared(form: str, words: str) -> list[tuple[str, tuple[Relation, ...]]]:
    """Return the two things that a question of some form compares; none if it has another form."""
    before, middle, after = form.split("{}")
    inner = words.removeprefix(before).removesuffix(after)
    if len(inner) != len(words) - len(before) - len(after):
        return []
    # The words between the two things may also stand inside of one.
    parts = inner.split(middle)
    for cut in range(1, len(parts)):
        left, right = way(middle.join(parts[:cut])), way(middle.join(parts[cut:]))
        if len(left[1]) == len(right[1]) <= 1:
            return [left, right]
    return []


def way(words: str) -> tuple[str, tuple[Relation, ...]]:
    """Return the thing that a noun begins with, and the relations that lead from it."""
    for relation in RELATIONS:
        before, _, after = relation.noun.partition("{}")
        if before and words.startswith(before) and words.endswith(after):
            thing, steps = way(words[len(before) : len(words) - len(after)])
            return thing, (*steps, relation)
    return words, ()


def hops_of(task: Task) -> list[Hop]:
    """Return the facts that a question takes, in order; none if it is not understood."""
    chain, pages = read_question(task.question.question), expert.evidence(task.world)
    plan = map(parse, expert.plan(task.world))
    names = [argument for verb, argument in plan if verb == SEARCH]
    if chain is None:
        return []
    relations = sum(len(steps) for _, steps in chain.ways)
    if not relations == len(pages) == len(names):
        return []
    hops = [*_hops(task, chain, pages, names)]
    if chain.wanted and not all(hop.value for hop in hops):
        return []
    return hops


def _hops(task: Task, chain: Chain, pages: Sequence[Page], names: Sequence[str]) -> Iterator[Hop]:
    """Yield the facts of a chain, each with its page and the name by which that is searched."""
    searches = iter(zip(pages, names, strict=True))
    for thing, steps in chain.ways:
        for number, relation in enumerate(steps):
            page, title = next(searches)
            name = named(title) if number else thing
            yield Hop(page, relation, thing, name, _evidence(task, page))
            thing = relation.noun.format(thing)


def _evidence(task: Task, page: Page) -> tuple[str, ...]:
    """Return the sentences of a page that a question's answer follows from."""
    sentences = [*itertools.chain.from_iterable(page.paragraphs)]
    return tuple(sentences[index] for title, index in task.question.gold if title == page.title)


def named(title: str) -> str:
    """Return a thing by a title, which may have its kind in brackets."""
    match = _KIND.fullmatch(title)
    return f"the {match[2]} {match[1]}" if match else title


class Scholar(Planned, Searched):
    """Plays one episode.

    Args:
        task: The question.
        hops: The facts that it takes.
        rng: Draws the mistakes.
        mistakes: The kinds of mistakes to make, each at the first occasion in an episode.
        gives_up: Whether the first attempts at the whole question are given up at once, so that a
            plan is asked for.
        guesses: Number of trials that end with another answer than the right one.
    """

    lines = LINES

    def __init__(
        self,
        task: Task,
        hops: list[Hop],
        rng: random.Random,
        *,
        mistakes: tuple[str, ...] = (),
        gives_up: bool = False,
        guesses: int = 0,
    ) -> None:
        self.task, self.hops, self.rng = task, hops, rng
        self.world: World = task.world
        self.mistakes, self.gives_up, self.guesses = list(mistakes), gives_up, guesses
        self.erred: set[str] = set()
        self.strays: list[Move] = []

    # -- What is read in a prompt

    def read(self, prompt: str) -> State:
        """Return the state after a prompt; a page from an earlier attempt is closed."""
        before, turns = split(prompt)
        state = START
        for action in _ACTION.findall(before):
            state = apply(self.world, state, action)[0]
        state = State(opened=state.opened, looked_up=state.looked_up)
        for action in _ACTION.findall(turns):
            state = apply(self.world, state, action)[0]
        return state

    def left(self, state: State, hops: list[Hop]) -> list[str]:
        """Return the actions that read what is left of some facts."""
        titles = {hop.page.title for hop in hops}
        gold = tuple(pair for pair in self.task.question.gold if pair[0] in titles)
        world = self.world._replace(question=self.task.question._replace(gold=gold))
        return expert.plan(world, state)[:-1]

    def known(self, state: State) -> list[Hop]:
        """Return the facts that were read."""
        return [hop for hop in self.hops if not self.left(state, [hop])]

    # -- What is said

    def thought(self, state: State, action: str) -> str:
        """Return the thought before an action."""
        verb, argument = parse(action)
        if verb == LOOKUP:
            return f"{self.trouble(state)}It is not in view. I look for the word {argument}."
        known = self.known(state)
        if verb == SEARCH:
            page = find(self.world, argument)
            at = next(number for number, hop in enumerate(self.hops) if hop.page == page)
            thought = self.trouble(state)
            if at and self.hops[at - 1] in known:
                thought += f"{self.hops[at - 1].said} "
            return f"{thought}{self.hops[at].question}"
        return self.conclusion()

    def trouble(self, state: State) -> str:
        """Return what is said of the last action if it led nowhere."""
        if state.listed:
            return "There is no page of just that name. "
        titles = [hop.page.title for hop in self.hops]
        if state.page and state.page not in titles:
            return f"{state.page} is not what I need. "
        return "That word is not here. " if state.keyword and not state.passed else ""

    def conclusion(self) -> str:
        """Return the thought before the answer."""
        wanted = read_question(self.task.question.question).wanted  # type: ignore[union-attr]
        answer, end = self.task.question.answer, self.hops[-1]
        if not wanted:
            return end.said
        # The first half of the hops leads to the first thing that is compared.
        first = self.hops[len(self.hops) // 2 - 1]
        if wanted == "same":
            return f"{first.value} and {end.value}: {answer}."
        values = f"{first.name}: {first.value}. {end.name}: {end.value}."
        one, other = shortened(first.value, end.value)
        digits = f": {compared(one, other)}" if one[0].isdigit() and " " not in one else ""
        chosen = one if answer in first.name else other
        return (
            f"{values} {one} against {other}{digits}. {wanted.capitalize()}: {chosen}. So {answer}."
        )

    def mistake(self, state: State, action: str) -> str:
        """Return a mistaken action in place of another, once of each kind; empty for none."""
        left = [kind for kind in self.mistakes if kind not in self.erred]
        if not left:
            return ""
        kind = left[0]
        verb, argument = parse(action)
        wrong = ""
        if verb == SEARCH and kind != "word":
            wrong = self.wrong_search(kind, state, argument)
        elif verb == LOOKUP and kind == "word":
            wrong = self.wrong_look_up(state)
        if wrong:
            self.erred.add(kind)
        return wrong

    def wrong_search(self, mistake: str, state: State, title: str) -> str:
        """Return a search for a name that is not quite right, or for another; empty for none."""
        if mistake == "misspelt":
            name, bracket, kind = title.partition(" (")
            misspelt = f"{name}{name[-TWICE:]}{bracket}{kind}"
            return "" if find(self.world, misspelt) else search(misspelt)
        if mistake == "plain":
            match = _KIND.fullmatch(title)
            return search(match[1]) if match else ""
        others = self.strangers(state)
        return search(self.rng.choice(others)) if others else ""

    def wrong_look_up(self, state: State) -> str:
        """Return a look-up of a word that the page lacks; empty for none."""
        for word in self.rng.sample(WORDS, 9):
            if not results(self.world, state.page, word):
                return look_up(word)
        return ""

    # -- The executor

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return the answer to a request."""
        if role == "planner":
            return Said(f"\n{self.plan(prompt)}")
        if role == "reflection":
            return Said(f" {self.reflection(prompt)}")
        return self.turn(prompt)

    def turn(self, prompt: str) -> Said:
        """Return the next line of an executor."""
        task = _TASK.findall(prompt)[-1]
        if task != ANSWER:
            return self.part_of(task, prompt)
        if self.gives_up:
            self.gives_up = False
            return Said(f" {FAILED}", learnt=False)
        acts = prompt.endswith("\nOK.\n>")  # the answer to a thought
        thought, action, learnt = self.move(prompt, errs=acts)
        return Said(f" {action}" if acts else f" think: {thought}", learnt)

    def part_of(self, task: str, prompt: str) -> Said:
        """Return the next line of an attempt at a step of a plan."""
        hops = [hop for hop in self.hops if hop.part == task]
        state = self.read(prompt)
        left = self.left(state, hops)
        if not left:
            return Said(f" think: {hops[-1].said} {COMPLETED}")
        action, learnt = self.sought(state, prompt, left)
        if not prompt.endswith("\nOK.\n>"):
            return Said(f" think: {self.thought(state, action)}", learnt)
        wrong = self.mistake(state, left[0])
        return Said(f" {wrong or action}", learnt=learnt and not wrong)

    def move(self, prompt: str, *, errs: bool = False) -> Move:
        """Return the next turn."""
        state = self.read(prompt)
        if self.strays:
            return self.strays.pop() if errs else self.strays[-1]
        left = self.left(state, self.hops)
        action, learnt = finish(self.task.question.answer), True
        if left:
            action, learnt = self.sought(state, prompt, left)
        thought = self.thought(state, action)
        if not errs:
            return Move(thought, action, learnt)
        guess = self.guess(state) if self.guesses else ""
        if guess:
            self.guesses -= 1
            return Move(thought, finish(guess), learnt=False)
        wrong = self.mistake(state, action)
        if wrong:
            self.strays = self.in_vain(wrong, action, prompt, left)[::-1]
        return Move(thought, wrong or action, learnt=learnt and not wrong)

    def in_vain(self, wrong: str, right: str, prompt: str, left: Sequence[str]) -> list[Move]:
        """Return turns that are wasted on a wrong page, as far as the limit allows.

        Words that it lacks are looked up, or it is opened again and again. Without them a player
        would not learn to leave a page that it took for the right one.
        """
        (verb, title), (_, sought) = parse(wrong), parse(right)
        page = find(self.world, title) if verb == SEARCH else None
        if page is None:
            return []
        room = max(0, expert.LONGEST - self.taken(prompt) - 1 - len(left) - 1)
        goal = find(self.world, sought)
        asked = next(hop.relation.question for hop in self.hops if hop.page == goal)
        if self.rng.random() < AGAIN:
            said = self.mention(self.read(prompt), page)
            thought = f"{page.title} is not what I need. {said}{asked.format(page.title)}"
            wasted = [Move(thought, wrong, learnt=False)] * room
        else:
            words = [word for word in words_for(asked) if not results(self.world, page.title, word)]
            wasted = [*self.lookups(words)]
        return wasted[: self.rng.randint(0, room)]

    def mention(self, state: State, page: Page) -> str:
        """Return the sentence of the page in view that names another page."""
        before = self.world.wiki.page(state.page)
        lines = sentences(before, self.world.sentences) if before else []
        return next((f"{line} " for line in lines if page.title in line), "")

    def lookups(self, words: Sequence[str]) -> Iterator[Move]:
        """Yield look-ups of words that a page lacks."""
        trouble = ""
        for word in words:
            thought = f"{trouble}It is not in view. I look for the word {word}."
            yield Move(thought, look_up(word), learnt=False)
            trouble = "That word is not here. "

    def taken(self, prompt: str) -> int:
        """Return the number of turns that an attempt took, and of those that mistakes will."""
        return len(_ACTION.findall(split(prompt)[1])) + len(self.mistakes) - len(self.erred)

    def sought(self, state: State, prompt: str, left: Sequence[str]) -> tuple[str, bool]:
        """Return the next action, and whether it can be known.

        What is left to do names the word that finds a sentence, which a reader cannot know. So
        words are tried in order; where too few turns are left for that, the right one is not
        learnt.
        """
        verb, right = parse(left[0])
        if verb != LOOKUP:
            return left[0], True
        played = _ACTION.findall(prompt)
        since = [number for number, action in enumerate(played) if parse(action)[0] == SEARCH]
        tried = {parse(action)[1] for action in played[since[-1] :]} if since else set()
        hop = next(hop for hop in self.hops if hop.page.title == state.page)
        words = [word for word in words_for(hop.relation.question) if word not in tried]
        finds = [self.finds(state, word, right) for word in words]
        if any(finds) and self.taken(prompt) + len(left) + 1 + finds.index(True) <= expert.LONGEST:
            return look_up(words[0]), True
        return left[0], False

    def finds(self, state: State, word: str, right: str) -> bool:
        """Return whether a word finds the sentence that the right one does."""
        found = results(self.world, state.page, word)[:1]
        return bool(found) and found == results(self.world, state.page, right)[:1]

    def others(self, prompt: str) -> list[Move]:
        """Return searches for other names in view, a lookup and an answer that nothing says."""
        state = self.read(prompt)
        words = self.rng.sample(WORDS, 2)
        moves = [Move(f"{title} may tell.", search(title)) for title in self.strangers(state)[:3]]
        if state.page:
            moves += [Move(f"The word {word} may lead on.", look_up(word)) for word in words]
        guess = self.guess(state)
        if guess:
            moves.append(Move(f"It is {guess}.", finish(guess)))
        return moves

    def strangers(self, state: State) -> list[str]:
        """Return titles in view of pages that the answer does not follow from."""
        golden = {hop.page.title for hop in self.hops}
        strangers = []
        for title in dict.fromkeys(self.titles(state)):
            page = find(self.world, title)
            if page and page.title not in golden:
                strangers.append(title)
        return strangers

    def titles(self, state: State) -> list[str]:
        """Return the titles on the page in view."""
        if not state.page:
            return []
        page = self.world.wiki.page(state.page)
        return [*titles_in(self.world, shown(self.world, page))] if page else []

    def line(self, prompt: str, action: str) -> str:
        """Return the line of a plan that says an action."""
        verb, argument = parse(action)
        if verb == LOOKUP:
            return LINES[1]
        if verb == SEARCH:
            if self.read(prompt).listed:
                return LINES[2]
            firsts = {hop.page for hop in self.hops if hop.name == hop.thing}
            return LINES[0] if find(self.world, argument) in firsts else LINES[3]
        return LINES[4]

    def judgement(self, prompt: str) -> tuple[str, float]:
        """Return what is to say of an attempt, and the share of the evidence that it read."""
        state, given = self.read(prompt), _GIVEN.findall(split(prompt)[1])
        known = self.known(state)
        if given:
            if len(known) == len(self.hops) and given[-1] == self.task.question.answer:
                return "That follows from what was read.", 1.0
            return f"No page says {given[-1]}.", 0.0
        left = [hop for hop in self.hops if hop not in known]
        last = f"{known[-1].said} " if known else ""
        rest = f"Left: {left[0].question}" if left else "All is read."
        is_open = state.page in {hop.page.title for hop in self.hops}
        share = (len(known) + is_open / 2) / (len(self.hops) + 1)
        trouble = self.trouble(state)
        return f"{trouble}{last}{rest}", still_open(share - bool(trouble) / 4)

    def done(self, prompt: str) -> list[str]:
        """Return each page with what it said."""
        given = _GIVEN.findall(split(prompt)[1])
        pages = [f"{search(hop.page.title)}: {hop.said}" for hop in self.known(self.read(prompt))]
        pages += [finish(answer) for answer in given[-1:]]
        return pages or ["I read nothing of what was asked."]

    def flaw(self, prompt: str) -> str:
        """Return what was not read before the end."""
        known = self.known(self.read(prompt))
        left = [hop.question for hop in self.hops if hop not in known]
        before = "I answered" if _GIVEN.search(split(prompt)[1]) else "The turns ended"
        if left:
            return f"{before} before I had read this: {left[0]}"
        return f"{before} when all was read."

    def guess(self, state: State) -> str:
        """Return a wrong answer, once a page was read."""
        answer = self.task.question.answer
        if answer in ("yes", "no"):
            return "no" if answer == "yes" else "yes"
        others = [title for title in self.titles(state) if title != answer]
        return self.rng.choice(others) if others else ""

    # -- The planners

    def steps(self) -> list[str]:
        """Return the steps of a plan: every fact that is not the question's own, and the answer."""
        question = self.task.question.question.rstrip("?").lower()
        return [*(hop.part for hop in self.hops if hop.part.lower() != f"{PART}{question}"), ANSWER]

    def plan(self, prompt: str) -> str:
        """Return a plan, or an answer without one."""
        if prompt.endswith("Thoughts, then the answer:"):
            return self.unread()
        return in_steps(self.steps())

    def unread(self) -> str:
        """Return an unread answer: nobody can know a made wiki, so it is a guess."""
        chain = read_question(self.task.question.question)
        answers = ["unknown"]
        if chain and chain.wanted == "same":
            answers = ["yes", "no"]
        elif chain and chain.wanted and len(self.hops) == len(chain.ways):
            answers = [thing.removeprefix("the ") for thing, _ in chain.ways]
        comment = f"# I have read nothing of {self.hops[0].thing}, so I guess."
        return f"{comment}\n{finish(self.rng.choice(answers))}"

    def reflection(self, prompt: str) -> str:
        """Return what is learnt from a trial: what was read, and what is left to read."""
        given = _GIVEN.findall(split(prompt)[1])
        known = self.known(self.read(prompt))
        read = "\n".join(f"{search(hop.page.title)}: {hop.said}" for hop in known)
        steps = [hop.question for hop in self.hops if hop not in known][:1]
        lesson = f"I answered {given[-1]}, and it was not right." if given else "I gave no answer."
        facts = f" What was read:\n{read}\n" if read else " "
        return f"{lesson}{facts}New plan:\n{in_steps([*steps, ANSWER])}"


def split(prompt: str) -> tuple[str, str]:
    """Return what a prompt tells before an attempt, and the attempt, of whatever agent."""
    before, mark, turns = prompt.rpartition("\nThought 1:")
    if not mark:
        mark = "\nAction:" if "\nAction:" in prompt else "\n>"
        before, _, turns = prompt.partition(mark)
    return before, f"{mark}{turns}"
