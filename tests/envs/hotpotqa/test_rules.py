"""The rules: exact texts, an independent model of ReAct's program, and what an answer is worth."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.envs.hotpotqa.shelf import BORN, CORPUS, MUSIC, PAGES, Shelf
from textcraft_gym.envs.hotpotqa.rules import (
    MAX_ANSWERS,
    MAX_LOOKUPS,
    MAX_TITLES,
    REASONS,
    START,
    State,
    World,
    admissible_commands,
    apply,
    f1,
    is_right,
    normalised,
    parse,
    sentences,
    shown,
)
from textcraft_gym.envs.hotpotqa.text import MAX_SENTENCE
from textcraft_gym.envs.hotpotqa.wiki.corpus import Page, Question

WIKI = CORPUS.wiki
REACT = World(WIKI, BORN)
AUTOPLAN = World(WIKI, BORN, "autoplan", "given")
REFLEXION = World(WIKI, BORN, "reflexion")

DIRECTED = "Harrow Vale is a film of 1974. It was directed by Ines Calder."
FILM = f"{DIRECTED} The film was shot in Port Lamby. It lasts 94 minutes."
PRAISE = "Critics praised its light."
LISTED = "['Mercer (band)', 'Mercer (film)', 'Élodie Mercer', 'finish[yes]']"
ONLY = "The search API only returns the paragraph if the search query"
EXACT = f"{ONLY} matches every character to an entity in the database."

TRANSCRIPTS = {
    "react": (
        REACT,
        [
            ("lookup[film]", "No more results.\n", "no_page"),
            ("search[Harrow Vale]", f"{FILM} {PRAISE}", ""),
            ("lookup[FILM]", "(Result 1 / 2) Harrow Vale is a film of 1974.", ""),
            ("lookup[FILM]", "(Result 2 / 2) The film was shot in Port Lamby.", ""),
            ("lookup[FILM]", "No more results.\n", "no_more_results"),
            ("lookup[FILM]", "No more results.\n", "no_more_results"),
            ("lookup[Aske]", "(Result 1 / 1) The music is by Tobin Aske..", ""),
            (
                "search[Ines]",
                "Could not find Ines. Similar: ['Harrow Vale', 'Ines Calder'].",
                "no_such_page",
            ),
            ("lookup[Aske]", "No more results.\n", "no_more_results"),
            ("lookup[94]", "(Result 1 / 1) It lasts 94 minutes.", ""),
            ("lookup[zebra]", "No more results.\n", "no_more_results"),
            ("lookup[94]", "(Result 1 / 1) It lasts 94 minutes.", ""),
            ("search[mercer]", f"Could not find [mercer]. Similar: {LISTED}.", "no_such_page"),
            (
                "search[MERCER (BAND)]",
                "Mercer are a band from Sarn. They were formed in 1988..",
                "",
            ),
            ("lookup[94]", "No more results.\n", "no_more_results"),
            (
                "search[Tobias Aske]",
                "Tobin Aske (1940 to 1999) was a composer. He grew up in Sarn..",
                "",
            ),
            ("search[Port Lamby]", "Port Lamby is a port without a full stop.", ""),
            (
                "search[élodie mercer]",
                "Élodie Mercer is a director. She was born in Sarn in 1950..",
                "",
            ),
            (
                "search[finish[yes]]",
                "finish[yes] is an album of the band Mercer. It came out in 1990..",
                "",
            ),
            (
                "search[Sarn]",
                "Sarn is a village. It lies on the river Ode.. Its fair is held in May.. It is old..",
                "",
            ),
            (
                "search[Ines Calder]",
                "Ines Calder was a director. She was born in Quill Bay in 1931..",
                "",
            ),
            ("lookup[see also]", "No more results.\n", "no_more_results"),
            ("think[a thought]", "Nice thought.", ""),
            ("  Search[zzz] ", "Could not find zzz. Similar: [].", "no_such_page"),
            ("SEARCH[Sarn]", "Invalid action: SEARCH[Sarn]", "unknown_command"),
            (" fly away\n", "Invalid action: fly away", "unknown_command"),
            ("search[Sarn", "Invalid action: search[Sarn", "unknown_command"),
            ("Finish[quill  bay.]", "Episode finished, reward = 1\n", ""),
            ("search[Sarn]", "Episode finished, reward = 1\n", ""),
            ("finish[no]", "Episode finished, reward = 1\n", ""),
        ],
    ),
    "autoplan": (
        AUTOPLAN,
        [
            (
                "search[harrow vale]",
                'Could not find exact match of "harrow vale". Available entities in the database: "Harrow Vale". '
                f"{EXACT}",
                "no_such_page",
            ),
            ("search[Harrow Vale]", f"{FILM} {PRAISE}", ""),
            ("lookup[Aske]", "(Result 1 / 1) The music is by Tobin Aske.", ""),
            (
                "search[Sarn]",
                "Sarn is a village. It lies on the river Ode. Its fair is held in May.\nIt is old.",
                "",
            ),
            (
                "fly",
                "No action in the format of 'search[...]', 'lookup[...]', or 'finish[...]'.",
                "unknown_command",
            ),
            ("finish[Sarn]", "Episode finished, reward = 0\n", ""),
        ],
    ),
    "reflexion": (
        REFLEXION,
        [
            ("Search[Harrow Vale]", f"{FILM} {PRAISE}", ""),
            ("Lookup[94]", "(Result 1 / 1) It lasts 94 minutes.", ""),
            ("Search[Vale]", "Could not find that page, please try again.", "no_such_page"),
            (
                "Lookup[94]",
                "The last page Searched was not found, so you cannot Lookup a keyword in it. "
                "Please try one of the similar pages given.",
                "no_page",
            ),
            (
                "think[hm]",
                "Invalid Action. Valid Actions are Lookup[<topic>] Search[<topic>] and Finish[<answer>].",
                "unknown_command",
            ),
            ("Finish[Quill Bay]", "Answer is CORRECT", ""),
            ("Finish[x]", "Answer is CORRECT", ""),
        ],
    ),
}


@pytest.mark.parametrize("dialect", TRANSCRIPTS)
def test_apply__answers_exactly_as_the_programs(dialect: str):
    world, turns = TRANSCRIPTS[dialect]
    state = START
    for action, expected, why in turns:
        state, answer, reason, _ = apply(world, state, action)
        assert (action, answer, reason) == (action, expected, why)


def test_apply__says_that_a_wrong_answer_is_incorrect():
    assert apply(REFLEXION, START, "Finish[Sarn]")[1] == "Answer is INCORRECT"


def test_apply__in_the_question_alone_finds_its_pages_only():
    world = World(WIKI, MUSIC, scope="question")
    assert apply(world, START, "search[Quill Bay]")[1] == "Could not find Quill Bay. Similar: []."
    assert (
        apply(world, START, "search[Tobin]")[1]
        == "Could not find Tobin. Similar: ['Harrow Vale', 'Tobin Aske']."
    )
    assert apply(world, START, "search[Tobin Aske]")[0].page == "Tobin Aske"


class Program:
    """What ReAct's program does, from the description of it: page text and counters, without
    states."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.text: str | None = None
        self.word: str | None = None
        self.lines: list[str] = []
        self.next = 0
        self.over = ""

    def step(self, action: str) -> str:
        action = action.strip()
        action = action[:1].lower() + action[1:]
        if self.over:
            return self.over
        inner = action[action.find("[") + 1 : -1]
        if not action.endswith("]"):
            return f"Invalid action: {action}"
        if action.startswith("search["):
            return self.search(inner)
        if action.startswith("lookup["):
            if self.word != inner:
                self.word, self.next = inner, 0
                self.lines = [line for line in self.divided() if inner.lower() in line.lower()]
            self.next += 1
            if self.next > len(self.lines):
                return "No more results.\n"
            return f"(Result {self.next} / {len(self.lines)}) {self.lines[self.next - 1]}"
        if action.startswith("finish["):
            right = normalised(inner) == normalised(self.question.answer)
            self.over = f"Episode finished, reward = {int(right)}\n"
            return self.over
        return "Nice thought." if action.startswith("think[") else f"Invalid action: {action}"

    def search(self, entity: str) -> str:
        page = WIKI.find(entity)
        paragraphs = ["".join(paragraph) for paragraph in page.paragraphs] if page else []
        if any("may refer to:" in paragraph for paragraph in paragraphs):
            name = f"[{entity}]"
            return f"Could not find {name}. Similar: {[title for title in WIKI.similar(name, 6) if title != page.title][:5]}."
        if not page:
            return f"Could not find {entity}. Similar: {WIKI.similar(entity)}."
        self.text = "".join(
            f"{paragraph}\n" for paragraph in paragraphs if len(paragraph.split(" ")) > 2
        )
        self.word, self.lines = None, []
        return " ".join(self.divided()[:5])

    def divided(self) -> list[str]:
        paragraphs = [line.strip() for line in (self.text or "").split("\n") if line.strip()]
        return [
            f"{part.strip()}." for line in paragraphs for part in line.split(". ") if part.strip()
        ]


