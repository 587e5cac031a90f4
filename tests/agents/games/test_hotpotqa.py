"""Agents answer questions, with what a test has their models say."""

from __future__ import annotations

from dataclasses import asdict

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel
from tests.envs.hotpotqa.shelf import BORN, CORPUS, MUSIC, PAGES, Shelf
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.react import MAX_LINE, ReActAgent
from textcraft_gym.agents.autoplan.update import experience
from textcraft_gym.agents.contract.model import prompt_messages
from textcraft_gym.agents.games import HOTPOTQA, TEXTCRAFT
from textcraft_gym.agents.games.hotpotqa.controller import AnswerGiver
from textcraft_gym.agents.games.hotpotqa.game_profile import READ, tell_answer
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.envs.hotpotqa.wiki.corpus import Corpus, Page
from textcraft_gym.episodes.episode import Episode
from textcraft_gym.testing import AgentContract

FIND = "Step 1: find out who directed it\nStep 2: answer the question\nExecution Order: (Step 1 AND Step 2)"


def play(
    agent: str, models: dict[str, ScriptedModel], task: str = "q2", corpus: Corpus = CORPUS, **args
) -> Episode:
    made = make_agent(agent, profile=HOTPOTQA, args=args)
    return run_episode(gym.make("HotpotQA-v0", data=corpus), made, task=task, seed=0, model=models)


def test_react__answers_in_lines():
    lines = [
        "think: the film",
        "search[Harrow Vale]",
        "lookup[music]",
        "search[Tobin Aske]",
        "finish[Sarn]",
    ]
    model = ScriptedModel(*lines)
    episode = play("react", {"executor": model})
    assert (episode.won, episode.claimed_success, episode.steps, episode.stop_reason) == (
        True,
        True,
        4,
        "terminated",
    )
    prompt = model.asked[0]["prompt"]
    assert prompt.endswith(
        f"any.\n\nQuestion: {MUSIC.question}\n\nYour task is to: answer the question\n>"
    )


def test_react__claims_a_wrong_answer_but_not_an_empty_one():
    assert [
        play("react", {"executor": ScriptedModel(said)}).claimed_success
        for said in ("finish[x]", "finish[]")
    ] == [
        True,
        None,
    ]


NUMBERED = [
    " I search for the film.\nAction 1: Search[Harrow Vale]",
    "Thought 2: The music.\nIt is further down.\nAction 2: lookup[music]\nThought 3: too early",
    " Finish is the village Sarn",
    " Finish[Sarn]",
]


def test_autoplan__answers_and_is_told_the_solution_when_it_learns():
    models = {
        "thought": ScriptedModel(),
        "action": ScriptedModel("the film", "So it is a village."),
        "formalizer": ScriptedModel("search[Harrow Vale]", "finish[village]"),
        "summary": ScriptedModel(),
        "flaws": ScriptedModel(),
    }
    episode = play("autoplan", models, turns=2, reflect="full")
    assert (episode.won, episode.claimed_success, episode.steps, episode.stop_reason) == (
        False,
        True,
        2,
        "terminated",
    )
    solution = "The right answer is Sarn, which follows from these pages: Harrow Vale, Tobin Aske."
    prompt = f"The answer is not the right one: you failed. {solution}\nSummarise"
    assert prompt in models["summary"].asked[0]["prompt"]
    assert "flawed part of the plan" in models["flaws"].asked[0]["prompt"]
    assert experience(asdict(episode.trace), won=False).objective == f"Question: {MUSIC.question}"


@pytest.mark.parametrize("reflect", ["none", "summary"])
def test_autoplan__gives_up_after_its_turns(reflect: str):
    models = {role: ScriptedModel() for role in ("thought", "action", "formalizer", "summary")}
    episode = play("autoplan", models, turns=3, reflect=reflect)
    played = [action for action, _ in episode.transcript[1:]]
    assert played == ["task failed!"] * 3 + ["finish[]"]
    assert (episode.error, episode.claimed_success) == (None, False)
    prompts = [request["prompt"] for request in models["summary"].asked]
    assert len(prompts) == (reflect == "summary")
    assert all(
        "No turns are left" in prompt and "not the right one" not in prompt for prompt in prompts
    )
    assert all("The right answer is Sarn" in prompt for prompt in prompts)
    assert tell_answer({}) == tell_answer({"gt_answer": "", "gold": []}) == ""


