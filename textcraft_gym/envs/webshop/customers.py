"""How customers say what they want: in lower case, with words of their own and a slip of the pen now and then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from textcraft_gym.envs.shuffle import Number
from textcraft_gym.envs.webshop.wares import Ask, Attribute, Ware, attributes, choices, phrases

T = TypeVar("T")

ADJECTIVES = 0.2
"""How likely an attribute is said by an adjective, where it has one."""
SYNONYMS = 0.7
"""How likely the words of an attribute are avoided where it is said by a sentence."""
APART = 0.3
"""How likely these sentences stand apart, ``it should be ...``."""
PARAPHRASES = 0.3
"""How likely a value is said as it is not written."""
REASONS = 0.4
"""How likely a customer begins with what is behind the wish."""
SLIPS = 0.02
"""How likely a word of an instruction is mistyped."""

_ONE = ("a", "an", "something")
_PREPOSITIONS = ("in ", "for ", "with ")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_VALUE_WORDS = (
    (r"^x-large$", "extra large"),
    (r"^xx-large$", "2xl"),
    (r"^([34])x-large$", r"\1xl"),
    (r"^x-small$", "extra small"),
    (r"\bgrey\b", "gray"),
    (r"\bfl oz\b", "fluid ounce"),
    (r"\bounce\b", "oz"),
    (r"\bfeet\b", "ft"),
    (r" x (\d+) inch", r" by \1 inches"),
    (r" x ", " by "),
    (r" \((pack of \d+)\)", r" \1"),
    (r"^(\d+) inch$", r"\1 inches"),
    (r"\bbarbecue\b", "bbq"),
)
_SPELLED = re.compile(r"^(?:[1-9]|1[0-2])$|(?<=^pack of )\d$|(?<=^set of )\d$")
_VOWEL = re.compile(r"(?:[aeio]|u(?!s[bd]|ni)|hdmi|rv |led |8|11 |18)")
_PLURAL = {"is": "are", "has": "have", "was": "were", "does": "do", "goes": "go"}
_AUXILIARIES = ("can", "will", "would", "should")
_INFINITIVE = (
    (r"^is ", "be "),
    (r"^has ", "have "),
    (r"^was ", "have been "),
    (r"^(?:does|will) not ", "not "),
    (r"^(?:should|would) ", ""),
    (r"^can ", "be able to "),
    (r"^goes ", "go "),
    (r"^([a-z]+)s ", r"\1 "),
)


def pick(number: Number, items: Sequence[T]) -> T:
    """Draw one of the items; ``number`` draws from 0 to 1."""
    return items[int(number() * len(items))]


class Details(NamedTuple):
    """What is said of a product besides its attributes.

    Attributes:
        kind: What it looks like; empty where nothing is said of it, as below.
        feature: What it comes with.
        use: What it is for.
        values: The values of options, by the name of the option.
    """

    kind: str
    feature: str
    use: str
    values: Mapping[str, str]


def say(number: Number, ware: Ware, wanted: Sequence[str], details: Details) -> str:
    """Put into words what a customer wants.

    Args:
        number: Draws a number from 0 to 1.
        ware: A type of goods.
        wanted: Names of attributes.
        details: What else is said.

    Returns:
        One sentence, two or three, in lower case and without the last full stop.
    """
    ask = pick(number, ware.asks)
    many = ask.article not in _ONE and ask.noun.endswith("s")
    adjectives, sentences = _split(number, [attributes()[name] for name in wanted], ask)
    apart = bool(sentences) and number() < APART
    more = [_demand(number, sentences, many)] if apart else []
    with_, of, that = _clauses(number, [] if apart else sentences)
    parts = [_thing(ask, adjectives, details.kind), _join("with ", [details.feature, *with_]), " and ".join(of)]
    body = " ".join(filter(None, [*parts, _join("for ", [details.use])]))
    clause = _join(" that ", map(_plural, that) if many else that)
    values, way = _values(number, ware, details.values), number()
    if not values:
        body += clause
    elif way < 0.3 or not all(value.startswith(_PREPOSITIONS) for value in values):
        body += f"{clause}, {_together(values)}"
    elif way < 0.7:
        body += f" {_together(values)}{clause}"
    else:
        body += clause
        more.append(pick(number, phrases()["choices"]).format(_together(values), them="them" if many else "it"))
    reason = [pick(number, phrases()[f"{ware.category} reasons"])] if number() < REASONS else []
    opener = pick(number, phrases()["openers"] if reason else phrases()["openers"] + phrases()["greetings"])
    return _slip(number, ". ".join([*reason, opener.format(body), *more]))


def _thing(ask: Ask, adjectives: Sequence[str], kind: str) -> str:
    """Name the thing, ``a pair of non slip beaded sandals``; no word is said twice."""
    said = {word for words in (*adjectives, ask.noun) for word in words.split()}
    thing = " ".join([*adjectives, *([] if not kind or said & {*kind.split()} else [kind]), ask.noun])
    if ask.article not in ("a", "an"):
        return f"{ask.article} {thing}"
    return f"an {thing}" if _VOWEL.match(thing) else f"a {thing}"


def _split(number: Number, wanted: Sequence[Attribute], ask: Ask) -> tuple[list[str], list[str]]:
    """Say up to two attributes by an adjective and the others by a sentence without its subject."""
    adjectives: list[str] = []
    sentences: list[str] = []
    for attribute in wanted:
        new = not {*attribute.adjective.split()} & {*ask.noun.split()}
        if attribute.adjective and new and len(adjectives) < 2 and number() < ADJECTIVES:
            adjectives.append(attribute.adjective)
        else:
            plain, *other = attribute.sentences
            sentences.append(pick(number, other) if number() < SYNONYMS else plain)
    return adjectives, sentences


def _clauses(number: Number, sentences: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Sort sentences by how they follow a noun: ``with ...``, ``made of ...`` and ``that ...``."""
    with_: list[str] = []
    of: list[str] = []
    that: list[str] = []
    for sentence in sentences:
        start, _, rest = sentence.partition(" ")
        if start == "has" and not rest.startswith("only") and number() < 0.7:
            with_.append(rest)
        elif sentence.startswith(("is made", "is padded", "is covered")) and number() < 0.7:
            of.append(rest)
        else:
            that.append(sentence)
    return with_, of, that


