from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcraft_gym.episodes.calls import Call
from textcraft_gym.reports import plots
from textcraft_gym.reports.calls import FILE, Calls, lines_of, member
from textcraft_gym.reports.page import html_page
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

HOSTILE = (
    "</script></details><img src=x onerror=\"document.title='owned'\">"
    "<script>document.title='owned'</script>{{7*7}}"
)
ROOT = Path(__file__).parents[2]


def node(task: str = "goal", *parts: Any, **more) -> dict:
    plain = {"role": "agent", "depth": 0, "steps": 0, "calls": 0, "tokens": 0, "outcome": None}
    return {"task": task, **plain, "parts": list(parts), **more}


def record(task: str = "goal", **more) -> dict:
    plain = {
        "group": "depth 2",
        "family": task,
        "depth": 2,
        "optimal_length": 3,
        "seed": 0,
        "reward": 1.0,
        "won": True,
        "claimed_success": True,
        "steps": 1,
    }
    effort = {
        "calls": {"executor": 1},
        "tokens": {"prompt_tokens": 9},
        "cost": 0.0,
        "trials": 1,
        "k_max": 1,
    }
    effort |= {"replies": {}, "limit": None, "repeat": 0}
    ended = {
        "restores": [],
        "picture": "",
        "stop_reason": "terminated",
        "error": None,
        "traceback": None,
    }
    timed = {"seconds": 2.0, "model_seconds": 1.5}
    played = {"transcript": [[None, "You begin."], ["go", "Done."]], "trace": node(task, 0, 1)}
    return {"task": task, **plain, **effort, **ended, **timed, **played, **more}


def config(**more) -> dict:
    return {
        **RunSpec("TextCraft-v0", "test", "react", model="tests.doubles:Crafter").described(),
        "env_sha256": "0123456789abcdef",
        "finished": "now",
        **more,
    }


def broken(whole: dict, message: str = "ModelError: no answer") -> dict:
    where = f"Traceback (most recent call last):\n{message}"
    return {**whole, "error": message, "traceback": where, "stop_reason": "error", "won": False}