TITLES = [page.title for page in PAGES] + ["mercer", "sarn", "nothing", ""]
WORDS = ["film", "the", "Sarn", "in", "19", "e", "zebra", ""]
ACTIONS = st.one_of(
    st.sampled_from([f"search[{title}]" for title in TITLES]),
    st.sampled_from([f"lookup[{word}]" for word in WORDS]),
    st.sampled_from([f"Lookup[{word}]" for word in WORDS]),
    st.sampled_from(
        [
            "fly",
            "think[x]",
            "think",
            "search[",
            "",
            "finish[Quill Bay",
            "finish[Quill Bay]",
            "finish[]",
        ]
    ),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(ACTIONS, max_size=15))
def test_apply__does_what_the_program_does(actions: list[str]):
    program, state = Program(BORN), START
    for action in actions:
        state, answer, _, _ = apply(REACT, state, action)
        assert answer == program.step(action), action


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=40), st.sampled_from([REACT, AUTOPLAN, REFLEXION]))
def test_apply__bears_any_text(action: str, world: World):
    state, answer, reason, why = apply(world, START, action)
    assert isinstance(answer, str)
    assert reason in ("", *REASONS)
    assert why == ""
    assert (state == START) or not reason or state.listed


def test_apply__bears_long_texts():
    for action in (
        "x" * 100_000,
        f"search[{'x' * 100_000}]",
        "[" * 100_000,
        f"lookup[{'x' * 100_000}]",
    ):
        assert len(apply(REACT, START, action)[1]) < 3000


