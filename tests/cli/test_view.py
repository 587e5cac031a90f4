"""The site of a folder of runs: asked in the process while runs grow, and seen in a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from typer.testing import CliRunner

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.cli.app import app as command_line
from textcraft_gym.cli.view.app import MAX_BODY, create_app
from textcraft_gym.cli.view.bundle import write_bundle
from textcraft_gym.cli.view.library import Library
from textcraft_gym.episodes.calls import Call
from textcraft_gym.reports.calls import FILE, Calls, lines_of, member
from textcraft_gym.reports.growing import find_runs, grown
from textcraft_gym.reports.metrics import summarise
from textcraft_gym.reports.page_episodes import Line, inside, line
from textcraft_gym.reports.page_runs import RunLine, runs_page
from textcraft_gym.reports.records import key_of, read_records
from textcraft_gym.serving.wsgi import run_wsgi

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">{{7*7}}&amp;'"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of twelve episodes with their calls."""
    folder = tmp_path_factory.mktemp("played") / "adapt"
    spec = RunSpec("TextCraft-v0", "test", "adapt", model="tests.doubles:Crafter,reach=2")
    evaluate(replace(spec, limit=12), folder)
    return folder


class Clock:
    """A clock by which runs are looked for at each request."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 10
        return self.seconds


class Site:
    """The site without a network; runs are looked for at each request."""

    def __init__(self, folder: Path) -> None:
        self.client = create_app(Library(folder, clock=Clock()), "runs").test_client()

    def get(self, address: str, status: int = 200, **query: Any) -> Any:
        answer = self.client.get(f"{address}?{urlencode(query, doseq=True)}")
        assert answer.status_code == status, answer.text
        return answer.json if answer.mimetype == "application/json" else answer.text

    def error(self, address: str, status: int, **query: Any) -> str:
        """Return why it shows nothing: in JSON to programs, as text to people."""
        answer = self.get(address, status, **query)
        return str(answer["error"]) if address.endswith(".json") else answer


class Follower:
    """A page that takes up what its server tells of one run, as the script does."""

    def __init__(self, site: Site, run: str) -> None:
        self.site, self.run = site, run
        self.state = ""
        self.lines: dict[int, Line] = {}
        self.resets = 0

    def poll(self) -> list[int]:
        news = self.site.get("/lines.json", run=self.run, since=self.state)
        if news["reset"]:
            self.state, self.resets = "", self.resets + 1
            self.lines.clear()
            return self.poll()
        self.state = news["state"]
        changed = [place for place, *_ in news["lines"]]
        for place, *cells in news["lines"]:
            self.lines[place] = Line(*cells)
        assert not news["more"]
        return changed


def begun(played: Path, folder: Path, episodes: bytes = b"") -> Path:
    """Make a run that is not finished."""
    folder.mkdir(parents=True)
    config = json.loads((played / "config.json").read_bytes())
    config.pop("finished")
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "episodes.jsonl").write_bytes(episodes)
    return folder


def troubled(played: Path) -> bytes:
    """The lines of a run in which an episode broke and was played again, and a line was damaged."""
    lines = (played / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    broken = json.loads(lines[1])
    broken |= {"error": "ModelError: no answer", "traceback": "", "won": False, "cost": 0.5}
    first = json.dumps(broken).encode() + b"\n"
    return b"".join([lines[0], first, b"{damaged\n", b"\n", *lines[2:], lines[1]])


@pytest.mark.filterwarnings("ignore:.*skipped line")
def test_site__says_what_the_records_say_wherever_the_file_is_cut(played: Path, tmp_path: Path):
    content = troubled(played)
    random = Random(0)
    ends = [match.end() for match in re.finditer(b"\n", content)]
    cuts = {cut for end in ends for cut in (end - 1, end, end + 1)}
    cuts |= {random.randrange(len(content)) for _ in range(20)}
    folder = begun(played, tmp_path / "run")
    site = Site(tmp_path)
    follower = Follower(site, "run")
    written = 0
    for cut in sorted(min(cut, len(content)) for cut in cuts):
        with (folder / "episodes.jsonl").open("ab") as file:
            file.write(content[written:cut])
        written = cut
        follower.poll()
        records = list(read_records(folder))
        assert follower.lines == {place: line(0, entry) for place, entry in enumerate(records)}
        (row,) = site.get("/runs.json")
        summary = summarise(records)
        assert (row["episodes"], row["errors"]) == (len(records), summary.errors)
        assert (row["success"], row["low"], row["high"]) == (
            summary.rate,
            summary.low,
            summary.high,
        )
        assert (row["total"], row["is_finished"]) == (12, len(records) == 12)
    assert row["damaged"] == 1
    assert row["episodes"] == 12
    assert follower.resets == 0
    assert "1 run, 12 episodes." in site.get("/report", run="run")
    for place, record in enumerate(read_records(folder)):
        held = site.get("/episode.json", run="run", place=place)
        assert held == json.loads(inside(record))


def test_site__reads_nothing_twice(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lines = (played / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    folder = begun(played, tmp_path / "run", b"".join(lines[:3]))
    site = Site(tmp_path)
    follower = Follower(site, "run")
    assert follower.poll() == [0, 1, 2]
    # What was read is made unreadable; its length stays.
    file = folder / "episodes.jsonl"
    with file.open("r+b") as written:
        written.write(b"x" * len(lines[0]))
        written.seek(0, os.SEEK_END)
        written.write(lines[3])
    assert follower.poll() == [3]
    assert follower.poll() == []
    assert site.get("/runs.json")[0]["damaged"] == 0


def test_site__follows_runs_that_come_go_and_are_replaced(played: Path, tmp_path: Path):
    whole = (played / "episodes.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    site = Site(tmp_path)
    assert site.get("/runs.json") == []
    assert "There is no run here yet." in site.get("/")
    folder = begun(played, tmp_path / "deep" / "er" / "run", lines[0])
    for other in ("model", "new", ".hidden"):
        (tmp_path / other).mkdir()
    (tmp_path / "model" / "config.json").write_text('{"architectures": []}')
    shutil.copytree(folder, tmp_path / ".hidden" / "run")
    (tmp_path / "link").symlink_to(played)
    assert [row["run"] for row in site.get("/runs.json")] == ["deep/er/run"]

    follower = Follower(site, "deep/er/run")
    assert follower.poll() == [0]
    (folder / "other").write_bytes(lines[1] + lines[2])
    os.replace(folder / "other", folder / "episodes.jsonl")
    assert follower.poll() == [0, 1]
    assert follower.resets == 1
    config = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps({**config, "started": "later"}))
    (folder / "episodes.jsonl").write_bytes(whole[len(lines[0]) :])  # the same file, and longer
    assert follower.poll() == list(range(11))
    assert follower.resets == 2
    (folder / "episodes.jsonl").unlink()
    assert follower.poll() == []
    assert site.get("/runs.json")[0]["model"] == "tests.doubles:Crafter,reach=2"
    assert "0 episodes" in site.get("/report", run="deep/er/run")
    shutil.rmtree(folder)
    message = site.error("/lines.json", 404, run="deep/er/run")
    assert "not a run folder" in message or "unknown run" in message
    assert site.get("/runs.json") == []


def test_site__sends_a_long_list_in_parts(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("textcraft_gym.cli.view.library.MAX_LINES", 5)
    shutil.copytree(played, tmp_path / "a")
    shutil.copytree(played, tmp_path / "b")
    site, state, places = Site(tmp_path), "", []
    more = True
    while more:
        news = site.get("/lines.json", since=state)  # of all runs
        state, more = news["state"], news["more"]
        assert len(news["lines"]) <= 5
        places += [(cells[0], place) for place, *cells in news["lines"]]
    assert places == [(run, place) for run in (0, 1) for place in range(12)]


def test_site__has_the_calls_of_an_episode_that_ended_meanwhile(played: Path, tmp_path: Path):
    lines = (played / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    folder = begun(played, tmp_path / "run", lines[0] + lines[1])
    site = Site(tmp_path)
    assert site.get("/episode.json", run="run", place=1)["calls"] == []
    shutil.copy(played / FILE, folder)
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(lines[2])
    for place, record in enumerate(read_records(folder)):
        shown = site.get("/episode.json", run="run", place=place)["calls"]
        assert shown == Calls(played).lines(key_of(record))
        assert len(shown) == sum(record["calls"].values()) > 1


def test_site__finds_nothing_outside_of_its_folder(played: Path, tmp_path: Path):
    inner = tmp_path / "runs"
    shutil.copytree(played, inner / "a")
    shutil.copytree(played, tmp_path / "outside")
    site = Site(inner)
    for name in ("../outside", "a/../../outside", str(tmp_path / "outside"), "a/", "", "\x00", "A"):
        for address in ("/report", "/lines.json", "/episode.json"):
            assert "unknown run" in site.error(address, 404, run=name, place=0)
    for address in ("/../outside/config.json", "/%2e%2e/outside/config.json", "/a/config.json"):
        assert site.client.get(address).status_code == 404
    for place in ("", "-1", "x", "1e3", "9" * 50, "٣"):
        assert site.error("/episode.json", 400, run="a", place=place)
    assert "from 0 to 11" in site.error("/episode.json", 404, run="a", place=12)
    assert "1 to 100 runs, got 101" in site.error("/report", 400, run=["a"] * 101)
    for since in ("x", "x:1:1", "::", ",", "\ud83d"):
        news = site.get("/lines.json", run="a", since=since.encode("utf-8", "replace"))
        assert news["reset"] is True
    assert site.client.post("/").status_code == 405


def test_site__shows_hostile_text_as_text_below_a_strict_policy(played: Path, tmp_path: Path):
    folder = begun(played, tmp_path / "a<b>&'\"")
    config = json.loads((folder / "config.json").read_bytes())
    config |= {"agent": HOSTILE, "model": HOSTILE, "split": "\ud800", "started": HOSTILE}
    (folder / "config.json").write_text(json.dumps(config))
    record = json.loads((played / "episodes.jsonl").read_bytes().splitlines()[0])
    record |= {"task": HOSTILE, "group": HOSTILE, "transcript": [[None, "\ud800"]]}
    (folder / "episodes.jsonl").write_text(json.dumps(record) + "\n")
    site = Site(tmp_path)
    for address in ("/", "/report"):
        answer = site.client.get(f"{address}?{urlencode({'run': folder.name})}")
        assert answer.status_code == 200
        assert "<img" not in answer.text
        assert "<b>" not in answer.text
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; ")
        assert policy.endswith("; frame-ancestors 'none'")
        (script,) = re.findall(r"script-src ([^;]*)", policy)
        assert re.fullmatch(r"'sha256-[\w+/]{43}='", script)
        of_page = policy.removesuffix("; frame-ancestors 'none'")
        assert f'content="{of_page}"' in answer.text
    assert "&lt;img" in site.get("/")
    answer = site.client.get(f"/episode.json?{urlencode({'run': folder.name, 'place': 0})}")
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_site__sends_nothing_that_the_browser_has(played: Path, tmp_path: Path):
    shutil.copytree(played, tmp_path / "a")
    site = Site(tmp_path)
    for address in ("/", "/runs.json", "/report?run=a"):
        tag = site.client.get(address).headers["ETag"]
        again = site.client.get(address, headers={"If-None-Match": tag})
        assert (again.status_code, again.data) == (304, b"")


@pytest.fixture
def address(tmp_path: Path) -> str:
    """The address of a server of the test's folder, in a thread that ends with the tests."""
    addresses: SimpleQueue[str] = SimpleQueue()
    site = create_app(Library(tmp_path, clock=Clock()), "runs")
    options = {"port": 0, "max_body": MAX_BODY, "on_start": addresses.put}
    threading.Thread(target=run_wsgi, args=(site,), kwargs=options, daemon=True).start()
    return addresses.get(timeout=60)


