"""The shop's pages: asked in the process for what must hold of each, and in a real browser for what
a person does."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from contextlib import ExitStack, closing
from dataclasses import asdict
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import gymnasium as gym
import pytest

import textcraft_gym
from textcraft_gym.agents.baselines.expert import ExpertAgent
from textcraft_gym.cli.shop import app as shop_app
from textcraft_gym.cli.shop import serve
from textcraft_gym.cli.shop.app import MAX_ACTION, MAX_BODY, MAX_QUERY, create_app
from textcraft_gym.cli.shop.recording import Run, read_run, replayed
from textcraft_gym.cli.shop.server import run_server
from textcraft_gym.cli.shop.session import ENV, MAX_ACTIONS, Session, Storefront
from textcraft_gym.envs.webshop.pages import page
from textcraft_gym.errors import MissingExtra, RunError, UnknownName
from textcraft_gym.reports.records import SCHEMA
from textcraft_gym.runs.run import Run as LiveRun
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import plan
from textcraft_gym.serving import server

TASK = "591-B0CRMTCYF6"
ACTIONS = (
    "search[hooded sweatshirt, hand wash, light blue]",
    "click[next >]",
    "click[search]",
    "click[< prev]",
    "think[what is this?]",
    "click[b03qwqdvcd]",
    "click[description]",
    "click[buy now]",
    "click[< prev]",
    "click[features]",
    "click[< prev]",
    "click[reviews]",
    "click[back to search]",
    "search[Hooded sweatshirt hand wash light blue]",
    "click[b0crmtcyf6]",
    "click[attributes]",
    "click[< prev]",
    "click[b0crmtcyf6]",
    "click[light blue]",
    "click[big and tall]",
    "click[buy now]",
)
FORM = "application/x-www-form-urlencoded"
HOSTILE = (
    "</textarea><img src=x onerror=\"document.title='owned'\">"
    "<script>document.title='owned'</script>{{7*7}}&amp;'"
)


class Visitor:
    """A browser without a screen, in this process."""

    def __init__(self, front: Storefront, **more: Any) -> None:
        self.client = create_app(front, **more).test_client()

    def get(self, address: str, status: int = 200, host: str = "127.0.0.1:8000") -> str:
        answer = self.client.get(address, base_url=f"http://{host}")
        assert answer.status_code == status, answer.text
        return answer.text

    def post(
        self,
        address: str,
        status: int = 303,
        origin: str | None = None,
        host: str = "127.0.0.1:8000",
        **form: Any,
    ) -> str:
        headers = {"Origin": origin} if origin else {}
        answer = self.client.post(address, base_url=f"http://{host}", headers=headers, data=form)
        assert answer.status_code == status, answer.text
        return answer.headers.get("Location") or answer.text

    def begin(self, number: int = 591) -> str:
        return self.post("/sessions", number=number).rpartition("/")[0]

    def play(self, *actions: str, number: int = 591) -> str:
        session = self.begin(number)
        for action in actions:
            self.act(session, action=action)
        return session

    def act(self, session: str, status: int = 303, **form: str) -> str:
        last = self.client.get(session, base_url="http://127.0.0.1:8000").headers["Location"]
        return self.post(last, status, **form)

    def saved(self, session: str) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self.get(f"{session}/session.json"))
        return record


class Words(HTMLParser):
    """What a page shows as text, and its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def front() -> Storefront:
    return Storefront.open("dev", {})


