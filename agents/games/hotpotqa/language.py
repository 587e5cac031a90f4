"""What a reader of questions understands: what is asked for, and the sentences of a page that say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

_VERBS = "released|published|issued|founded|formed|opened"
_KIND = re.compile(r"[Tt]he ([a-z][a-z ]*) ([^a-z].*)")
_COMPARED = re.compile(r"(?:Who|Which(?: \w+)?) (?:was|has) ([^,]+), (.+)")
_MORE = re.compile(r"\b(?:later|more)\b")
_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_DATE = re.compile(rf"(\d{{1,2}}) ({'|'.join(_MONTHS)}) (\d{{4}})")
_NUMBER = re.compile(r"[\d,]*\d")


class Fact(NamedTuple):
    """Something that is asked of a thing, and that a sentence can say.

    Attributes:
        asked: Pattern of a question for it, without the question mark; ``{}`` is the thing.
        nouns: How longer questions name it, the first of which is the reader's own name for it.
        says: Patterns of sentences that say it; the group is the value.
        words: What to look up where no sentence in view says it.
        same: The verb of a question for whether two things have the same; empty for none.
    """

    asked: str
    nouns: tuple[str, ...]
    says: tuple[str, ...]
    words: tuple[str, ...]
    same: str = ""


class Thing(NamedTuple):
    """A thing with a name, and its kind where that is told: the film Leaving Kelda."""

    name: str
    kind: str = ""


class Value(NamedTuple):
    """What a fact says of something."""

    fact: Fact
    of: Term


class Comparison(NamedTuple):
    """Which of two has less or more of something, or whether both have the same.

    Attributes:
        fact: What is compared.
        sides: The two.
        wanted: ``less``, ``more`` or ``same``.
    """

    fact: Fact
    sides: tuple[Term, Term]
    wanted: str


Term: TypeAlias = Thing | Value
Goal: TypeAlias = Value | Comparison


def _of(noun: str, *others: str) -> tuple[str, ...]:
    """Return the patterns of ``V is the noun of X`` and ``the noun of X is V``, and others."""
    return (rf"^(.+) (?:is|was) the {noun} of ", rf"\b{noun}(?: of .+?)? (?:is|was) (.+)$", *others)


BORN = Fact("On which date was {} born", ("the date of birth of {}",), (r"\bborn on (\d+ \w+ \d+)",), ("born",))
INHABITANTS = Fact(
    "How many inhabitants does {} have",
    ("the number of inhabitants of {}",),
    (r"([\d,]+) inhabitants",),
    ("inhabitants",),
)
YEAR = Fact(
    f"In which year was {{}} (?:{_VERBS})",
    ("the year of {}",),
    (rf"\b(?:{_VERBS}) in (\d{{4}})\b", r" is an? \w+ of (\d{4})$"),
    (),
)
FACTS = (
    BORN,
    INHABITANTS,
    YEAR,
    Fact(
        "In which town was {} born",
        ("the birthplace of {}",),
        (r"was born in (.+)$", r"is a native of (.+)$"),
        ("born in", "native"),
        "born in",
    ),
    Fact(
        "In which town did {} live",
        ("the town where {} lived",),
        (r"\blived in (.+)$", r"had a house in (.+)$"),
        ("lived", "house"),
    ),
    Fact(
        "Which prize did {} win",
        ("the prize of {}",),
        (r"\bwon the (.+)$", r"\breceived the (.+)$"),
        ("won", "received"),
    ),
    Fact(
        "Which school did {} attend",
        ("the school that {} attended",),
        (r"\battended (.+)$", r"was a pupil of (.+)$"),
        ("attended", "pupil"),
        "attend",
    ),
    Fact(
        "Who was the main influence of {}",
        ("the main influence of {}",),
        _of("main influence", r"\bnames (.+) as the main influence"),
        ("influence",),
    ),
    Fact("Who founded {}", ("the founder of {}",), _of("founder", r"was founded by (.+)$"), ("founded by", "founder")),
    Fact(
        "In which town is {} based",
        ("the town where {} is based", "the home town of {}"),
        (r"is based in (.+)$", r"has its seat in (.+)$"),
        ("based", "seat"),
        "based in",
    ),
    Fact(
        "In which region does {} lie",
        ("the region of {}",),
        (r"\blies in (.+)$", r"\bbelongs to (.+)$"),
        ("lies", "belongs"),
        "lie in",
    ),
    Fact("Who is the mayor of {}", ("the mayor of {}",), _of("mayor"), ("mayor",)),
    Fact(
        "Which river flows through {}",
        ("the river of {}",),
        (r"stands on the river (.+)$", r"^The river (.+) flows "),
        ("river",),
    ),
    Fact("What is the capital of {}", ("the capital of {}",), _of("capital"), ("capital",)),
    Fact("Which is the largest lake of {}", ("the largest lake of {}",), _of("largest lake"), ("lake",)),
    Fact("How many square kilometres does {} have", ("the area of {}",), (r"([\d,]+) square",), ("square",)),
    Fact("Who directed {}", ("the director of {}",), _of("director", r"was directed by (.+)$"), ("direct",)),
    Fact(
        "Who played the leading part in {}",
        ("the star of {}",),
        (r"^(.+) played the leading part", r"leading part was played by (.+)$"),
        ("leading part",),
    ),
    Fact(
        "Which studio produced {}",
        ("the studio that produced {}",),
        (r"was produced by (.+)$", r"producing studio was (.+)$"),
        ("produc",),
        "produced by",
    ),
    Fact("Who produced {}", ("the producer of {}",), _of("producer", r"was produced by (.+)$"), ("produce",)),
    Fact(
        "On which novel is {} based",
        ("the novel on which {} is based",),
        _of("source", r"is based on (.+)$"),
        ("based on", "source"),
    ),
    Fact("In which town was {} shot", ("the town where {} was shot",), (r"was shot in (.+)$",), ("shot",)),
    Fact("Who wrote {}", ("the author of {}",), _of("author", r"was written by (.+)$"), ("written", "author")),
    Fact(
        "Which publisher brought out {}",
        ("the publisher of {}",),
        _of("publisher", r"was brought out by (.+)$"),
        ("brought out", "publisher"),
        "brought out by",
    ),
    Fact("In which town is {} set", ("the town in which {} is set",), (r"is set in (.+)$",), ("set in",)),
    Fact(
        "In which town was {} formed",
        ("the town where {} was formed",),
        (r"was formed in (\D+)$", r"\bcomes from (.+)$"),
        ("formed", "comes from"),
        "formed in",
    ),
    Fact("Who is the singer of {}", ("the singer of {}",), _of("singer"), ("singer",)),
    Fact(
        "What is the label of {}",
        ("the label of {}",),
        _of("label", r"has a contract with (.+)$"),
        ("contract", "label"),
        "have",
    ),
    Fact(
        "Which band made {}",
        ("the band that made {}",),
        (r"was made by (.+)$", r"^(.+) made this album"),
        ("made",),
    ),
    Fact(
        "In which town was {} recorded",
        ("the town where {} was recorded",),
        (r"was recorded in (.+)$",),
        ("recorded",),
    ),
    Fact("Who is the manager of {}", ("the manager of {}",), _of("manager"), ("manager",)),
    Fact(
        "Who designed {}", ("the architect of {}",), _of("architect", r"was designed by (.+)$"), ("design", "architect")
    ),
    Fact(
        "In which town does {} stand",
        ("the town where {} stands",),
        (r"\bstands in (.+)$",),
        ("stands in",),
        "stand in",
    ),
)
_ASKED = tuple((re.compile(fact.asked.replace("{}", "(.+)")), fact) for fact in FACTS)
_NOUNS = tuple((re.compile(noun.replace("{}", "(.+)")), fact) for fact in FACTS for noun in fact.nouns)
_SAME = tuple((re.compile(rf"(?:Are|Did|Do|Were) (.+) {fact.same} the same \w+"), fact) for fact in FACTS if fact.same)
_SAYS = {fact: tuple(map(re.compile, fact.says)) for fact in FACTS}


def read_question(words: str) -> Goal | None:
    """Return what a question asks for; None if that is not understood."""
    words = words.strip().removesuffix("?")
    for pattern, fact in _SAME:
        if found := pattern.fullmatch(words):
            return Comparison(fact, _sides(found[1], " and "), "same")
    if found := _COMPARED.fullmatch(words):
        fact = BORN if " born " in f" {found[1]} " else INHABITANTS if "inhabitants" in found[1] else YEAR
        return Comparison(fact, _sides(found[2], " or "), "more" if _MORE.search(found[1]) else "less")
    for pattern, fact in _ASKED:
        if found := pattern.fullmatch(words):
            return Value(fact, read_term(found[1]))
    return None


def read_term(words: str) -> Term:
    """Return what words stand for: what a fact says of something, or a thing."""
    for pattern, fact in _NOUNS:
        if found := pattern.fullmatch(words):
            return Value(fact, read_term(found[1]))
    if found := _KIND.fullmatch(words):
        return Thing(found[2], found[1].split()[-1])
    return Thing(words)


def in_words(term: Term) -> str:
    """Return the words for a term, which ``read_term`` understands."""
    if isinstance(term, Thing):
        return f"the {term.kind} {term.name}" if term.kind else term.name
    return term.fact.nouns[0].format(in_words(term.of))


def said(fact: Fact, sentence: str) -> Thing | None:
    """Return the value that a sentence says; None if it says nothing of the fact."""
    for pattern in _SAYS[fact]:
        if found := pattern.search(sentence):
            thing = read_term(found[1])
            return thing if isinstance(thing, Thing) else Thing(found[1])
    return None


def size(value: str) -> tuple[int, ...] | None:
    """Return a date or a number such that they compare; None of other values."""
    if found := _DATE.search(value):
        return int(found[3]), _MONTHS.index(found[2]), int(found[1])
    digits = _NUMBER.search(value)
    return (int(digits[0].replace(",", "")),) if digits else None


def values(goal: Goal | Term) -> Iterator[Value]:
    """Yield the values that a goal takes, those that others follow from first."""
    if isinstance(goal, Comparison):
        for side in goal.sides:
            yield from values(Value(goal.fact, side))
    elif isinstance(goal, Value):
        yield from values(goal.of)
        yield goal


def _sides(words: str, middle: str) -> tuple[Term, Term]:
    """Return the two sides of a comparison; a name may have the word between them as well."""
    parts = words.split(middle)
    cuts = [(middle.join(parts[:cut]), middle.join(parts[cut:])) for cut in range(1, len(parts))] or [(words, "")]
    both = [(read_term(first), read_term(second)) for first, second in cuts]
    return next((sides for sides in both if _shape(sides[0]) == _shape(sides[1])), both[0])


def _shape(term: Term) -> tuple[str, ...]:
    return (term.kind,) if isinstance(term, Thing) else (term.fact.asked, *_shape(term.of))
