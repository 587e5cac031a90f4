"""Splits text into tokens as Lucene's StandardTokenizer does, by Unicode's word boundaries (UAX #29).

A token is a run of letters and digits. It may contain an apostrophe, a colon or the like between two letters, a
comma or a full stop between two digits, and underscores anywhere. Each ideograph is a token, and so is each emoji.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    emoji = f"[{_EMOJI}][\ufe0f\U0001f3fb-\U0001f3ff]*"
    sequence = f"{emoji}(?:\u200d{emoji})*"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"
    return re.compile(f"{word}|[{katakana}]+|[{ideographs}]|{flag}|{sequence}|[\u00a9\u00ae\u2122\u3030\u303d]\ufe0f")


# UAX #29's classes MidNumLet, MidLetter and MidNum.
_MID_NUM_LET = "'.\u2018\u2019\u2024\ufe52\uff07\uff0e"
_MID_LETTER = f":\u00b7\u2027\ufe13\ufe55\uff1a{_MID_NUM_LET}"
_MID_NUM = f",;\u037e\u066c\u2044\ufe50\ufe54\uff0c\uff1b{_MID_NUM_LET}"
_EMOJI = (
    "\u203c\u2049\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab"
    "\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615\u2618\u261d\u2620\u2622\u2623\u2626\u262a\u262e"
    "\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u267f\u2692-\u2697"
    "\u2699\u269b\u269c\u26a0\u26a1\u26aa\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8\u26ce\u26cf\u26d1\u26d3"
    "\u26d4\u26e9\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712\u2714\u2716\u271d\u2721"
    "\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797\u27a1\u27b0\u27bf\u2934"
    "\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3297\u3299\U0001f004\U0001f0cf\U0001f170\U0001f171\U0001f17e"
    "\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f201\U0001f202\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f250"
    "\U0001f251\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff"
)


def _character_classes() -> tuple[str, str, str, str, str]:
    """Return the ranges of letters, digits, marks, katakana and ideographs, each for use within brackets."""
    # Blocks of thousands of Chinese and Korean characters are skipped here and added as ranges below.
    kinds: dict[str, list[int]] = {kind: [] for kind in ("letters", "digits", "marks", "katakana", "ideographs")}
    for code in (*range(0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x10000)):
        group = category(character := chr(code))
        if group[0] == "L" or group == "Nl":
            kinds[_script(character)].append(code)
        elif group == "Nd":
            kinds["digits"].append(code)
        elif group[0] == "M" or (group == "Cf" and code != 0x200B):
            kinds["marks"].append(code)
    kinds["letters"] += (*range(0xAC00, 0xD7A4), *range(0x1D400, 0x1D7CC))  # Korean; bold and script letters in titles
    kinds["digits"] += range(0x1D7CE, 0x1D800)
    kinds["ideographs"] += (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000), *range(0x20000, 0x32000))
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
    """Merge adjacent characters into ranges, which compile and match faster than a list of thousands."""
    ranges: list[list[int]] = []
    for code in sorted(codes):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
