from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textcraft_gym import UnknownName, make_model
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.baselines.random_agent import RandomAgent
from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.agents.games import DEFAULT, TEXTCRAFT, game_names
from textcraft_gym.agents.own_agent import OwnAgent
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import AGENTS, make_agent, why_not
from textcraft_gym.cli.app import app

OWN = """
from textcraft_gym.agents import ReActAgent, Settings

class Idle:
    def episode(self, play):
        yield from play.act("inventory")

class Whole(Idle):
    def __init__(self, profile, prompts, *, pace=1):
        self.given = profile, prompts, pace

class Plain(Idle):
    def __init__(self, pace):
        self.pace = pace

class Brief(ReActAgent):
    def __init__(self, profile, prompts, *, turns=5):
        super().__init__(profile, prompts, settings=Settings(turns=turns))

class Shorter(ReActAgent):
    pass

class Bounded(Idle):
    uses = ("turns",)

    def __init__(self, settings):
        self.settings = settings

class Raising:
    def __init__(self, error="TypeError"):
        raise {"TypeError": TypeError, "ValueError": ValueError, "KeyError": KeyError}[error]("no\\nway")

class Solver(Idle):
    games = ("textcraft",)

def policy(observation, info):
    return "inventory"
"""


@pytest.fixture
def my_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_agents.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("my_agents", None)


def test_make_agent__gives_the_suites_agents_profile_and_arguments():
    agent = make_agent("adapt", profile=TEXTCRAFT, args={"d_max": 2, "rollback": "replay"})
    assert isinstance(agent, ADaPTAgent)
    assert (agent.settings.d_max, agent.rollback, agent.profile.name) == (2, "replay", "textcraft")
    foreign = make_agent("react")
    assert isinstance(foreign, ReActAgent)
    assert foreign.profile == DEFAULT


@pytest.mark.usefixtures("my_agents")
def test_make_agent__makes_a_users_own_from_what_it_asks_for():
    prompts = Prompts()
    assert make_agent(
        "my_agents:Whole", profile=TEXTCRAFT, prompts=prompts, args={"pace": 3}
    ).given == (
        TEXTCRAFT,
        prompts,
        3,
    )
    assert make_agent("my_agents:Plain", args={"pace": 2}).pace == 2
    for name in ("my_agents:Bounded", "my_agents:Brief", "my_agents:Shorter"):
        assert make_agent(name, args={"turns": 7}).settings.turns == 7
    assert isinstance(make_agent("my_agents:policy"), OwnAgent)


def test_make_agent__offers_no_names_that_a_module_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "my_imports.py").write_text(
        "import json\nfrom pathlib import Path\nfrom collections import OrderedDict\n"
        "from textcraft_gym.agents import Play\nPLACE, KEY, CLIENT = Path(), 'x', OrderedDict()\n"
        "class Player:\n    def act(self, observation): return ''\n"
        "def play(observation): return ''\nPLAYER = Player()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UnknownName) as raised:
        make_agent("my_imports:plya")
    assert raised.value.known == tuple(
        f"my_imports:{name}" for name in ("PLAYER", "Player", "play")
    )
    with pytest.raises(ModelError, match=r"Possible: Player$"):
        make_model("my_imports:Plaier")


@pytest.mark.usefixtures("my_agents")
@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("adpat", {}, "Did you mean adapt"),
        ("my_agents:Holes", {}, "Holes"),
        ("my_agents:Plian", {}, "Did you mean my_agents:Plain"),
        ("adapt", {"dmax": 2}, "Did you mean d_max"),
        ("react", {"turnz": 30}, "Did you mean turns"),
        ("react", {"d_max": 2}, "Possible: demonstrations, form, turns, patience, max_tokens"),
        ("react", {"chat_tokens": 9}, "unknown argument of react"),
        ("react", {"settings": 9}, "unknown argument of react"),
        ("my_agents:Plain", {"speed": 2}, "Possible: pace"),
        ("my_agents:policy", {"speed": 2}, "speed"),
    ],
)
def test_make_agent__says_what_is_wrong(name: str, args: dict, message: str):
    with pytest.raises(UnknownName, match=message):
        make_agent(name, args=args)


