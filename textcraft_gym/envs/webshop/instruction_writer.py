"""Writes instructions as customers do: in lower case, in their own words, with rare mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from textcraft_gym.envs.shuffle import Uniform, pick
from textcraft_gym.envs.webshop.product_templates import (
    Attribute,
    NounPhrase,
    ProductTemplate,
    attributes,
    choices,
    phrases,
)

ADJECTIVES = 0.2
"""Probability that an attribute is expressed by its adjective, if it has one."""
SYNONYMS = 0.7
"""Probability that a sentence about an attribute avoids the words of its name."""
APART = 0.3
"""Probability that these sentences are separate, ``it should be ...``."""
PARAPHRASES = 0.3
"""Probability of each way to write a value differently."""
REASONS = 0.4
"""Probability that a customer gives a reason first."""
ASKERS = 0.05
"""Probability that a customer speaks of somebody else."""
RARER = 0.15
"""Probability of an opening that few customers use."""
GREETINGS = 0.05
"""Probability of a greeting, if no reason comes first."""
TYPING_ERRORS = 0.02
"""Probability that an instruction has a typing error."""

_SINGULAR_ARTICLES = ("a", "an", "something")
_PREPOSITIONS = ("in ", "for ", "with ")
_NUMERALS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_REWRITES = (
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
_SPELLED_OUT = re.compile(r"^(?:[1-9]|1[0-2])$|(?<=^pack of )\d$|(?<=^set of )\d$")
_VOWEL_SOUND = re.compile(r"(?:[aeio]|u(?!s[bd]|ni)|hdmi|rv |led |8|11 |18)")
_PLURAL_VERBS = {"is": "are", "has": "have", "was": "were", "does": "do", "goes": "go"}
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


class Details(NamedTuple):
    """Further parts of an instruction, each empty if it has none.

    Attributes:
        kind: The phrase before the noun.
        feature: The phrase after "with".
        use: The phrase after "for".
        values: The wanted value of each option.
    """

    kind: str
    feature: str
    use: str
    values: Mapping[str, str]


def write_instruction(
    rng: Uniform,
    template: ProductTemplate,
    wanted: Sequence[str],
    details: Details,
) -> str:
    """Write the request of a customer.

    Args:
        rng: Draws the wording.
        template: The type of goods.
        wanted: Names of the wanted attributes.
        details: The other wishes.

    Returns:
        One to three sentences, in lower case and without the last full stop.
    """
    # The order of the draws is part of every generated shop: another order would make other
    # instructions.
    noun_phrase = pick(rng, template.noun_phrases)
    is_plural = noun_phrase.article not in _SINGULAR_ARTICLES and noun_phrase.noun.endswith("s")
    adjectives, sentences = _express(rng, [attributes()[name] for name in wanted], noun_phrase)
    further_sentences = []
    if sentences and rng() < APART:
        further_sentences.append(_write_demand(rng, sentences, is_plural))
        sentences = []
    features, materials, clauses = _sort_clauses(rng, sentences)
    parts = [
        _write_noun_phrase(noun_phrase, adjectives, details.kind),
        _join("with ", [details.feature, *features]),
        " and ".join(materials),
        _join("for ", [details.use]),
    ]
    body = " ".join(filter(None, parts))
    if is_plural:
        clauses = list(map(_plural, clauses))
    clause = _join(" that ", clauses)
    values = _write_values(rng, template, details.values)
    body, choice = _add_values(rng, body, clause, values, is_plural)
    if choice:
        further_sentences.append(choice)
    return _mistype(rng, ". ".join([*_open(rng, template.category, body), *further_sentences]))


def _add_values(
    rng: Uniform,
    body: str,
    clause: str,
    values: Sequence[str],
    is_plural: bool,
) -> tuple[str, str]:
    """Add a clause and the wanted values to a sentence.

    Returns:
        The sentence, and a second one about the values; empty if the first has them.
    """
    position = rng()
    if not values:
        return body + clause, ""
    joined = _join_values(values)
    # Values that do not all begin with a preposition read well only after a comma.
    if position < 0.3 or not _all_begin(values, _PREPOSITIONS):
        return f"{body}{clause}, {joined}", ""
    if position < 0.7:
        return f"{body} {joined}{clause}", ""
    choice = pick(rng, phrases()["choices"])
    return body + clause, choice.format(joined, them="them" if is_plural else "it")


def _open(
    rng: Uniform,
    department: str,
    body: str,
) -> Iterator[str]:
    """Yield a reason, if the customer gives one, and the sentence that asks for the product."""
    gives_reason = rng() < REASONS
    if gives_reason and rng() < ASKERS:
        yield pick(rng, phrases()["reasons"]).format(pick(rng, phrases()["askers"]))
    elif gives_reason:
        yield pick(rng, phrases()[f"{department} reasons"])
    if not gives_reason and rng() < ASKERS:
        opener = f"{pick(rng, phrases()['askers'])} {pick(rng, phrases()['wants'])}"
    else:
        opener = pick(rng, phrases()["rarer openers" if rng() < RARER else "openers"])
        if not gives_reason and rng() < GREETINGS:
            opener = f"{pick(rng, phrases()['greetings'])}, {opener}"
    yield opener.format(body)


def _write_noun_phrase(
    noun_phrase: NounPhrase,
    adjectives: Sequence[str],
    kind: str,
) -> str:
    """Name the product, ``a pair of non slip beaded sandals``."""
    article, noun = noun_phrase
    words = " ".join([*adjectives, noun]).split()
    if {*words} & {*kind.split()}:
        kind = ""  # it would repeat a word
    name = " ".join(filter(None, [*adjectives, kind, noun]))
    if article in ("a", "an"):
        article = "an" if _VOWEL_SOUND.match(name) else "a"
    return f"{article} {name}"


def _express(
    rng: Uniform,
    wanted: Sequence[Attribute],
    noun_phrase: NounPhrase,
) -> tuple[list[str], list[str]]:
    """Express up to two attributes by an adjective, and others by a sentence without subject."""
    adjectives: list[str] = []
    sentences: list[str] = []
    for attribute in wanted:
        is_new = not {*attribute.adjective.split()} & {*noun_phrase.noun.split()}
        if attribute.adjective and is_new and len(adjectives) < 2 and rng() < ADJECTIVES:
            adjectives.append(attribute.adjective)
        else:
            literal, *synonyms = attribute.sentences
            sentences.append(pick(rng, synonyms) if rng() < SYNONYMS else literal)
    return adjectives, sentences


def _sort_clauses(rng: Uniform, sentences: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Sort sentences into what follows a noun: ``with ...``, ``made of ...`` and ``that ...``."""
    features: list[str] = []
    materials: list[str] = []
    clauses: list[str] = []
    for sentence in sentences:
        verb, _, predicate = sentence.partition(" ")
        if verb == "has" and not predicate.startswith("only") and rng() < 0.7:
            features.append(predicate)
        elif sentence.startswith(("is made", "is padded", "is covered")) and rng() < 0.7:
            materials.append(predicate)
        else:
            clauses.append(sentence)
    return features, materials, clauses


