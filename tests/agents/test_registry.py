from __future__ import annotations

import sys
from pathlib import Path

import pytest

from textcraft_gym import UnknownName
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.games import DEFAULT, TEXTCRAFT
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent

OWN = """
class Whole:
    def __init__(self, profile, prompts, *, pace=1):
        self.given = profile, prompts, pace

class Plain:
    def __init__(self, pace):
        self.pace = pace

def policy(observation, info):
    return "inventory"
"""


@pytest.fixture
def my_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_agents.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("my_agents", None)


def test_make_agent__gives_the_suites_agents_playbook_and_arguments():
    agent = make_agent("adapt", profile=TEXTCRAFT, args={"d_max": 2, "rollback": "replay"})
    assert isinstance(agent, ADaPTAgent)
    assert (agent.profile.d_max, agent.rollback, agent.profile.game) == (2, "replay", "textcraft")
    foreign = make_agent("react")
    assert isinstance(foreign, ReActAgent)
    assert foreign.profile == DEFAULT


@pytest.mark.usefixtures("my_agents")
def test_make_agent__makes_a_users_own_from_what_it_asks_for():
    prompts = Prompts()
    assert make_agent("my_agents:Whole", profile=TEXTCRAFT, prompts=prompts, args={"pace": 3}).given == (
        TEXTCRAFT,
        prompts,
        3,
    )
    assert make_agent("my_agents:Plain", args={"pace": 2}).pace == 2
    assert make_agent("my_agents:policy")("", {}) == "inventory"


@pytest.mark.usefixtures("my_agents")
@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("adpat", {}, "Did you mean adapt"),
        ("my_agents:Holes", {}, "Holes"),
        ("no_such_agents:Whole", {}, "no_such_agents"),
        ("my_agents:Plian", {}, "Did you mean my_agents:Plain"),
        ("adapt", {"dmax": 2}, "Did you mean d_max"),
        ("my_agents:Plain", {"speed": 2}, "Possible: pace"),
        ("my_agents:policy", {"speed": 2}, "speed"),
    ],
)
def test_make_agent__says_what_is_wrong(name: str, args: dict, message: str):
    with pytest.raises(UnknownName, match=message):
        make_agent(name, args=args)


@pytest.mark.usefixtures("my_agents")
def test_make_agent__says_what_a_module_or_a_constructor_misses(tmp_path: Path):
    with pytest.raises(ValueError, match="missing a required argument: 'pace'"):
        make_agent("my_agents:Plain")
    (tmp_path / "needy.py").write_text("import no_such_library\n")
    with pytest.raises(ValueError, match="no_such_library"):
        make_agent("needy:Agent")