def _demand(number: Number, sentences: Sequence[str], many: bool) -> str:
    """Ask for attributes in a sentence of its own."""
    finite = " and ".join(map(_plural, sentences) if many else sentences)
    infinitive = " and ".join(map(_infinitive, sentences))
    demand = pick(number, phrases()["demands"])
    return demand.format(it="they" if many else "it", does=finite, do=infinitive)


def _plural(sentence: str) -> str:
    verb, _, rest = sentence.partition(" ")
    if verb in _AUXILIARIES:
        return sentence
    return f"{_PLURAL.get(verb, verb.removesuffix('s'))} {rest}"


def _infinitive(sentence: str) -> str:
    for pattern, replacement in _INFINITIVE:
        changed, count = re.subn(pattern, replacement, sentence)
        if count:
            return changed
    return sentence


def _values(number: Number, ware: Ware, values: Mapping[str, str]) -> list[str]:
    """Ask for each value, ``in size eight``."""
    asks = [(choices()[choice].asks, values[name]) for name, choice in ware.options if name in values]
    return [_ask_for(value, pick(number, ways), _aloud(number, value)) for ways, value in asks]


def _ask_for(value: str, way: str, aloud: str) -> str:
    return aloud if value.startswith("with") else way.format(aloud)


def _aloud(number: Number, value: str) -> str:
    """Say a value as people do, ``size eight``, or mostly as it is written."""
    for pattern, words in _VALUE_WORDS:
        if number() < PARAPHRASES:
            value = re.sub(pattern, words, value)
    if number() < PARAPHRASES:
        value = _SPELLED.sub(lambda digits: _NUMBERS[int(digits[0]) - 1], value)
    return value.replace(" | ", " and " if number() < PARAPHRASES else "/")


def _together(values: Sequence[str]) -> str:
    """Say values one after the other: ``in teal and in size 8``, ``in teal for my phone``, ``in teal, 12 inch``."""
    if not all(value.startswith(_PREPOSITIONS) for value in values):
        return ", ".join(values)
    return (" and " if all(value.startswith("in ") for value in values) else " ").join(values)


def _join(start: str, parts: Iterable[str]) -> str:
    said = " and ".join(filter(None, parts))
    return start + said if said else ""


def _slip(number: Number, text: str) -> str:
    """Swap two letters within a long word, rarely."""
    places = [found.start() for found in re.finditer(r"(?<=[a-z]{3})[a-z]{2}(?=[a-z]{2})", text)]
    if not places or number() >= SLIPS:
        return text
    place = pick(number, places)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
