from __future__ import annotations

import re
from itertools import count
from xml.etree import ElementTree

import pytest

from textcraft_gym.reports import plots
from textcraft_gym.reports.metrics import summarise_by_group
from textcraft_gym.reports.tables import success_table

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</title></svg><script>alert("&")</script>'


NUMBERS = count()


def record(depth: int, won: bool, **more) -> dict:
    task = f"task {next(NUMBERS)}"
    plain = {
        "reward": float(won),
        "claimed_success": won,
        "stop_reason": "agent",
        "steps": 1,
        "task": task,
        "family": task,
        "repeat": 0,
        "calls": {},
        "tokens": {},
        "replies": {},
        "cost": 0.0,
        "k_max": 1,
        "restores": [],
    }
    return {"group": f"depth {depth}", "depth": depth, "won": won, **plain, **more}


def summaries(**runs: list[dict]) -> dict:
    return {run: summarise_by_group(records) for run, records in runs.items()}


def numbers(element: ElementTree.Element, *names: str) -> list[float]:
    return [float(element.attrib[name]) for name in names]


def bars(svg: str) -> dict[str, ElementTree.Element]:
    """Every bar by what it says when pointed at."""
    rectangles = ElementTree.fromstring(svg).iter(f"{SVG}rect")
    return {rect[0].text or "": rect for rect in rectangles if len(rect)}


def words(svg: str) -> list[str]:
    """Every text of the image and every entry of the legend beside it."""
    plot = ElementTree.fromstring(svg)
    return [
        "".join(text.itertext()).strip() for text in (*plot.iter(f"{SVG}text"), *plot.iter("li"))
    ]


def test_every_view__shows_a_rate_with_the_same_digit():
    runs = summaries(a=[record(2, number < 149) for number in range(200)])
    assert "74.5%" in words(plots.success_by_group(runs))
    assert "74.5%" in words(plots.claims_and_reward(runs))
    assert all("74.5" in row for row in success_table(runs)[1:])


def test_success_by_group__draws_rates_as_lengths_and_wilson_intervals_as_lines():
    records = [record(2, won) for won in (True, True, True, False)] + [record(3, False)]
    svg = plots.success_by_group(summaries(a=records))
    rectangles = bars(svg)
    hint = "a, depth 2: 3 of 4 won, 75.0% (95% interval 30.1 to 95.4%)"
    assert next(iter(rectangles)) == hint
    zero, full = 64, 324  # where 0% stands, and how long 100% is
    assert numbers(rectangles[hint], "x", "width") == [zero, 0.75 * full]
    assert [float(rect.attrib["width"]) for rect in rectangles.values()] == pytest.approx(
        [243, 0, 194.4]
    )
    ends = re.findall(r'd="M([\d.]+) [\d.]+H([\d.]+)M', svg)[0]
    assert [float(end) for end in ends] == pytest.approx(
        [zero + 0.30064 * full, zero + 0.95442 * full], abs=0.01
    )
    assert {"75.0%", "0.0%", "60.0%", "episodes won (%)"} <= set(words(svg))


def test_success_by_group__writes_rates_beside_the_longest_bar():
    svg = plots.success_by_group(summaries(a=[record(2, True)]))
    (longest, *_) = bars(svg).values()
    (rate, *_) = [
        text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.text == "100.0%"
    ]
    (end,) = numbers(rate, "x")
    assert end - plots.LETTER * len("100.0%") > sum(numbers(longest, "x", "width"))


def test_success_by_group__places_runs_beside_each_other_and_leaves_out_what_was_not_played():
    rectangles = bars(
        plots.success_by_group(
            summaries(a=[record(2, True)], b=[record(2, True), record(10, True)])
        )
    )
    assert [hint.split(":")[0] for hint in rectangles] == [
        "a, depth 2",
        "b, depth 2",
        "b, depth 10",
        "a, all",
        "b, all",
    ]
    first, second, *_ = (numbers(rect, "y", "height") for rect in rectangles.values())
    assert second[0] == pytest.approx(sum(first))
    assert len({rect.attrib["fill"] for rect in rectangles.values()}) == 2


def test_success_by_group__draws_no_bar_where_all_broke():
    rectangles = bars(
        plots.success_by_group(summaries(a=[record(2, False, error="boom"), record(3, True)]))
    )
    assert [hint.split(":")[0] for hint in rectangles] == ["a, depth 3", "a, all"]


def test_calls_by_group__stacks_mean_calls_by_role():
    records = [
        record(2, True, calls={"executor": 2}),
        record(2, True, calls={"executor": 4, "planner": 2}),
        record(3, True, calls={"planner": 2}),
    ]
    svg = plots.calls_by_group(summaries(a=records))
    rectangles = bars(svg)
    executor, planner = (
        rectangles["a, depth 2: 3.0 calls of the executor"],
        rectangles["a, depth 2: 1.0 calls of the planner"],
    )
    assert numbers(executor, "x", "width") == [64, 243]  # 324 units of width are 4 calls
    assert numbers(planner, "x", "width") == [64 + 243, 81]
    assert numbers(rectangles["a, depth 3: 2.0 calls of the planner"], "x", "width") == [64, 162]
    assert {"executor", "planner", "mean calls per episode", "4.0", "depth 2", "all"} <= set(
        words(svg)
    )


