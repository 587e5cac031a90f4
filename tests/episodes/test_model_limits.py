from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from tests.episodes.test_episode import CountdownEnv, EndingEnv, Scripted
from textcraft_gym import run_episode
from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.model import (
    Completion,
    Message,
    ModelError,
    ModelLimit,
    ToolCall,
)
from textcraft_gym.episodes.model_limits import why_empty
from textcraft_gym.episodes.schedule import run_episodes
from textcraft_gym.replies import Turn

USAGE = {"prompt_tokens": 10, "completion_tokens": 150}


class Answering:
    """Answers from a list; an exception is raised."""

    def __init__(self, *answers: Completion | Exception) -> None:
        self.answers = list(answers)

    def complete(self, prompt: Any, **how: Any) -> Completion:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def talking(play: Play) -> Routine:
    """Play what the model says, in a part, and do not hear of its limits."""
    with play.sub("part", "executor", 1):
        while True:
            try:
                completion = yield from play.ask("?", max_tokens=150)
            except ModelError as error:
                raise AssertionError("the agent was told") from error
            yield from play.act(completion.text)


def sampling(n: int) -> Callable[[Play], Generator[Any, Any, bool | None]]:
    def episode(play: Play) -> Routine:
        completions = yield from play.ask_many("?", n=n, temperature=1.0)
        yield from play.act(" ".join(completion.text for completion in completions))
        return True

    return episode


REASONED = "the answer has no text: all 150 tokens went to reasoning; raise reasoning_tokens"


@pytest.mark.parametrize(
    ("answer", "limit", "said"),
    [
        (Completion("", USAGE, reasoning="hm", finish_reason="length"), "length", REASONED),
        (
            Completion("\n", USAGE, finish_reason="length"),
            "length",
            "cut off after 150 tokens; raise max_tokens",
        ),
        (
            Completion("", USAGE, finish_reason="content_filter"),
            "content_filter",
            "a content filter stopped it",
        ),
        (Completion("", USAGE, finish_reason="refusal"), "refusal", "the model refused to answer"),
        (Completion(" \t\n", USAGE), "empty", "the answer has no text"),
        (Completion("", USAGE, reasoning="hm"), "empty", "the model stopped after its reasoning"),
        (
            ModelLimit("8,000 tokens are too many", "context"),
            "context",
            "8,000 tokens are too many",
        ),
        (ModelLimit("no"), "empty", "no"),
        (
            ModelError("400: maximum context length exceeded"),
            "context",
            "400: maximum context length exceeded",
        ),
    ],
)
def test_run_episodes__ends_an_episode_at_the_limit_of_the_model(answer, limit: str, said: str):
    model = Answering(Completion("0", USAGE), answer)
    (episode,) = run_episodes([CountdownEnv()], Scripted(talking), [(None, 0)], model=model)
    assert (episode.stop_reason, episode.limit, episode.error, episode.traceback) == (
        "limit",
        limit,
        None,
        None,
    )
    assert (episode.steps, episode.claimed_success, episode.calls) == (1, None, {"executor": 2})
    assert said in episode.trace.parts[-1]
    paid = 2 if isinstance(answer, Completion) else 1
    assert episode.tokens == {"prompt_tokens": 10 * paid, "completion_tokens": 150 * paid}
    assert episode.replies == ({"asked": 2, "empty": 1} if paid == 2 else {"asked": 1})
    with pytest.raises(ModelLimit) as raised:
        run_episode(CountdownEnv(), Scripted(talking), seed=0, model=Answering(answer))
    assert (raised.value.limit, said in str(raised.value)) == (limit, True)


@pytest.mark.parametrize(
    "error", [ModelError("no answer"), ModelError("429: rate limit reached"), ValueError("x")]
)
def test_run_episodes__keeps_an_error_of_the_machinery_apart_from_a_limit(error: Exception):
    (episode,) = run_episodes(
        [CountdownEnv()], Scripted(talking), [(None, 0)], model=Answering(error)
    )
    assert (episode.stop_reason, episode.limit) == ("error", None)
    assert episode.error == f"{type(error).__name__}: {error}"


def test_run_episodes__keeps_a_win_before_the_limit():
    def winning_twice(play: Play) -> Routine:
        yield from play.act("won")
        yield from play.ask("?")
        return True

    (episode,) = run_episodes(
        [EndingEnv()], Scripted(winning_twice), [(None, 0)], model=Answering(Completion(""))
    )
    assert (episode.won, episode.limit, episode.claimed_success) == (True, "empty", None)


def test_run_episode__takes_samples_of_which_some_are_empty():
    empty = Completion("", USAGE, finish_reason="length")
    model = Answering(empty, Completion("1", USAGE), empty)
    (episode,) = run_episodes([CountdownEnv(1)], Scripted(sampling(3)), [(None, 0)], model=model)
    assert (episode.limit, episode.error, episode.reward) == (None, None, 1.0)
    assert (episode.replies, episode.tokens["completion_tokens"]) == (
        {"asked": 3, "empty": 2},
        450,
    )
    (episode,) = run_episodes(
        [CountdownEnv(1)], Scripted(sampling(3)), [(None, 0)], model=Answering(*[empty] * 3)
    )
    assert (episode.limit, episode.replies, episode.calls) == (
        "length",
        {"asked": 3, "empty": 3},
        {"executor": 3},
    )


def test_run_episode__counts_replies_that_were_cut_off_or_that_the_agent_read():
    def reading(play: Play) -> Routine:
        for _ in range(3):
            completion = yield from play.ask("?")
            play.count(Turn(completion.text, mended=completion.text == "`0`"))
        return False

    answers = (
        Completion("0", finish_reason="length"),
        Completion("`0`"),
        Completion("", tool_calls=(CALL,)),
    )
    episode = run_episode(CountdownEnv(), Scripted(reading), seed=0, model=Answering(*answers))
    assert episode.replies == {"asked": 3, "bare": 2, "worded": 1, "cut": 1}


CALL = ToolCall("1", "act", "{}")


def test_why_empty__names_reasoning_only_where_it_was_seen():
    for reason in ("stop", "length", "content_filter", "refusal", "tool_calls"):
        assert "reasoning" not in why_empty(Completion("", finish_reason=reason), 150, "?")
    cut = Completion("", reasoning="x", finish_reason="length")
    assert "all 150 tokens" in why_empty(cut, 150, "?")


def test_why_empty__advises_a_chat_only_where_there_was_none():
    for answer in (Completion(""), Completion("", reasoning="x")):
        assert "form=chat" in why_empty(answer, 150, "?")
        assert "form=" not in why_empty(answer, 150, (Message("user", "?"),))