class Outline(HTMLParser):
    """The elements of a page as a browser would find them, the text of each script, and all words
    shown."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.words = ""
        self.inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.words += data


def index(page: str) -> dict[str, Any]:
    """What the page holds about every episode, to be shown in its list."""
    held: dict[str, Any] = json.loads(Outline(page).scripts[0])
    return held


def lines(page: str) -> list[dict[str, str]]:
    held = index(page)
    return [dict(zip(held["columns"], line, strict=True)) for line in held["lines"]]


def unpacked(page: str) -> list[dict[str, Any]]:
    """What the page holds about every episode, to be shown when it is opened."""
    blocks = [
        zlib.decompress(base64.b64decode(block)).decode()
        for block in Outline(page).scripts[1].split()
    ]
    texts = [block.split("\n") for block in blocks]
    ends = [sum(map(len, texts[:number])) for number in range(len(texts))]
    assert index(page)["starts"] == ends
    return [json.loads(text) for block in texts for text in block]


def words_of(page: str, section: str) -> str:
    """The words of a section of the page, with single spaces."""
    markup = page[page.index(f'<section id="{section}">') :].partition("</section>")[0]
    return " ".join(unescape(re.sub("<[^>]*>", " ", markup)).split())


@pytest.fixture(scope="module")
def crafted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    """Two hundred episodes of two agents, two of which broke."""
    folder = tmp_path_factory.mktemp("runs")
    runs = {
        agent: evaluate(
            RunSpec(
                "TextCraft-v0", "test", agent, model="tests.doubles:Crafter,reach=2", limit=100
            ),
            folder / agent,
        )
        for agent in ("adapt", "reflexion")
    }
    return {run: [*map(broken, records[:1]), *records[1:]] for run, records in runs.items()}


@pytest.fixture(scope="module")
def crafted_page(crafted: dict[str, list[dict]]) -> str:
    return html_page(
        crafted, {run: config(agent=run, model="tests.doubles:Crafter,reach=2") for run in crafted}
    )


def hostile_page() -> str:
    inner = node(HOSTILE, HOSTILE, 1, role=HOSTILE, depth=1, outcome=False)
    whole = record(
        HOSTILE,
        calls={HOSTILE: 1},
        tokens={HOSTILE: 1},
        transcript=[[None, HOSTILE], [HOSTILE, HOSTILE]],
        trace=node(HOSTILE, 0, inner),
    )
    settings = {
        "env": HOSTILE,
        "agent": HOSTILE,
        "agent_args": {HOSTILE: HOSTILE},
        "model": f"local{HOSTILE}",
    }
    runs = {
        "plain": [record(HOSTILE, won=False)],
        HOSTILE: [whole, broken(record("another"), HOSTILE)],
    }
    return html_page(runs, {"plain": config(), HOSTILE: config(**settings)})


def test_html_page__is_the_same_twice(crafted: dict[str, list[dict]], crafted_page: str):
    again = json.loads(json.dumps(crafted))
    assert (
        html_page(
            again, {run: config(agent=run, model="tests.doubles:Crafter,reach=2") for run in again}
        )
        == crafted_page
    )


def test_html_page__needs_nothing_from_elsewhere(crafted_page: str):
    assert set(re.findall(r"\w+://[^\s\"'<)]+", crafted_page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(", crafted_page)
    outline = Outline(crafted_page)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & outline.tags.keys()
    assert all(
        value and value.startswith("#")
        for name, value in outline.attributes
        if name in ("href", "src")
    )


def test_html_page__lets_only_its_own_script_run(crafted_page: str):
    digest = base64.b64encode(
        hashlib.sha256(Outline(crafted_page).scripts[-1].encode()).digest()
    ).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
    assert policy in crafted_page


def shown_inside(record: dict) -> dict:
    return {key: record[key] for key in ("transcript", "restores", "trace", "traceback", "picture")}


def test_html_page__holds_what_every_episode_came_to(
    crafted: dict[str, list[dict]], crafted_page: str
):
    records = [record for records in crafted.values() for record in records]
    assert len(index(crafted_page)["starts"]) > 1
    assert [shown_inside(held) for held in unpacked(crafted_page)] == json.loads(
        json.dumps(list(map(shown_inside, records)))
    )
    shown = [
        (line["task"], line["outcome"], line["steps"], line["error"])
        for line in lines(crafted_page)
    ]
    assert shown == [
        (
            record["task"],
            "error" if record["error"] else "won" if record["won"] else "lost",
            str(record["steps"]),
            record["error"] or "",
        )
        for record in records
    ]


NASTY = st.sampled_from(
    [
        "</script>",
        "<!--<script>",
        "]]>",
        "\u2028\u2029",
        "\ud800",
        "\x00",
        "\r\n",
        "&lt;",
        "{{7*7}}",
    ]
)


@given(st.lists(st.text() | NASTY, min_size=4, max_size=4), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_html_page__holds_any_text_as_data(texts: list[str], copies: int):
    task, action, observation, error = texts
    whole = record(
        task,
        transcript=[[None, observation], [action, observation]],
        trace=node(task, observation, 0),
    )
    records = [whole, *[broken(whole, error or "error")] * copies]
    page = html_page({"run": records}, {"run": config()})
    assert len(Outline(page).scripts) == 3
    assert [line["task"] for line in lines(page)] == [task] * len(records)
    assert [line["error"] for line in lines(page)] == ["", *[error or "error"] * copies]
    assert [shown_inside(held) for held in unpacked(page)] == list(map(shown_inside, records))


def example_calls() -> list[Call]:
    """Calls of an episode: a text that goes on, messages that go on, and a failure."""
    begun = f"A room, with a \U0001f511 in it. {HOSTILE}\n" * 3
    system = {"role": "system", "content": HOSTILE}
    user = {"role": "user", "content": "Your turn."}
    return [
        Call("planner", begun, "one", place=[1]),
        Call("planner", f"{begun}> one\n", "two", reasoning=HOSTILE, place=[1, 0]),
        Call("executor", [system], "go", tokens={"prompt_tokens": 9}, seconds=1.5, place=[1, 0]),
        Call("executor", [system, user], error=f"ModelError: {HOSTILE}", place=[2]),
    ]


def with_calls(folder: Path, *tasks: str) -> str:
    """Return the page of a run of these tasks, each with the calls."""
    lines = lines_of(example_calls())
    (folder / FILE).write_bytes(b"".join(member((task, 0), lines) for task in tasks))
    records = [record(task, trace=node("goal", 0, node("part"), 1)) for task in tasks]
    return html_page({"run": records}, {"run": config()}, calls={"run": Calls(folder)})


def test_html_page__holds_as_many_calls_as_its_size_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls = [json.loads(line) for line in lines_of(example_calls()).splitlines()]
    page = with_calls(tmp_path, "a", "b", "c")
    assert [held["calls"] for held in unpacked(page)] == [calls] * 3
    assert "left out" not in words_of(page, "episodes")
    two = sum(Calls(tmp_path).size((task, 0)) for task in "ab")
    monkeypatch.setattr("textcraft_gym.reports.page.MAX_CALLS", two)
    page = with_calls(tmp_path, "a", "b", "c")
    assert [held["calls"] for held in unpacked(page)] == [calls, calls, []]
    assert "The calls of 1 episode are left out" in words_of(page, "episodes")


def test_html_page__of_damaged_calls_has_the_episode_without_them(tmp_path: Path):
    (tmp_path / FILE).write_bytes(member(("goal", 0), "{}\n"))
    with pytest.warns(
        UserWarning, match=r"calls\.jsonl\.gz: the calls of \('goal', 0\): expected a"
    ):
        page = html_page({"run": [record()]}, {"run": config()}, calls={"run": Calls(tmp_path)})
    assert unpacked(page)[0]["calls"] == []


def test_html_page__holds_the_picture_of_an_episode_as_text():
    drawn = record(
        "drawn", picture='<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    )
    page = html_page({"run": [drawn, record("plain")]}, {"run": config()})
    assert [episode["picture"] for episode in unpacked(page)] == [drawn["picture"], ""]


def test_html_page__has_no_more_elements_for_more_episodes():
    few, many = (
        Outline(
            html_page({"run": [record(f"task {n}") for n in range(count)]}, {"run": config()})
        ).tags
        for count in (2, 3000)
    )
    assert few == many
    assert few.total() < 500


@pytest.mark.parametrize(
    ("won", "words"),
    [
        ({"a": 9}, "a won 45.0% of 20 episodes (95% interval 25.8% to 65.8%)."),
        (
            {"a": 2, "b": 18},
            "b wins , +80.0 points ahead of a (95% interval +44.4 to +91.9; p <0.0001).",
        ),
        (
            {"a": 9, "b": 9},
            "No clear winner : a and b won equally often (95% interval -16.1 to +16.1; p = 1).",
        ),
        ({"a": 9, "b": 8}, "No clear winner : a leads, +5.0 points ahead of b ("),
        ({"a": 9, "b": 8}, "; p = 1), which chance may explain."),
        ({"a": 20, "b": 0, "c": 12}, "a wins , +40.0 points ahead of c ("),
        ({"a": 20, "b": 0, "c": 19}, "No clear winner : a leads, +5.0 points ahead of c ("),
    ],
)
def test_html_page__begins_with_a_verdict(won: dict[str, int], words: str):
    runs = {run: [record(str(n), won=n < count) for n in range(20)] for run, count in won.items()}
    page = html_page(runs, dict.fromkeys(runs, config(model="openai:m")))
    assert page.index('<section id="verdict">') == page.index("<section")
    assert words in words_of(page, "verdict")
    assert not re.search(r"-0\.0\b", words_of(page, "verdict"))


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        ({"a": "react", "b": "expert", "c": "random"}, "a won 40.0% of 20 episodes ("),
        (
            {"a": "react", "b": "expert", "c": "adapt"},
            "No clear winner : c leads, +30.0 points ahead of a (",
        ),
        ({"b": "expert", "c": "random"}, "c won 70.0% of 20 episodes ("),
        ({"b": "expert"}, "b won 100.0% of 20 episodes ("),
    ],
)
def test_html_page__begins_with_players_that_are_told_no_more(agents: dict[str, str], words: str):
    won = {"a": 8, "b": 20, "c": 14}
    runs = {run: [record(str(n), won=n < won[run]) for n in range(20)] for run in agents}
    page = html_page(runs, {run: config(agent=agent) for run, agent in agents.items()})
    assert words_of(page, "verdict").removeprefix("Verdict ").startswith(words)


def test_html_page__counts_errors_beside_the_success_of_one_run():
    page = html_page({"a": [record(), broken(record("another"))]}, {"a": config()})
    assert "100.0% of 1 episode (95% interval 20.7% to 100.0%); 1 ended with an error." in words_of(
        page, "verdict"
    )


def test_html_page__has_standings_from_the_best_to_the_last():
    runs = {
        run: [record(str(n), won=n < count) for n in range(20)]
        for run, count in {"a": 0, "b": 20}.items()
    }
    runs["a"].append(broken(record("20")))
    page = html_page(runs, dict.fromkeys(runs, config(model="openai:m")))
    standings = page[page.index('aria-label="Standings"') :].partition("</table>")[0]
    assert re.findall(r'class="run">(\w+)<', standings) == ["b", "a"]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", standings)
    assert cells[:7] == ["20 of 20", "100.0%", "-", "-", "-", "0", "0 of 20"]
    assert cells[8:10] == ["100.0", "64.6 to 100.0"]
    assert cells[-1] == "1"
    assert "left out are 1 that a run lacks" in words_of(page, "verdict")


def test_html_page__has_a_verdict_for_each_world():
    runs = {run: [record(str(n), won=run in "ac") for n in range(20)] for run in "abcd"}
    worlds = dict(zip("abcd", ("One-v0", "One-v0", "Two-v0", "Two-v0"), strict=True))
    page = html_page(runs, {run: config(env=worlds[run], model="openai:m") for run in runs})
    words = words_of(page, "verdict")
    assert re.findall(r"(\w+-v0), split test (\w) wins", words) == [
        ("One-v0", "a"),
        ("Two-v0", "c"),
    ]
    assert "Different worlds" not in words


def test_html_page__has_plots_and_tables_for_each_world():
    worlds = {"a": "One-v0", "b": "Two-v0", "c": "One-v0"}
    asks = {"a": {}, "b": {"calls": {}, "tokens": {}, "group": "light"}, "c": {}}
    runs = {run: [record(**asks[run])] for run in worlds}
    page = html_page(runs, {run: config(env=env) for run, env in worlds.items()})

    def tables(section: str) -> dict[str, set[str]]:
        markup = page[page.index(f'<section id="{section}">') :].partition("</section>")[0]
        pairs = re.findall(
            r'aria-label="[^"]*: (\w+-v0), split test">(.*?)</table>', markup, re.DOTALL
        )
        return {world: set(re.findall(r'class="run">(\w)<', table)) for world, table in pairs}

    both = {"One-v0": {"a", "c"}, "Two-v0": {"b"}}
    assert tables("success") == tables("time") == both
    assert tables("effort") == {"One-v0": {"a", "c"}}
    plots = re.findall(r"<figure>(.*?)</figure>", page, re.DOTALL)
    labels = [re.findall(r'class="label">(\w)<', plot) for plot in plots]
    assert [runs for runs in labels if runs] == [["a", "c"], ["b"]]
    assert "light" not in plots[0]
    alone = html_page({"a": runs["a"]}, {"a": config()})
    assert "<h3>" not in alone
    assert 'aria-label="Success by group"' in alone


def test_html_page__has_no_verdict_without_an_outcome():
    runs = {"a": [broken(record("x"))], "b": [broken(record("y"))]}
    words = words_of(html_page(runs, dict.fromkeys(runs, config())), "verdict")
    assert "No verdict : there is no task of which all these runs have an outcome." in words


def test_html_page__keeps_runs_apart_that_share_few_tasks():
    tasks = [f"task {number}" for number in range(20)]
    runs = {
        "few": [record(task, won=False) for task in tasks[:6]],
        "many": [record(task) for task in tasks],
        "more": [record(task, won=number < 8) for number, task in enumerate(tasks)],
    }
    configs = {run: config(agent=run) for run in runs}
    words = words_of(html_page(runs, configs), "verdict")
    assert "test, 6 tasks few won 0.0% of 6 episodes" in words
    assert "test, 20 tasks many wins , +60.0 points ahead of more" in words
    assert "Runs that share fewer than 50% of the tasks of the larger one are not compared" in words
    del runs["few"]
    assert "are not compared" not in html_page(runs, configs)


def test_html_page__pools_seeds():
    tasks = [f"task {number}" for number in range(8)]
    runs = {f"react_s{seed}": [record(task) for task in tasks] for seed in (0, 1)}
    runs["adapt"] = [record(task, won=False) for task in tasks]
    configs = {run: config(seed=number % 2) for number, run in enumerate(runs)}
    configs["adapt"] = config(agent="adapt")
    words = words_of(html_page(runs, configs), "verdict")
    assert "react (2 seeds) wins , +100.0 points ahead of adapt" in words
    assert "react_s0" not in words


def test_html_page__says_of_an_unfinished_run_how_far_it_is():
    runs = {"a": [record("x")], "b": [record("x")]}
    configs = {"a": config(episodes=12), "b": config(episodes=1, agent="random")}
    words = words_of(html_page(runs, configs), "verdict")
    assert "! Not finished: a , 1 of 12 episodes so far." in words
    assert "Not finished: b" not in words
    assert "The random agent draws from the list of admissible commands" in words


def test_html_page__says_that_worlds_differ():
    runs = {"a": [record()], "b": [record()]}
    page = html_page(runs, {run: config(env_sha256=run * 64) for run in runs})
    assert "! Different worlds: the digests of the world, env_sha256, differ" in words_of(
        page, "verdict"
    )


def test_html_page__names_no_model_of_a_run_that_asks_none():
    silent = record(calls={}, tokens={})
    configs = {"run": config(model="openai:gpt", planner="openai:other", prompts="short")}
    page = html_page({"run": [silent, broken(silent)]}, configs)
    assert not re.search(
        r"openai|\bshort\b|max calls", page.partition("<main>")[2].rpartition("<script>")[0]
    )
    both = html_page(
        {"run": [silent], "asks": [record()]}, {**configs, "asks": config(model="openai:asked")}
    )
    assert "openai:asked" in words_of(both, "settings")
    assert "openai:gpt" not in both
    assert "openai:gpt" in html_page({"run": [broken(silent)]}, configs)


def test_html_page__folds_digests_away():
    page = html_page(
        {"run": [record()]}, {"run": config(prompts_sha256="fedcba", begun_with={"python": "3.10"})}
    )
    settings = page[page.index('<section id="settings">') :].partition("</section>")[0]
    shown, folded = settings.split('<details class="folded">')
    assert not re.search("sha256|3.10", shown)
    assert all(fact in folded for fact in ("0123456789abcdef", "fedcba", "python=3.10"))


def test_html_page__tells_how_long_episodes_and_calls_took():
    times = [
        {"seconds": float(n), "model_seconds": n / 2, "calls": {"executor": 2}}
        for n in range(1, 101)
    ]
    timed = [record(str(n), **more) for n, more in enumerate(times)]
    page = html_page({"run": [*timed, broken(record(seconds=1e6))]}, {"run": config()})
    section = page[page.index('<section id="time">') :]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", section.partition("</section>")[0])
    expected = ["100", "50.5", "50.5", "95", "100", "25.2", "12.6"]
    assert cells == ["depth 2", *expected, "all", *expected]
    assert lines(page)[4]["seconds"] == "5"
    assert "; seconds 5; seconds per call 1.25" in unpacked(page)[4]["facts"]
    untimed = [{key: value for key, value in timed[0].items() if "seconds" not in key}]
    assert 'id="time"' not in html_page({"run": untimed}, {"run": config()})


def test_html_page__shows_what_runs_share_once_and_by_run_what_differs():
    configs = {"a": config(seed=7, agent_args={"turns": 5}), "b": config(seed=8, agent_args={})}
    page = html_page({run: [record()] for run in configs}, configs)
    shared = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert shared == {
        "env": "TextCraft-v0",
        "split": "test",
        "agent": "react",
        "model": "tests.doubles:Crafter",
        "max calls": "1000",
        "reading": "lenient",
        "repeats": "1",
        "temperature": "0.0",
        "env sha256": "0123456789abcdef",
        "finished": "now",
    }
    runs = page[page.index('id="settings"') : page.index('id="success"')]
    assert '<th scope="col">agent args</th><th scope="col">seed</th>' in runs
    assert "<td>turns=5</td><td>7</td>" in runs
    assert "<td>-</td><td>8</td>" in runs


def test_html_page__leaves_out_models_where_none_was_asked():
    page = html_page({"run": [record(calls={}, tokens={})]}, {"run": config()})
    assert "Calls, decomposition and claimed success" not in page
    assert page.count("<svg") == 1
    assert "max calls" not in page.partition("<main>")[2].rpartition("<script>")[0]


def test_html_page__compares_the_other_runs_with_the_first():
    runs = {
        "first": [record("a"), record("b", won=False)],
        "other": [record("a", won=False), record("b", won=False)],
    }
    page = html_page(runs, dict.fromkeys(runs, config(model="openai:m")))
    comparison = re.sub(
        r"\s*\n\s*", "", page[page.index('id="comparison"') : page.index('id="episodes"')]
    )
    assert re.findall(r"<td>(.*?)</td>", comparison) == [
        "2",
        "0",
        "1",
        "0",
        "1",
        "-50.0",
        "-90.5 to +53.5",
        "1",
        "0",
    ]
    assert "</span> lost 1 against <" in comparison
    assert '<ul><li><a href="#episodes?task=a">a</a></li></ul>' in comparison
    assert "Comparison" not in html_page({"first": runs["first"]}, {"first": config()})


def test_html_page__compares_only_runs_of_one_world():
    won, lost = [record("a")], [record("a", won=False)]
    worlds = {"a": "One-v0", "b": "Two-v0", "c": "One-v0", "d": "Two-v0", "e": "Three-v0"}
    runs = {run: lost if run in "ad" else won for run in worlds}
    page = html_page(runs, {run: config(env=env, model="openai:m") for run, env in worlds.items()})
    words = words_of(page, "comparison")
    assert re.findall(r"(\w+-v0), split test Each run against (\w)", words) == [
        ("One-v0", "a"),
        ("Two-v0", "b"),
    ]
    assert re.findall(r"(\w) (gained|lost) 1 against (\w)", words) == [
        ("c", "gained", "a"),
        ("d", "lost", "b"),
    ]
    alone = html_page(
        {run: runs[run] for run in "ab"}, {run: config(env=worlds[run]) for run in "ab"}
    )
    assert "Comparison" not in alone


def test_html_page__says_where_a_claim_was_wrong():
    claims = [(True, True), (True, False), (False, True), (False, False), (None, True)]
    records = []
    for claim, won in claims:
        records.append(
            record(f"{won} {claim}", won=won, claimed_success=claim, stop_reason="agent")
        )
    records.append(record("ended", won=True, claimed_success=None))
    page = html_page({"run": [*records, broken(record(claimed_success=True))]}, {"run": config()})
    said = [line["claimed_success"] for line in lines(page)]
    assert said == [
        "won",
        "won (wrong)",
        "lost (wrong)",
        "lost",
        "nothing",
        "nothing: the game ended it",
        "won",
    ]


def test_html_page__keeps_whatever_text_as_text():
    page = hostile_page()
    outline = Outline(page)
    assert not {"img"} & outline.tags.keys()
    assert not [name for name, _ in outline.attributes if name.startswith("on")]
    assert len(outline.scripts) == 3
    assert outline.words.count(HOSTILE) > 10
    assert [name for name, value in outline.attributes if value == HOSTILE] == ["title"] * 4 + [
        "value"
    ]


def test_html_page__can_be_written_whatever_it_holds():
    odd = "half a pair \ud83d, a whole one \U0001f600, é\x00\u2028"
    page = html_page({odd: [broken(record(odd), odd)]}, {odd: config()})
    assert "half a pair ?, a whole one \U0001f600" in page.encode().decode()


def test_html_page__of_runs_without_episodes_is_a_page():
    page = html_page({"run": []}, {"run": config()})
    assert "No verdict : run has no episode yet." in words_of(page, "verdict")
    assert unpacked(page) == []


def test_html_page__has_no_bars_of_claims_and_depths_that_an_agent_has_not():
    silent = record(claimed_success=None, k_max=0, calls={"executor": 2})
    page = html_page({"run": [silent]}, {"run": config()})
    assert "Calls to models by group" in page
    assert "Claims of success against outcomes" not in page
    assert "level 0" not in page


def test_html_page__of_errors_alone_has_no_verdict():
    page = html_page(
        {"run": [broken(record(), "E: no"), broken(record("b"), "E: no")]}, {"run": config()}
    )
    assert "No verdict : all 2 episodes of run ended with an error." in words_of(page, "verdict")


def contrast(*colours: str) -> float:
    """The contrast of two colours as the Web Content Accessibility Guidelines define it."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted(map(luminance, colours))
    return (lighter + 0.05) / (darker + 0.05)