def _write_demand(
    rng: Uniform,
    sentences: Sequence[str],
    is_plural: bool,
) -> str:
    """Ask for attributes in a separate sentence."""
    infinitive = " and ".join(map(_infinitive, sentences))
    demand = pick(rng, phrases()["demands"])
    if is_plural:
        finite = " and ".join(map(_plural, sentences))
        return demand.format(it="they", does=finite, do=infinitive)
    return demand.format(it="it", does=" and ".join(sentences), do=infinitive)


def _plural(sentence: str) -> str:
    verb, _, predicate = sentence.partition(" ")
    if verb in _AUXILIARIES:
        return sentence
    return f"{_PLURAL_VERBS.get(verb, verb.removesuffix('s'))} {predicate}"


def _infinitive(sentence: str) -> str:
    for pattern, replacement in _INFINITIVE:
        changed, count = re.subn(pattern, replacement, sentence)
        if count:
            return changed
    return sentence


def _write_values(
    rng: Uniform,
    template: ProductTemplate,
    values: Mapping[str, str],
) -> list[str]:
    """Ask for each value, ``in size eight``."""
    written = []
    for option, choice in template.options:
        if option in values:
            ask = pick(rng, choices()[choice].asks)
            value = _paraphrase(rng, values[option])
            # A value such as ``with lid`` needs no preposition.
            if not values[option].startswith("with"):
                value = ask.format(value)
            written.append(value)
    return written


def _paraphrase(rng: Uniform, value: str) -> str:
    """Write a value as people do, ``size eight``; mostly it stays as it is."""
    for pattern, replacement in _REWRITES:
        if rng() < PARAPHRASES:
            value = re.sub(pattern, replacement, value)
    if rng() < PARAPHRASES:
        value = _SPELLED_OUT.sub(lambda digits: _NUMERALS[int(digits[0]) - 1], value)
    return value.replace(" | ", " and " if rng() < PARAPHRASES else "/")


def _join_values(values: Sequence[str]) -> str:
    """Join values: ``in teal and in size 8``, ``in teal for my phone``, ``in teal, 12 inch``."""
    if not _all_begin(values, _PREPOSITIONS):
        return ", ".join(values)
    if not _all_begin(values, ("in ",)):
        return " ".join(values)
    return " and ".join(values)


def _all_begin(values: Sequence[str], prefixes: tuple[str, ...]) -> bool:
    return all(value.startswith(prefixes) for value in values)


def _join(start: str, parts: Iterable[str]) -> str:
    joined = " and ".join(filter(None, parts))
    if not joined:
        return ""
    return start + joined


def _mistype(rng: Uniform, text: str) -> str:
    """Rarely, swap two letters within a long word."""
    positions = [match.start() for match in re.finditer(r"(?<=[a-z]{3})[a-z]{2}(?=[a-z]{2})", text)]
    if not positions or rng() >= TYPING_ERRORS:
        return text
    start = pick(rng, positions)
    return text[:start] + text[start + 1] + text[start] + text[start + 2 :]
