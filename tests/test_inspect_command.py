"""The command `lastgood inspect`."""

import json
import os

import pytest
import torch
from typer.testing import CliRunner

from lastgood.cli import app
from lastgood.recovery.checkpoint import write
from lastgood.recovery.inspect.effects import EFFECTS, LESSONS
from lastgood.recovery.state import capture
from lastgood.training.run import Run


def inspected(*arguments, width=80):
    result = CliRunner().invoke(app, ["inspect", *map(str, arguments)], env={"COLUMNS": str(width)})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.fixture
def weights(tmp_path):
    torch.save({"layer.weight": torch.zeros(3, 2), "layer.bias": torch.zeros(3)}, tmp_path / "weights.pt")
    return tmp_path / "weights.pt"


def test_a_checkpoint_of_the_course_is_complete(tmp_path):
    run = Run(seed=1)
    run.advance()
    write(tmp_path / "checkpoints", capture(run), step=1)
    code, output = inspected(tmp_path / "checkpoints")
    assert code == 0
    assert "Written by lastgood: state.pt with a manifest.json beside it." in output
    assert "✓  optimizer moments     84 tensors, 843.9 kB, float32." in output
    assert output.rstrip().endswith("as far as a file can \nshow.")


def test_weights_alone_say_what_a_resume_will_lack(weights):
    code, output = inspected(weights)
    words = " ".join(output.split())
    assert code == 1
    assert "✓ parameters 2 tensors, 36 bytes, float32." in words
    assert "- optimizer moments: The optimizer starts cold: its first updates are not those" in words
    assert "(Lesson 08)" in words
    assert "Lesson 08: course/lessons/08_what_the_optimizer_remembers.ipynb" in words
    assert "Incomplete: missing: optimizer moments, per-parameter steps, step," in words


def test_it_reads_well_in_80_columns(weights):
    _, output = inspected(weights)
    assert max(map(len, output.splitlines())) <= 80


def test_the_same_as_data(weights):
    code, output = inspected(weights, "--json")
    report = json.loads(output)
    assert code == report["status"] == 1
    parameters = report["findings"][0]
    assert parameters["component"] == "parameters"
    assert (parameters["status"], parameters["tensors"], parameters["bytes"]) == ("held", 2, 36)
    assert report["files"] == [
        {"name": "weights.pt", "bytes": weights.stat().st_size, "format": "torch.save, zip"}
    ]
    assert report["lessons"]["08"] == LESSONS["08"]


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_what_cannot_be_read_is_told_in_a_line_with_exit_status_2(tmp_path, flags):
    (tmp_path / "torn.pt").write_bytes(b"PK\x03\x04")
    code, output = inspected(tmp_path / "torn.pt", *flags)
    assert code == 2
    assert "torn.pt: begins as a zip archive and cannot be read as one" in output
    if flags:
        assert json.loads(output)["status"] == 2


def test_a_pickle_that_could_act_is_not_to_be_loaded(tmp_path):
    (tmp_path / "evil.pt").write_bytes(b"cos\nsystem\n(S'touch " + os.fsencode(tmp_path / "ran") + b"'\ntR.")
    code, output = inspected(tmp_path / "evil.pt")
    assert code == 2
    assert "Do not load this file: its pickle can call os.system." in " ".join(output.split())
    assert output.rstrip().endswith("Not to be loaded.")
    assert not (tmp_path / "ran").exists()


def test_names_in_a_file_are_not_taken_for_markup_or_commands(tmp_path):
    torch.save({"[bold]x[/bold] \x1b[2J": 1, "step": 2}, tmp_path / "[red]names.pt")
    _, output = inspected(tmp_path / "[red]names.pt", width=200)
    assert "[red]names.pt" in output
    assert "[bold]x[/bold] \\x1b[2J" in output
    assert "\x1b" not in output


def test_each_lesson_that_it_sends_to_is_there(repository):
    assert {lesson for _, lesson in EFFECTS.values()} <= set(LESSONS)
    assert all((repository / path).is_file() for path in LESSONS.values())