def test_html_page__can_be_read_in_light_and_in_dark(crafted_page: str):
    schemes = [
        dict(re.findall(r"--([\w-]+): (#\w+);", block))
        for block in re.findall(r":root {(.*?)}", crafted_page, re.DOTALL)
    ]
    assert len(schemes) == 2
    for scheme in schemes:
        for ground in ("ground", "raised"):
            for colour in ("words", "quiet", "link", "won", "lost", "error"):
                assert contrast(scheme[colour], scheme[ground]) >= 4.5, (colour, scheme[colour])
    for colour in {*plots.DISTINCT, *plots.GROWING}:
        assert contrast(colour.fill, colour.words) >= 4.5, colour


def test_html_page__moves_nothing(crafted_page: str):
    assert not re.search(r"transition|animation|@keyframes|behavior|smooth", crafted_page)


def test_report_page__has_code_that_writes_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (block,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/report.md").read_text(encoding="utf-8"), re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    exec(block, {})
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert index(page)["runs"] == ["expert", "random"]
    assert len(lines(page)) == 40


def test_report_page__names_every_part_of_a_report(crafted_page: str):
    documented = (ROOT / "docs/report.md").read_text(encoding="utf-8")
    parts = re.findall(r'<section id="(\w+)">', crafted_page)
    assert re.findall(r'<a href="#(\w+)">', crafted_page) == parts
    assert ", ".join(f"`{part}`" for part in parts) in documented


def load(browser: Any, page: str, folder: Path) -> None:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    browser.get_log("browser")
    visit(browser, file.as_uri())


def visit(browser: Any, address: str) -> None:
    """Open an address and wait until all of its page ran: `get` may return too early where the page
    before had just changed its hash, which is a navigation as well."""
    browser.get(address)
    wait(browser, "[document.URL, document.readyState]", [address, "complete"])


def wait(browser: Any, script: str, expected: Any) -> None:
    """Wait until a script returns what is expected: a page may follow a click or a key later."""
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 5).until(
        lambda _: browser.execute_script(f"return {script}") == expected,
        f"{script} is not {expected!r}",
    )


