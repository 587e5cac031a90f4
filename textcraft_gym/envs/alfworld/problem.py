"""Problems: the declarations, facts, goal and task sentence of a game, as in its file.

The PDDL domain and the grammar in a game file (apart from the task sentence) are the same in all
official games of a release and are built into this engine, so that a file with others is refused.
Only the PDDL problem differs from game to game.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.envs.alfworld.text import WORDINGS, Dialect
from textcraft_gym.errors import TextCraftGymError

KNOWN_DOMAINS: Mapping[str, Dialect] = {
    # In the games of 0.4, in the package alfworld 0.4.2, and in the packages 0.2.2 to 0.3.5.
    "0af55e7f92d12b09d28515aa730e4d03fddd17228ef1fd7b18a3ee8ba49b27b9": "0.4",
    "f1473041ed01da514de1f87adfd7ef0804862361f83ccf63c75e43633b0eb280": "0.4",
    "e64e8c0002648c403e05adedc25be5ea8b9863924f32cc7611051bed1f386e46": "0.3",
}
KNOWN_GRAMMARS: Mapping[str, Dialect] = {
    "063d42f07581dbed3b4f655bae25e0af94fd0e062f9eae0f6f63037ecd5177e6": "0.4",
    "93119b93cd2872a8057ed9a13f40891d21ee1be4d95a6dc2f8fe36b55630e652": "0.4",
    "f1c3ceffd69e615da58f23a499185f2dc3449da391226bbeda8184064cdaaade": "0.3",
}
"""The dialects of the domains and grammars that this engine implements, by SHA-256.

That of a grammar is taken without the task.
"""
TASK = re.compile(r'Your task is to: [^"]*')

MAX_NESTING = 100
"""Depth of brackets in a problem; that of real ones is below 20."""
SORTS = ("agent", "location", "receptacle", "object", "rtype", "otype")
PREDICATES: dict[str, tuple[str, ...]] = {
    "atLocation": ("agent", "location"),
    "canContain": ("rtype", "otype"),
    "cleanable": ("object",),
    "coolable": ("object",),
    "heatable": ("object",),
    "inReceptacle": ("object", "receptacle"),
    "inReceptacleObject": ("object", "object"),
    "isClean": ("object",),
    "isCool": ("object",),
    "isHot": ("object",),
    "isOn": ("object",),
    "isReceptacleObject": ("object",),
    "isSliced": ("object",),
    "isToggled": ("object",),
    "objectAtLocation": ("object", "location"),
    "objectType": ("object", "otype"),
    "openable": ("receptacle",),
    "opened": ("receptacle",),
    "pickupable": ("object",),
    "receptacleAtLocation": ("receptacle", "location"),
    "receptacleType": ("receptacle", "rtype"),
    "sliceable": ("object",),
    "toggleable": ("object",),
}
"""The predicates of the domain that rules or texts use, with the sorts of their arguments."""

TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)


class GameError(TextCraftGymError, ValueError):
    """A game that cannot be read or played; the message names the file and the error."""


class Goal(NamedTuple):
    """The goal of a game.

    Attributes:
        task_type: One of ``TASK_TYPES``.
        otype: The type of object, ``BookType``.
        target: The type of receptacle to put it in, or of lamp to hold it under.
    """

    task_type: str
    otype: str
    target: str


@dataclass(frozen=True)
class Problem:
    """A household and the task in it.

    Attributes:
        things: The sort of each id, in the order of declaration.
        facts: The initial facts in their order, each a predicate and ids; official games repeat
            some.
        goal: The goal.
        task: The sentence that states the goal, without ``Your task is to: ``.
    """

    things: dict[str, str]
    facts: tuple[tuple[str, ...], ...]
    goal: Goal
    task: str

    @cached_property
    def arguments(self) -> Mapping[str, Sequence[tuple[str, ...]]]:
        """The arguments of all facts, each once, by predicate; empty for one without facts."""
        by_predicate: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for fact in dict.fromkeys(self.facts):
            by_predicate[fact[0]].append(fact[1:])
        return by_predicate


def read_game(file: Path) -> Problem:
    """Read an official ``game.tw-pddl`` of any known version; it can be played in every dialect.

    Raises:
        GameError: If it is truncated, has another domain or grammar, or its problem cannot be
            parsed.
    """
    _, text, task = _read(file)
    try:
        return parse_problem(text, task)
    except GameError as error:
        raise GameError(f"{file}: {error}") from error


def read_dialect(file: Path) -> Dialect:
    """Return the dialect in which the official engine plays a game file.

    Raises:
        GameError: If it is truncated, or has another domain or grammar.
    """
    return _read(file)[0]


def _read(file: Path) -> tuple[Dialect, str, str]:
    """Return the dialect of a game file, its problem in PDDL, and its task sentence."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        domain, grammar, text = (data[key] for key in ("pddl_domain", "grammar", "pddl_problem"))
        task = TASK.search(grammar)
        dialect = known_dialect(domain, grammar)
        (grammar + text).encode()  # refuses half a pair of surrogates, which could not be printed
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise GameError(f"{file}: not a game file: {type(error).__name__}: {error}") from error
    if not dialect or not task:
        raise GameError(
            f"{file}: unknown version of its domain or grammar, in dialect {_guess(grammar)}"
        )
    return dialect, str(text), task[0].removeprefix("Your task is to: ")