@pytest.mark.usefixtures("my_agents")
@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        (
            "my_agents:Plain",
            {},
            "my_agents:Plain: missing a required argument: 'pace', on the command line --agent-arg pace=...",
        ),
        (
            "no_such_agents:Whole",
            {},
            "agent no_such_agents:Whole: no module named 'no_such_agents'; expected MODULE:NAME, "
            "the module in the working folder or on PYTHONPATH",
        ),
        ("needy:Agent", {}, "agent needy:Agent: no module named 'no_such_library'"),
        ("broken:Agent", {}, "agent broken:Agent: ZeroDivisionError: division by zero"),
        ("my_agents:Raising", {}, "my_agents:Raising: TypeError: no way"),
        ("my_agents:Raising", {"error": "ValueError"}, "my_agents:Raising: no way"),
        ("my_agents:Raising", {"error": "KeyError"}, r"my_agents:Raising: KeyError: 'no\nway'"),
        ("adapt", {"turns": 0}, "adapt: expected turns of 1 or more, got 0"),
        ("adapt", {"d_max": 21}, "adapt: expected d_max in 1..20, got 21"),
    ],
)
def test_make_agent__says_on_one_line_why_an_agent_cannot_be_made(
    tmp_path: Path, name: str, args: dict, message: str
):
    (tmp_path / "needy.py").write_text("import no_such_library\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ValueError) as raised:
        make_agent(name, args=args)
    assert str(raised.value) == message


def test_make_agent__finds_names_that_a_module_imports_late():
    assert isinstance(make_agent("textcraft_gym.agents:ADaPTAgent"), ADaPTAgent)
    with pytest.raises(UnknownName, match=r"Did you mean textcraft_gym\.agents:ADaPTAgent"):
        make_agent("textcraft_gym.agents:ADaPTAgnt")


def test_make_agent__takes_a_profile_by_its_name():
    assert make_agent("react", profile="textcraft").profile is TEXTCRAFT
    with pytest.raises(UnknownName, match="Did you mean textcraft"):
        make_agent("react", profile="textcarft")


@pytest.fixture
def package(tmp_path: Path, my_agents: None) -> None:
    """Install the agents as a package, with one that cannot be imported."""
    info = tmp_path / "my_agents-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-agents\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[textcraft_gym.agents]\nplodder = my_agents:Plain\nlost = no_such_agents:Lost\nrandom = my_agents:Plain\n"
    )


@pytest.mark.usefixtures("package")
def test_make_agent__finds_agents_of_installed_packages():
    assert make_agent("plodder", args={"pace": 2}).pace == 2
    assert isinstance(make_agent("random"), RandomAgent)  # the suite's own names go first
    with pytest.raises(UnknownName, match="Did you mean plodder"):
        make_agent("ploder")
    with pytest.raises(ValueError, match="agent lost: No module named 'no_such_agents'"):
        make_agent("lost")


@pytest.mark.usefixtures("package")
def test_agents__lists_the_agents_of_installed_packages():
    with pytest.warns(UserWarning, match="lost is left out: .*no_such_agents"):
        printed = CliRunner().invoke(app, ["agents", "--json"])
    rows = {row["agent"]: row for row in json.loads(printed.stdout)}
    assert rows.keys() == {*AGENTS, "plodder"}
    assert rows["plodder"]["family"] == "my_agents"
    assert rows["random"]["family"] == "baselines"
    with pytest.warns(UserWarning, match="lost is left out"):
        assert "plodder" in CliRunner().invoke(app, ["agents"]).stdout


SEARCHES = ("best_of_n", "lats", "tree_of_thoughts")
PLANNERS = ("code_as_policies", "progprompt")


def test_why_not__tells_which_agent_plays_which_game():
    for name in AGENTS:
        games = [game for game in (*game_names(), "default") if not why_not(name, game)]
        if name == "explorer":
            assert games == ["alfworld"]
        elif name == "naive_buyer":
            assert games == ["webshop"]
        elif name == "random_text":
            assert games == ["alfworld", "hotpotqa", "textcraft", "webshop"]
        elif name == "chain_of_thought":
            assert games == ["hotpotqa", "minetechtree", "textcraft"]
        elif name in PLANNERS:
            assert games == ["minetechtree", "textcraft"]
        elif name in SEARCHES:
            assert games == ["alfworld", "hotpotqa", "textcraft", "webshop", "default"]
        elif name == "adaplanner":
            assert games == ["alfworld", "minetechtree", "textcraft"]
        elif name in ("dep", "deps", "inner_monologue", "zero_shot"):
            assert games == ["alfworld", "minetechtree", "tabletop", "textcraft"]
        else:
            assert games == [*game_names(), "default"]


@pytest.mark.usefixtures("my_agents")
def test_why_not__gives_the_reason():
    assert why_not("naive_buyer", "textcraft") == "it plays webshop only"
    assert why_not("deps", "webshop") == "there is no controller for the game webshop"
    assert why_not("progprompt", "alfworld").startswith(
        "there is no prompt progprompt/alfworld.txt"
    )
    assert why_not("my_agents:Plain", "textcraft").startswith("missing a required argument: 'pace'")
    assert (why_not("my_agents:Solver", "textcraft"), why_not("my_agents:policy", "webshop")) == (
        "",
        "",
    )
    assert why_not("my_agents:Solver", "webshop") == "it plays textcraft only"
    with pytest.raises(UnknownName, match="game"):
        why_not("react", "chess")
    with pytest.raises(UnknownName, match="agent"):
        why_not("recat", "textcraft")


@pytest.mark.parametrize(
    ("name", "argument"),
    [("adapt", "tell_planner"), ("reflexion", "trust_claims"), ("try_again", "trust_claims")],
)
def test_make_agent__does_not_take_the_text_no_for_true(name: str, argument: str):
    with pytest.raises(ValueError, match=f"expected {argument} to be true or false, got 'no'"):
        make_agent(name, args={argument: "no"})
