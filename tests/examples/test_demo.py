from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from examples import demo
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate


@pytest.mark.parametrize("has_models", [False, True])
def test_demo__ends_with_two_sentences_and_links_that_open(
    has_models: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "report.html").touch()
    agents = {"expert": "expert", "random": "random"}
    if has_models:
        (tmp_path / "models.html").touch()
        agents |= {"react": "random", "adapt": "expert"}
    for name, agent in agents.items():
        evaluate(RunSpec("TextCraft-v0", "dev", agent, limit=2, max_steps=1), tmp_path / name)
    demo.main(tmp_path)
    first, second, *links = capsys.readouterr().out.strip().splitlines()
    assert re.match(r"Without a model, the expert won \d of 2 goals and the random agent 0,", first)
    assert ("as ReAct, and" in second) == has_models
    assert len(links) == 1 + has_models
    for link in links:
        assert Path(url2pathname(urlparse(link.strip()).path)).is_file()
