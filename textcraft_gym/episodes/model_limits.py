"""The model's own limits, by which an episode is lost though nothing failed."""

from __future__ import annotations

from collections.abc import Sequence

from textcraft_gym.agents.contract.model import (
    Completion,
    Dialogue,
    Limit,
    ModelError,
    ModelLimit,
    Prompt,
    is_overflow,
)

_LIMITS: dict[str, Limit] = {
    "length": "length",
    "content_filter": "content_filter",
    "refusal": "refusal",
}
"""Limits by why an answer without text ended; any other such answer is simply empty."""


def limit_of_answers(
    completions: Sequence[Completion],
    max_tokens: int,
    prompt: Prompt,
) -> ModelLimit | None:
    """Return the limit that the samples of a request hit: none has a text or a tool call."""
    if not all(completion.is_empty for completion in completions):
        return None
    first = completions[0]
    return ModelLimit(
        why_empty(first, max_tokens, prompt),
        _LIMITS.get(first.finish_reason, "empty"),
    )


def limit_of_error(error: Exception) -> ModelLimit | None:
    """Return the limit that an error of a model reports; None for an error of the machinery."""
    if isinstance(error, ModelLimit):
        return error
    if isinstance(error, ModelError) and is_overflow(str(error)):
        return ModelLimit(str(error), "context")
    return None


def why_empty(completion: Completion, max_tokens: int, prompt: Prompt) -> str:
    """Return what came in place of a text, and what to do about it.

    Args:
        completion: An answer without a text and a tool call.
        max_tokens: Maximum number of tokens that was asked for.
        prompt: What was asked.
    """
    has_reasoning = bool(completion.reasoning.strip())
    if completion.finish_reason == "length":
        tokens = completion.usage.get("completion_tokens") or max_tokens
        if has_reasoning:
            return (
                f"the answer has no text: all {tokens} tokens went to reasoning; "
                "raise reasoning_tokens"
            )
        return f"the answer has no text: it was cut off after {tokens} tokens; raise max_tokens"
    if completion.finish_reason == "content_filter":
        return (
            "the answer has no text: a content filter stopped it; "
            "other prompts or another model may pass"
        )
    if completion.finish_reason == "refusal":
        return "the model refused to answer; other prompts or another model may do better"
    why = "the answer has no text"
    if has_reasoning:
        why += ": the model stopped after its reasoning"
    is_line = isinstance(prompt, str) and not isinstance(prompt, Dialogue)
    return f"{why}; a chat model may need form=chat" if is_line else why
