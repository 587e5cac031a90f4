"""The published results are what the code gives."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import textcraft_gym
from textcraft_gym.agents.deps.selector import SELECTORS
from textcraft_gym.agents.loading import key_values, split_fields
from textcraft_gym.agents.models.weights import ADAPTERS, bundled_adapter
from textcraft_gym.evaluation.metrics import summarise_by_group
from textcraft_gym.evaluation.runner import evaluate

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
RESULTS = BENCHMARKS / "results"
TEACHERS = BENCHMARKS.parent / "examples" / "language_model"


def benchmark(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module(name)


def published(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((RESULTS / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def test_pages__follow_from_their_numbers(monkeypatch: pytest.MonkeyPatch):
    results = benchmark("results", monkeypatch)
    numbers, reached = ((RESULTS / f"{name}.csv").read_text(encoding="utf-8") for name in ("results", "milestones"))
    for name, text in results.pages(numbers, reached).items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text, f"make results writes another {name}"


def test_trained__page_follows_from_its_numbers(monkeypatch: pytest.MonkeyPatch):
    trained = benchmark("language_model", monkeypatch)
    outcomes = (RESULTS / trained.PLAYED).read_text(encoding="utf-8")
    assert trained.write_outcomes(trained.read_outcomes(outcomes)) == outcomes
    for name, text in trained.pages(outcomes).items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text, f"language_model.py --pages writes another {name}"


def test_trained__outcomes_are_of_the_experiment_and_of_all_its_tasks(monkeypatch: pytest.MonkeyPatch):
    trained = benchmark("language_model", monkeypatch)
    experiments = {of.name: of for table in trained.TABLES.values() for of in table.experiments}
    played = Counter((row["experiment"], row["seed"]) for row in published("language_model"))
    for (name, seed), episodes in played.items():
        tasks = textcraft_gym.tasks(experiments[name].env, experiments[name].split)
        assert (int(seed) in trained.SEEDS, episodes) == (True, len(tasks))


def test_trained__results_have_the_log_of_every_training(monkeypatch: pytest.MonkeyPatch):
    trained = benchmark("language_model", monkeypatch)
    experiments = {of.name: of for table in trained.TABLES.values() for of in table.experiments}
    for name, seed in {(row["experiment"], int(row["seed"])) for row in published("language_model")}:
        for model in filter(None, (experiments[name].model, experiments[name].planner)):
            adapter = trained.adapter_of(model, seed)
            if adapter in (None, bundled_adapter()):
                continue
            log = adapter.with_suffix(".jsonl")
            rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
            plan = rows[0]["plan"]
            assert (plan["seed"], rows[-1]["tokens"] >= plan["tokens"]) == (seed, True), f"{log.name} is of another run"


def test_trained__page_says_if_another_adapter_played_than_that_of_the_package(monkeypatch: pytest.MonkeyPatch):
    trained = benchmark("language_model", monkeypatch)
    outcomes = (RESULTS / trained.PLAYED).read_text(encoding="utf-8")
    packaged = bundled_adapter()
    of_seed = [row for row in csv.DictReader(outcomes.splitlines()) if row["seed"] == str(trained.PACKAGED)]
    played = {row["adapter"].split()[0] for row in of_seed}  # before a planner's
    for name, adapter in (("now", packaged), ("then", BENCHMARKS / "language_model.py")):
        monkeypatch.setattr(trained, "bundled_adapter", lambda adapter=adapter: adapter)
        digest = hashlib.sha256(adapter.read_bytes()).hexdigest()[:16]
        (page,) = trained.pages(outcomes).values()
        assert ("by an earlier one" in page) == (played != {digest}), name
    assert all(re.fullmatch("[0-9a-f]{16}", digest) for digest in played)


def test_trained__describes_an_adapter_whose_path_has_a_comma(monkeypatch: pytest.MonkeyPatch):
    trained = benchmark("language_model", monkeypatch)
    for adapter, expected in ((Path("/a,b/lm.gguf"), "/a,b/lm.gguf"), (None, "none")):
        monkeypatch.setattr(trained, "adapter_of", lambda model, seed, adapter=adapter: adapter)
        options = key_values(split_fields(trained.described(trained.FULL, 1).removeprefix("local:")))
        assert options == {"adapter": str(Path(expected)), "slots": trained.SLOTS, "context": trained.CONTEXT}


def test_trained__plays_again_what_another_adapter_played(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    trained = benchmark("language_model", monkeypatch)
    adapter, asked = tmp_path / "adapter.gguf", []
    record = dict.fromkeys(trained.COUNTS, 1) | {"task": "a", "group": "depth 2", "calls": {"react": 2}, "error": None}

    def evaluate(spec, folder):
        asked.append(folder)
        return [record]

    in_place = {"evaluate": evaluate, "adapter_of": lambda model, seed: adapter, "RESULTS": tmp_path, "RUNS": tmp_path}
    for name, other in in_place.items():
        monkeypatch.setattr(trained, name, other)
    monkeypatch.setattr(trained, "write_pages", lambda: None)
    counts = []
    for written in (b"one", None, b"one", b"two", b"two"):
        adapter.unlink(missing_ok=True)
        if written:
            adapter.write_bytes(written)
        trained.play_tables(["decomposition"], [0])
        counts.append(len(asked))
    assert counts == [4, 4, 4, 8, 8]
    assert len({*asked}) == 8
    rows = list(csv.DictReader((tmp_path / trained.PLAYED).read_text(encoding="utf-8").splitlines()))
    assert {row["adapter"] for row in rows} == {hashlib.sha256(b"two").hexdigest()[:16]}


def test_trained__keeps_what_another_process_played_meanwhile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    trained = benchmark("language_model", monkeypatch)
    adapter = tmp_path / "adapter.gguf"
    adapter.write_bytes(b"one")
    record = dict.fromkeys(trained.COUNTS, 1) | {"task": "a", "group": "depth 2", "calls": {"react": 2}, "error": None}
    others: list[int] = []

    def evaluate(spec, folder):
        if not others:
            others.append(1)
            trained.play_tables(["decomposition"], others)
        return [record]

    in_place = {"evaluate": evaluate, "adapter_of": lambda model, seed: adapter, "RESULTS": tmp_path, "RUNS": tmp_path}
    for name, other in in_place.items():
        monkeypatch.setattr(trained, name, other)
    monkeypatch.setattr(trained, "write_pages", lambda: None)
    trained.play_tables(["decomposition"], [0])
    rows = csv.DictReader((tmp_path / trained.PLAYED).read_text(encoding="utf-8").splitlines())
    assert Counter(row["seed"] for row in rows) == {"0": 4, "1": 4}


def test_trained__drops_what_an_earlier_adapter_played_and_plays_again_with_another_planner(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    trained = benchmark("language_model", monkeypatch)
    record = dict.fromkeys(trained.COUNTS, 1) | {"task": "a", "group": "depth 2", "calls": {"react": 2}, "error": None}
    monkeypatch.setattr(trained, "evaluate", lambda spec, folder: [record])
    monkeypatch.setattr(trained, "write_pages", lambda: None)
    monkeypatch.setattr(trained, "RESULTS", tmp_path)
    monkeypatch.setattr(trained, "RUNS", tmp_path)
    folder = tmp_path / "adapters"

    def adapter_of(name, seed):
        return None if name == trained.UNTRAINED else folder / name.replace(" ", "_")

    def play(table, **adapters):
        folder.mkdir(exist_ok=True)
        for name, content in adapters.items():
            (folder / name).write_text(content)
        trained.play_tables([table], [0])
        rows = list(csv.DictReader((tmp_path / trained.PLAYED).read_text(encoding="utf-8").splitlines()))
        return {row["adapter"] for row in rows}, len(rows)

    def digest(content):
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    monkeypatch.setattr(trained, "adapter_of", adapter_of)
    executor, tenth = digest("one"), digest("short")
    by_planner = {executor, f"{executor} and untrained", f"{executor} and {tenth}"}
    assert play("planners", trained="one", trained_for_a_tenth="short") == (by_planner, 3)
    by_planner = {executor, f"{executor} and untrained", f"{executor} and {digest('other')}"}
    assert play("planners", trained_for_a_tenth="other") == (by_planner, 3)
    assert play("decomposition", trained="two") == ({digest("two")}, 4)


def test_trained__keeps_the_adapter_and_the_log_of_what_was_trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    trained = benchmark("language_model", monkeypatch)
    runs, results = tmp_path / "runs", tmp_path / "results"
    for name, folder in {"RUNS": runs, "RESULTS": results}.items():
        folder.mkdir()
        monkeypatch.setattr(trained, name, folder)
    experiment, seed = trained.planned_by(trained.TENTH), trained.PACKAGED + 1
    trained.keep_trained(experiment, seed)
    assert not trained.adapters_of(experiment, seed)
    ends = [{"plan": {"tokens": 20}}, {"tokens": 21, "steps": 2}, {"tokens": 21, "data_sha256": "a"}]
    logs = {}
    for adapter in (trained.adapter_of(model, seed) for model in (experiment.model, experiment.planner)):
        run = runs / adapter.stem
        run.mkdir()
        (run / "adapter.gguf").write_text(f"adapter of {run.name}")
        rows = [{"run": run.name}, {"plan": {"tokens": 10}}, {"tokens": 11, "data_sha256": "b"}, *ends]
        logs[run.name] = [json.dumps(row) + "\n" for row in rows]
        for unfinished in (0, 2, 4, 5):
            (run / "log.jsonl").write_text("".join(logs[run.name][:unfinished]))
            with pytest.raises(RuntimeError, match=f"{run.name} is unfinished"):
                trained.keep_trained(experiment, seed)
        (run / "log.jsonl").write_text("".join(logs[run.name]))
    for _ in range(2):
        trained.keep_trained(experiment, seed)
        kept = {file.name: file.read_text() for file in (results / trained.TRAINED).iterdir()}
        assert kept == {f"{name}.gguf": f"adapter of {name}" for name in logs} | {
            f"{name}.jsonl": "".join(log) for name, log in logs.items()
        }
        shutil.rmtree(runs, ignore_errors=True)  # as where it was not trained
    assert len({*trained.adapters_of(experiment, seed).split(" and ")}) == 2


def test_trained__documentation_has_the_numbers_of_the_results():
    page = (BENCHMARKS.parent / "docs" / "language_model.md").read_text(encoding="utf-8")
    page = page[: page.index("### Deeper than Minecraft")]
    stated = re.findall(r"(?m)^ *\| ([^|]+) \|((?: [\d.]+ \|){2,})", page)
    rows = [re.sub(r" \[[^]]*\]| \([^)]*\)| ± [\d.]+", "", line) for line in _lines("language_model.md")]
    assert len(stated) >= 30
    for agent, numbers in stated:
        assert f"| {agent.replace('`', '')} |{numbers}".rstrip() in rows, agent


def test_gates__card_has_the_counts_of_every_training(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(TEACHERS))
    gates = import_module("gates")
    card = (ADAPTERS / "README.md").read_text(encoding="utf-8").splitlines()
    counts = {(row["adapter"], row["row"]): row for row in published("training/gates")}
    for adapter in {adapter for adapter, _ in counts}:
        log = (BENCHMARKS.parent / adapter).with_suffix(".jsonl") if adapter else ADAPTERS / "training.jsonl"
        tokens = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])["tokens"]
        cells = [log.stem if adapter else "this one", f"{tokens:,}"]
        for name in ("unseen", "made"):
            of = {column: int(counts[adapter, name][column]) for column in gates.COLUMNS[3:]}
            invalid = gates.Count(of["invalid"], of["actions"])
            cells += [f"{of['won']} of {of['episodes']}", str(of["false_claims"]), str(invalid).replace("%,", ",")]
        assert f"| {' | '.join(cells)} |" in card


def test_reward__documentation_has_the_numbers_of_its_log():
    page = (BENCHMARKS.parent / "docs" / "language_model.md").read_text(encoding="utf-8")
    log = [json.loads(line) for line in (RESULTS / "training" / "reward.jsonl").read_text("utf-8").splitlines()]
    rounds, tests = ([row for row in log if kind in row] for kind in ("round", "test"))
    assert (len(rounds), len(tests)) == (log[0]["plan"]["rounds"], len(rounds) + 1)
    stated = {tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in page.splitlines()}
    for row in tests:
        share = f"{row['won'] / row['of']:.1%} ({row['won']})", _percent(row["interval"])
        if row["test"] == 0:
            assert ("before", *share, "", "") in stated
        else:
            difference = f"{100 * (row['won'] - tests[0]['won']) / row['of']:+.1f}", _percent(row["difference"])
            assert (f"after round {row['test']}", *share, *difference) in stated
    for row in rounds:
        assert f"{row['won']} of {row['of']}" in page


def _percent(interval: list[float]) -> str:
    low, high = (f"{100 * bound:.1f}" for bound in interval)
    return f"[{low}, {high}]"


def _lines(page: str) -> list[str]:
    return (RESULTS / page).read_text(encoding="utf-8").splitlines()


def test_made_worlds__have_no_book_that_language_models_are_trained_on(monkeypatch: pytest.MonkeyPatch):
    made = benchmark("made_worlds", monkeypatch)
    books = [made.RECIPES, *(book for books in made.BOOKS.values() for book in books if book)]
    training_seeds = re.search(
        r"^TRAINING_SEEDS = (\d+)", (TEACHERS / "textcraft.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert min(int(re.search(r"seed=(\d+)", book)[1]) for book in books) >= int(training_seeds[1])


def test_results__are_of_every_experiment_with_all_seeds_and_without_errors(monkeypatch: pytest.MonkeyPatch):
    results, experiments = benchmark("results", monkeypatch), benchmark("experiments", monkeypatch)
    rows = published("results")
    tables = [table for page in results.PAGES.values() for table in page]
    assert {row["experiment"] for row in rows} == {of.name for table in tables for of in table.experiments}
    assert {len(row["rates"].split()) for row in rows} == {len(experiments.SEEDS)} == {5}
    assert {row["errors"] for row in rows} == {"0"}
    tasks = {row["experiment"].split()[1]: row["tasks"] for row in rows if row["group"] == "all"}
    assert tasks == {"test": "200", "valid_unseen": "134", "adapt_test": "100", "core71": "71", "table2": "69"}


# One of each agent and world, with a seed that differs; the others are played by ``make results``.
@pytest.mark.parametrize(
    ("pattern", "seed"),
    [
        (r"TextCraft-v0 test react simulated", 0),
        (r"TextCraft-v0 test adapt .* planner=", 2),
        (r"TextCraft-v0 test reflexion simulated", 3),
        (r"TextCraft-v0 test plan_and_execute .*exempt_plan", 4),
        (r"WebShopLite-v0 adapt_test mode=adapt adapt simulated", 3),
        (r"WebShopLite-v0 adapt_test mode=react reflexion", 4),
        (r"MineTechTree-v0 core71 adapt", 0),
    ],
)
def test_results__are_played_again(pattern: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    results = benchmark("results", monkeypatch)
    tables = [table for page in results.PAGES.values() for table in page]
    experiment = next(of for table in tables for of in table.experiments if re.match(pattern, of.name))
    found = summarise_by_group(evaluate(experiment.spec(seed), tmp_path))
    rows = {row["group"]: row for row in published("results") if row["experiment"] == experiment.name}
    assert set(found) == set(rows)
    for group, summary in found.items():
        assert f"{summary.rate:.6g}" == rows[group]["rates"].split()[seed], group


def test_adaplanner__follows_from_its_numbers(monkeypatch: pytest.MonkeyPatch):
    adaplanner = benchmark("adaplanner", monkeypatch)
    numbers = [RESULTS / name for name in (adaplanner.NUMBERS, adaplanner.COSTS, "results.csv")]
    page = adaplanner.page(*(file.read_text(encoding="utf-8") for file in numbers))
    assert (RESULTS / "adaplanner.md").read_text(encoding="utf-8") == page
    rows = published("adaplanner")
    assert {row["experiment"] for row in rows} == {experiment.name for experiment in adaplanner.PLAYED}
    assert {(len(row["rates"].split()), row["errors"]) for row in rows} == {(len(adaplanner.SEEDS), "0")}


def test_adaplanner__is_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    adaplanner = benchmark("adaplanner", monkeypatch)
    experiment = adaplanner.WORLDS["tech tree"]
    found = summarise_by_group(evaluate(experiment.spec(1), tmp_path))
    rows = {
        row["group"]: row["rates"].split()[1] for row in published("adaplanner") if row["experiment"] == experiment.name
    }
    assert {group: f"{summary.rate:.6g}" for group, summary in found.items()} == rows


@pytest.mark.parametrize(
    ("draw", "goals", "selector", "around"),
    [("apart", 4, "learned", "exact"), ("apart", 2, "random", "rough"), ("any", 3, "nearest", "names")],
)
def test_selectors__are_played_again(
    draw: str, goals: int, selector: str, around: str, monkeypatch: pytest.MonkeyPatch
):
    outcome = benchmark("parallel_goals", monkeypatch).play(draw, goals, selector, around)
    rows = [
        row
        for row in published("selectors")
        if (row["draw"], row["goals"], row["selector"], row["around"]) == (draw, str(goals), selector, around)
    ]
    assert len(rows) == 6
    for row in rows:
        assert row["rate"] == f"{outcome.point(int(row['ticks'])).rate:.6g}"


def test_autoplan__page_follows_from_its_numbers(monkeypatch: pytest.MonkeyPatch):
    autoplan = benchmark("autoplan", monkeypatch)
    numbers = (RESULTS / "autoplan.csv").read_text(encoding="utf-8")
    assert autoplan.write_csv(autoplan.read_csv(numbers)) == numbers
    for name, text in autoplan.files(numbers).items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text, f"autoplan.py writes another {name}"


@pytest.mark.parametrize("limit", [1500, 2500])
def test_selectors__win_within_a_limit_what_they_win_by_then(limit: int, monkeypatch: pytest.MonkeyPatch):
    goals = benchmark("parallel_goals", monkeypatch)
    whole, cut = (goals.play("apart", 3, "nearest", limit=ticks, episodes=60) for ticks in (goals.MAX_TICKS, limit))
    assert [ticks for ticks in whole.won if ticks <= limit] == cut.won
    assert 0 < len(cut.won) < len(whole.won) == 60


def test_selectors__never_win_more_than_the_best_order():
    rows = published("selectors")
    best = {(row["draw"], row["goals"], row["ticks"]): float(row["rate"]) for row in rows if row["selector"] == "bound"}
    assert len(best) == 36
    assert {row["selector"] for row in rows} == {*SELECTORS, "bound"}
    for row in rows:
        assert float(row["rate"]) <= best[row["draw"], row["goals"], row["ticks"]]


def test_pages__say_that_their_model_is_simulated_and_are_linked():
    index = (RESULTS / "README.md").read_text(encoding="utf-8")
    for name in ("adapt", "autoplan", "deps", "model", "spans", "selectors"):
        assert "**simulated model**" in (RESULTS / f"{name}.md").read_text(encoding="utf-8")
        assert f"({name}.md)" in index
    for figure in RESULTS.glob("[a-km-z]*.svg"):  # those of learning are of trained networks
        assert "Simulated" in figure.read_text(encoding="utf-8"), figure
