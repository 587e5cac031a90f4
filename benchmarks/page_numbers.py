"""Every number of the pages, with the file that it follows from.

A page states its numbers in phrases (``page_phrases.py``). Each phrase has {} in place of its
numbers, beside where these come from. The numbers are written into the pages; a number of a page
that is in no phrase is an error.

    make numbers                                 # write, and print each number with its file
    python benchmarks/page_numbers.py --check    # write nothing
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from typing import NamedTuple

import overview
from number_sources import ROOT, Number
from page_phrases import PAGES, Phrase

DIGITS = r"[+-]?\d+(?:[.,]\d+)*%?"
BOUNDS = rf"\[{DIGITS}, {DIGITS}\]"
COUNT = rf"\({DIGITS}(?: of {DIGITS})?\)"
DIGEST = r"sha256-[0-9a-f]{12}|[0-9a-f]{16}"
AMOUNT = rf"{DIGITS}(?: of {DIGITS})?(?: ± {DIGITS})?(?: {COUNT})?(?: {BOUNDS})?"
FIELD = rf"({DIGEST}|{AMOUNT}|{BOUNDS}|-(?= \|))"
"""What stands in place of a {}: a digest, a number with what belongs to it, or no number (-)."""
SOURCED = re.compile(
    rf"{DIGITS}\s{BOUNDS}"
    r"|(?<![\d.,])(?!95%\s(?:Wilson\s)?interval)\d[\d.,]*\s?%"
    r"|\d+\s+of\s+(?:the\s+)?\d+|(?<=\| )\d+\.\d+(?=[ %])|sha256-[0-9a-f]{12}"
)
"""What needs a source: intervals, percentages, counts of a whole, decimals in a table, digests."""
CODE = re.compile(r"(?ms)^```.*?^```$|^ {4}.*?$|`[^`\n]*`")


class Place(NamedTuple):
    """Where a number stands in a page, from its first letter to behind its last."""

    start: int
    end: int
    number: Number


def places(page: str, phrases: Iterable[Phrase]) -> list[Place]:
    """Return where the numbers of phrases stand in a page.

    Raises:
        LookupError: If the page does not have each phrase once.
    """
    found = []
    for text, numbers in phrases:
        literals = [pattern(part) for part in text.split("{}")]
        matches = [*re.finditer(FIELD.replace(" ", r"\s").join(literals), page)]
        if len(matches) != 1:
            raise LookupError(f"expected once, found {len(matches)} times: {text.strip()}")
        spans = matches[0].regs[1:]
        found += [Place(*span, number) for span, number in zip(spans, numbers, strict=True)]
    return sorted(found)


def pattern(text: str) -> str:
    """Return the pattern of a text: a blank is any white space, and … what else is in a cell."""
    words = re.escape(text).replace("…", r"[^|\n]*")
    return words.replace(r"\ ", r"\s+")


def corrected(page: str, numbers: Iterable[Place]) -> str:
    """Return a page with the numbers that follow from their files."""
    for start, end, number in sorted(numbers, reverse=True):
        if page[start:end].replace("\n", " ") != number.text:
            page = page[:start] + number.text + page[end:]
    return page


def without_source(page: str, numbers: Iterable[Place]) -> list[str]:
    """Return the numbers of a page that need a source and are in no phrase."""
    sourced = {index for start, end, _ in numbers for index in range(start, end)}
    code = {index for match in CODE.finditer(page) for index in range(*match.span())}
    return [
        match[0]
        for match in SOURCED.finditer(page)
        if not {match.start() + digits.start() for digits in re.finditer(r"\d+", match[0])}
        <= (sourced if "sha256" in match[0] else sourced | code)
    ]


def main() -> int:
    """Write the pages, print their numbers, and return 1 if a number is wrong or has no source."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    is_check = parser.parse_args().check
    wrong = 0
    for name, phrases in PAGES.items():
        page = (ROOT / name).read_text(encoding="utf-8")
        try:
            numbers = places(page, phrases())
        except LookupError as error:
            print(f"{name}: {error}")
            wrong += 1
            continue
        print(f"\n{name}")
        for start, end, number in numbers:
            before = " ".join(page[start:end].split())
            changed = "" if before == number.text else f" (was {before})"
            wrong += bool(changed) and is_check
            print(f"  {number.text:<28} {number.source}{changed}")
        for text in without_source(page, numbers):
            print(f"  {text:<28} has no source")
            wrong += 1
        if not is_check:
            (ROOT / name).write_text(corrected(page, numbers), encoding="utf-8", newline="\n")
    if not is_check:
        overview.FIGURE.write_text(overview.figure(), encoding="utf-8", newline="\n")
    return min(wrong, 1)


if __name__ == "__main__":
    raise SystemExit(main())
