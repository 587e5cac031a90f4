"""The kinds of things that a made wiki is about, and what it says of them and asks about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Relation(NamedTuple):
    """What is said of things of a kind, and asked about them.

    Attributes:
        name: Its name.
        value: Kind of its value: that of a thing, or ``number``, ``date``, ``prize``, ``lake`` or
            ``river``, which have no page.
        sentences: Sentences that say it: ``{s}`` is the thing, ``{k}`` its kind with an article,
            ``{v}`` the value.
        question: A question for the value, with ``{}`` for the thing.
        noun: How a longer question names the value; empty for a value without a page.
        compare: Questions for which of two things has less of it, and which has more.
        same: A question for whether two things have the same value.
        chance: Probability that a thing has it.
        bounds: The lowest and the highest number.
    """

    name: str
    value: str
    sentences: tuple[str, ...]
    question: str
    noun: str = ""
    compare: tuple[str, ...] = ()
    same: str = ""
    chance: float = 1.0
    bounds: tuple[int, int] = (0, 0)


class Kind(NamedTuple):
    """A kind of things.

    Attributes:
        share: Share of the things, in hundredths; they are 99 together, and the rest is more films.
        phrase: How a text names a thing where its name alone would not do.
        relations: Its relations, the first in the first sentence of a page.
        asides: Sentences that nothing is asked about: ``{town}`` and ``{person}`` are drawn.
    """

    share: float
    phrase: str
    relations: tuple[Relation, ...]
    asides: tuple[str, ...]


BORN: Mapping[str, tuple[int, int]] = {
    "director": (1890, 1939),
    "actor": (1890, 1939),
    "writer": (1890, 1929),
    "singer": (1920, 1939),
    "producer": (1900, 1949),
    "manager": (1900, 1949),
    "architect": (1890, 1929),
    "mayor": (1900, 1949),
    "merchant": (1800, 1829),
}
"""Years in which persons are born, by what they do: a person is older than what the person made."""
_CREATIVE = ("director", "actor", "writer", "singer", "producer", "architect")


def article(noun: str) -> str:
    """Return a noun with its indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _person(role: str) -> Kind:
    relations = [
        Relation(
            "born",
            "date",
            ("{s}, born on {v}, is {k}.", "{s} is {k} who was born on {v}."),
            "On which date was {} born?",
            compare=("Who was born first, {} or {}?", "Who was born later, {} or {}?"),
        ),
        Relation(
            "birthplace",
            "town",
            ("{s} was born in {v}.", "{s} is a native of {v}."),
            "In which town was {} born?",
            "the birthplace of {}",
            same="Were {} and {} born in the same town?",
        ),
        Relation(
            "home",
            "town",
            ("{s} lived in {v}.", "{s} had a house in {v}."),
            "In which town did {} live?",
            "the town where {} lived",
        ),
        Relation(
            "prize",
            "prize",
            ("{s} won the {v}.", "{s} received the {v}."),
            "Which prize did {} win?",
            chance=0.7,
        ),
    ]
    if role != "merchant":  # of that time, who founded the schools
        relations.append(
            Relation(
                "school",
                "school",
                ("{s} attended {v}.", "{s} was a pupil of {v}."),
                "Which school did {} attend?",
                "the school that {} attended",
                same="Did {} and {} attend the same school?",
            )
        )
    if role in _CREATIVE:
        relations.append(
            Relation(
                "influence",
                role,
                ("{s} names {v} as the main influence.", "The main influence of {s} was {v}."),
                "Who was the main influence of {}?",
                "the main influence of {}",
                chance=0.7,
            )
        )
    return Kind(
        4.0,
        f"the {role} {{}}",
        tuple(relations),
        (
            "{s} speaks three languages.",
            "{s} collects old maps of {town}.",
            "A street in {town} has the name of {s}.",
            "{s} seldom gave interviews.",
            "{s} was a friend of {person}.",
            "The letters of {s} are kept in {town}.",
            "{s} began late.",
        ),
    )


def _work(
    kind: str,
    share: float,
    years: tuple[int, int],
    verb: str,
    relations: tuple[Relation, ...],
) -> Kind:
    return Kind(
        share,
        f"the {kind} {{}}",
        (
            Relation(
                "year",
                "number",
                (
                    f"{{s}} is {article(kind)} of {{v}}.",
                    f"{{s}} is {article(kind)} that was {verb} in {{v}}.",
                ),
                f"In which year was {{}} {verb}?",
                compare=(
                    f"Which {kind} was {verb} earlier, {{}} or {{}}?",
                    f"Which {kind} was {verb} later, {{}} or {{}}?",
                ),
                bounds=years,
            ),
            *relations,
        ),
        (
            "{s} was praised for its humour.",
            "{s} was little noticed at first.",
            "{person} called it a small wonder.",
            "A newspaper in {town} called it too long.",
            "It has been translated often.",
            "The original drafts are in {town}.",
            "{s} was presented in {town}.",
        ),
    )