@pytest.fixture
def visitor(front: Storefront) -> Visitor:
    return Visitor(front)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the expert over two tasks, the second of which begins again once."""
    folder = tmp_path_factory.mktemp("runs") / "expert"
    folder.mkdir()
    env = gym.make(ENV, expert=True)
    identity = plan(LiveRun(RunSpec(ENV, "dev", "expert", model=None))).identity
    (folder / "config.json").write_text(json.dumps({"schema": SCHEMA, **identity}))
    records = [
        asdict(textcraft_gym.run_episode(env, ExpertAgent(), task=task, seed=0))
        | {"group": "all", "family": task, "depth": 1, "optimal_length": 0}
        for task in (TASK, env.get_wrapper_attr("tasks")[3].id)
    ]
    first, *actions = records[1]["transcript"]
    records[1]["transcript"] = [first, actions[0], first, *actions]
    records[1]["trace"]["parts"] = [
        0,
        "I look at it first.",
        1,
        "Once more.",
        2,
        *range(3, len(actions) + 3),
        "Done.",
    ]
    (folder / "episodes.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return folder


@pytest.mark.parametrize(
    "env_args",
    [
        {},
        {"mode": "adapt", "num_prev_obs": 2, "num_prev_actions": 3},
        {"mode": "text", "show_attrs": True},
        {"mode": "text_rich", "products_per_page": 7},
    ],
    ids=["react", "adapt", "text", "text_rich"],
)
def test_session__is_the_environments(env_args: dict[str, Any]):
    env = gym.make(ENV, **env_args)
    visitor = Visitor(Storefront.open("dev", env_args))
    transcript = [[None, env.reset(options={"task": TASK})[0]]]
    done = False
    for action in ACTIONS:
        observation, reward, done, _, info = env.step(action)
        transcript.append([action, observation])
    assert done
    assert 0 < reward < 1
    session = visitor.play(*ACTIONS)
    record = visitor.saved(session)
    assert record["transcript"] == transcript
    assert (record["task"], record["reward"], record["won"]) == (TASK, reward, info["won"])
    last = visitor.get(f"{session}/{len(ACTIONS)}")
    assert f'<strong class="lost">{reward}</strong>' in last
    parts = [f"{info[part]:.2f}" for part in ("r_type", "r_att", "r_option", "r_price")]
    assert re.findall(r"<td>(.*?)</td>", last) == parts


def test_session__shows_all_that_stands_on_the_environments_pages(
    visitor: Visitor, front: Storefront
):
    session = Session(front, front.task(TASK))
    address = visitor.play(*ACTIONS)
    for action in ACTIONS:
        session.act(action)
    kinds = set()
    for number in range(len(ACTIONS)):
        state = session.state(number)
        kinds.add(state.sub_page or state.page)
        shown = squeezed(Words(visitor.get(f"{address}/{number}")).text)
        for _, words in page(front.market, session.task.goal.instruction, state):
            assert squeezed(words) in shown, (number, words)
    assert kinds == {"index", "results", "item", "description", "features", "reviews"}


def test_session__offers_what_can_be_clicked_and_nothing_else(visitor: Visitor):
    env = gym.make(ENV, admissible=True)
    _, info = env.reset(options={"task": TASK})
    session = visitor.begin()
    for number, action in enumerate(ACTIONS[:-1]):
        attributes = Words(visitor.get(f"{session}/{number}")).attributes
        clicks = {
            value
            for name, value in attributes
            if name == "value" and value and value.startswith("click[")
        }
        assert clicks == {
            command for command in info["admissible_commands"] if command.startswith("click[")
        }
        _, _, _, _, info = env.step(action)
        visitor.act(session, action=action)


def test_session__says_what_did_nothing(visitor: Visitor):
    session = visitor.play("jump", "click[buy now]", "click[search]")
    reasons = ("that is not an action", "that is not on this page", "enter words to search for")
    for number, reason in enumerate(reasons, 1):
        assert f"Nothing happened: {reason}." in visitor.get(f"{session}/{number}")


def test_session__ends_with_the_purchase(visitor: Visitor):
    session = visitor.play(*ACTIONS)
    assert "This session is over" in visitor.act(session, 409, action="click[back to search]")
    last = visitor.get(f"{session}/{len(ACTIONS)}")
    assert 'name="action"' not in last
    assert "Target" in last
    assert visitor.saved(session)["steps"] == len(ACTIONS)


def test_session__ends_at_the_environments_limit(visitor: Visitor):
    session = visitor.play(*["search[tee]"] * MAX_ACTIONS)
    assert "ended at the limit of 100 actions" in visitor.get(f"{session}/{MAX_ACTIONS}")
    visitor.act(session, 409, action="search[tee]")


def test_session__keeps_the_target_to_itself_until_the_end(visitor: Visitor):
    session = visitor.play(*ACTIONS)
    pages = [visitor.get(f"{session}/{number}") for number in range(len(ACTIONS) + 1)]
    assert ["<h2>Target</h2>" in page for page in pages] == [False] * len(ACTIONS) + [True]


def test_session__can_be_looked_back_at_but_not_changed_there(visitor: Visitor):
    session = visitor.play(*ACTIONS[:6])
    back = visitor.get(f"{session}/1")
    assert back.count("<fieldset disabled>") == back.count("<fieldset")
    assert '<button class=" did" name="action" value="click[next &gt;]">' in back
    assert "<fieldset disabled>" not in visitor.get(f"{session}/6")
    visitor.get(f"{session}/7", 404)


def test_session__takes_no_action_on_a_page_of_before(visitor: Visitor):
    session = visitor.play(*ACTIONS[:6])
    for number in ("1", "5", "7"):
        assert "the session has gone on" in visitor.post(
            f"{session}/{number}", 409, action="click[buy now]"
        )
    assert visitor.saved(session)["steps"] == 6


def test_tasks__are_those_of_the_split(visitor: Visitor, front: Storefront):
    shown = Words(visitor.get("/")).text
    assert all(task.goal.instruction in shown for task in front.tasks[:25])
    assert front.tasks[25].goal.instruction not in shown
    assert front.tasks[25].goal.instruction in Words(visitor.get("/?split=dev&page=2")).text
    goals = front.market.catalogue.goals
    assert goals[0].instruction in Words(visitor.get("/?split=test")).text
    page = visitor.get("/?split=dev&number=17")
    assert goals[17].instruction in Words(page).text
    assert re.findall(r'name="number" value="(\d+)" aria', page) == ["17"]
    assert "There is no such task." in visitor.get("/?number=999999999")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/?split=tset", 404),
        ("/?number=x", 400),
        ("/?number=-1", 400),
        ("/?page=1e3", 400),
        ("/?page=99999999999", 400),
        ("/sessions/nobody", 404),
        ("/sessions/nobody/0", 404),
        ("/sessions/nobody/session.json", 404),
        ("/sessions/../../etc/passwd", 404),
        ("/static/../app.py", 404),
        ("/static/..%2fapp.py", 404),
        ("/replay/0/0", 404),
        ("/replay/x/0", 400),
        ("/sessions", 405),
        ("/nowhere", 404),
    ],
)
def test_pages__refuse_what_does_not_exist(visitor: Visitor, address: str, status: int):
    assert '<a href="/">Back to the tasks</a>' in visitor.get(address, status)


@pytest.mark.parametrize("number", ["7", "-1", "x", "%C2%B2", "9" * 5000])
def test_session__has_no_move_of_such_a_number(visitor: Visitor, number: str):
    visitor.get(f"{visitor.begin()}/{number}", 404 if number == "7" else 400)


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_pages__take_no_other_methods(visitor: Visitor, method: str):
    for address in ("/", visitor.begin()):
        answer = getattr(visitor.client, method)(address, base_url="http://127.0.0.1:8000")
        assert answer.status_code == 405
        assert "GET" in answer.headers["Allow"]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({}, 400),
        ({"action": "click[x]", "words": "x"}, 400),
        ({"words": "x" * (MAX_QUERY + 1)}, 400),
        ({"action": "x" * (MAX_ACTION + 1)}, 400),
        ({"words": "x" * MAX_BODY}, 413),
        ({"other": "x" * MAX_BODY, "words": "x"}, 413),
        ({"words": "x" * MAX_QUERY}, 303),
        ({"words": ""}, 303),
        ({"action": ""}, 303),
    ],
)
def test_act__takes_one_action_of_bounded_length(
    visitor: Visitor, form: dict[str, str], status: int
):
    visitor.act(visitor.begin(), status, **form)


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 5000, "999999999"])
def test_begin__takes_the_number_of_a_task(visitor: Visitor, number: str):
    visitor.post("/sessions", 404 if number == "999999999" else 400, number=number)


@pytest.mark.parametrize(
    "words",
    [
        HOSTILE,
        "a] click[buy now]",
        "a\r\nb",
        "\x00",
        "é ü 値 \U0001f600",
        "]",
        "[[[",
        "%s {0} ${x}",
    ],
)
def test_search__takes_whatever_words(visitor: Visitor, words: str):
    session = visitor.begin()
    visitor.act(session, words=words)
    html = visitor.get(f"{session}/1")
    assert "Total results: " in html
    assert not {"script", "img"} & Words(html).tags
    ((_, first), (action, second)) = visitor.saved(session)["transcript"]
    env = gym.make(ENV)
    assert env.reset(options={"task": TASK})[0] == first
    assert env.step(action)[0] == second
    assert visitor.get(f"{session}/0")


def hostile_shop(folder: Path) -> Path:
    """A data folder every text of which would like to be more than text."""
    asin = "B0<b>\"'&"
    folder.mkdir()
    bullets = [HOSTILE, "half a pair \ud83d"]
    texts = {"name": HOSTILE, "full_description": HOSTILE, "category": HOSTILE, "query": HOSTILE}
    more = {
        "product_category": HOSTILE,
        "small_description": bullets,
        "pricing": "$9.99",
        "images": [],
    }
    options = {
        "customization_options": {
            HOSTILE: [{"value": HOSTILE.replace("/", "")}, {"value": "a [b]"}]
        }
    }
    (folder / "items_shuffle.json").write_text(
        json.dumps([{"asin": asin, **texts, **more, **options}])
    )
    (folder / "items_ins_v2.json").write_text(json.dumps({asin: {"attributes": [HOSTILE]}}))
    goal = {
        "instruction": HOSTILE,
        "instruction_attributes": [HOSTILE],
        "instruction_options": [HOSTILE],
    }
    (folder / "items_human_ins.json").write_text(json.dumps({asin: [goal]}))
    return folder


def test_pages__keep_whatever_text_as_text(tmp_path: Path):
    front = Storefront.open(
        "all", {"data": str(hostile_shop(tmp_path / "data")), "show_attrs": True}
    )
    visitor = Visitor(front)
    (asin,) = front.market.products
    value = next(iter(front.market.products[asin].options.values()))[0]
    clicks = [
        asin,
        "description",
        "< prev",
        "features",
        "< prev",
        "attributes",
        "< prev",
        value,
        "buy now",
    ]
    actions = ["search[owned]", *(f"click[{target.lower()}]" for target in clicks), HOSTILE]
    session = visitor.play(*actions[:-1], number=0)
    assert visitor.saved(session)["steps"] == len(actions) - 1
    pages = [
        visitor.get("/?split=all"),
        *(visitor.get(f"{session}/{number}") for number in range(len(actions))),
    ]
    for html in pages:
        words = Words(html)
        assert not {"script", "img", "b"} & words.tags
        assert not [name for name, _ in words.attributes if name.startswith("on")]
        assert HOSTILE in words.text
    assert "Thank you" in pages[-1]
    item = pages[3]
    assert re.search(r'value="click\[a \[b\]\]" disabled', item)
    assert "half a pair ?" in pages[6]


def test_pages__let_no_script_run_and_load_nothing_from_elsewhere(visitor: Visitor):
    session = visitor.play(*ACTIONS)
    for address in (
        "/",
        f"{session}/0",
        f"{session}/{len(ACTIONS)}",
        "/nowhere",
        f"{session}/session.json",
    ):
        answer = visitor.client.get(address, base_url="http://127.0.0.1:8000")
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith(
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
        )
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in answer.headers
        words = Words(answer.text)
        assert not {"script", "iframe", "object", "style"} & words.tags
        links = [
            value for name, value in words.attributes if name in ("href", "src", "action", "style")
        ]
        assert all(value and re.match(r"/(?!/)", value) for value in links), links
    for file in ("shop.css", "shop.svg"):
        with visitor.client.get(f"/static/{file}", base_url="http://127.0.0.1:8000") as answer:
            assert answer.status_code == 200
            assert "://" not in answer.text.replace("http://www.w3.org/2000/svg", "")


def test_sessions__are_bounded(front: Storefront, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shop_app, "MAX_SESSIONS", 3)
    visitor = Visitor(front)
    first, second, *_ = (visitor.begin(number) for number in range(3))
    visitor.get(f"{first}/0")
    visitor.begin(3)
    visitor.get(f"{first}/0")
    assert "There is no such session" in visitor.get(f"{second}/0", 404)


def test_tasks__begin_with_the_one_that_was_named(front: Storefront):
    visitor = Visitor(front, first="3-" + front.market.catalogue.goals[3].product.asin)
    home = visitor.get("/")
    assert re.findall(r'name="number" value="(\d+)" aria', home)[:2] == ["3", "500"]
    assert front.market.catalogue.goals[3].instruction in Words(home).text


def test_replay__steps_through_what_was_played(front: Storefront, run_folder: Path):
    run = read_run(run_folder)
    visitor = Visitor(front, run=run)
    home = visitor.get("/")
    for episode, record in enumerate(run.records):
        assert f'href="/replay/{episode}/0"' in home
        transcript = record["transcript"]
        for number, (_, observation) in enumerate(transcript):
            html = visitor.get(f"/replay/{episode}/{number}")
            assert "The record differs" not in html
            assert squeezed(observation) in squeezed(Words(html).text)
            assert html.count("<fieldset disabled>") == html.count("<fieldset")
            if number + 1 < len(transcript) and transcript[number + 1][0]:
                assert f"Next action: {transcript[number + 1][0]}" in Words(html).text
        visitor.get(f"/replay/{episode}/{len(transcript)}", 404)


def test_replay__begins_again_where_the_agent_did_and_shows_what_it_wrote(
    front: Storefront, run_folder: Path
):
    visitor = Visitor(front, run=read_run(run_folder))
    assert "I look at it first." in visitor.get("/replay/1/0")
    assert "Once more." in visitor.get("/replay/1/1")
    assert "Next, the agent reset the episode." in visitor.get("/replay/1/1")
    recording = replayed(front, read_run(run_folder).records[1])
    assert recording.session.state(2).page == "index"
    assert recording.session.is_bought
    assert "Done." in visitor.get(f"/replay/1/{recording.session.last}")


def test_replay__says_where_the_record_is_another(front: Storefront, run_folder: Path):
    run = read_run(run_folder, TASK)
    run.records[0]["transcript"][1][1] = "another page"
    visitor = Visitor(front, run=run)
    assert "The record differs" in visitor.get("/replay/0/1")
    assert "The record differs" not in visitor.get("/replay/0/2")
    run.records[0]["transcript"] = [[1]]
    assert "expected transcript of type list" in visitor.get("/replay/0/0", 422)


def test_replay__shows_whatever_was_played_as_text(front: Storefront, run_folder: Path):
    run = read_run(run_folder, TASK)
    (record,) = run.records
    record["transcript"] = [record["transcript"][0], [f"click[{HOSTILE}\ud83d]", HOSTILE]]
    record["trace"]["parts"] = [0, HOSTILE, 1, f"{HOSTILE}\ud83d"]
    record["error"] = HOSTILE
    visitor = Visitor(front, run=run)
    for number in (0, 1):
        words = Words(visitor.get(f"/replay/0/{number}"))
        assert not {"script", "img"} & words.tags
        assert words.text.count(HOSTILE) == 3 + number
        assert f"{HOSTILE}?" in words.text
    assert f"The episode ended with an error: {HOSTILE}" in words.text


def test_replay__plays_a_session_that_was_saved(
    front: Storefront, visitor: Visitor, tmp_path: Path
):
    file = tmp_path / "session.json"
    file.write_text(visitor.get(f"{visitor.play(*ACTIONS)}/session.json"), encoding="utf-8")
    again = Visitor(front, run=read_run(file))
    assert "Episodes of session.json" in again.get("/")
    assert "Thank you for shopping" in again.get(f"/replay/0/{len(ACTIONS)}")


def test_read_run__names_what_it_cannot_read(front: Storefront, run_folder: Path, tmp_path: Path):
    with pytest.raises(RunError, match="not a run folder"):
        read_run(tmp_path / "nowhere")
    config = json.loads((run_folder / "config.json").read_text()) | {"env": "TextCraft-v0"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match="TextCraft-v0"):
        read_run(tmp_path)
    with pytest.raises(RunError, match="not a session saved by the shop"):
        read_run(tmp_path / "config.json")
    with pytest.raises(UnknownName, match=TASK):
        read_run(run_folder, "1-B")
    run = read_run(run_folder)
    with pytest.raises(RunError, match="another shop"):
        create_app(front, Run(run.name, run.records, run.env_args, "0"))


ODD = (
    None,
    True,
    -1,
    10**6,
    1.5,
    "x",
    "x\ud83d\x1b[2J",
    [],
    [[]],
    [None],
    [[1, 99]],
    [[0, 0]],
    [[3, 7]],
    {},
    {"parts": 3},
)


@pytest.mark.parametrize(
    "name", ["task", "reward", "won", "steps", "transcript", "restores", "trace", "error", None]
)
def test_replay__fails_at_no_record(
    name: str | None, front: Storefront, run_folder: Path, tmp_path: Path
):
    whole = read_run(run_folder).records[1]
    shown = 0
    for number, odd in enumerate(ODD):
        record: Any = (
            {**whole, name: odd, "env": ENV, "env_sha256": front.fingerprint} if name else odd
        )
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(record))
        try:
            run = read_run(file)
        except RunError:
            continue
        client = create_app(front, run).test_client()
        statuses = [
            client.get(page).status_code
            for page in ("/", "/replay/0/0", "/replay/0/1", "/replay/0/2")
        ]
        assert set(statuses) <= {200, 404, 422}, odd
        shown += statuses[0] == 200
    assert shown == 0 if name is None else shown > 0


def test_serve__names_the_extra_that_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "flask", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[shop\]' in a clone"):
        serve(on_start=print)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "tset"}, "test, dev, train"),
        ({"task": "591-B"}, "unknown task '591-B'"),
        ({"env_args": {"split": "dev"}}, "expected the split as a separate option"),
        ({"env_args": {"mod": "text"}}, "unknown argument of WebShopLite-v0 'mod'"),
    ],
)
def test_serve__names_what_is_wrong_before_it_serves(arguments: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        serve(on_start=pytest.fail, **arguments)


def test_server__takes_its_own_host_and_forms_of_its_own_pages(address: str):
    host = address.removeprefix("http://").strip("/")
    port = int(host.rpartition(":")[2])

    def ask(method: str, path: str, **headers: str) -> int:
        with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request(
                method,
                path,
                "number=1" if method == "POST" else None,
                {"Content-Type": FORM, **headers},
            )
            return connection.getresponse().status

    for other in ("shop.example:8000", "127.0.0.1.example", f"localhost.example:{port}"):
        assert ask("GET", "/", Host=other) == ask("GET", "/static/shop.css", Host=other) == 403
    assert ask("GET", "/", Host=f"localhost:{port}") == 200
    for origin in ("http://shop.example", "null", f"http://localhost:{port}", "http://127.0.0.1:9"):
        assert ask("POST", "/sessions", Origin=origin) == 403
    assert ask("POST", "/sessions", Origin=f"http://{host}") == ask("POST", "/sessions") == 303


def test_server__closes_a_connection_whose_header_does_not_come(
    front: Storefront, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.2)
    port = int(opened(front).rpartition(":")[2].strip("/"))
    before = threading.active_count()
    with ExitStack() as stack:
        halves = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            for _ in range(50)
        ]
        for half in halves:
            half.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        assert [half.recv(1) for half in halves] == [b""] * 50
    assert threading.active_count() <= before


def test_command__serves_on_loopback_until_interrupted(run_folder: Path):
    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "shop",
        "--port",
        "0",
        "--replay",
        str(run_folder),
        "--task",
        TASK,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
        with urllib.request.urlopen(f"{address}replay/0/1") as answer:
            assert b"Total results: 50" in answer.read()
        taken = [
            sys.executable,
            "-m",
            "textcraft_gym",
            "shop",
            "--port",
            address.rpartition(":")[2].strip("/"),
        ]
        refused = subprocess.run(taken, capture_output=True, text=True)
        assert refused.returncode == 2
        assert re.fullmatch(r"textcraft-gym: .*is taken.*\n", refused.stderr)
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


# In a real browser.


def opened(front: Storefront, run: Run | None = None) -> str:
    """Serve a shop from a thread that ends with the tests, and return its address."""
    addresses: SimpleQueue[str] = SimpleQueue()
    threading.Thread(
        target=run_server, args=(create_app(front, run), 0, addresses.put), daemon=True
    ).start()
    return addresses.get(timeout=60)


@pytest.fixture(scope="module")
def address(front: Storefront, run_folder: Path) -> str:
    return opened(front, read_run(run_folder))


def complaints(browser: Any) -> list[dict[str, Any]]:
    """Return what the browser's console has but for what it merely mentions, such as that a field
    did not get the focus since a fast reader had it elsewhere."""
    return [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"]


def element_at(browser: Any, selector: str) -> Any:
    (element,) = browser.find_elements("css selector", selector)
    return element


def follow(browser: Any, selector: str, keys: str = "") -> None:
    """Click, or type and send it off, and wait until the page that this leads to is there."""
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.support.expected_conditions import staleness_of
    from selenium.webdriver.support.wait import WebDriverWait

    before, element = element_at(browser, "html"), element_at(browser, selector)
    element.send_keys(keys, "\n") if keys else element.click()
    # While a page is replaced, Chromium may say that its node is in no document, which is not yet
    # staleness.
    WebDriverWait(browser, 30, ignored_exceptions=[WebDriverException]).until(staleness_of(before))
    WebDriverWait(browser, 30).until(
        lambda _: browser.execute_script("return document.readyState") == "complete"
    )


AT_ITS_CENTRE = """
    const box = arguments[0].closest("li").querySelector(arguments[1]).getBoundingClientRect();
    return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