def test_page__of_ten_megabytes_is_read():
    page = Page(
        "Long",
        (
            tuple(
                f" Sentence {number} is one of very many that are on this page."
                for number in range(10**5)
            ),
        ),
    )
    world = World(Shelf([page]), BORN)
    state, answer, *_ = apply(world, START, "search[Long]")
    assert len(answer) < 1000
    assert apply(world, state, "lookup[99999]")[1].startswith("(Result 1 / 1) Sentence 99999 ")


def test_page__without_a_full_stop_is_shown_in_bounds():
    world = World(Shelf([Page("Long", (("word " * 2_000_000,),))]), BORN)
    state, answer, *_ = apply(world, START, "search[Long]")
    assert len(answer) == MAX_SENTENCE
    assert len(apply(world, state, "lookup[word]")[1]) == len("(Result 1 / 1) ") + MAX_SENTENCE


@settings(deadline=None, max_examples=200)
@given(st.lists(ACTIONS, max_size=8), st.sampled_from([REACT, AUTOPLAN, REFLEXION]))
def test_admissible_commands__do_something_and_change_nothing(actions: list[str], world: World):
    state = START
    for action in actions:
        state = apply(world, state, action)[0]
    commands = admissible_commands(world, state)
    assert len(commands) == len(set(commands))
    assert bool(commands) == (state.answer is None)
    for command in commands:
        assert apply(world, state, command)[2] == ""


@pytest.mark.parametrize("action", ["search[Long]", "lookup[word]"])
def test_admissible_commands__have_no_title_that_is_cut_off(action: str):
    long = f"word {'Sarn':{MAX_SENTENCE}} Quill Bay"
    world = World(Shelf([*PAGES, Page("Long", ((long,),))]), BORN)
    state = START
    for played in ("search[Long]", action):
        state, shown, *_ = apply(world, state, played)
        assert ("Sarn" in shown, "Quill Bay" in shown) == (True, False)
    commands = admissible_commands(world, state)
    assert ("search[Sarn]" in commands, "search[Quill Bay]" in commands) == (True, False)


def test_admissible_commands__have_titles_in_brackets_and_with_brackets():
    text = "Ines Calder's house (Sarn) is near [Quill Bay] (or 'Port Lamby'), after Mercer (film) and finish[yes]."
    world = World(Shelf([*PAGES, Page("Home", ((text,),))]), BORN._replace(question="Who?"))
    state = apply(world, START, "search[Home]")[0]
    shown = ["Ines Calder", "Sarn", "Quill Bay", "Port Lamby", "Mercer (film)"]
    assert listed("search", world, state) == [*shown, "Home"]


def test_admissible_commands__look_up_no_word_that_tells_nothing():
    state = apply(REACT, START, "search[Harrow Vale]")[0]
    assert listed("lookup", REACT, state) == ["Harrow", "Vale", "directed by"]


def test_admissible_commands__are_bounded():
    titles = [f"Title {number}" for number in range(3 * MAX_TITLES)]
    words = [f"word{number:02}" for number in range(3 * MAX_LOOKUPS)]
    page = Page("Long", ((f"{', '.join(titles)} {' '.join(words)}",),))
    wiki = Shelf([page, *(Page(title, (("A page of some words.",),)) for title in titles)])
    world = World(wiki, BORN._replace(question=f"Which is {' '.join(words)}?"))
    state = apply(world, START, "search[Long]")[0]
    assert listed("search", world, state) == titles[:MAX_TITLES]
    assert listed("lookup", world, state) == words[:MAX_LOOKUPS]
    assert len(listed("finish", world, state)) == MAX_ANSWERS


