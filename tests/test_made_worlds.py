"""The page of made worlds is what the code gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_results import RESULTS, benchmark
from textcraft_gym.evaluation.metrics import summarise_by_group
from textcraft_gym.evaluation.runner import evaluate


def test_page__follows_from_its_numbers(monkeypatch: pytest.MonkeyPatch):
    made_worlds = benchmark("made_worlds", monkeypatch)
    played, measured = (
        (RESULTS / name).read_text(encoding="utf-8") for name in (made_worlds.PLAYED, made_worlds.DIFFICULTY)
    )
    for name, text in made_worlds.pages(played, measured).items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text, f"make results writes another {name}"


def test_results__are_of_every_agent_model_and_depth_without_errors(monkeypatch: pytest.MonkeyPatch):
    made_worlds, experiments = (benchmark(name, monkeypatch) for name in ("made_worlds", "experiments"))
    found = experiments.read_csv((RESULTS / made_worlds.PLAYED).read_text(encoding="utf-8"))
    assert set(made_worlds.models(found)) >= set(made_worlds.MODELS)
    for model in made_worlds.models(found):
        for experiment in made_worlds.experiments(model).values():
            of_experiment = found[experiment.name]
            assert list(of_experiment) == [*(f"depth {depth}" for depth in made_worlds.DEPTHS), "all"]
            assert all(of.errors == 0 for of in of_experiment.values())


def test_results__are_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made_worlds, experiments = (benchmark(name, monkeypatch) for name in ("made_worlds", "experiments"))
    found = experiments.read_csv((RESULTS / made_worlds.PLAYED).read_text(encoding="utf-8"))
    experiment = made_worlds.experiments(made_worlds.MODELS[0])["ReAct"]
    for group, summary in summarise_by_group(evaluate(experiment.spec(3), tmp_path)).items():
        assert f"{summary.rate:.6g}" == f"{found[experiment.name][group].rates[3]:.6g}", group


def test_other_models__play_with_their_key_which_no_file_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made_worlds, experiments = (benchmark(name, monkeypatch) for name in ("made_worlds", "experiments"))
    played = (RESULTS / made_worlds.PLAYED).read_text(encoding="utf-8")
    (tmp_path / made_worlds.PLAYED).write_text(played, encoding="utf-8")
    before = experiments.read_csv(played)
    asked = []

    def play(experiment, runs, seeds):
        asked.append(experiment.spec(0))
        return before[made_worlds.WORLD.name]

    monkeypatch.setattr(made_worlds, "play", play)
    made_worlds.write_other(tmp_path, tmp_path, "openai:m,api_key=sk-secret,base_url=http://localhost:1/v1")
    written = (tmp_path / made_worlds.PLAYED).read_text(encoding="utf-8")
    assert {spec.model.count("sk-secret") for spec in asked} == {1}
    assert len(experiments.read_csv(written)) == len(before) + len(asked) == len(before) + len(made_worlds.PLOTTED)
    assert "sk-secret" not in written


def test_difficulty__is_measured_again(monkeypatch: pytest.MonkeyPatch):
    made_worlds = benchmark("made_worlds", monkeypatch)
    name = "borrowed names"
    monkeypatch.setattr(made_worlds, "BOOKS", {name: made_worlds.BOOKS[name]})
    written = made_worlds.write_difficulty(made_worlds.difficulty()).splitlines()[1:]
    kept = (RESULTS / made_worlds.DIFFICULTY).read_text(encoding="utf-8").splitlines()
    assert written == [line for line in kept if line.startswith(name)]


def test_made_worlds__documentation_has_the_goals_won_by_the_language_model(monkeypatch: pytest.MonkeyPatch):
    made_worlds, experiments = (benchmark(name, monkeypatch) for name in ("made_worlds", "experiments"))
    found = experiments.read_csv((RESULTS / made_worlds.PLAYED).read_text(encoding="utf-8"))
    (model,) = (model for model in made_worlds.models(found) if model.startswith("local"))
    page = (RESULTS.parents[1] / "docs" / "language_model.md").read_text(encoding="utf-8")
    for name, experiment in made_worlds.experiments(model).items():
        won = [round(made_worlds.OTHERS_GOALS * found[experiment.name][f"depth {of}"].rate) for of in range(2, 13)]
        agent, _, d_max = name.partition(" d_max ")
        stated = f"{agent} `d_max` {d_max}" if d_max else agent
        assert f"| {' | '.join([stated, *map(str, won[:7]), str(sum(won[7:]))])} |" in page
