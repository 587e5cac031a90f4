"""The original's data in each of its shapes, and where it is malformed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.envs.hotpotqa.wiki.real import REAL, needs_real
from textcraft_gym.envs.hotpotqa.wiki.corpus import Page, Question
from textcraft_gym.envs.hotpotqa.wiki.official import WikiDataError, read_corpus
from textcraft_gym.storage.json_stream import MAX_DEPTH, MAX_ENTRY

PAGES = {
    "Harrow Vale": ["Harrow Vale is a film.", " It was directed by Ines Calder."],
    "Ines Calder": ["Ines Calder was born in Sarn."],
}
LISTS = {
    "_id": "5ab1",
    "question": "Where was the director of Harrow Vale born?",
    "answer": "Sarn",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Harrow Vale", 1], ["Ines Calder", 0]],
    "context": [[title, sentences] for title, sentences in PAGES.items()],
}
COLUMNS = {
    **{key: LISTS[key] for key in ("question", "answer", "type", "level")},
    "id": "5ab1",
    "supporting_facts": {"title": ["Harrow Vale", "Ines Calder"], "sent_id": [1, 0]},
    "context": {"title": [*PAGES], "sentences": [*PAGES.values()]},
}
SIMPLIFIED = {"question": LISTS["question"], "answer": "Sarn", "type": "bridge"}
QUESTION = Question(
    "5ab1",
    LISTS["question"],
    "Sarn",
    "bridge",
    "hard",
    (("Harrow Vale", 1), ("Ines Calder", 0)),
    tuple(PAGES),
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTCRAFT_GYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    return made


def write(folder: Path, **contents) -> Path:
    for name, content in contents.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("entry", [LISTS, COLUMNS])
def test_read__questions_with_their_pages(folder, entry):
    for _ in range(2):  # the second time from the cache
        corpus = read_corpus(write(folder, hotpot_dev_distractor_v1=[entry]))
        assert {split: list(questions) for split, questions in corpus.splits.items()} == {
            "dev": [QUESTION]
        }
        assert corpus.splits["dev"][-1:] == [QUESTION]
        assert list(corpus.wiki) == list(PAGES)
        assert corpus.wiki.page("Harrow Vale") == Page(
            "Harrow Vale", (tuple(PAGES["Harrow Vale"]),)
        )


@pytest.mark.parametrize(
    "pages",
    [
        PAGES,
        {title: [sentences] for title, sentences in PAGES.items()},
        [
            {"idx": index, "title": title, "text": text}
            for index, (title, text) in enumerate(PAGES.items())
        ],
    ],
)
def test_read__simplified_questions_and_a_corpus(folder, pages):
    corpus = read_corpus(write(folder, corpus=pages, hotpot_dev_v1_simplified=[SIMPLIFIED]))
    assert list(corpus.splits["dev"]) == [
        Question(
            "hotpot_dev_v1_simplified-0", LISTS["question"], "Sarn", "bridge", "unknown", (), ()
        )
    ]
    assert [corpus.wiki.page(title) for title in PAGES] == [
        Page(title, (tuple(sentences),)) for title, sentences in PAGES.items()
    ]


def test_read__a_text_has_a_paragraph_for_each_line(folder):
    corpus = read_corpus(
        write(
            folder, a=[{"title": "Sarn", "text": "A village. It is old.\n\nSee also"}, SIMPLIFIED]
        )
    )
    assert corpus.wiki.page("Sarn").paragraphs == (("A village. It is old.",), ("See also",))


def test_read__splits_by_the_names_of_files(folder):
    entries = {id: [{**LISTS, "_id": id}] for id in ("train", "validation", "test", "other")}
    splits = read_corpus(write(folder, **entries)).splits
    assert {
        split: [question.id for question in questions] for split, questions in splits.items()
    } == {
        "train": ["train"],
        "dev": ["other", "validation"],
        "test": ["test"],
    }
    assert list(read_corpus(folder / "train.json").splits) == ["train"]


def test_read__a_question_once_with_the_pages_of_all_settings(folder):
    twice = {**LISTS, "context": [["Sarn", ["A village."]]]}
    write(
        folder,
        dev_distractor=[LISTS],
        dev_fullwiki=[twice],
        dev_simplified=[SIMPLIFIED, {**SIMPLIFIED, "question": "?"}],
    )
    corpus = read_corpus(folder)
    assert [question.id for question in corpus.splits["dev"]] == ["5ab1", "dev_simplified-1"]
    assert list(corpus.wiki) == [*PAGES, "Sarn"]


def test_read__equal_questions_of_one_file_are_two(folder):
    corpus = read_corpus(write(folder, corpus=PAGES, dev_simplified=[SIMPLIFIED, SIMPLIFIED]))
    assert [question.id for question in corpus.splits["dev"]] == [
        "dev_simplified-0",
        "dev_simplified-1",
    ]


@pytest.mark.parametrize("answer", [{}, {"answer": None}, {"answer": ""}])
def test_read__an_untold_answer_is_empty(folder, answer):
    untold = {key: LISTS[key] for key in ("_id", "question", "context")} | answer
    assert list(read_corpus(write(folder, test=[untold])).splits["test"]) == [
        Question("5ab1", LISTS["question"], "", "unknown", "unknown", (), tuple(PAGES))
    ]


def test_read__any_title_and_a_page_of_ten_megabytes(folder):
    titles = ["finish[yes]", "search[x]", "", "\u00c9lodie \U0001f600", "a\nb", "x" * 10_000]
    pages = {title: ["A page."] for title in titles} | {"Long": ["It is long. " * 850_000]}
    corpus = read_corpus(write(folder, corpus=pages, dev=[LISTS]))
    assert [corpus.wiki.find(title).title for title in titles] == titles
    assert len(corpus.wiki.page("Long").paragraphs[0][0]) == 10_200_000
    assert corpus.wiki.similar("long") == ["Long"]


def test_read__a_changed_file_anew(folder, cache):
    read_corpus(write(folder, dev=[LISTS]))
    changed = read_corpus(write(folder, dev=[{**LISTS, "answer": "Quill Bay"}]))
    assert changed.splits["dev"][0].answer == "Quill Bay"
    assert len(list(cache.glob("*.arrays"))) == 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (3, "entry 1: expected an object, got 3"),
        ([], r"entry 1: expected an object, got \[\]"),
        ({}, "entry 1: expected a question or a title among its keys"),
        ({**LISTS, "question": None}, "entry 1, key 'question': expected a text, got nothing"),
        ({**LISTS, "answer": 7}, "entry 1, key 'answer': expected a text, got 7"),
        ({**LISTS, "_id": 7}, "entry 1, key '_id': expected a text, got 7"),
        (
            {**LISTS, "type": "other"},
            "entry 1, key 'type': expected bridge or comparison, got 'other'",
        ),
        ({**LISTS, "level": 3}, "entry 1, key 'level': expected a text, got 3"),
        (
            {**LISTS, "context": "x"},
            "entry 1, key 'context': expected a list, or an object of lists, got 'x'",
        ),
        (
            {**LISTS, "context": [["Sarn"]]},
            r"entry 1, key 'context': expected pairs, got \['Sarn'\]",
        ),
        (
            {**LISTS, "context": [[1, []]]},
            "entry 1, key 'context': expected titles with a list of sentences",
        ),
        (
            {**LISTS, "context": [["Sarn", [1]]]},
            "entry 1, key 'context': expected a text or a list of sentences",
        ),
        (
            {**LISTS, "context": {"title": ["Sarn"]}},
            "entry 1, key 'context': expected lists 'title' and 'sentences'",
        ),
        (
            {**LISTS, "context": {"title": ["Sarn"], "sentences": []}},
            "key 'context': expected lists .* of one length",
        ),
        (
            {**LISTS, "supporting_facts": [["Sarn", -1]]},
            "key 'supporting_facts': expected titles with the number",
        ),
        (
            {**LISTS, "supporting_facts": [["Sarn", True]]},
            "key 'supporting_facts': expected titles with the number",
        ),
        (
            {"title": "Sarn"},
            "entry 1, key 'text': expected a text or a list of sentences, got nothing",
        ),
        ({"title": 1, "text": ""}, "entry 1, key 'title': expected a text, got 1"),
        (
            {"title": "Sarn", "text": [["x"], "y"]},
            "entry 1, key 'text': expected a text or a list of sentences",
        ),
    ],
)
def test_read__says_where_an_entry_is_bad(folder, entry, message):
    with pytest.raises(
        WikiDataError, match=rf"dev\.json, {message}" if message.startswith("entry") else message
    ):
        read_corpus(write(folder, dev=[{**LISTS, "_id": "first"}, entry]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "entry 0: not JSON"),
        ("7", "entry 0: not JSON"),
        ('[{"question": "x"', "entry 0: not JSON, or truncated"),
        (json.dumps([LISTS])[:-1], "entry 0: not JSON, or truncated: expected an end$"),
        ('{"Sarn": 3}', "entry 'Sarn': expected a text or a list of sentences, got 3"),
        ('{"Sarn": ["A village."], "Ode"}', "entry 1: not JSON, or truncated"),
        ("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), "entry 0: nested more than"),
        ('[{"question": "' + "x" * (MAX_ENTRY + 10), "entry 0: not JSON, or an entry of more than"),
        (json.dumps(PAGES), "expected questions, got pages only"),
        (
            json.dumps([SIMPLIFIED]),
            "expected pages: simplified questions need a file that has them",
        ),
    ],
)
def test_read__says_what_is_wrong_with_a_file(folder, text, message):
    with pytest.raises(WikiDataError, match=message):
        read_corpus(write(folder, data=text))


def test_read__says_that_there_is_no_file(folder):
    with pytest.raises(WikiDataError, match=r"data: expected files \*.json, got none"):
        read_corpus(folder)
    with pytest.raises(WikiDataError, match="nowhere: no such file or folder"):
        read_corpus(folder / "nowhere")


@needs_real
def test_read__real_questions():
    corpus = read_corpus(REAL)
    assert {split: len(questions) for split, questions in corpus.splits.items()} == {
        "train": 20,
        "dev": 20,
    }
    for question in (question for questions in corpus.splits.values() for question in questions):
        assert {title for title, _ in question.gold} <= set(question.titles)
        for title, number in question.gold:
            page = corpus.wiki.find(title)
            assert page.title == title
            assert number < sum(map(len, page.paragraphs))
        gold = question.gold[0][0]
        assert gold in corpus.wiki.similar(f"{gold} {question.question}")
        assert set(corpus.wiki.similar(question.question, among=question.titles)) <= set(
            question.titles
        )
