"""The README's picture: a file of its own."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from lastgood.teaching.views import readme_picture
from lastgood.teaching.views.resume import ResumeExperiment
from lastgood.training.run import RunConfig


def test_the_readmes_picture_is_a_file_of_its_own_with_the_same_bytes_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, experiment: ResumeExperiment, small: RunConfig
) -> None:
    file = tmp_path / "resume.svg"
    again = ResumeExperiment(small, before=experiment.before, after=experiment.after)
    monkeypatch.setattr(readme_picture, "ResumeExperiment", lambda **_: again)
    readme_picture.main([str(file)])
    root = ElementTree.parse(file).getroot()
    title = root.findtext("{*}title") or ""
    assert f"everything put back: all {experiment.after} losses equal" in title
    assert f"without optimizer state: differs from step {experiment.before + 1} on" in title
    assert root.find("{*}rect") is not None
    assert "var(" not in file.read_text(encoding="utf-8")
    assert readme_picture.draw(experiment) == file.read_text(encoding="utf-8")