def _guess(grammar: str) -> str:
    """Name the dialects whose command to put something down a grammar has."""
    dialects = [name for name, wording in WORDINGS.items() if f'"{wording.put}"' in grammar]
    return " or ".join(dialects) or "unknown"


def known_dialect(domain: str, grammar: str) -> Dialect | None:
    """Return the dialect of a domain and a grammar; None if this engine does not implement them."""
    dialect = KNOWN_DOMAINS.get(_sha256(domain))
    # Where both are unknown they are equal, and the dialect is None.
    if dialect != KNOWN_GRAMMARS.get(_sha256(TASK.sub("", grammar))):
        return None
    return dialect


def parse_problem(text: str, task: str) -> Problem:
    """Parse a problem in PDDL.

    Raises:
        GameError: If it is truncated, or contains an unknown sort, predicate, id or goal.
    """
    sections = {part[0]: part[1:] for part in _parse(text) if isinstance(part, tuple) and part}
    for section in (":objects", ":init", ":goal"):
        if section not in sections:
            raise GameError(f"the problem has no {section}")
    declared = _declarations(sections[":objects"])
    facts = sections[":init"]
    problem = Problem(declared, facts, _goal(sections[":goal"]), task)
    # Facts are checked by predicate, which is fast, and one by one only to name the wrong one.
    if () in facts or not all(
        _are_declared(predicate, arguments, declared)
        for predicate, arguments in problem.arguments.items()
    ):
        raise GameError(next(filter(None, (_wrong_fact(fact, declared) for fact in facts))))
    return problem


def goal_form(goal: Goal) -> str:
    """Return a goal in PDDL, on one line."""
    # To the letter as in the official games, since ``_goal`` compares goals as text.
    otype, target = goal.otype, goal.target
    placed = f"(inReceptacle ?o ?r) (objectType ?o {otype}) (receptacleType ?r {target})"
    if goal.task_type == "pick_and_place_simple":
        return f"(and (exists (?r - receptacle) (exists (?o - object) (and {placed}))))"
    if goal.task_type in TREATED:
        able, state = TREATED[goal.task_type]
        conditions = (
            f"({able} ?o)",
            f"(objectType ?o {otype})",
            f"(receptacleType ?r {target})",
            f"({state} ?o)",
        )
        joined = " ".join((*conditions, "(inReceptacle ?o ?r)"))
        return f"(and (exists (?r - receptacle) (exists (?o - object) (and {joined}))))"
    if goal.task_type == "pick_two_obj_and_place":
        first, second = (
            f"(objectType ?o{n} {otype}) (receptacleType ?r {target}) (inReceptacle ?o{n} ?r)"
            for n in (1, 2)
        )
        other = f"(exists (?o2 - object) (and (not (= ?o1 ?o2)) {second}))"
        return f"(and (exists (?r - receptacle) (exists (?o1 - object) (and {first} {other}))))"
    lamp = (
        f"(objectType ?ot {target}) (toggleable ?ot) (isToggled ?ot) "
        "(receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)"
    )
    near = f"(exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and {lamp}))"
    held = f"(exists (?o - object ?a - agent) (and (objectType ?o {otype}) (holds ?a ?o)))"
    return f"(and {near} {held})"


