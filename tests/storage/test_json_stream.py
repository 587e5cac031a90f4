"""A stream of JSON gives what the whole file would, wherever it is cut into pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym.storage import json_stream
from textcraft_gym.storage.json_stream import JSONStreamError, read_items, read_members

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("json") / "any.json"


@settings(deadline=None)
@given(
    st.lists(VALUES, max_size=6),
    st.integers(1, 40),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.sampled_from(["", " \n"]),
)
def test_stream__gives_what_the_file_has_in_pieces_of_any_size(
    file, values, piece, indent, ascii_only, blanks
):
    text = [
        json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        for value in (values, dict(enumerate(values)))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_PIECE", piece)
        file.write_text(f"{blanks}{text[0]}{blanks}", encoding="utf-8", errors="replace")
        expected = json.loads(file.read_text(encoding="utf-8"))
        assert list(read_items(file, lambda read: None)) == expected
        file.write_text(f"{blanks}{text[1]}{blanks}", encoding="utf-8", errors="replace")
        expected = json.loads(file.read_text(encoding="utf-8"))
        assert {
            key: json.loads(source) for key, source in read_members(file, lambda read: None)
        } == expected


@pytest.mark.parametrize("piece", range(1, 12))
def test_stream__takes_numbers_whole(file, monkeypatch, piece):
    monkeypatch.setattr(json_stream, "_PIECE", piece)
    file.write_text("[1.5e+16, -2E-7, 0.25, 10]")
    assert list(read_items(file, lambda read: None)) == [1.5e16, -2e-7, 0.25, 10]


@settings(deadline=None)
@given(st.text(alphabet='[]{}",:1eE.-+\\un tf\u00e9', max_size=30))
def test_stream__of_anything_is_a_list_or_an_error(file, text):
    file.write_text(text, encoding="utf-8")
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    if isinstance(expected, list):
        assert list(read_items(file, lambda read: None)) == expected
    else:
        with pytest.raises(JSONStreamError):
            list(read_items(file, lambda read: None))


def test_stream__gives_up_an_entry_without_end(file, monkeypatch):
    monkeypatch.setattr(json_stream, "MAX_ENTRY", 1000)
    monkeypatch.setattr(json_stream, "_PIECE", 100)
    file.write_text('["' + "x" * 100_000)
    read = []
    with pytest.raises(JSONStreamError, match="not JSON, or an entry of more than 1000 characters"):
        list(read_items(file, read.append))
    assert not read
