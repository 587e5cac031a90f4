"""The simulated model answers questions from what it read, and shows each of its limits."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import gymnasium as gym
import pytest

from textcraft_gym import RunSpec, evaluate, optimise_plan
from textcraft_gym.agents.autoplan.update import Experience, update_prompt
from textcraft_gym.agents.autoplan.wording import Wording
from textcraft_gym.agents.games import HOTPOTQA
from textcraft_gym.agents.games.hotpotqa.language import Comparison, Value, in_words, read_question, values
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.agents.simulated.hotpotqa import CHOOSE, LOOK_UP, SEARCH
from textcraft_gym.agents.simulated.numbered import in_lines
from textcraft_gym.evaluation.episode import Episode
from textcraft_gym.evaluation.schedule import run_episodes

BORN = "In which town was the director of the film Leaving Kelda born?"
SAME = "Do the band Sea and the Tides and the band Orvane Parade have the same label?"
FILM = "Leaving Kelda is a film of 1980. The film was directed by the director Ann Orme. It has been translated often.."
HIDDEN = "Leaving Kelda is a film of 1980. The film was praised for its humour.."
ANN = "Ann Orme, born on 4 May 1901, is a director. The director is a native of Sarnford."
OTHER = "For the director, see Ann Orme (director). Ann Orme is a manager who was born on 1 May 1920."
BEGIN = (
    "think: I keep in mind the film Leaving Kelda, the director of the film Leaving Kelda, "
    "the birthplace of the director of the film Leaving Kelda: 3"
)
READ = (BEGIN, "OK.", "search[Leaving Kelda]", FILM)


def complete(prompt: str, span: int = 9, max_tokens: int = 300, **options: float) -> str:
    how = {"stop": (), "max_tokens": max_tokens, "temperature": 0.0, "sample": 0}
    return SimulatedModel(span, **options).complete(prompt, **how).text


def filled(agent: str, question: str = BORN, task: str = HOTPOTQA.default_task, information: str = "", **more) -> str:
    prompt = Prompts().of(agent, "hotpotqa")
    return prompt.fill(situation=f"Question: {question}", task=task, information=information, **more)


def turn(*lines: str, question: str = BORN, task: str = HOTPOTQA.default_task, information: str = "", **how) -> str:
    turns = zip(lines[::2], lines[1::2], strict=True)
    return complete(filled("react", question, task, information) + "".join(f" {a}\n{b}\n>" for a, b in turns), **how)


# What is asked


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (BORN, ["the director of the film Leaving Kelda", "the birthplace of the director of the film Leaving Kelda"]),
        ("In which year was the album No Map for Ilm issued?", ["the year of the album No Map for Ilm"]),
        (
            "In which town is the school that the mayor of the home town of the football club Ilm attended based?",
            [
                "the town where the club Ilm is based",
                "the mayor of the town where the club Ilm is based",
                "the school that the mayor of the town where the club Ilm is based attended",
                "the town where the school that the mayor of the town where the club Ilm is based attended is based",
            ],
        ),
        (SAME, ["the label of the band Sea and the Tides", "the label of the band Orvane Parade"]),
        (
            "Who was born later, the author of the novel The Bell of Ilm or the writer Ann Orme?",
            [
                "the author of the novel The Bell of Ilm",
                "the date of birth of the author of the novel The Bell of Ilm",
                "the date of birth of the writer Ann Orme",
            ],
        ),
    ],
)
def test_question__takes_values_that_follow_from_each_other(question: str, wanted: list[str]):
    goal = read_question(question)
    assert goal is not None
    assert [in_words(value) for value in values(goal)] == wanted


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Which film was released earlier, the film A or the film B?", "less"),
        ("Which town has more inhabitants, the town A or the town B?", "more"),
        ("Did Ann Orme and Pell Oram attend the same school?", "same"),
    ],
)
def test_question__compares(question: str, wanted: str):
    goal = read_question(question)
    assert isinstance(goal, Comparison)
    assert goal.wanted == wanted


def test_question__of_another_form_is_not_understood():
    assert read_question("Why?") is None
    assert isinstance(read_question(BORN), Value)
    assert turn(question="Why?").startswith("task failed!")


# Turns


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ((), BEGIN),
        ((BEGIN, "OK."), "search[Leaving Kelda]"),
        (READ, "search[Ann Orme]"),
        ((BEGIN, "OK.", "search[Leaving Kelda]", HIDDEN), "lookup[direct]"),
        (
            (*READ[:3], HIDDEN, "lookup[direct]", "(Result 1 / 1) The director of the film was Ann Orme."),
            "search[Ann Orme]",
        ),
        ((*READ, "search[Ann Orme]", ANN), "finish[Sarnford]"),
        ((*READ, "search[Ann Orme]", OTHER), "search[Ann Orme (director)]"),
        (
            (*READ, "search[Ann Orme]", "Could not find [Ann Orme]. Similar: ['Ann', \"Ann Orme (director)\"]."),
            "search[Ann Orme (director)]",
        ),
        (
            (*READ, "search[Ann Orme]", 'Could not find exact match of "x". Available entities in the database: "Y".'),
            "search[Y]",
        ),
        (
            (*READ, "search[Ann Orme]", "Could not find that page, please try again."),
            "search[Ann Orme (director)]",
        ),
        ((*READ[:3], "A film of 1980.", "lookup[direct]", "No more results."), "task failed! I do not find it."),
    ],
)
def test_turn__reads_one_page_after_the_other(lines: tuple[str, ...], line: str):
    assert turn(*lines) == line


def test_turn__compares_what_two_pages_say():
    label = "x is a band. The label of the band is {}."
    begin = turn(question=SAME)
    read = (begin, "OK.", "search[Sea and the Tides]", label.format("Ilm Records"), "search[Orvane Parade]")
    assert turn(*read, label.format("Ilm Records"), question=SAME) == "finish[yes]"
    assert turn(*read, label.format("Aske Music"), question=SAME) == "finish[no]"
    assert (
        turn(*read, label.format("Aske Music"), question=SAME, information="I answered no, and it was not right.")
        == "finish[yes]"
    )
    older = "Which band was formed earlier, the band A or the band B?"
    formed = (turn(question=older), "OK.", "search[A]", "A is a band, formed in 1960..", "search[B]")
    assert turn(*formed, "B is a band that was formed in 1955..", question=older) == "finish[B]"


@pytest.mark.parametrize("span", [1, 2, 3, 9])
def test_turn__keeps_in_mind_what_the_question_takes(span: int):
    assert turn(span=span).startswith("task failed! 3 things" if span < 3 else "think: I keep in mind")


def test_turn__of_a_part_ends_when_it_is_known():
    task = "find out the director of the film Leaving Kelda"
    begin = turn(task=task, span=2)
    assert begin.endswith(": 2")
    assert turn(begin, "OK.", task=task) == "search[Leaving Kelda]"
    assert turn(begin, "OK.", "search[Leaving Kelda]", FILM, task=task) == "Task completed!"


def test_turn__does_not_look_for_what_it_is_told():
    told = f"What was read:\nsearch[Leaving Kelda]: {FILM}"
    assert turn(information=told).endswith("the birthplace of the director of the film Leaving Kelda: 2")
    assert turn(BEGIN, "OK.", information=told) == "search[Ann Orme]"


def test_turn__without_a_manual_looks_nothing_up_and_takes_the_first_page_listed():
    told = "search[x] lookup[x] finish[x] think:"
    said = f"{told}\nQuestion: {BORN}\nYour task is to: answer the question\n> {BEGIN}\nOK.\n>"
    titles = ["Leaving Kelda (album)", "Leaving Kelda (film)"]
    hidden = f"{said} search[Leaving Kelda]\n{HIDDEN}\n>"
    listed = f"{said} search[Leaving Kelda]\nCould not find x. Similar: {titles}.\n>"
    assert complete(hidden) == "I do not find it."
    assert complete(listed) == "search[Leaving Kelda (album)]"
    assert complete(f"{LOOK_UP}\n{hidden}") == "lookup[direct]"
    assert complete(f"{CHOOSE}\n{listed}") == "search[Leaving Kelda (film)]"


def test_slip__takes_another_name():
    assert turn(*READ, slip=1.0) not in ("search[Ann Orme]", "")
    assert turn(*READ, slip=1.0).startswith("search[")


# Numbered turns


def numbered(*turns: str, question: str = BORN) -> str:
    prompt = Prompts().of("react", "hotpotqa_numbered")
    head = prompt.fill(situation=f"Question: {question}", task=HOTPOTQA.default_task, information="")
    return complete(f"{head}\n" + "".join(f"{part}\n" for part in turns)[:-1])


def test_numbered__thinks_and_acts_in_one_answer():
    thought, _, action = numbered("Thought 1:").partition("\n")
    assert thought.startswith(" I keep in mind the film Leaving Kelda, ")
    assert action == "Action 1: Search[Leaving Kelda]"
    first = (f"Thought 1:{thought}", action, f"Observation 1: {FILM}")
    assert numbered(*first, "Thought 2:") == " I go on.\nAction 2: Search[Ann Orme]"
    assert numbered(*first, "Thought 2: Well.", "Action 2:") == " Search[Ann Orme]"


def test_numbered__gives_up_where_it_finds_nothing():
    first = ("Thought 1: I keep in mind all.", "Action 1: Search[Leaving Kelda]", "Observation 1: A film.")
    assert numbered(*first, "Thought 2:").endswith("\nAction 2: Lookup[direct]")
    looked = ("Thought 2: x", "Action 2: Lookup[direct]", "Observation 2: No more results.")
    assert numbered(*first, *looked, "Thought 3:").endswith("\nAction 3: Finish[]")


def test_numbered__is_read_as_lines():
    text = "answer the question\nThought 1: a\nAction 1: Search[B]\nObservation 1: c\nThought 2:"
    assert in_lines(text) == "answer the question\n> think: a\nOK.\n> search[B]\nc\n>"
    assert in_lines("> search[B]\nc\n>") == "> search[B]\nc\n>"


# Plans, reflections, guesses


def test_plan__names_what_to_find_out():
    assert complete(filled("plan_and_execute")).splitlines() == [
        "Step 1: find out the director of the film Leaving Kelda",
        "Step 2: answer the question",
        "Execution Order: (Step 1 AND Step 2)",
    ]
    twice = BORN.replace("the director of", "the mayor of the region of")
    assert len(complete(filled("plan_and_execute", twice)).splitlines()) == 4
    assert len(complete(filled("adapt", twice)).splitlines()) == 3
    assert complete(filled("plan_and_execute", twice), span=1).startswith("task failed!")
    assert "Step" not in complete(filled("adapt", task="find out the director of the film Leaving Kelda"))


def test_reflection__tells_what_was_read_and_what_was_wrong():
    transcript = "\n".join(["> search[Leaving Kelda]", FILM, "> finish[Ann]", "Episode finished, reward = 0"])
    told = complete(filled("reflexion", transcript=transcript))
    assert told.startswith("I answered Ann, and it was not right. What was read:\nsearch[Leaving Kelda]: Leaving")
    assert turn(BEGIN, "OK.", information=told) == "search[Ann Orme]"
    assert "I answered" not in complete(filled("reflexion", transcript=transcript), misjudge=1.0)
    form = "\n".join(["Thought 1: a", "Action 1: Search[Leaving Kelda]", f"Observation 1: {FILM}"])
    assert "search[Leaving Kelda]: Leaving" in complete(filled("reflexion", transcript=form))


def test_guess__knows_nothing():
    assert complete(filled("chain_of_thought")).endswith("\nfinish[unknown]")
    assert complete(filled("chain_of_thought", SAME)).endswith("\nfinish[yes]")


# Episodes


@cache
def env() -> gym.Env[str, str]:
    return gym.make("HotpotQA-v0", pages=1000, max_episode_steps=-1)


def played(name: str, span: int = 9, count: int = 40, **args: str) -> list[Episode]:
    tasks = [task.id for task in env().unwrapped.tasks[:count]]
    agent = make_agent(name, profile=HOTPOTQA, args=args)
    return list(run_episodes([env()], agent, [(task, 0) for task in tasks], model=SimulatedModel(span)))


@pytest.mark.parametrize(
    ("name", "args"),
    [("react", {}), ("reflexion", {}), ("plan_and_execute", {}), ("adapt", {}), ("react", {"form": "numbered"})],
)
def test_agents__answer_most_questions(name: str, args: dict[str, str]):
    assert sum(episode.won for episode in played(name, **args)) >= 34
    assert sum(episode.won for episode in played(name, 1, **args)) == 0


def test_adapt__answers_more_than_its_executor_alone():
    won = [sum(episode.won for episode in played(name, span=4)) for name in ("react", "adapt")]
    assert won[0] < won[1]


def test_chain_of_thought__answers_few():
    assert 0 < sum(episode.won for episode in played("chain_of_thought")) < 12


def test_autoplan__learns_habits_from_episodes(tmp_path: Path):
    spec = RunSpec("HotpotQA-v0", env_args={"pages": 1000}, limit=12, model="simulated:span=9")
    done = optimise_plan(spec, tmp_path / "plans", batch=6, iterations=2)
    plan = done[-1].plan.read_text()
    assert SEARCH in plan
    assert LOOK_UP in plan
    test = RunSpec("HotpotQA-v0", "dev", "autoplan", env_args={"pages": 1000}, limit=20, model="simulated:span=9")
    without = sum(record["won"] for record in evaluate(test, tmp_path / "without"))
    planned = RunSpec(**{**vars(test), "agent_args": {"plan": str(done[-1].plan)}})
    assert sum(record["won"] for record in evaluate(planned, tmp_path / "with")) > without


def test_update__keeps_habits_and_adds_those_of_reflections():
    wording = Wording(Prompts(), "hotpotqa")

    def update(plan: str, **told: str) -> list[str]:
        prompt = update_prompt(wording, plan, [Experience(f"Question: {BORN}", False, **told)])
        return [line.partition(". ")[2] for line in complete(prompt).splitlines()]

    assert update("") == [SEARCH]
    assert update("", summary=LOOK_UP) == [SEARCH]
    assert update(f"1. {CHOOSE}", flaws=f"The plan does not say this: {LOOK_UP}") == [SEARCH, LOOK_UP, CHOOSE]
