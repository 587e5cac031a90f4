"""Splits text into tokens as Lucene's StandardTokenizer does, by Unicode's UAX #29.

A token is a run of letters and digits. It may contain an apostrophe, a colon or the like between
two letters, a comma or a full stop between two digits, and underscores anywhere. Each ideograph is
a token, and so is each pictograph with its modifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from unicodedata import category, name


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text, in order."""
    return _pattern().findall(text)


@cache
def _pattern() -> re.Pattern[str]:
    """Compile the pattern of a token, once."""
    letters, digits, marks, katakana, ideographs = _character_classes()
    inner = f"(?<=[{letters}{marks}])[{_MID_LETTER}](?=[{letters}])"
    numeric = f"(?<=[{digits}{marks}])[{_MID_NUM}](?=[{digits}])"
    run = f"[{letters}{digits}{marks}]+"
    word = f"(?<!_)_*[{letters}{digits}]{run[:-1]}*(?:(?:_+|{inner}|{numeric}){run})*_*"
    # A token of any other kind takes the marks after it, too; a pictograph not the one that asks
    # for plain text.
    pictograph = f"[{_ranges(_pictographs())}](?:(?!\ufe0e)[{marks}])*"
    others = (
        f"(?<!_)_*[{katakana}][{katakana}{marks}_]*",
        f"[{ideographs}][{marks}]*",
        f"[\U0001f1e6-\U0001f1ff]{{2}}[{marks}]*",  # a flag
        f"\u200d?{pictograph}(?:(?<=\u200d){pictograph})*",
        "[#*]\ufe0f?\u20e3",  # a key
        f"[\U0001f3fb-\U0001f3ff][{marks}]*",  # a skin tone with nothing before it
    )
    return re.compile("|".join((word, *others)))


# UAX #29's classes MidNumLet, MidLetter and MidNum.
_MID_NUM_LET = "'.\u2018\u2019\u2024\ufe52\uff07\uff0e"
_MID_LETTER = f":\u00b7\u2027\ufe13\ufe55\uff1a{_MID_NUM_LET}"
_MID_NUM = f",;\u037e\u066c\u2044\ufe50\ufe54\uff0c\uff1b{_MID_NUM_LET}"
_PICTOGRAPHS = (
    "a9 ae 203c 2049 2122 2139 2194-2199 21a9-21aa 231a-231b 2328 2388 23cf 23e9-23f3 23f8-23fa "
    "24c2 25aa-25ab 25b6 25c0 25fb-25fe 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 "
    "2716 271d 2721 2728 2733-2734 2744 2747 274c 274e 2753-2755 2757 2763-2767 2795-2797 27a1 "
    "27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c 2b50 2b55 3030 303d 3297 3299 1f000-1f0ff "
    "1f10d-1f10f 1f12f 1f16c-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f1ad-1f1e5 1f201-1f20f 1f21a "
    "1f22f 1f232-1f23a 1f23c-1f23f 1f249-1f3fa 1f400-1f53d 1f546-1f64f 1f680-1f6ff 1f774-1f77f "
    "1f7d5-1f7ff 1f80c-1f80f 1f848-1f84f 1f85a-1f85f 1f888-1f88f 1f8ae-1f8ff 1f90c-1f93a "
    "1f93c-1f945 1f947-1fffd"
)
"""Extended_Pictographic of Unicode 12.1, as Lucene's grammar has it; later versions have less."""


_VOICED_MARKS = (0xFF9E, 0xFF9F)
"""Halfwidth marks that extend the character before them, although Unicode calls them letters."""


def _pictographs() -> Iterator[int]:
    for bounds in _PICTOGRAPHS.split():
        first, _, last = bounds.partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)


def _character_classes() -> tuple[str, str, str, str, str]:
    """Return the ranges of letters, digits, marks, katakana and ideographs, to use in brackets."""
    # Blocks of thousands of Chinese and Korean characters are skipped here and added as ranges
    # below.
    names = ("letters", "digits", "marks", "katakana", "ideographs")
    kinds: dict[str, list[int]] = {name: [] for name in names}
    for code in (*range(0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x10000)):
        group = category(character := chr(code))
        if code in _VOICED_MARKS:
            kinds["marks"].append(code)
        elif group[0] == "L" or group == "Nl":
            kinds[_script(character)].append(code)
        elif group == "Nd":
            kinds["digits"].append(code)
        elif group[0] == "M" or (group == "Cf" and code != 0x200B):
            kinds["marks"].append(code)
    kinds["letters"] += range(0xAC00, 0xD7A4)  # Korean
    kinds["letters"] += range(0x1D400, 0x1D7CC)  # bold and script letters in titles
    kinds["digits"] += range(0x1D7CE, 0x1D800)
    kinds["marks"] += range(0x1F3FB, 0x1F400)  # skin tones
    kinds["ideographs"] += (
        *range(0x3400, 0x4DC0),
        *range(0x4E00, 0xA000),
        *range(0x20000, 0x32000),
    )
    letters, digits, marks, katakana, ideographs = map(_ranges, kinds.values())
    return letters, digits, marks, katakana, ideographs


def _script(character: str) -> str:
    if "\u3000" <= character <= "\u9fff" or "\uf900" <= character <= "\uffff":
        unicode_name = name(character, "")
        if "KATAKANA" in unicode_name:
            return "katakana"
        if unicode_name.startswith(("CJK", "IDEOGRAPHIC", "HIRAGANA")):
            return "ideographs"
    return "letters"


def _ranges(codes: Iterable[int]) -> str:
    """Merge adjacent characters into ranges, which compile and match faster than thousands."""
    ranges: list[list[int]] = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