"""
"""What a click on a part of a product's card meets."""


def press(browser: Any, action: str) -> None:
    follow(browser, f'button[value="{action}"]')


def too_wide(browser: Any) -> int:
    """Return by how many pixels a page is wider than a narrow screen."""
    narrow = {"width": 480, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    page = "document.documentElement"
    wider: int = browser.execute_script(f"return {page}.scrollWidth - {page}.clientWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return wider


def test_browser__buys_what_is_asked_for(browser: Any, address: str):
    browser.get(address)
    follow(browser, "#number", "591")
    press(browser, "591")
    instruction = element_at(browser, ".instruction").text
    assert browser.switch_to.active_element == element_at(browser, "#words")
    follow(browser, "#words", "hooded sweatshirt light blue hand wash")
    assert "Page 1 (Total results: 50)" in element_at(browser, ".count").text
    assert too_wide(browser) == 0
    button = element_at(browser, 'button[value="click[b0crmtcyf6]"]')
    for part in (".title", ".tile"):  # the whole card is the button
        clicked = browser.execute_script(AT_ITS_CENTRE, button, part)
        assert clicked == button
    press(browser, "click[b0crmtcyf6]")
    press(browser, "click[features]")
    assert (
        "Hand wash in cool water, do not bleach, dry flat in the shade."
        in element_at(browser, "article").text
    )
    press(browser, "click[< prev]")
    for value in ("light blue", "large", "big and tall"):
        press(browser, f"click[{value}]")
        assert element_at(browser, ".notice").text == f"You have clicked {value}."
    assert [chosen.text for chosen in browser.find_elements("css selector", ".chosen")] == [
        "light blue",
        "large",
        "big and tall",
    ]
    assert too_wide(browser) == 0
    assert element_at(browser, ".instruction").text == instruction
    press(browser, "click[buy now]")
    assert element_at(browser, ".score strong").text == "1.0"
    assert [cell.text for cell in browser.find_elements("css selector", ".parts td")] == [
        "1.00"
    ] * 4
    assert len(browser.find_elements("css selector", ".done li .won")) == 5
    assert too_wide(browser) == 0
    follow(browser, "a[rel=prev]")
    assert element_at(browser, ".where").text == "Looking back: move 7 of 8"
    assert not element_at(browser, 'button[value="click[buy now]"]').is_enabled()
    assert complaints(browser) == []


def test_browser__keeps_the_instruction_in_view(browser: Any, address: str):
    browser.get(address)
    press(browser, "500")
    follow(browser, "#words", "chair")
    browser.set_window_size(800, 300)  # less than a page of three products
    browser.execute_script("window.scrollTo(0, document.body.scrollHeight)")
    assert browser.execute_script("return window.scrollY") > 0
    place = element_at(browser, ".instruction").rect
    assert 0 <= place["y"] - browser.execute_script("return window.scrollY") < 100


def test_browser__replays_a_run_forward_and_back(browser: Any, address: str, run_folder: Path):
    browser.get(address)
    record = read_run(run_folder).records[0]
    follow(browser, f'a[aria-label="Replay {TASK}"]')
    actions = [action for action, _ in record["transcript"][1:]]
    for action in actions:
        assert element_at(browser, ".next code").text == action
        # What was done is a button, or the words of the search box, which only the first page has.
        words = [
            box.get_attribute("value") for box in browser.find_elements("css selector", "#words")
        ]
        done = [
            element_at(browser, ".did").get_attribute("value"),
            *map("search[{}]".format, words),
        ]
        assert action in done
        follow(browser, "a[rel=next]")
    assert element_at(browser, ".score strong").text == str(record["reward"])
    assert too_wide(browser) == 0
    for _ in actions:
        follow(browser, "a[rel=prev]")
    assert element_at(browser, ".where").text == f"Replay: move 0 of {len(actions)}"
    assert complaints(browser) == []


def test_browser__runs_nothing_that_a_product_says(browser: Any, tmp_path: Path):
    front = Storefront.open("all", {"data": str(hostile_shop(tmp_path / "data"))})
    browser.get(f"{opened(front)}?split=all")
    press(browser, "0")
    follow(browser, "#words", "owned")
    follow(browser, ".asin")
    follow(browser, ".value:enabled")
    press(browser, "click[buy now]")
    assert "owned" not in browser.title
    assert HOSTILE in element_at(browser, ".instruction").text
    assert element_at(browser, ".score strong").text == "1.0"
    assert complaints(browser) == []
