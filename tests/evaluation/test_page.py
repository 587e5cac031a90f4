from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from textcraft_gym.evaluation.page import html_page
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.runner import evaluate

HOSTILE = (
    "</script></details><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>{{7*7}}"
)
LABEL = "simulated model"


def node(task: str = "goal", *parts: Any, **more) -> dict:
    plain = {"role": "agent", "depth": 0, "steps": 0, "calls": 0, "tokens": 0, "outcome": None}
    return {"task": task, **plain, "parts": list(parts), **more}


def record(task: str = "goal", **more) -> dict:
    plain = {
        "group": "depth 2",
        "depth": 2,
        "optimal_length": 3,
        "seed": 0,
        "reward": 1.0,
        "won": True,
        "claimed_success": True,
        "steps": 1,
    }
    asked = {"calls": {"executor": 1}, "tokens": {"prompt_tokens": 9}, "cost": 0.0, "trials": 1, "k_max": 1}
    ended = {"restores": [], "picture": "", "stop_reason": "terminated", "error": None, "traceback": None}
    played = {"transcript": [[None, "You begin."], ["go", "Done."]], "trace": node(task, 0, 1)}
    return {"task": task, **plain, **asked, **ended, **played, **more}


def config(**more) -> dict:
    return {**RunSpec("TextCraft-v0", "test", "react").described(), "env_sha256": "0123456789abcdef", **more}


def broken(whole: dict, message: str = "ModelError: no answer") -> dict:
    where = f"Traceback (most recent call last):\n{message}"
    return {**whole, "error": message, "traceback": where, "stop_reason": "error", "won": False}


class Outline(HTMLParser):
    """The elements of a page as a browser would find them, the text of each script, and all words shown."""

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


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    """Two hundred episodes of two agents, two of which broke."""
    folder = tmp_path_factory.mktemp("runs")
    runs = {
        agent: evaluate(RunSpec("TextCraft-v0", "test", agent, model="simulated:span=3", limit=100), folder / agent)
        for agent in ("adapt", "reflexion")
    }
    return {run: [*map(broken, records[:1]), *records[1:]] for run, records in runs.items()}


@pytest.fixture(scope="module")
def simulated_page(simulated: dict[str, list[dict]]) -> str:
    return html_page(simulated, {run: config(agent=run, model="simulated:span=3") for run in simulated})


def hostile_page() -> str:
    inner = node(HOSTILE, HOSTILE, 1, role=HOSTILE, depth=1, outcome=False)
    whole = record(
        HOSTILE,
        calls={HOSTILE: 1},
        tokens={HOSTILE: 1},
        transcript=[[None, HOSTILE], [HOSTILE, HOSTILE]],
        trace=node(HOSTILE, 0, inner),
    )
    told = {"env": HOSTILE, "agent": HOSTILE, "agent_args": {HOSTILE: HOSTILE}, "model": f"simulated{HOSTILE}"}
    runs = {"plain": [record(HOSTILE, won=False)], HOSTILE: [whole, broken(record("another"), HOSTILE)]}
    return html_page(runs, {"plain": config(), HOSTILE: config(**told)})


def test_html_page__is_the_same_twice(simulated: dict[str, list[dict]], simulated_page: str):
    again = json.loads(json.dumps(simulated))
    assert html_page(again, {run: config(agent=run, model="simulated:span=3") for run in again}) == simulated_page