TREATED = {
    "pick_clean_then_place_in_recep": ("cleanable", "isClean"),
    "pick_heat_then_place_in_recep": ("heatable", "isHot"),
    "pick_cool_then_place_in_recep": ("coolable", "isCool"),
}
"""For each task that treats an object: the predicates of objects that allow it, and of treated."""


def _parse(text: str) -> tuple[Any, ...]:
    """Parse the first S-expression of a text into nested tuples of strings, skipping comments."""
    before, *forms = re.sub(r";[^\n]*", "", text).split("(")
    if before.strip() or not forms:
        raise GameError("expected the problem to begin with a bracket")
    open_forms: list[list[Any]] = [[]]
    for form in forms:
        if len(open_forms) > MAX_NESTING:
            raise GameError(f"the problem has brackets nested more than {MAX_NESTING} deep")
        words, closing, rest = form.partition(")")
        inner = words.split()
        if closing and not rest.strip() and len(open_forms) > 1:
            # A form without others inside, as most are: no need to open it.
            open_forms[-1].append(tuple(inner))
            continue
        open_forms.append(inner)
        if not closing:
            continue
        # Each bracket closes a form; the words behind it go on with the form around that.
        for tail in rest.split(")"):
            closed = tuple(open_forms.pop())
            if len(open_forms) == 1:
                return closed
            open_forms[-1].append(closed)
            open_forms[-1].extend(tail.split())
    raise GameError("the problem is truncated: a bracket is not closed")


def _declarations(forms: Iterable[Any]) -> dict[str, str]:
    """Return the sort of each id in a typed list of PDDL, ``a b - object c - location``."""
    declared: dict[str, str] = {}
    unsorted: list[str] = []
    remaining = iter(forms)
    for form in remaining:
        if form != "-":
            unsorted.append(form)
            continue
        # A dash ends a list of ids, and their sort follows.
        sort = next(remaining, None)
        if sort not in SORTS:
            raise GameError(f"expected one of the sorts {', '.join(SORTS)}, got {sort!r}")
        for id in unsorted:
            declared[id] = sort
        unsorted.clear()
    for id in (*declared, *unsorted):
        if not isinstance(id, str):
            raise GameError(f"expected an id and its sort, got {_written(id)}")
    if unsorted:
        raise GameError(f"{unsorted[0]} has no sort")
    return declared


def _are_declared(
    predicate: str,
    arguments: Sequence[tuple[str, ...]],
    declared: dict[str, str],
) -> bool:
    """Return whether all facts of a predicate have its number of arguments, of the right sorts."""
    sorts = PREDICATES.get(predicate)
    if sorts is None or set(map(len, arguments)) != {len(sorts)}:
        return False
    columns = zip(*arguments, strict=True)
    return all(
        set(map(declared.get, column)) == {sort}
        for sort, column in zip(sorts, columns, strict=True)
    )


def _wrong_fact(form: Any, declared: dict[str, str]) -> str:
    """Return the error in a form that is not a fact about declared ids; empty for a fact."""
    if not isinstance(form, tuple) or not form or not all(isinstance(part, str) for part in form):
        return f"expected a fact, got {_written(form)}"
    predicate, *ids = form
    sorts = PREDICATES.get(predicate)
    if sorts is None:
        return f"unknown predicate {predicate}"
    if len(ids) != len(sorts):
        return f"expected {len(sorts)} arguments in {_written(form)}"
    for id, sort in zip(ids, sorts, strict=True):
        got = declared.get(id, "not declared")
        if got != sort:
            return f"{id} in {_written(form)} is {got}, expected {sort}"
    return ""


def _goal(forms: Sequence[Any]) -> Goal:
    written = _written(forms[0]) if len(forms) == 1 else ""
    types = set(re.findall(r"\((?:object|receptacle)Type \S+ (\w+)\)", written))
    # The goals have one fixed form for each task type: write each candidate and compare, rather
    # than parse it.
    for task_type in TASK_TYPES:
        for otype, target in product(types, repeat=2):
            if goal_form(Goal(task_type, otype, target)) == written:
                return Goal(task_type, otype, target)
    raise GameError(f"expected the goal of one of the six task types, got {written[:200]}")


def _written(form: Any) -> str:
    if isinstance(form, tuple):
        return f"({' '.join(map(_written, form))})"
    return str(form)


@lru_cache(maxsize=32)  # the domain is the same in all games of a release
def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