def test_k_max_by_group__shares_out_the_episodes_that_did_not_break():
    deepest = [record(2, True, k_max=level) for level in (1, 1, 2, 3)]
    svg = plots.k_max_by_group({"a": [*deepest, record(2, False, k_max=0, error="boom")]})
    widths = {
        hint: float(rect.attrib["width"]) for hint, rect in bars(svg).items() if "depth 2" in hint
    }
    assert widths == {
        "a, depth 2: 2 of 4 went down to level 1": 162,
        "a, depth 2: 1 of 4 went down to level 2": 81,
        "a, depth 2: 1 of 4 went down to level 3": 81,
    }
    assert {"level 1", "level 2", "level 3", "n 4", "share of episodes (%)"} <= set(words(svg))


def test_claims_and_reward__tells_right_claims_from_wrong_ones():
    said = [*[(True, True)] * 3, *[(True, False)] * 2, (False, True), *[(None, False)] * 2]
    records = [record(2, won, claimed_success=claim) for claim, won in said]
    records += [record(2, True, claimed_success=None, stop_reason="terminated") for _ in range(2)]
    svg = plots.claims_and_reward(summaries(a=records))
    widths = {hint: float(rect.attrib["width"]) for hint, rect in bars(svg).items()}
    assert widths == pytest.approx(
        {
            "a: 3 of 10 claimed and won": 3 / 10 * 324,
            "a: 2 of 10 claimed and lost": 2 / 10 * 324,
            "a: 1 of 10 not claimed and won": 1 / 10 * 324,
            "a: 2 of 10 won as the game ended it": 2 / 10 * 324,
            "a: 2 of 10 not claimed and lost": 2 / 10 * 324,
        }
    )
    assert "wrong 2 of 5, missed 25.0%" in words(svg)


def every_plot(run: str) -> list[str]:
    records = [record(2, True, calls={run: 2}), record(2, False, calls={run: 1})]
    by_run = summaries(**{run: records})
    return [
        plots.success_by_group(by_run),
        plots.calls_by_group(by_run),
        plots.k_max_by_group({run: records}),
        plots.claims_and_reward(by_run),
    ]


def test_plots__are_images_with_a_title_and_labelled_axes():
    for svg in every_plot("a"):
        image = ElementTree.fromstring(svg)[0]
        title = image.findtext(f"{SVG}title")
        assert title
        assert (image.attrib["role"], image.attrib["aria-label"]) == ("img", title)
        assert title in words(svg)
        assert {"episodes won (%)", "mean calls per episode", "share of episodes (%)"} & set(
            words(svg)
        )


def test_plots__have_a_legend_beside_the_image_with_the_colours_of_its_bars():
    for svg in every_plot("a"):
        image, legend = ElementTree.fromstring(svg)
        assert (image.tag, legend.tag) == (f"{SVG}svg", "ul")
        colours = [
            span.attrib["style"].removeprefix("background: ")
            for span in legend.iter("span")
            if not span.text
        ]
        assert {
            rect.attrib["fill"] for rect in image.iter(f"{SVG}rect") if float(rect.attrib["width"])
        } <= set(colours)
        assert len(colours) == len(legend)


def test_plots__show_names_as_text_whatever_they_hold():
    for svg in every_plot(HOSTILE):
        image = ElementTree.fromstring(svg)
        assert {element.tag.removeprefix(SVG) for element in image.iter()} <= {
            "div", "svg", "title", "g", "path", "rect", "text", "tspan", "ul", "li", "span"
        }  # fmt: skip
        assert any(text.startswith(HOSTILE[:40]) for text in words(svg))


def test_plots__of_runs_without_episodes_are_empty_and_whole():
    for plot in (plots.success_by_group, plots.calls_by_group, plots.claims_and_reward):
        assert bars(plot(summaries(a=[]))) == {}
    assert bars(plots.k_max_by_group({"a": []})) == {}


LONG = "pick_clean_then_place_in_recep"


@pytest.mark.parametrize(
    ("group", "shown"), [(LONG, LONG), (f"{LONG}tacle", f"{LONG[:29]}…"), ("light", "light")]
)
def test_plots__leave_room_for_the_names_of_groups(group: str, shown: str):
    records = [record(2, True, group=group, calls={"executor": 2})]
    by_run = summaries(a=records)
    for svg in (
        plots.success_by_group(by_run),
        plots.calls_by_group(by_run),
        plots.k_max_by_group({"a": records}),
    ):
        (name,) = [
            text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.text == shown
        ]
        (x,) = numbers(name, "x")
        assert name.attrib["text-anchor"] == "end"
        assert x - plots.LETTER * len(shown) >= 0
        starts = {numbers(rect, "x")[0] for rect in bars(svg).values()}
        assert starts == {x + 8}
        assert next(iter(bars(svg))).startswith(f"a, {group}: ")


@pytest.mark.parametrize("longest", [0.0, 0.004, 7.0, 3e9, 2.0**62, 1e300])
def test_ticks__reach_any_number_in_few_steps(longest: float):
    ticks = plots._ticks(longest)
    assert ticks[0] == 0
    assert ticks[-2] <= longest <= ticks[-1]
    assert 2 <= len(ticks) <= 7