TASKS = "[...document.querySelectorAll('.episode')].map((row) => row.dataset.task)"


def shown(browser: Any, what: str = "row") -> list[Any]:
    """Return the rows that are drawn, or something of each, in one question for all of them."""
    values: list[Any] = browser.execute_script(
        f"return [...document.querySelectorAll('.episode')].map((row) => {what})"
    )
    return values


def press(browser: Any, filter: str, value: str) -> None:
    buttons = browser.find_elements("css selector", f'fieldset[data-filter="{filter}"] button')
    (button,) = [button for button in buttons if button.get_attribute("value") == value]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    pressed = f"fieldset[data-filter={filter}] button[aria-pressed=true]"
    wait(
        browser,
        f"[...document.querySelectorAll('{pressed}')].map((button) => button.value)",
        [value],
    )


def open_first_episode(browser: Any) -> Any:
    """Open it and all its parts with the keyboard alone, and wait until they are drawn."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.wait import WebDriverWait

    episode = shown(browser)[0]
    episode.find_element("tag name", "summary").send_keys(Keys.ENTER)
    button, *_ = WebDriverWait(browser, 5).until(
        lambda _: episode.find_elements("css selector", ".buttons button")
    )
    button.send_keys(Keys.ENTER)
    wait(browser, "document.querySelectorAll('.node:not([open])').length", 0)
    for observation in episode.find_elements("css selector", "details.long"):
        observation.find_element("tag name", "summary").send_keys(Keys.ENTER)
    wait(browser, "document.querySelectorAll('.long:not([open])').length", 0)
    return episode


def test_page__opens_a_tree_down_to_actions_and_observations(
    browser: Any, crafted: dict[str, list[dict]], crafted_page: str, tmp_path: Path
):
    load(browser, crafted_page, tmp_path)
    press(browser, "outcome", "won")
    assert not browser.find_elements("css selector", ".node")
    episode = open_first_episode(browser)
    task = episode.get_attribute("data-task")
    (played,) = [record for record in crafted["adapt"] if record["task"] == task]
    assert len(played["transcript"]) > 3

    def texts(selector: str) -> list[str]:
        elements = episode.find_elements("css selector", selector)
        assert all(element.is_displayed() for element in elements)
        return [element.text for element in elements]

    assert texts(".action") == [f"> {action}" for action, _ in played["transcript"][1:]]
    assert texts(".reset") == ["reset"]
    assert texts(".observation") == [observation.strip() for _, observation in played["transcript"]]
    assert any(note.startswith("think: ") for note in texts(".written"))
    assert [words.split()[0] for words in texts(".node > summary > .outcome")][:2] == ["✓", "✓"]
    assert {"agent", "task", "executor"} <= set(texts(".node > summary > .role"))
    whole = f"{played['steps']} steps, {sum(played['calls'].values())} calls"
    assert whole in texts(".node > summary > .quiet")[0]
    assert browser.get_log("browser") == []


def test_page__opens_each_call_at_its_place(browser: Any, tmp_path: Path):
    load(browser, with_calls(tmp_path, "goal"), tmp_path)
    episode = open_first_episode(browser)
    calls = episode.find_elements("css selector", "details.call")
    cells = [
        [cell.text for cell in call.find_elements("css selector", "summary > span")]
        for call in calls
    ]
    words, times = ["0 tokens read", "0 written"], "0.00 s"
    assert cells == [
        ["planner", "one", *words, times],
        ["planner", "two", *words, times],
        ["executor", "go", "9 tokens read", "0 written", "1.50 s"],
        ["executor", f"ModelError: {HOSTILE}"[:100], *words, times],
    ]
    # The second and the third are in the part, before which is the first and after it the last.
    inner = episode.find_elements("css selector", ".node .node details.call")
    assert inner == calls[1:3]
    # A call is written when its toggle event comes, which is after the click.
    written = "[...document.querySelectorAll('.call')].map((call) => !!call.querySelector('.read'))"
    calls[2].find_element("tag name", "summary").click()
    wait(browser, written, [False, False, True, False])
    (button,) = [
        button
        for button in episode.find_elements("tag name", "button")
        if button.text == "Open all"
    ]
    button.click()
    wait(browser, written, [True] * 4)
    for call in calls:
        for more in call.find_elements("css selector", "details.long > summary"):
            more.click()
    wait(browser, "document.querySelectorAll('.long:not([open])').length", 0)
    read = [
        [part.get_property("textContent") for part in call.find_elements("css selector", ".read")]
        for call in calls
    ]
    whole = [call.prompt for call in example_calls()]
    assert ["".join(texts) for texts in read[:2]] == whole[:2]
    assert len(read[1]) == 2
    assert read[1][1] == "> one\n"
    contents = [[message["content"] for message in prompt] for prompt in whole[2:]]
    assert read[2:] == contents
    assert "Reasoning" in calls[1].text
    assert HOSTILE in calls[1].text
    assert browser.get_log("browser") == []
    assert browser.title.startswith("Evaluation")


def test_page__shows_where_an_episode_broke(browser: Any, crafted_page: str, tmp_path: Path):
    load(browser, crafted_page, tmp_path)
    press(browser, "outcome", "error")
    episode = open_first_episode(browser)
    assert "ModelError: no answer" in episode.find_element("tag name", "summary").text
    assert episode.find_element("css selector", ".long > pre").text.startswith(
        "Traceback (most recent call last):\n"
    )


def strongest_colour(mark: Any) -> str:
    red, green, blue = map(int, re.findall(r"\d+", mark.value_of_css_property("color"))[:3])
    return "green" if green > max(red, blue) else "red" if red > 2 * max(green, blue) else "another"


def test_page__tells_outcomes_apart_by_colour_and_by_word(browser: Any, tmp_path: Path):
    parts = [node(outcome=outcome) for outcome in (True, False, None)]
    rows = [record("a", trace=node("a", *parts)), record("b", won=False), broken(record("c"))]
    load(browser, html_page({"run": rows}, {"run": config()}), tmp_path)
    marks = [row.find_element("css selector", "summary .outcome") for row in shown(browser)]
    assert {mark.text: strongest_colour(mark) for mark in marks} == {
        "✓ won": "green",
        "✗ lost": "red",
        "! error": "another",
    }
    marks = open_first_episode(browser).find_elements("css selector", ".node .node .outcome")
    assert {mark.text: strongest_colour(mark) for mark in marks} == {
        "✓ success": "green",
        "✗ failure": "red",
        "… not said": "another",
    }


@pytest.mark.parametrize(("won", "shown"), [(True, "✓ success"), (False, "✗ failure")])
def test_page__tells_how_an_episode_ended_whose_agent_claims_nothing(
    won: bool, shown: str, browser: Any, tmp_path: Path
):
    row = record("a", won=won, trace=node("a", outcome=None), claimed_success=None)
    load(browser, html_page({"run": [row]}, {"run": config()}), tmp_path)
    assert open_first_episode(browser).find_element("css selector", ".node .outcome").text == shown


def test_page__finds_tasks_in_either_case(browser: Any, tmp_path: Path):
    tasks = ["Oak door", "birch door", "dark oak sign"]
    load(browser, html_page({"run": list(map(record, tasks))}, {"run": config()}), tmp_path)
    browser.find_element("id", "task").send_keys(" oAK")
    wait(browser, TASKS, ["Oak door", "dark oak sign"])


def test_page__filters_by_outcome_group_run_and_task(
    browser: Any, crafted: dict[str, list[dict]], crafted_page: str, tmp_path: Path
):
    load(browser, crafted_page, tmp_path)
    rows = [(run, record) for run, records in crafted.items() for record in records]

    def expect(matching: list) -> None:
        assert 0 < len(matching) < len(rows)
        count = f"{len(matching)} of {len(rows)} episodes"
        wait(browser, "document.querySelector('#shown').textContent", count)
        wait(browser, TASKS, [record["task"] for _, record in matching[:100]])

    press(browser, "outcome", "lost")
    lost = [(run, record) for run, record in rows if not record["won"] and not record["error"]]
    expect(lost)
    press(browser, "group", "depth 3")
    lost_at_3 = [(run, record) for run, record in lost if record["group"] == "depth 3"]
    expect(lost_at_3)
    press(browser, "run", "reflexion")
    expect([(run, record) for run, record in lost_at_3 if run == "reflexion"])
    for filter in ("outcome", "group", "run"):
        press(browser, filter, "")
    browser.find_element("id", "task").send_keys("Stairs")
    expect([(run, record) for run, record in rows if "stairs" in record["task"]])
    assert browser.get_log("browser") == []


def test_page__keeps_long_names_in_their_columns(browser: Any, tmp_path: Path):
    group = "pick_clean_then_place_in_recep"
    whole = record(
        f"{group}-DishSponge-None-BathtubBasin-416/trial_00610",
        group=group,
        stop_reason="max_steps",
    )
    page = html_page(
        {"run": [whole], "another": [whole]}, dict.fromkeys(("run", "another"), config())
    )
    load(browser, page, tmp_path)
    cells = "[...row.querySelectorAll('summary > span')]"
    assert shown(
        browser, f"{cells}.filter((cell) => cell.scrollWidth > cell.clientWidth).length"
    ) == [0, 0]
    assert shown(browser, f"{cells}.map((cell) => cell.textContent)[4]") == [f"group {group}"] * 2
    broken_name = "pick_<wbr>clean_<wbr>then_<wbr>place_<wbr>in_<wbr>recep"
    assert all(broken_name in row for row in shown(browser, "row.innerHTML"))
    (wide,) = browser.execute_script(
        "return [document.documentElement.scrollWidth - document.documentElement.clientWidth]"
    )
    assert wide == 0


BROKEN = """((selector) => [...document.querySelectorAll(selector)].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell.lastChild);
  return new Set([...range.getClientRects()].map((part) => part.bottom)).size > 1;
}).map((cell) => cell.textContent))"""
"""Returns the cells of a selector whose text is on more than one line."""


@pytest.mark.parametrize("width", [420, 1280])
def test_page__breaks_no_number_and_cuts_long_names_of_runs(
    browser: Any, tmp_path: Path, width: int
):
    long = "TextCraft-v0-a_rather_long_name_of_a_run-" * 2
    timed = record("pick_and_place/trial_00601", steps=123456789, seconds=0.000234)
    other = config(split="valid_unseen", agent="adapt", model="openai:some-model", temperature=1.0)
    page = html_page({long: [timed], "b": [timed]}, {long: config(), "b": other})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        load(browser, page, tmp_path)
        cells = "td:not(.words td), .episode .number, .words td:nth-child(2), tbody th"
        assert browser.execute_script(f"return {BROKEN}('{cells}')") == []
        names = browser.find_elements("css selector", "tbody th[title]")
        cut = "return arguments[0].firstChild.scrollWidth > arguments[0].firstChild.clientWidth"
        assert {
            (name.get_attribute("title"), browser.execute_script(cut, name)) for name in names
        } == {(long, True), ("b", False)}
        root = "document.documentElement"
        assert browser.execute_script(f"return {root}.scrollWidth - {root}.clientWidth") == 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_page__runs_nothing_that_an_episode_holds(browser: Any, tmp_path: Path):
    load(browser, hostile_page(), tmp_path)
    title = browser.title
    press(browser, "run", HOSTILE)
    press(browser, "outcome", "won")
    episode = open_first_episode(browser)
    for selector in (".node .node .task", ".node .node .role", ".written", ".observation"):
        assert HOSTILE in [
            element.text for element in episode.find_elements("css selector", selector)
        ]
    assert f"> {HOSTILE}" in [
        element.text for element in episode.find_elements("css selector", ".action")
    ]
    press(browser, "outcome", "error")
    assert (
        HOSTILE
        in open_first_episode(browser).find_element("css selector", "details.long > pre").text
    )
    assert browser.find_elements("tag name", "img") == []
    assert browser.title == title
    assert browser.get_log("browser") == []


def test_page__shows_the_picture_of_the_end_of_an_episode(browser: Any, tmp_path: Path):
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20"><script>document.title = 1</script></svg>'
    load(browser, html_page({"run": [record(picture=picture)]}, {"run": config()}), tmp_path)
    title = browser.title
    image = open_first_episode(browser).find_element("css selector", "img.picture")
    decoded = "const done = arguments[1]; arguments[0].decode().then(() => done(arguments[0].naturalWidth))"
    assert browser.execute_async_script(decoded, image) == 80
    assert browser.title == title
    assert browser.get_log("browser") == []


def test_page__lets_no_script_run_but_its_own(browser: Any, tmp_path: Path):
    page = html_page({"run": [record()]}, {"run": config()})
    load(
        browser,
        page.replace("</main>", "</main><script>document.title = 'owned'</script>"),
        tmp_path,
    )
    assert browser.title != "owned"
    assert "Content Security Policy" in browser.get_log("browser")[0]["message"]


def hash_of(browser: Any) -> str:
    address: str = browser.execute_script(
        "return decodeURIComponent(location.hash).replaceAll('+', ' ')"
    )
    return address


def go(browser: Any, **chosen: str) -> None:
    """Follow a link to something in the page that is loaded."""
    browser.execute_async_script(
        "window.addEventListener('hashchange', () => setTimeout(arguments[1]), {once: true});"
        "location.hash = arguments[0]",
        f"episodes?{urlencode(chosen)}",
    )


def test_page__draws_a_hundred_episodes_at_a_time(browser: Any, tmp_path: Path):
    tasks = [f"task {n}" for n in range(250)]
    load(browser, html_page({"run": list(map(record, tasks))}, {"run": config()}), tmp_path)

    def expect(first: int, last: int) -> None:
        wait(browser, TASKS, tasks[first:last])

    previous, following = browser.find_elements("css selector", ".shown .pager button")
    expect(0, 100)
    assert not previous.is_enabled()
    following.click()
    expect(100, 200)
    browser.find_elements("css selector", "#list + .pager button")[1].click()
    expect(200, 250)
    assert not following.is_enabled()
    assert browser.find_element("css selector", ".shown .pager span").text == "page 3 of 3"
    assert hash_of(browser) == "#episodes?page=3"
    previous.click()
    expect(100, 200)
    browser.find_element("id", "task").send_keys("task 2")
    wait(browser, "document.querySelectorAll('.episode').length", 61)
    assert not previous.is_displayed()


def test_page__keeps_filters_and_the_open_episode_in_its_address(
    browser: Any, crafted: dict[str, list[dict]], crafted_page: str, tmp_path: Path
):
    load(browser, crafted_page, tmp_path)
    press(browser, "run", "reflexion")
    press(browser, "outcome", "lost")
    browser.find_element("id", "task").send_keys("stairs")
    wait(browser, "location.hash", "#episodes?run=reflexion&outcome=lost&task=stairs")
    before = shown(browser, "row.dataset.task")
    assert len(before) > 1
    open_first_episode(browser)
    address = browser.current_url
    assert (
        hash_of(browser)
        == f"#episodes?run=reflexion&outcome=lost&task=stairs&episode=reflexion/{before[0]}"
    )
    browser.get("about:blank")
    visit(browser, address)
    assert shown(browser, "row.dataset.task") == before
    wait(browser, "document.querySelectorAll('.episode[open] .node').length > 0", True)
    assert shown(browser, "row.open") == [True] + [False] * (len(before) - 1)
    pressed = (
        "[...document.querySelectorAll('button[aria-pressed=true]')].map((button) => button.value)"
    )
    assert browser.execute_script(f"return {pressed}") == ["reflexion", "lost", ""]
    assert browser.find_element("id", "task").get_attribute("value") == "stairs"
    browser.find_element("css selector", ".episode[open] > summary").click()
    wait(browser, "location.hash", "#episodes?run=reflexion&outcome=lost&task=stairs")
    assert browser.get_log("browser") == []


def test_page__finds_an_episode_by_its_address_wherever_it_is(browser: Any, tmp_path: Path):
    odd = "50% & more/é+#"
    names = [f"task {n}" for n in range(250)]
    runs = {
        "first": [record(name, won=False) for name in names],
        "an/other": list(map(record, [*names, odd])),
    }
    load(browser, html_page(runs, dict.fromkeys(runs, config())), tmp_path)
    opened = "[...document.querySelectorAll('.episode[open]')].map((row) => [row.dataset.run, row.dataset.task])"
    for run, task in (("first", "task 0"), ("an/other", "task 249"), ("an/other", odd)):
        go(browser, episode=f"{run}/{task}")
        wait(browser, opened, [[run, task]])
        assert hash_of(browser).startswith("#episodes?episode=")
        assert browser.execute_script("return document.activeElement.parentElement.open")
    place = browser.execute_script(
        "return document.querySelector('.episode[open]').getBoundingClientRect().top"
    )
    assert 0 <= place < 900
    wait(browser, "document.querySelectorAll('.episode[open] .link').length", 1)
    browser.find_element("css selector", ".episode[open] .link").click()
    wait(browser, opened, [["an/other", odd]])
    go(browser, episode="first/task 3", outcome="won")  # filters that would hide it give way
    wait(browser, opened, [["first", "task 3"]])
    go(browser, episode="first/no such")
    wait(browser, opened, [])
    assert (
        browser.find_element("id", "shown").text
        == "501 of 501 episodes; there is no episode first/no such"
    )
    go(browser, task="task 249")
    wait(browser, "document.querySelectorAll('.episode').length", 2)
    assert browser.get_log("browser") == []


def test_page__runs_nothing_that_its_address_holds(browser: Any, tmp_path: Path):
    load(browser, html_page({"run": [record()]}, {"run": config()}), tmp_path)
    title = browser.title
    for key in ("run", "outcome", "group", "task", "page", "episode", "__proto__"):
        go(browser, **{key: HOSTILE})
        assert browser.find_elements("tag name", "img") == []
    assert browser.title == title
    assert browser.get_log("browser") == []


def test_page__keeps_its_heads_in_sight(browser: Any, tmp_path: Path):
    long = record(
        "long", transcript=[[None, "x"], *([["go", "y"]] * 300)], trace=node("long", *range(301))
    )
    load(browser, html_page({"run": [long, record("next")]}, {"run": config()}), tmp_path)
    open_first_episode(browser)
    heads = ("nav", ".columns", ".episode[open] > summary")
    bottom = "document.querySelector('.episode[open]').getBoundingClientRect().bottom"
    browser.execute_script(f"scrollTo(0, 0); scrollBy(0, {bottom} - 600)")
    places = [
        browser.execute_script(
            f"const {{top, bottom}} = document.querySelector('{head}').getBoundingClientRect();"
            "return [Math.round(top), Math.round(bottom)]"
        )
        for head in heads
    ]
    assert places[0][0] == 0
    assert all(abs(below[0] - above[1]) <= 1 for above, below in pairwise(places)), places
    assert places[-1][1] < 200


def test_page__shows_all_but_the_episodes_without_scripts(
    browser: Any, crafted_page: str, tmp_path: Path
):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        load(browser, crafted_page, tmp_path)
        visible = {
            selector: any(
                element.is_displayed()
                for element in browser.find_elements("css selector", selector)
            )
            for selector in (
                ".verdict",
                ".wide table",
                ".plot svg",
                ".legend",
                "noscript p",
                ".filters",
                ".columns",
            )
        }
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert [selector for selector, seen in visible.items() if not seen] == [".filters", ".columns"]


def test_page__scrolls_wide_tables_and_not_the_page(browser: Any, tmp_path: Path):
    runs = {
        f"a run with quite a long name {n}": [
            record(str(task), group=f"group {task}") for task in range(9)
        ]
        for n in range(9)
    }
    load(browser, html_page(runs, dict.fromkeys(runs, config())), tmp_path)
    try:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 360, "height": 640, "deviceScaleFactor": 1, "mobile": True},
        )
        wait(browser, "document.documentElement.scrollWidth", 360)
        (table,) = browser.find_elements("css selector", '.wide[aria-label="Success by group"]')
        assert browser.execute_script(
            "return arguments[0].scrollWidth > arguments[0].clientWidth", table
        )
        browser.execute_script("arguments[0].scrollTo(200, 300)", table)
        sides = browser.execute_script(
            "const edge = arguments[0].getBoundingClientRect(); const of = (cell) => cell.getBoundingClientRect();"
            "return [of(arguments[0].querySelector('thead th:last-child')).top - edge.top,"
            "of(arguments[0].querySelector('thead th')).left - edge.left]",
            table,
        )
        assert sides == pytest.approx([0, 0], abs=1)
        assert "gradient" in table.value_of_css_property("background-image")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_page__names_what_differs_besides_agent_and_model():
    runs = {"first": [record()], "second": [record()]}
    page = html_page(
        runs, {"first": config(seed=1, agent="react"), "second": config(seed=2, agent="expert")}
    )
    words = words_of(page, "verdict")
    assert "! Seeds differ: 1 and 2." in words
    runs_alike = {"first": config(), "second": config(agent="expert")}
    assert "differ:" not in words_of(html_page(runs, runs_alike), "verdict")
