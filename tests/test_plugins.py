"""What installed packages offer by their entry points."""

from __future__ import annotations

from importlib import metadata

from textcraft_gym import plugins


def test_installed__reads_the_metadata_once_and_again_for_another_path(monkeypatch, tmp_path):
    read = []

    def entry_points(group: str):
        read.append(group)
        return metadata.entry_points(group=group)

    monkeypatch.setattr(plugins, "entry_points", entry_points)
    monkeypatch.syspath_prepend(str(tmp_path))  # a path of its own, which no test has asked for
    first = plugins.installed("console_scripts")
    assert plugins.installed("console_scripts") is first
    assert first["textcraft-gym"].value == "textcraft_gym.cli.main:main"
    assert read == ["console_scripts"]

    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[console_scripts]\ntheirs = theirs:main\n")
    monkeypatch.syspath_prepend(str(info))
    assert plugins.installed("console_scripts")["theirs"].value == "theirs:main"
    assert len(read) == 2
