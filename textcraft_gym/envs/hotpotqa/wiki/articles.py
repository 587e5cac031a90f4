"""Writes the pages of a made wiki from its facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from textcraft_gym.envs.hotpotqa.wiki.corpus import Page
from textcraft_gym.envs.hotpotqa.wiki.facts import Facts, Thing, Value, written
from textcraft_gym.envs.hotpotqa.wiki.kinds import BORN, KINDS, Relation, article
from textcraft_gym.envs.hotpotqa.wiki.names import Draw

ALIAS = "alias"
"""What the sentence with another name of a thing is known by, beside the names of relations."""

_BY_ALIAS = 0.3
"""Probability that a text has another name of a thing, where it has one."""
_FEWEST_BEFORE_BREAK = 3
_BREAK = 0.25
"""Probability that a sentence begins a paragraph."""


@dataclass(frozen=True)
class Article:
    """A page, and where it says what.

    Attributes:
        page: The page.
        text: Its text.
        names: All names on it of things that have a page.
        sentences: The number of the sentence of each relation, and of the other name.
        links: The relations whose value the text has by the title of its page, which no other thing
            has for a name.
    """

    page: Page
    text: str
    names: frozenset[str]
    sentences: dict[str, int]
    links: frozenset[str]

    def said(self, relation: str) -> str:
        """Return the sentence of a relation."""
        sentences = list(chain.from_iterable(self.page.paragraphs))
        return sentences[self.sentences[relation]]


class Writer:
    """Writes the pages of things.

    Args:
        facts: The facts.
        draw: The source of the wording.
    """

    def __init__(self, facts: Facts, draw: Draw) -> None:
        self._facts = facts
        self._draw = draw
        self._persons = list(chain.from_iterable(facts.of_kind[role] for role in BORN))
        self._namesakes: dict[Thing, list[Thing]] = {}
        for group in facts.groups:
            self._namesakes.update(dict.fromkeys(group, group))

    def write(self, thing: Thing) -> Article:
        """Write the page of a thing."""
        draw, kind = self._draw, KINDS[thing.kind]
        names, links = {thing.name}, set()
        lead, *others = (relation for relation in kind.relations if relation.name in thing.facts)
        asides = draw.shuffled(kind.asides)[: draw.between(1, 4)]
        body: list[Relation | str] = draw.shuffled([*others, *asides])
        # The numbers count from the top of the page, where the namesakes are named.
        sentences, numbers = self._see_also(thing, names), {}
        if thing.alias:
            body.insert(0, f"{{s}} is also known as {thing.alias}.")
            numbers[ALIAS] = len(sentences) + 1
            names.add(thing.alias)
        parts: list[Relation | str] = [lead, *body]
        for part in parts:
            value = ""
            if isinstance(part, Relation):
                numbers[part.name] = len(sentences)
                value = self._mention(thing.facts[part.name], names)
                if value == getattr(thing.facts[part.name], "title", ""):
                    links.add(part.name)
                pattern = draw.pick(part.sentences)
            else:
                pattern = self._aside(part, names)
            subject = thing.name if part is lead else f"the {thing.kind}"
            sentence = pattern.format(s=subject, k=article(thing.kind), v=value)
            sentences.append(sentence[0].upper() + sentence[1:])

        page = Page(thing.title, self._divided(sentences))
        return Article(page, " ".join(sentences), frozenset(names), numbers, frozenset(links))

    def _see_also(
        self,
        thing: Thing,
        names: set[str],
    ) -> list[str]:
        """Return sentences that lead to the namesakes of a thing whose title is their name."""
        if not thing.is_shared or thing.title != thing.name:
            return []
        others = [other for other in self._namesakes[thing] if other is not thing]
        return [f"For the {other.kind}, see {other.title}." for other in others]

    def _mention(self, value: Value, names: set[str]) -> str:
        if not isinstance(value, Thing):
            return written(value)
        if value.alias and self._draw.chance(_BY_ALIAS):
            names.add(value.alias)
            return value.alias
        names.add(value.name)
        return value.named

    def _aside(self, pattern: str, names: set[str]) -> str:
        """Return a sentence that nothing is asked about, with the things that it names."""
        for slot, things in (("{person}", self._persons), ("{town}", self._facts.of_kind["town"])):
            if slot in pattern:
                pattern = pattern.replace(slot, self._mention(self._draw.pick(things), names))
        return pattern

    def _divided(self, sentences: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        paragraphs: list[list[str]] = [[]]
        for number, sentence in enumerate(sentences):
            if number >= _FEWEST_BEFORE_BREAK and self._draw.chance(_BREAK):
                paragraphs.append([])
            paragraphs[-1].append(sentence)
        return tuple(map(tuple, paragraphs))


def list_namesakes(group: Sequence[Thing]) -> Page:
    """Return the page that lists things of the same name."""
    entries = [(f"{thing.title}, {article(thing.kind)}",) for thing in group]
    return Page(group[0].name, ((f"{group[0].name} may refer to:",), *entries))