def listed(verb: str, world: World, state: State) -> list[str]:
    commands = [
        command for command in admissible_commands(world, state) if command.startswith(verb)
    ]
    return [command.removeprefix(f"{verb}[").removesuffix("]") for command in commands]


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        (
            "Who?",
            "Ines Calder was born on 4 May 1921 in the Vale of Sarn.",
            ["Ines Calder", "4 May 1921", "Vale of Sarn"],
        ),
        ("How many?", "It has 61,199 people and 7 ships since 1864.", ["61,199", "7", "1864"]),
        ("Did it burn?", "It did.", ["yes", "no"]),
    ],
)
def test_admissible_commands__answer_with_what_is_in_view_once_a_page_is_open(
    question, text, answers
):
    world = World(Shelf([Page("Home", ((text,),))]), BORN._replace(question=question))
    assert listed("finish", world, START) in ([], [""])
    state = apply(world, START, "search[Home]")[0]
    assert set(answers) <= set(listed("finish", world, state))
    assert "the" not in listed("finish", world, state)
    assert ("yes" in listed("finish", world, state)) == (answers == ["yes", "no"])


def test_admissible_commands__name_a_namesake_by_the_word_before_it():
    pages = [
        Page("Mercer (film)", (("A film of some words.",),)),
        Page("Mercer", (("A town of some words.",),)),
    ]
    world = World(Shelf(pages), BORN._replace(question="Who made the film Mercer?"))
    assert listed("search", world, START)[:2] == ["Mercer", "Mercer (film)"]


def test_admissible_commands__keep_in_view_what_was_looked_up_on_a_page_that_was_left():
    text = f"{'It is one of the facts. ' * 5}He lived in Sarn."
    world = World(Shelf([*PAGES, Page("Home", ((text,),))]), BORN._replace(question="Who?"))
    state = START
    for action in ("search[Home]", "lookup[lived in]", "search[Quill Bay]"):
        state = apply(world, state, action)[0]
    assert "Sarn" in listed("search", world, state)


def test_sentences__are_divided_at_full_stops_or_as_given():
    page = Page(
        "X",
        (("Mr. X lived in St. Y.", " He left."), ("Two words",), ("A list", "of more", "words")),
    )
    assert sentences(page, "period") == [
        "Mr.",
        "X lived in St.",
        "Y.",
        "He left..",
        "A list of more words.",
    ]
    assert sentences(page, "given") == [
        "Mr. X lived in St. Y.",
        "He left.",
        "A list",
        "of more",
        "words",
    ]
    assert shown(World(Shelf([page]), BORN, sentences="given"), page).count("more") == 1
    assert sentences(Page("Y", ()), "period") == []
    blank = Page("Z", (("One  of  two.   Three.", "  ", " Four. "), ("  two words ",)))
    assert sentences(blank, "period") == ["One  of  two.", "Three.", "Four.."]
    assert sentences(blank, "given") == ["One  of  two.   Three.", "Four."]


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("search[a]", ("search", "a")),
        (" Lookup[a [b] c] ", ("lookup", "a [b] c")),
        ("finish[]", ("finish", "")),
        ("search[a\nb]", ("search", "a\nb")),
        ("search [a]", ("", "")),
        ("search[a] now", ("", "")),
        ("look[a]", ("", "")),
        ("[a]", ("", "")),
        ("", ("", "")),
    ],
)
def test_parse__reads_a_verb_and_what_its_brackets_hold(action: str, expected: tuple[str, str]):
    assert parse(action) == expected


@pytest.mark.parametrize(
    ("answer", "right", "exact", "score"),
    [
        ("The Quill-Bay, a Town", "quillbay town", True, 1.0),
        ("yes", "yes", True, 1.0),
        ("yes", "yes it is", False, 0.0),
        ("yes it is", "no", False, 0.0),
        ("no it is not", "no", False, 0.0),
        ("noanswer", "x", False, 0.0),
        ("red red blue", "red blue blue", False, 2 / 3),
        ("", "x", False, 0.0),
        ("in 1931", "1931", False, 2 / 3),
        ("théâtre", "Théâtre", True, 1.0),
        ("anthem", "them", False, 0.0),
    ],
)
def test_answer__is_compared_by_its_words(answer: str, right: str, exact: bool, score: float):
    question = BORN._replace(answer=right)
    assert is_right(question, answer) is exact
    assert f1(question, answer) == pytest.approx(score)


def test_state__is_a_value():
    first = apply(REACT, START, "search[Sarn]")[0]
    assert first == State("Sarn", opened=("Sarn",))
    assert hash(first) == hash(apply(REACT, START, "search[sarn]")[0])
    assert apply(REACT, first, "search[Sarn]")[0].opened == ("Sarn",)