def test_react__answers_in_numbered_turns():
    model = ScriptedModel(*NUMBERED)
    episode = play("react", {"executor": model}, form="numbered")
    assert (episode.won, episode.claimed_success, episode.calls) == (True, True, {"executor": 4})
    # The second goes on behind its action; the third has its action in a reply of its own.
    assert episode.replies == {"asked": 4, "bare": 2, "worded": 1}
    assert [action for action, _ in episode.transcript[1:]] == [
        "search[Harrow Vale]",
        "lookup[music]",
        "finish[Sarn]",
    ]
    first, second, third, fourth = (str(request["prompt"]) for request in model.asked)
    assert first.endswith(
        f"\nQuestion: {MUSIC.question}\nYour task is to: answer the question\nThought 1:"
    )
    shown = episode.transcript[1][1]
    assert (
        second
        == f"{first} I search for the film.\nAction 1: Search[Harrow Vale]\nObservation 1: {shown}\nThought 2:"
    )
    thought = "Thought 2: The music.\nIt is further down.\nAction 2: lookup[music]"
    assert (
        third
        == f"{second[: -len('Thought 2:')]}{thought}\nObservation 2: {episode.transcript[2][1]}\nThought 3:"
    )
    assert fourth == f"{third} Finish is the village Sarn\nAction 3:"
    assert [request["stop"] for request in model.asked] == [
        ("\nObservation 1:",), ("\nObservation 2:",), ("\nObservation 3:",), ("\n",)
    ]  # fmt: skip
    messages = prompt_messages(model.asked[3]["prompt"])
    assert [message.role for message in messages] == ["user", *["assistant", "user"] * 3]
    assert [message.content for message in messages[-2:]] == [
        "Thought 3: Finish is the village Sarn",
        "Action 3:",
    ]


def test_react__gives_up_with_an_empty_answer_when_its_numbered_turns_are_spent():
    model = ScriptedModel(*["Thought\nAction 1: Search[Sarn]"] * 40)
    episode = play("react", {"executor": model}, form="numbered")
    assert [action for action, _ in episode.transcript[1:]][-1] == "finish[]"
    assert (episode.won, episode.claimed_success, episode.steps, episode.stop_reason) == (
        False,
        False,
        8,
        "terminated",
    )
    assert (
        play("react", {"executor": ScriptedModel(*["x"] * 40)}, form="numbered", turns=4).steps == 3
    )


def test_react__reads_no_broken_lines_of_the_wiki():
    page = Page("Harrow Vale", (("A film\\n of three words.",),))
    model = ScriptedModel(" t\nAction 1: Search[Harrow Vale]", " t\nAction 2: Finish[x]")
    play("react", {"executor": model}, "q2", Corpus(Shelf([page]), CORPUS.splits), form="numbered")
    assert str(model.asked[1]["prompt"]).endswith(
        "Observation 1: A film of three words..\nThought 2:"
    )


def test_react__bounds_what_a_model_writes():
    model = ScriptedModel("x" * 100_000, "search[" + "y" * 100_000)
    play("react", {"executor": model}, form="numbered", turns=2)
    assert len(str(model.asked[1]["prompt"])) - len(str(model.asked[0]["prompt"])) < MAX_LINE + 100


def test_react__has_the_numbered_form_where_there_is_a_prompt_for_it():
    with pytest.raises(PromptError, match=r"no prompt react/textcraft_numbered\.txt"):
        ReActAgent(TEXTCRAFT, form="numbered")
    with pytest.raises(
        ValueError, match="expected form to be line, chat, tools or numbered, got 'lines'"
    ):
        ReActAgent(HOTPOTQA, form="lines")


