from __future__ import annotations

import gzip
from io import BytesIO

from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym.storage.frames import FrameError, first_line, frame, read, spans

TEXTS = st.lists(st.binary(max_size=300).map(lambda text: b"head\n" + text), min_size=1, max_size=5)


def texts_in(content: bytes) -> list[bytes]:
    """Return the texts that can be read of a file."""
    file = BytesIO(content)
    texts = []
    for span in spans(file):
        try:
            texts.append(read(file, span))
        except FrameError:
            continue
        assert first_line(file, span) == b"head"
    return texts


@settings(max_examples=50)
@given(TEXTS, st.data())
def test_file__cut_anywhere_has_every_text_that_is_whole(texts: list[bytes], data: st.DataObject):
    content = b"".join(map(frame, texts))
    assert gzip.decompress(content) == b"".join(texts)  # as zcat prints it
    end = data.draw(st.integers(0, len(content)))
    whole, length = [], 0
    for text in texts:
        length += len(frame(text))
        if length <= end:
            whole.append(text)
    assert texts_in(content[:end]) == whole
    assert texts_in(content[:end] + content)[: len(whole)] == whole


@settings(max_examples=50)
@given(TEXTS, st.data())
def test_file__with_a_damaged_byte_loses_one_text_at_most(texts: list[bytes], data: st.DataObject):
    content = bytearray(b"".join(map(frame, texts)))
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    kept = texts_in(bytes(content))
    assert len(kept) >= len(texts) - 1
    assert all(text in texts for text in kept)