def until(browser: Any, script: str) -> Any:
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(browser, 10).until(lambda _: browser.execute_script(f"return {script}"))


def open_call(browser: Any, episode: str) -> str:
    """Open an episode and its first call, and return what is in it."""
    row = f"[...document.querySelectorAll('.episode')].find((row) => row.dataset.task === '{episode}')"
    until(browser, row)
    browser.execute_script(f"{row}.querySelector('summary').click()")
    until(browser, f"{row}.querySelectorAll('.call').length > 0")
    browser.execute_script(f"{row}.querySelector('.call > summary').click()")
    return str(
        until(
            browser,
            f"{row}.querySelector('.call .key-word') && {row}.querySelector('.call').textContent",
        )
    )


def test_page__shows_an_episode_and_its_calls_while_the_run_goes_on(
    browser: Any, address: str, played: Path, tmp_path: Path
):
    lines = (played / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    first, second = records[0], records[1]
    folder = begun(played, tmp_path / "run", lines[0])
    browser.get_log("browser")
    browser.get(f"{address}/report?run=run")
    tasks = "[...document.querySelectorAll('.episode')].map((row) => row.dataset.task).join()"
    until(browser, f"{tasks} === '{first['task']}'")
    row = browser.find_element("css selector", ".episode")
    row.find_element("tag name", "summary").click()
    assert "1 of 12 episodes so far" in browser.find_element("id", "verdict").text

    calls = [
        Call("executor", "common 😀 beginning " * 9 + "first", place=[0]),
        Call("planner", [{"role": HOSTILE, "content": HOSTILE}], HOSTILE, place=[1]),
    ]
    calls.insert(1, replace(calls[0], prompt="common 😀 beginning " * 9 + "😀 second", text="then"))
    (folder / FILE).write_bytes(member(key_of(second), lines_of(calls)))
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(lines[1])
    until(browser, f"{tasks} === '{first['task']},{second['task']}'")
    until(browser, "document.querySelector('#verdict').textContent.includes('2 of 12 episodes')")
    assert row.get_attribute("open")  # what is being read stays open
    title = browser.title
    assert "common 😀 beginning first" in open_call(browser, second["task"])
    for summary in browser.find_elements("css selector", ".call > summary"):
        browser.execute_script("arguments[0].parentElement.open = true", summary)
    until(browser, "document.querySelectorAll('pre.read').length === 4")
    texts = [
        element.get_attribute("textContent")
        for element in browser.find_elements("css selector", "pre.read")
    ]
    assert texts == [calls[0].prompt, "common 😀 beginning " * 9, "😀 second", HOSTILE]
    assert browser.title == title

    browser.get(address)
    cell = "document.querySelector('tr[data-run=run] td').textContent"
    until(browser, f"{cell} === '2 of 12 so far'")
    browser.find_element("css selector", "input[type=checkbox]").click()
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(lines[2])
    until(browser, f"{cell} === '3 of 12 so far'")
    browser.find_element("css selector", "form button").click()
    until(browser, "document.querySelectorAll('.episode').length === 3")
    assert browser.get_log("browser") == []


def test_server__refuses_other_hosts_and_sites(address: str):
    with closing(HTTPConnection(address.removeprefix("http://"), timeout=10)) as connection:
        refused = ({"Host": "rebound.example.org"}, {"Origin": "http://example.org"})
        for headers in refused:
            connection.request("GET", "/runs.json", headers=headers)
            answer = connection.getresponse()
            assert (answer.status, "error" in json.loads(answer.read())) == (403, True)


def test_bundle__is_read_from_the_disk_with_its_calls(browser: Any, played: Path, tmp_path: Path):
    runs = tmp_path / "runs"
    shutil.copytree(played, runs / "a")
    begun(played, runs / "A!", (played / "episodes.jsonl").read_bytes().partition(b"\n")[0] + b"\n")
    out = tmp_path / "site"
    result = CliRunner().invoke(command_line, ["view", str(runs), "--bundle", str(out)])
    assert result.exit_code == 0, result.output
    files = [file for file in out.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    assert f"{len(files)} files, {size:.1f} MB" in result.output
    assert {file.name for file in files if file.suffix == ".html"} == {
        "index.html",
        "a.html",
        "a-2.html",
        "all.html",
    }
    assert not re.search(r"\w+://(?!www.w3.org/2000/svg)", (out / "a.html").read_text("utf-8"))
    assert "<h1>Runs: runs</h1>" in (out / "index.html").read_text("utf-8")
    assert not any(str(tmp_path).encode() in file.read_bytes() for file in files)
    with pytest.raises(ValueError, match="expected a new or empty folder"):
        write_bundle(grown(find_runs(runs), {}), "runs", out)

    record = read_records(played)[0]
    (call, *_) = Calls(played)[key_of(record)]
    browser.get_log("browser")
    browser.get((out / "index.html").as_uri())
    browser.find_element("link text", "a").click()
    text = open_call(browser, record["task"])
    assert call.prompt in text
    assert call.text in text
    assert browser.get_log("browser") == []


@pytest.mark.parametrize(("width", "hidden"), [(420, True), (1265, False)])
def test_index__has_a_line_for_each_run_and_all_columns_where_they_fit(
    browser: Any, tmp_path: Path, width: int, hidden: bool
):
    names = ["alfworld-react-a_rather_long-name", "b"]
    played = ("adapt", "openai:a-model-of-some-length", "ALFWorld-v0", "valid_unseen")
    updated = "2026-01-02T03:04:05+00:00"
    lines = [
        RunLine(name, *played, 134, 134, True, 1.0, 0.9, 1.0, 0, 0, "", updated) for name in names
    ]
    page = runs_page("runs", lines, dict.fromkeys(names, "report"), is_live=True)
    (tmp_path / "index.html").write_text(page, "utf-8")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get((tmp_path / "index.html").as_uri())
        table = "document.querySelector('.wide')"
        scrolls = browser.execute_script(f"return {table}.scrollWidth > {table}.clientWidth")
        rows = browser.find_elements("css selector", "tbody tr")
        heights = [row.size["height"] for row in rows]
        titles = [row.find_element("tag name", "th").get_attribute("title") for row in rows]
        assert (scrolls, titles) == (hidden, names)
        assert heights[0] == pytest.approx(heights[1], abs=1)  # on one line
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