@pytest.mark.parametrize("form", ["line", "numbered"])
def test_reflexion__answers_in_its_second_trial(form: str):
    first, second = {
        "line": ("finish[Port Lamby]", "finish[Sarn]"),
        "numbered": (" t\nAction 1: Finish[Port Lamby]", " t\nAction 1: Finish[Sarn]"),
    }[form]
    models = {
        "executor": ScriptedModel(first, second),
        "reflection": ScriptedModel("That is where it was shot."),
    }
    episode = play("reflexion", models, form=form)
    assert (episode.won, episode.steps) == (True, 2)
    assert "finish[port lamby]" in str(models["reflection"].asked[0]["prompt"]).lower()
    prompt = str(models["executor"].asked[1]["prompt"]).rpartition("Now it is your turn.")[2]
    assert "From an earlier trial: That is where it was shot.\n" in prompt


def test_adapt__tells_what_was_read_to_the_steps_after():
    executor = ScriptedModel(
        "task failed!",
        "search[Harrow]",
        "search[Harrow Vale]",
        "Task completed!",
        "search[Ines Calder]",
        "finish[Quill Bay]",
    )
    episode = play("adapt", {"executor": executor, "planner": ScriptedModel(FIND)}, "q1", d_max=2)
    assert (episode.won, episode.claimed_success, episode.k_max) == (True, True, 2)
    prompt = str(executor.asked[4]["prompt"]).rpartition("Your task is to: ")[2]
    assert prompt.startswith(
        "answer the question\nWhat was read:\nsearch[Harrow Vale]: Harrow Vale is a film of 1974."
    )
    assert "search[Harrow]" not in prompt


def test_report__has_the_last_passages_that_were_read():
    titles = [
        "Sarn",
        "Quill Bay",
        "nothing",
        "Sarn",
        *(page.title for page in PAGES if page.title != "Mercer"),
    ]
    executor = ScriptedModel(
        *(f"search[{title}]" for title in titles), "Task completed!", "task failed!"
    )
    models = {"executor": executor, "planner": ScriptedModel(FIND)}
    play("plan_and_execute", models, turns=99, patience=99)
    prompt = str(executor.asked[-1]["prompt"]).rpartition("Your task is to: ")[2]
    read = [line.partition("]: ")[0] for line in prompt.splitlines() if line.startswith("search[")]
    assert read == [f"search[{title}" for title in titles[-READ:]]


def test_plan_and_execute__follows_its_plan():
    executor = ScriptedModel("search[Harrow Vale]", "Task completed!", "finish[Quill Bay]")
    episode = play("plan_and_execute", {"executor": executor, "planner": ScriptedModel(FIND)}, "q1")
    assert (episode.won, episode.steps) == (True, 2)


def test_chain_of_thought__answers_without_the_tools():
    said = "# Ines Calder made it.\n# Not finish[Sarn], but:\nfinish[Quill Bay]"
    models = {"planner": ScriptedModel(said), "executor": ScriptedModel()}
    episode = play("chain_of_thought", models, "q1")
    assert (episode.won, episode.claimed_success, episode.steps, episode.calls) == (
        True,
        True,
        1,
        {"planner": 1},
    )
    assert str(models["planner"].asked[0]["prompt"][0].content).endswith(
        "\nThoughts, then the answer:"
    )
    silent = play(
        "chain_of_thought",
        {"planner": ScriptedModel("I do not know."), "executor": ScriptedModel()},
        "q1",
    )
    assert (silent.won, silent.claimed_success, silent.steps) == (False, False, 0)


def test_answer_giver__reads_the_last_answer():
    goals = AnswerGiver(Prompts()).goals
    assert [goal.line for goal in goals("finish[a]\nFinish[ b [c] ] now")] == ["finish[b [c]]"]
    assert goals("no answer") == []
    assert len(goals(f"finish[{'x' * 100_000}]")[0].line) < 1000


class OnTheShelf(AgentContract):
    env_id = "HotpotQA-v0"
    tasks = (BORN.id, MUSIC.id)
    name = "react"
    args: dict[str, str] = {}

    def make_agent(self):
        agent = make_agent(self.name, profile=HOTPOTQA, args=self.args)
        agent.env_args = {"data": CORPUS}
        return agent


class TestReActInNumberedTurns(OnTheShelf):
    args = {"form": "numbered"}


class TestChainOfThought(OnTheShelf):
    name = "chain_of_thought"