def _founded(years: tuple[int, int]) -> Relation:
    return Relation(
        "year",
        "number",
        ("{s} is {k} that was founded in {v}.", "{s} is {k}, founded in {v}."),
        "In which year was {} founded?",
        compare=("Which was founded earlier, {} or {}?", "Which was founded later, {} or {}?"),
        bounds=years,
    )


def _seat(noun: str) -> Relation:
    return Relation(
        "town",
        "town",
        ("{s} is based in {v}.", "{s} has its seat in {v}."),
        "In which town is {} based?",
        noun,
        same="Are {} and {} based in the same town?",
    )


_FOUNDER = Relation(
    "founder",
    "merchant",
    ("{s} was founded by {v}.", "The founder of {s} was {v}."),
    "Who founded {}?",
    "the founder of {}",
)
_COMPANY_ASIDES = (
    "{s} has a small archive.",
    "{s} once had a branch in {town}.",
    "{person} wrote a history of it.",
    "{s} burnt down once and was rebuilt.",
    "{s} keeps a garden.",
    "Its sign is an owl.",
)


def _company(share: float, phrase: str) -> Kind:
    return Kind(
        share,
        phrase,
        (_founded((1850, 1879)), _FOUNDER, _seat("the town where {} is based")),
        _COMPANY_ASIDES,
    )


