from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.agents.scripted import ScriptedModel, play
from textcraft_gym.agents.autoplan.autoplan import MAX_ERROR, MAX_PLAN, AutoPlanAgent, read_plan
from textcraft_gym.agents.autoplan.update import (
    Experience,
    calls_by_role,
    experience,
    new_plan,
    update_prompt,
)
from textcraft_gym.agents.autoplan.wording import Wording
from textcraft_gym.agents.contract.model import prompt_messages
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.games import TEXTCRAFT
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.replies import MAX_COMMAND

PLAN = "1. Fetch {what} no command makes.\n2. Craft it."
ROLES = ("thought", "action", "formalizer", "summary", "flaws", "revision")


def models(**answers: list[str]) -> dict[str, ScriptedModel]:
    return {role: ScriptedModel(*answers.get(role, [])) for role in ROLES}


def test_turn__is_a_thought_an_action_and_its_form_which_stands_in_the_dialogue():
    players = models(
        thought=["First\nthe bees.", "Then more."],
        action=["I get 3 honeycomb\nand fly", "fly"],
        formalizer=["get 3 honeycomb\nget 2 string", "fly"],
    )
    episode = play(AutoPlanAgent(TEXTCRAFT, settings=Settings(turns=2)), players)
    assert [action for action, _ in episode.transcript[1:]] == ["get 3 honeycomb", "fly"]
    assert (episode.calls, episode.stop_reason) == (
        {"thought": 2, "action": 2, "formalizer": 2},
        "agent",
    )
    assert episode.claimed_success is None
    # Of a turn the formalizer's reply alone is to be a command.
    assert episode.replies == {"asked": 6, "worded": 1, "no_command": 1}
    how = [
        {key: request[key] for key in ("stop", "max_tokens", "temperature")}
        for request in players["thought"].asked
    ]
    assert how == [
        {"stop": (), "max_tokens": 1024, "temperature": 0.0},
        {"stop": ("\n",), "max_tokens": 100, "temperature": 0.0},
    ]
    assert (
        players["formalizer"]
        .asked[0]["prompt"]
        .endswith("The player wrote: I get 3 honeycomb\nAs the game takes it:")
    )
    roles, texts, *_ = zip(*prompt_messages(players["thought"].asked[1]["prompt"]), strict=True)
    assert roles == ("user", "assistant", "user", "assistant", "user")
    assert texts[1:4] == ("First\nthe bees.", "Action:", "get 3 honeycomb")
    assert texts[4].startswith("Got 3 honeycomb\n")
    assert "{plan}" not in texts[0]
    assert "learned from other tasks" not in texts[0]


def test_turn__without_a_formalizer_plays_what_is_written():
    episode = play(
        AutoPlanAgent(TEXTCRAFT, settings=Settings(turns=1), formalizer=False),
        models(action=["get 3 honeycomb"]),
    )
    assert episode.transcript[1] == ("get 3 honeycomb", "Got 3 honeycomb")
    assert "formalizer" not in episode.calls


def test_plan__stands_in_the_first_message_and_changes_the_question():
    players = models()
    play(AutoPlanAgent(TEXTCRAFT, settings=Settings(turns=1), plan=PLAN), players)
    prompt = players["thought"].asked[0]["prompt"]
    assert PLAN in prompt
    assert "which step of the plan" in prompt.rpartition("\n")[2]


@pytest.mark.parametrize("reflect", ["none", "summary", "full"])
@pytest.mark.parametrize("plan", [None, PLAN])
def test_reflections__are_asked_in_the_dialogue_of_the_episode(reflect: str, plan: str | None):
    players = models(summary=["I flew."], flaws=["Nobody flies."], revision=["Walk."])
    episode = play(
        AutoPlanAgent(TEXTCRAFT, settings=Settings(turns=1), plan=plan, reflect=reflect), players
    )
    expected = {
        "none": [],
        "summary": ["summary"],
        "full": ["summary", "flaws", *(["revision"] if plan else [])],
    }
    assert [role for role in ROLES[3:] if players[role].asked] == expected[reflect]
    for role in expected[reflect]:
        messages = prompt_messages(players[role].asked[0]["prompt"])
        assert messages[0] == prompt_messages(players["thought"].asked[0]["prompt"])[0]
        assert any("you failed" in message.content for message in messages)
    reflection = experience(asdict(episode.trace), won=False)
    assert reflection.objective == "craft beehive"
    assert (reflection.summary, reflection.flaws, reflection.revision) == tuple(
        text if role in expected[reflect] else ""
        for role, text in (
            ("summary", "I flew."),
            ("flaws", "Nobody flies."),
            ("revision", "Walk."),
        )
    )
    roles = calls_by_role(asdict(episode.trace))
    assert {role: calls for role, (calls, _) in roles.items()} == episode.calls
    assert sum(tokens for _, tokens in roles.values()) == sum(episode.tokens.values())


def test_reflections__after_success_and_at_the_end_of_the_calls():
    won = models(formalizer=["get 3 wheat", "craft 1 bread using 3 wheat"], summary=["I made it."])
    episode = play(
        AutoPlanAgent(TEXTCRAFT, settings=Settings(turns=5), reflect="summary"),
        won,
        "minecraft:bread",
    )
    assert (episode.won, episode.claimed_success, episode.steps) == (True, None, 2)
    assert "you succeeded" in won["summary"].asked[0]["prompt"]
    cut = play(
        AutoPlanAgent(TEXTCRAFT, settings=Settings(turns=1), reflect="full"), models(), max_calls=4
    )
    assert (sum(cut.calls.values()), cut.error) == (4, None)


