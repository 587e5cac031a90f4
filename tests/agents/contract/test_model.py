from __future__ import annotations

import pytest

from textcraft_gym.agents.contract.model import Completion, ToolCall, is_overflow

OVERFLOWS = {
    "OpenAI": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    "OpenAI's code": "400: {'code': 'context_length_exceeded'}",
    "OpenAI, responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "OpenRouter": "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
    "vLLM": "The decoder prompt (length 5012) is longer than the maximum model length of 4096.",
    "vLLM, chat": "However, you requested 4200 tokens. Please reduce the length of the messages or completion.",
    "SGLang": "The input (5012 tokens) is longer than the model's context length (4096 tokens).",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens",
    "llama.cpp": "the request exceeds the available context size, try increasing it",
    "llama.cpp's type": "{'type': 'exceed_context_size_error', 'n_ctx': 4096}",
    "llama.cpp, before": "input is larger than the max context size. skipped",
    "llama.cpp, in Python": "Requested tokens (5012) exceed context window of 4096",
    "Ollama": "the input length exceeds the context length",
    "Ollama, in the log": "prompt too long; exceeded max context length by 10 tokens",
    "LM Studio": "the model is loaded with context length of only 4096 tokens, which is not enough",
    "Anthropic": "prompt is too long: 208310 tokens > 200000 maximum",
    "Anthropic, both": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "Gemini": "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
    "Vertex": "Unable to submit request because the input token count is 40000 but model only supports up to 32768.",
    "Mistral": "Prompt contains 40012 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Bedrock": "ValidationException: Input is too long for requested model.",
    "Bedrock, Nova": "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
    "Bedrock, Llama": "Too many input tokens. Max input tokens: 8192, request input token count: 9001",
    "Cohere": "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5012",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 500000 tokens.",
}
OTHERS = {
    "rate": "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000.",
    "rate of Anthropic": "This request would exceed your organization's rate limit of 40,000 input tokens per minute",
    "rate of Bedrock": "ThrottlingException: Too many tokens, please wait before trying again.",
    "size of a day": "Number of request tokens has exceeded your daily rate limit",
    "Groq's rate": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9001",
    "quota": "You exceeded your current quota, please check your plan and billing details.",
    "deadline": "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    "cancelled": "deadline exceeded: context canceled",
    "output": "max_tokens is too large: 40000. This model supports at most 16384 completion tokens",
    "stop": "Unsupported parameter: 'stop' is not supported with this model.",
    "network": "no answer from 127.0.0.1: Connection error.",
    "none": "",
}


@pytest.mark.parametrize("server", OVERFLOWS)
def test_is_overflow__knows_the_words_of_each_server(server: str):
    assert is_overflow(OVERFLOWS[server])


@pytest.mark.parametrize("error", OTHERS)
def test_is_overflow__is_no_rate_no_deadline_and_no_wrong_option(error: str):
    assert not is_overflow(OTHERS[error])


def test_completion__is_empty_without_a_text_and_a_call():
    assert Completion("").is_empty
    assert Completion(" \n", reasoning="hm").is_empty
    assert not Completion("x").is_empty
    assert not Completion("", tool_calls=(ToolCall("1", "act", "{}"),)).is_empty