def test_html_page__needs_nothing_from_elsewhere(simulated_page: str):
    assert set(re.findall(r"\w+://[^\s\"'<)]+", simulated_page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(", simulated_page)
    outline = Outline(simulated_page)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & outline.tags.keys()
    assert all(value and value.startswith("#") for name, value in outline.attributes if name in ("href", "src"))


def test_html_page__lets_only_its_own_script_run(simulated_page: str):
    digest = base64.b64encode(hashlib.sha256(Outline(simulated_page).scripts[-1].encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
    assert policy in simulated_page


def test_html_page__holds_what_every_episode_came_to(simulated: dict[str, list[dict]], simulated_page: str):
    held = [json.loads(script) for script in Outline(simulated_page).scripts[:-1]]
    keys = ("transcript", "restores", "trace", "traceback", "picture")
    expected = [{key: record[key] for key in keys} for records in simulated.values() for record in records]
    assert held == json.loads(json.dumps(expected))


def test_html_page__holds_the_picture_of_an_episode_as_text():
    drawn = record("drawn", picture='<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    outline = Outline(html_page({"run": [drawn, record("plain")]}, {"run": config()}))
    held = [json.loads(script) for script in outline.scripts[:-1]]
    assert [one["picture"] for one in held] == [drawn["picture"], ""]


def test_html_page__shows_what_runs_share_once_and_by_run_what_differs():
    configs = {"a": config(seed=7, agent_args={"turns": 5}), "b": config(seed=8, agent_args={})}
    page = html_page({run: [record()] for run in configs}, configs)
    shared = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert shared == {
        "env": "TextCraft-v0",
        "split": "test",
        "agent": "react",
        "model": "simulated",
        "max calls": "1000",
        "env sha256": "0123456789ab",
    }
    runs = page[page.index('id="runs"') : page.index('id="success"')]
    assert '<th scope="col">agent args</th><th scope="col">seed</th>' in runs
    assert "<td>turns=5</td><td>7</td>" in runs
    assert "<td>-</td><td>8</td>" in runs


@pytest.mark.parametrize(
    ("told", "calls", "is_marked"),
    [
        ({"model": "simulated"}, {"executor": 1}, True),
        ({"model": "openai:m", "planner": "simulated:span=3"}, {"executor": 1}, True),
        ({"model": "simulated"}, {}, False),
        ({"model": "openai:m"}, {"executor": 1}, False),
        ({"model": "openai:simulated"}, {"executor": 1}, False),
    ],
)
def test_html_page__marks_the_numbers_of_simulated_models(told: dict, calls: dict, is_marked: bool):
    words = Outline(html_page({"run": [record(calls=calls)]}, {"run": config(**told)})).words
    assert ("These are numbers of a simulated model, not of a real one." in words) == is_marked
    assert (LABEL in words) == is_marked


def test_html_page__marks_simulated_runs_alone():
    configs = {"real": config(model="openai:m"), "made_up": config()}
    page = html_page({run: [record(won=run == "real")] for run in configs}, configs)
    assert "Runs with this label: numbers of a simulated model, not of a real one." in page
    names = re.findall(r'<span class="run">(\w+)</span>( <span class="simulated">simulated model</span>)?', page)
    assert {run: {bool(mark) for named, mark in names if named == run} for run in configs} == {
        "real": {False},
        "made_up": {True},
    }
    assert page.count("> simulated model</tspan>") == 4


def test_html_page__leaves_out_models_where_none_was_asked():
    page = html_page({"run": [record(calls={}, tokens={})]}, {"run": config()})
    assert "Calls, decomposition and claimed success" not in page
    assert page.count("<svg") == 1


def test_html_page__compares_the_other_runs_with_the_first():
    runs = {"first": [record("a"), record("b", won=False)], "other": [record("a", won=False), record("b", won=False)]}
    page = html_page(runs, dict.fromkeys(runs, config(model="openai:m")))
    comparison = re.sub(r"\s*\n\s*", "", page[page.index('id="comparison"') : page.index('id="episodes"')])
    assert re.findall(r"<td>(.*?)</td>", comparison) == ["2", "0", "1", "0", "1", "-50.0", "-100.0 to +56.3", "1", "0"]
    assert "</span> lost 1 against <" in comparison
    assert "<ul><li>a</li></ul>" in comparison
    assert "Comparison" not in html_page({"first": runs["first"]}, {"first": config()})


def test_html_page__shows_what_broke_an_episode():
    page = html_page({"run": [broken(record(), "ModelError: 503 <busy>")]}, {"run": config()})
    assert '<span class="message error">ModelError: 503 &lt;busy&gt;</span>' in page
    assert '<span class="outcome error">! error</span>' in page


def test_html_page__says_where_a_claim_was_wrong():
    claims = [(True, True), (True, False), (False, True), (False, False), (None, True)]
    records = [record(f"{won} {claim}", won=won, claimed_success=claim) for claim, won in claims]
    page = html_page({"run": [*records, broken(record(claimed_success=True))]}, {"run": config()})
    said = re.findall(r'<span class="(\w*)"><span class="key">claimed_success </span>(.*?)</span>', page)
    wrong = "mistaken"
    expected = [("", "success"), (wrong, "success (wrong)"), (wrong, "failure (wrong)"), ("", "failure")]
    assert said == [*expected, ("", "not said"), ("", "success")]


def test_html_page__keeps_whatever_text_as_text():
    page = hostile_page()
    outline = Outline(page)
    assert not {"img"} & outline.tags.keys()
    assert not [name for name, _ in outline.attributes if name.startswith("on")]
    assert len(outline.scripts) == 4
    assert outline.words.count(HOSTILE) > 10
    assert [name for name, value in outline.attributes if value == HOSTILE] == ["data-task", "data-task"]


def test_html_page__can_be_written_whatever_it_holds():
    odd = "half a pair \ud83d, a whole one \U0001f600, é\x00\u2028"
    page = html_page({"run": [broken(record(odd), odd)]}, {"run": config()})
    assert "half a pair ?, a whole one \U0001f600" in page.encode().decode()


def test_html_page__of_runs_without_episodes_is_a_page():
    assert "0 of 0 (-)" in html_page({"run": []}, {"run": config()})


def load(browser: Any, page: str, folder: Path) -> None:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    browser.get_log("browser")
    browser.get(file.as_uri())


def shown(browser: Any, what: str = "row") -> list[Any]:
    """Return the rows that can be seen, or something of each, in one question for all of them."""
    rows = "[...document.querySelectorAll('.episode')].filter((row) => row.checkVisibility())"
    found: list[Any] = browser.execute_script(f"return {rows}.map((row) => {what})")
    return found


def press(browser: Any, filter: str, value: str) -> None:
    (button,) = browser.find_elements("css selector", f'fieldset[data-filter="{filter}"] button[value="{value}"]')
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    pressed = browser.find_elements("css selector", f'fieldset[data-filter="{filter}"] button[aria-pressed="true"]')
    assert pressed == [button]


def open_first_episode(browser: Any) -> Any:
    """Open it and all its parts with the keyboard alone, and wait until they are drawn."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.wait import WebDriverWait

    episode = shown(browser)[0]
    episode.find_element("tag name", "summary").send_keys(Keys.ENTER)
    (button, _) = WebDriverWait(browser, 5).until(lambda _: episode.find_elements("css selector", ".buttons button"))
    button.send_keys(Keys.ENTER)
    for observation in episode.find_elements("css selector", "details.long"):
        observation.find_element("tag name", "summary").send_keys(Keys.ENTER)
    return episode


def test_page__opens_a_tree_down_to_actions_and_observations(
    browser: Any, simulated: dict[str, list[dict]], simulated_page: str, tmp_path: Path
):
    load(browser, simulated_page, tmp_path)
    press(browser, "outcome", "won")
    assert not browser.find_elements("css selector", ".node")
    episode = open_first_episode(browser)
    task = episode.get_attribute("data-task")
    (played,) = [record for record in simulated["adapt"] if record["task"] == task]
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


def test_page__shows_where_an_episode_broke(browser: Any, simulated_page: str, tmp_path: Path):
    load(browser, simulated_page, tmp_path)
    press(browser, "outcome", "error")
    episode = open_first_episode(browser)
    assert "ModelError: no answer" in episode.find_element("tag name", "summary").text
    assert episode.find_element("css selector", ".long > pre").text.startswith("Traceback (most recent call last):\n")


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
        "… not ended": "another",
    }


def test_page__finds_tasks_in_either_case(browser: Any, tmp_path: Path):
    tasks = ["Oak door", "birch door", "dark oak sign"]
    load(browser, html_page({"run": list(map(record, tasks))}, {"run": config()}), tmp_path)
    browser.find_element("id", "task").send_keys(" oAK")
    assert shown(browser, "row.dataset.task") == ["Oak door", "dark oak sign"]


def test_page__filters_by_outcome_group_run_and_task(
    browser: Any, simulated: dict[str, list[dict]], simulated_page: str, tmp_path: Path
):
    load(browser, simulated_page, tmp_path)
    rows = [(run, record) for run, records in simulated.items() for record in records]

    def expect(matching: list) -> None:
        assert 0 < len(matching) < len(rows)
        assert browser.find_element("id", "shown").text == f"{len(matching)} of {len(rows)} episodes"
        assert shown(browser, "row.dataset.task") == [record["task"] for _, record in matching]

    press(browser, "outcome", "lost")
    lost = [(run, record) for run, record in rows if not record["won"] and not record["error"]]
    expect(lost)
    press(browser, "group", "depth 3")
    lost_at_3 = [(run, record) for run, record in lost if record["group"] == "depth 3"]
    expect(lost_at_3)
    press(browser, "run", "1")
    expect([(run, record) for run, record in lost_at_3 if run == "reflexion"])
    for filter in ("outcome", "group", "run"):
        press(browser, filter, "")
    browser.find_element("id", "task").send_keys("Stairs")
    expect([(run, record) for run, record in rows if "stairs" in record["task"]])
    assert browser.get_log("browser") == []


def test_page__keeps_long_names_in_their_columns(browser: Any, tmp_path: Path):
    group = "pick_clean_then_place_in_recep"
    whole = record(f"{group}-DishSponge-None-BathtubBasin-416/trial_00610", group=group, stop_reason="max_steps")
    page = html_page({"run": [whole], "another": [whole]}, dict.fromkeys(("run", "another"), config()))
    load(browser, page, tmp_path)
    cells = "[...row.querySelectorAll('summary > span')]"
    assert shown(browser, f"{cells}.filter((cell) => cell.scrollWidth > cell.clientWidth).length") == [0, 0]
    assert shown(browser, f"{cells}.map((cell) => cell.textContent)[4]") == [f"group {group}"] * 2
    assert "pick_<wbr>clean_<wbr>then_<wbr>place_<wbr>in_<wbr>recep" in page
    (wide,) = browser.execute_script(
        "return [document.documentElement.scrollWidth - document.documentElement.clientWidth]"
    )
    assert wide == 0


def test_page__runs_nothing_that_an_episode_holds(browser: Any, tmp_path: Path):
    load(browser, hostile_page(), tmp_path)
    title = browser.title
    press(browser, "run", "1")
    press(browser, "outcome", "won")
    episode = open_first_episode(browser)
    for selector in (".node .node .task", ".node .node .role", ".written", ".observation"):
        assert HOSTILE in [element.text for element in episode.find_elements("css selector", selector)]
    assert f"> {HOSTILE}" in [element.text for element in episode.find_elements("css selector", ".action")]
    press(browser, "outcome", "error")
    assert HOSTILE in open_first_episode(browser).find_element("css selector", "details.long > pre").text
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
    load(browser, page.replace("</main>", "</main><script>document.title = 'owned'</script>"), tmp_path)
    assert browser.title != "owned"
    assert "Content Security Policy" in browser.get_log("browser")[0]["message"]


def test_page__of_200_episodes_is_ready_within_two_seconds(browser: Any, simulated_page: str, tmp_path: Path):
    load(browser, simulated_page, tmp_path)
    assert len(shown(browser)) == 200
    milliseconds = browser.execute_script(
        "const [navigation] = performance.getEntriesByType('navigation');"
        "return [performance.getEntriesByName('ready')[0].startTime, navigation.loadEventEnd];"
    )
    assert 0 < max(milliseconds) < 2000
    assert min(milliseconds) > 0