@pytest.mark.parametrize("text", [".", "x" * 100_000, "\x00\ud800 {plan}", "\u2028x"])
def test_turn__is_spent_by_whatever_is_no_action(text: str):
    episode = play(
        AutoPlanAgent(TEXTCRAFT, settings=Settings(turns=2), plan=PLAN, reflect="full"),
        {"executor": Saying(text)},
    )
    assert (episode.steps, episode.error) == (2, None)
    assert all(len(action) <= MAX_COMMAND for action, _ in episode.transcript[1:])


class Saying:
    def __init__(self, text: str) -> None:
        self.text = text

    def complete(self, prompt, **how):
        return ScriptedModel(self.text).complete(prompt)


def test_read_plan__takes_a_file_or_a_text(tmp_path: Path):
    file = tmp_path / "plan.txt"
    file.write_text(f"{PLAN}\n")
    prompts = [Prompts() for _ in range(4)]
    plans = [
        AutoPlanAgent(TEXTCRAFT, source, plan=plan).plan
        for source, plan in zip(prompts, (file, str(file), PLAN), strict=False)
    ]
    assert plans == [PLAN] * 3
    AutoPlanAgent(TEXTCRAFT, prompts[3])
    assert prompts[0].sha256 == prompts[2].sha256 != prompts[3].sha256
    assert (read_plan(None), read_plan("\n")) == ("", "")
    file.write_text("x" * MAX_PLAN + "\n")
    assert len(read_plan(file)) == MAX_PLAN


def test_read_plan__says_what_is_wrong(tmp_path: Path):
    file = tmp_path / "plan.txt"
    with pytest.raises(ValueError, match="there is no file"):
        AutoPlanAgent(TEXTCRAFT, plan=str(file))
    file.write_text("x" * 100_000)
    for plan in (file, "x\n" * 50_000):
        with pytest.raises(ValueError, match=f"a plan of at most {MAX_PLAN} characters"):
            read_plan(plan)
    with pytest.raises(
        ValueError, match="cannot be read"
    ) as long:  # a text of one line is the name of a file
        read_plan("x" * 100_000)
    assert len(str(long.value)) <= MAX_ERROR
    file.write_bytes(b"\xff")
    with pytest.raises(ValueError, match="cannot be read"):
        read_plan(file)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="there is no file"):
        read_plan(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reflect": "much"}, "reflect to be none, summary or full"),
        ({"formalizer": "no"}, "formalizer to be true or false"),
        ({"temperature": 3}, "temperature from 0 to 2"),
        ({"thought_tokens": 0}, "thought_tokens of 1 or more"),
        ({"reflection_tokens": 0}, "reflection_tokens of 1 or more"),
    ],
)
def test_agent__refuses_what_makes_no_sense(options: dict, message: str):
    with pytest.raises(ValueError, match=message):
        AutoPlanAgent(TEXTCRAFT, **options)


def test_update_prompt__has_the_plan_and_every_experience():
    wording = Wording(Prompts(), "textcraft")
    experiences = [
        Experience("craft {game}", True, "Done."),
        Experience("get stick", False, "Lost.", "All.", "Mend it."),
    ]
    prompt = update_prompt(wording, PLAN, experiences)
    for text in (
        PLAN,
        "Objective: craft {game}\nResult: succeeded\nSummary: Done.\nFlaws: none",
        "Revision: Mend it.",
    ):
        assert text in prompt
    assert prompt.endswith("New plan:")
    assert "There is none yet." in update_prompt(wording, "", experiences)


@pytest.mark.parametrize(
    "text",
    ["", "1. a\r\n2. b\u2028", "\ud800", " \n x \n", "y" * 100_000, "a" * (MAX_PLAN - 1) + " b"],
)
def test_new_plan__can_be_written_and_read_back(text: str, tmp_path: Path):
    plan = new_plan(text)
    file = tmp_path / "plan.txt"
    file.write_text(plan + "\n", encoding="utf-8", newline="\n")
    assert read_plan(file) == plan
    assert len(plan) <= MAX_PLAN


def test_wording__names_a_section_that_it_does_not_know(tmp_path: Path):
    (tmp_path / "autoplan").mkdir()
    file = tmp_path / "autoplan" / "textcraft.txt"
    file.write_text("=== opening\n{situation}{task}{information}\n=== thuoght\nHm?\n")
    with pytest.raises(PromptError, match="got thuoght"):
        Wording(Prompts(tmp_path), "textcraft")
    file.write_text("=== opening\n{situation}|{task}|{information}\n")
    assert (
        Wording(Prompts(tmp_path), "textcraft").fill(
            "opening", situation="s", task="t", information=""
        )
        == "s|t|"
    )
    (tmp_path / "autoplan" / "default.txt").write_text(
        "=== opening\n{situation}{task}{information}\n"
    )
    with pytest.raises(
        PromptError, match=r"autoplan/textcraft\.txt and autoplan/default\.txt have no section game"
    ):
        Wording(Prompts(tmp_path), "textcraft")
