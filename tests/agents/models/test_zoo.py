"""Every agent against every server of the zoo: what a server does either wins, or ends the episode
by its name."""

from __future__ import annotations

import os
from pathlib import Path

import gymnasium as gym
import pytest

from tests.doubles.expert import TASK
from tests.doubles.server import serving
from tests.doubles.zoo import REFUSALS, ZOO, Behaviour, table
from textcraft_gym import make_agent, make_model, run_episode
from textcraft_gym.agents.contract.model import ModelError, ModelLimit, ModelUnavailable

AGENTS = ("react", "adapt", "try_again", "reflexion", "plan_and_execute")
KEY = "sk-proj-0123456789abcdefghij"
PAGE = Path(__file__).parents[3] / "docs" / "models.md"
BEGIN, END = "<!-- the zoo begins -->\n", "<!-- the zoo ends -->\n"


def play(behaviour: Behaviour, agent: str) -> tuple[str, str]:
    """Play the expert's task with a server, and return how that ends and the message that says
    why."""
    options = ",".join(filter(None, (behaviour.options, behaviour.bounds)))
    env = gym.make("TextCraft-v0", split="test")
    with serving(behaviour.answer) as server:
        model = make_model(
            f"openai:m,base_url={server.address}{behaviour.base},api_key={KEY},{options}"
        )
        try:
            player = make_agent(
                agent, profile="textcraft", args={"form": behaviour.form} if behaviour.form else {}
            )
            episode = run_episode(env, player, task=TASK, seed=0, model=model, max_calls=40)
        except ModelLimit as limit:
            return f"lost: {limit.limit}", str(limit)
        except ModelUnavailable as error:
            return "stopped", str(error)
        except ModelError as error:
            return "error", str(error)
    if episode.won:
        return "won", ""
    return "lost: no command" if episode.replies.get("no_command") else "lost", str(
        episode.transcript
    )


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("behaviour", ZOO.values(), ids=ZOO)
def test_server__is_played_with_or_named(behaviour: Behaviour, agent: str):
    ending, message = play(behaviour, agent)
    assert ending == behaviour.expected, message
    assert behaviour.because in message
    assert KEY not in message
    assert KEY[:8] not in message
    assert KEY[-4:] not in message


def test_page__has_the_table_of_the_zoo():
    """``ZOO_TABLE=write pytest tests/agents/models/test_zoo.py`` writes the table anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    printed, _, after = rest.partition(END)
    if os.environ.get("ZOO_TABLE") == "write":
        PAGE.write_text(f"{before}{BEGIN}\n{table()}\n\n{END}{after}", encoding="utf-8")
        return
    assert printed == f"\n{table()}\n\n"


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal__is_learned_for_good(name: str):
    ask = {"stop": ("END",), "max_tokens": 50, "temperature": 0.7, "sample": 3}
    with serving(ZOO[name].answer) as server:
        model = make_model(f"openai:m,base_url={server.url},api_key={KEY},max_retries=0")
        texts = [model.complete("Goal: craft birch boat.\n>", **ask).text for _ in range(2)]
        before = len(server.requests)
        model.complete("Goal: craft birch boat.\n>", **ask)
    assert texts == ["get 2 birch logs"] * 2
    assert before > 2
    assert len(server.requests) == before + 1
