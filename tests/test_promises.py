from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "promises.md"


def test_promises__are_shown_by_tests_that_exist():
    page = PAGE.read_text(encoding="utf-8")
    rows = [
        line
        for line in page.splitlines()
        if line.startswith("| ") and not line.startswith(("| ---", "| promise"))
    ]
    shown_by = re.findall(r"`(tests/[\w/]+\.py)::(\w+)` \|$", page, re.MULTILINE)
    assert len(shown_by) == len(rows) > 30
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file, _ in shown_by}
    assert not [test for file, test in shown_by if f"\ndef {test}(" not in texts[file]]
