"""A chat model with tools: a random Qwen3 of two layers, with a tokenizer for a game's texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
import trl
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed

MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TAGS = [
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
    "<tools>",
    "</tools>",
]


def tokenizer_for(
    dialogues: Iterable[list[dict[str, Any]]],
    tools: Sequence[Any] = (),
    size: int = 600,
) -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer trained on dialogues, with Qwen3's chat template and marks.

    Words may be merged into one token, up to a line, so that a call of a tool is a few tokens long.

    Args:
        dialogues: Messages, as a chat template takes them.
        tools: The tools that the template lists before each dialogue.
        size: Number of tokens, without the tags.
    """
    blank = _chat(Tokenizer(models.BPE()))
    texts = [
        blank.apply_chat_template(dialogue, tools=[*tools], tokenize=False)
        for dialogue in dialogues
    ]
    bytewise = Tokenizer(models.BPE())
    lines_and_tags = pre_tokenizers.Split(Regex(r"<[^>\n]*>|\n"), "isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytewise.pre_tokenizer = pre_tokenizers.Sequence([lines_and_tags, to_bytes])
    bytewise.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=MARKS,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    bytewise.train_from_iterator(texts, trainer)
    # Tags are plain tokens: the parser of tool calls reads them, and so the decoder must not skip
    # them.
    bytewise.add_tokens(TAGS)
    return _chat(bytewise)


def _chat(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    chat = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=MARKS[2],
        pad_token=MARKS[0],
    )
    template = Path(trl.__file__).parent / "chat_templates" / "qwen3_instruct_2507.jinja"
    chat.chat_template = template.read_text(encoding="utf-8")
    return chat


def network_for(
    tokenizer: PreTrainedTokenizerFast,
    *,
    width: int = 64,
    layers: int = 2,
    seed: int = 0,
) -> Qwen3ForCausalLM:
    """Return a network with random weights."""
    set_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=width // 4,
        max_position_embeddings=2048,
        initializer_range=0.06,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return Qwen3ForCausalLM(config).to(torch.float32)