KINDS: Mapping[str, Kind] = {
    "region": Kind(
        1.0,
        "the region {}",
        (
            Relation(
                "area",
                "number",
                ("{s} is a region of {v} square kilometres.",),
                "How many square kilometres does {} have?",
                bounds=(11_000, 98_000),
            ),
            Relation(
                "capital",
                "town",
                ("{v} is the capital of {s}.",),
                "What is the capital of {}?",
                "the capital of {}",
            ),
            Relation(
                "lake",
                "lake",
                ("The largest lake of {s} is {v}.",),
                "Which is the largest lake of {}?",
            ),
        ),
        (
            "{s} has long winters.",
            "{s} exports timber.",
            "Most people of {s} live near the coast.",
            "{s} has two railways.",
        ),
    ),
    "town": Kind(
        12.0,
        "the town {}",
        (
            Relation(
                "inhabitants",
                "number",
                ("{s} is a town of {v} inhabitants.", "{s} is a town with {v} inhabitants."),
                "How many inhabitants does {} have?",
                compare=(
                    "Which town has fewer inhabitants, {} or {}?",
                    "Which town has more inhabitants, {} or {}?",
                ),
                bounds=(11_000, 98_000),
            ),
            Relation(
                "region",
                "region",
                ("{s} lies in {v}.", "{s} belongs to {v}."),
                "In which region does {} lie?",
                "the region of {}",
                same="Do {} and {} lie in the same region?",
            ),
            Relation(
                "mayor",
                "mayor",
                ("{v} is the mayor of {s}.", "The mayor of {s} is {v}."),
                "Who is the mayor of {}?",
                "the mayor of {}",
            ),
            Relation(
                "river",
                "river",
                ("{s} stands on the river {v}.", "The river {v} flows through {s}."),
                "Which river flows through {}?",
            ),
        ),
        (
            "{s} has a market on Thursdays.",
            "{s} is known for its clocks.",
            "The walls of {s} were taken down.",
            "{person} stayed here for a summer.",
            "The road to {town} was built late.",
            "{s} is twinned with {town}.",
            "The old harbour is a park today.",
        ),
    ),
    "school": _company(4.0, "the school {}"),
    "studio": _company(1.5, "the studio {}"),
    "label": _company(1.2, "the label {}"),
    "publisher": _company(1.3, "the publisher {}"),
    **{role: _person(role) for role in BORN},
    "film": _work(
        "film",
        11.0,
        (1970, 2009),
        "released",
        (
            Relation(
                "director",
                "director",
                ("{s} was directed by {v}.", "The director of {s} was {v}."),
                "Who directed {}?",
                "the director of {}",
            ),
            Relation(
                "star",
                "actor",
                ("{v} played the leading part.", "The leading part was played by {v}."),
                "Who played the leading part in {}?",
                "the star of {}",
            ),
            Relation(
                "studio",
                "studio",
                ("{s} was produced by {v}.", "The producing studio was {v}."),
                "Which studio produced {}?",
                "the studio that produced {}",
                same="Were {} and {} produced by the same studio?",
            ),
            Relation(
                "novel",
                "novel",
                ("{s} is based on {v}.", "The source of {s} was {v}."),
                "On which novel is {} based?",
                "the novel on which {} is based",
                chance=0.4,
            ),
            Relation(
                "place",
                "town",
                ("{s} was shot in {v}.",),
                "In which town was {} shot?",
                "the town where {} was shot",
            ),
        ),
    ),
    "novel": _work(
        "novel",
        8.0,
        (1950, 1969),
        "published",
        (
            Relation(
                "author",
                "writer",
                ("{s} was written by {v}.", "The author of {s} is {v}."),
                "Who wrote {}?",
                "the author of {}",
            ),
            Relation(
                "publisher",
                "publisher",
                ("{s} was brought out by {v}.", "The publisher was {v}."),
                "Which publisher brought out {}?",
                "the publisher of {}",
                same="Were {} and {} brought out by the same publisher?",
            ),
            Relation(
                "place",
                "town",
                ("{s} is set in {v}.",),
                "In which town is {} set?",
                "the town in which {} is set",
            ),
        ),
    ),
    "band": Kind(
        8.0,
        "the band {}",
        (
            Relation(
                "year",
                "number",
                ("{s} is a band that was formed in {v}.", "{s} is a band, formed in {v}."),
                "In which year was {} formed?",
                compare=(
                    "Which band was formed earlier, {} or {}?",
                    "Which band was formed later, {} or {}?",
                ),
                bounds=(1955, 1979),
            ),
            Relation(
                "town",
                "town",
                ("{s} was formed in {v}.", "{s} comes from {v}."),
                "In which town was {} formed?",
                "the town where {} was formed",
                same="Were {} and {} formed in the same town?",
            ),
            Relation(
                "singer",
                "singer",
                ("{v} is the singer of {s}.", "The singer of {s} is {v}."),
                "Who is the singer of {}?",
                "the singer of {}",
            ),
            Relation(
                "label",
                "label",
                ("{s} has a contract with {v}.", "The label of {s} is {v}."),
                "What is the label of {}?",
                "the label of {}",
                same="Do {} and {} have the same label?",
            ),
        ),
        (
            "{s} is known for long concerts.",
            "{s} once played on a ferry.",
            "{person} designed the posters.",
            "{s} played in {town} every spring.",
            "{s} never travelled by air.",
            "The drummer owned a bakery.",
        ),
    ),
    "album": _work(
        "album",
        9.0,
        (1980, 2009),
        "issued",
        (
            Relation(
                "band",
                "band",
                ("{s} was made by {v}.", "{v} made this album."),
                "Which band made {}?",
                "the band that made {}",
            ),
            Relation(
                "producer",
                "producer",
                ("{s} was produced by {v}.", "The producer was {v}."),
                "Who produced {}?",
                "the producer of {}",
            ),
            Relation(
                "place",
                "town",
                ("{s} was recorded in {v}.",),
                "In which town was {} recorded?",
                "the town where {} was recorded",
            ),
        ),
    ),
    "club": Kind(
        3.0,
        "the football club {}",
        (
            _founded((1870, 1949)),
            _seat("the home town of {}"),
            Relation(
                "manager",
                "manager",
                ("{v} is the manager of {s}.", "The manager of {s} is {v}."),
                "Who is the manager of {}?",
                "the manager of {}",
            ),
        ),
        (
            "{s} plays in green.",
            "{s} won the cup twice.",
            "The ground holds few spectators.",
            "Many of its supporters live in {town}.",
            "{person} was its first captain.",
        ),
    ),
    "building": Kind(
        3.0,
        "{}",
        (
            Relation(
                "year",
                "number",
                ("{s} is a building that was opened in {v}.", "{s} is a building, opened in {v}."),
                "In which year was {} opened?",
                compare=(
                    "Which was opened earlier, {} or {}?",
                    "Which was opened later, {} or {}?",
                ),
                bounds=(1955, 2009),
            ),
            Relation(
                "architect",
                "architect",
                ("{s} was designed by {v}.", "The architect of {s} was {v}."),
                "Who designed {}?",
                "the architect of {}",
            ),
            Relation(
                "town",
                "town",
                ("{s} stands in {v}.",),
                "In which town does {} stand?",
                "the town where {} stands",
                same="Do {} and {} stand in the same town?",
            ),
        ),
        (
            "{s} is lit at night.",
            "{s} was closed for two years.",
            "{person} painted it.",
            "Its stones came from {town}.",
            "{s} is shown on a stamp.",
        ),
    ),
}

HOMONYMS: Sequence[Sequence[str]] = (
    ("film", "novel", "album"),
    ("film", "novel"),
    ("film", "album"),
    ("novel", "album"),
    ("director", "manager"),
    ("actor", "mayor"),
    ("writer", "merchant"),
    ("singer", "architect"),
    ("producer", "actor"),
)
"""Kinds of things of the same name."""
