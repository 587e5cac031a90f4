"""Every word that the player reads, in the wording of three programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

Dialect: TypeAlias = Literal["react", "autoplan", "reflexion"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

THOUGHT = "Nice thought."
NO_MORE_RESULTS = "No more results.\n"
FORMS = "Actions are: search[title]; lookup[word]; finish[answer]."
MAX_ECHO = 2000
"""Maximum number of characters of an action that an answer repeats."""
MAX_SENTENCE = 10_000
"""Maximum number of characters shown of a sentence; only a page without full stops has more."""

_ECHO = 200


def question(words: str) -> str:
    """Return the text of a reset."""
    return f"Question: {words}"


def result(number: int, count: int, sentence: str) -> str:
    """Answer a lookup with one of its results."""
    return f"(Result {number} / {count}) {sentence[:MAX_SENTENCE]}"


def page(sentences: Sequence[str]) -> str:
    """Show the first sentences of a page."""
    return " ".join(sentence[:MAX_SENTENCE] for sentence in sentences)


def no_page(dialect: Dialect) -> str:
    """Answer a lookup where no page is open."""
    if dialect == "reflexion":
        return (
            "The last page Searched was not found, so you cannot Lookup a keyword in it. "
            "Please try one of the similar pages given."
        )
    return NO_MORE_RESULTS


def not_found(
    dialect: Dialect,
    entity: str,
    similar: Sequence[str],
) -> str:
    """Answer a search that found no page."""
    entity = entity[:MAX_ECHO]
    if dialect == "reflexion":
        return "Could not find that page, please try again."
    if dialect == "autoplan":
        listed = ", ".join(f'"{title}"' for title in similar)
        return (
            f'Could not find exact match of "{entity}". '
            f"Available entities in the database: {listed}. "
            "The search API only returns the paragraph if the search query matches "
            "every character to an entity in the database."
        )
    return f"Could not find {entity}. Similar: {list(similar)}."


def finished(dialect: Dialect, right: bool) -> str:
    """Answer the answer."""
    if dialect == "reflexion":
        return "Answer is CORRECT" if right else "Answer is INCORRECT"
    return f"Episode finished, reward = {int(right)}\n"


def invalid(dialect: Dialect, action: str) -> str:
    """Answer what is no action."""
    if dialect == "reflexion":
        return (
            "Invalid Action. "
            "Valid Actions are Lookup[<topic>] Search[<topic>] and Finish[<answer>]."
        )
    if dialect == "autoplan":
        return "No action in the format of 'search[...]', 'lookup[...]', or 'finish[...]'."
    return f"Invalid action: {action[:MAX_ECHO]}"


def no_such_page(entity: str, listed: Sequence[str]) -> str:
    """Explain why a search opened no page."""
    near = f" Pages like it: {', '.join(listed)}." if listed else ""
    return f"There is no page of just the title {entity[:_ECHO]!r}.{near}"


def nothing_to_look_up(keyword: str) -> str:
    """Explain why there is nothing to look a word up on."""
    return f"No page is open to look {keyword[:_ECHO]!r} up on: search for one first."


def no_result(keyword: str, page: str) -> str:
    """Explain why a lookup showed nothing."""
    return f"The page {page!r} has no further sentence with {keyword[:_ECHO]!r}."


def _every_word() -> str:
    """Return a text with every word that an answer may have, but for those of pages and actions."""
    answers = [THOUGHT, NO_MORE_RESULTS, FORMS, question(""), result(1, 1, "")]
    for dialect in DIALECTS:
        searches = not_found(dialect, "", ("", ""))
        answers += [
            no_page(dialect),
            searches,
            finished(dialect, True),
            finished(dialect, False),
            invalid(dialect, ""),
        ]
    return "\n".join([*answers, ". 0 1 2 3 4 5 6 7 8 9"])


WORDS = _every_word()
"""A text with every word of the programs' answers."""
