"""Files with random damage: described or refused, never a crash, and nothing of them runs.

Each pickle among them brings a canary, which touches a file where it is unpickled. A failure names format,
seed and the command that shows it again.
"""

import io
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from benchmarks import inspect_fuzz
from benchmarks.damage import Files, damaged
from benchmarks.inspect_fuzz import FORMATS, look, originals, write
from lastgood.recovery.inspect import inspect

FEW = 5


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Files], Path]:
    """A checkpoint of each format, and the file that their canaries touch."""
    folder = tmp_path_factory.mktemp("originals")
    return originals(folder), folder / "canary"


@pytest.fixture
def survived(sound: tuple[dict[str, Files], Path], tmp_path: Path) -> Callable[[str, range], set[str]]:
    """Look at damaged checkpoints of a format; return what was said of them."""

    def survived(name: str, seeds: range) -> set[str]:
        files, canary = sound
        said = {look(files[name], name, seed, tmp_path / "damaged")[0] for seed in seeds}
        assert not canary.exists()
        return said

    return survived


@pytest.mark.parametrize("name", FORMATS)
def test_damage_is_described_or_refused_and_nothing_runs(survived, name):
    assert all(survived(name, range(1, 1 + FEW)))


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_three_hundred_damaged_files_are_described_or_refused_and_nothing_runs(survived, name):
    assert len(survived(name, range(300))) > 60, "the damage is too much alike"


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_damaged_was_sound_and_of_its_format(sound, tmp_path, name):
    write(sound[0][name], tmp_path / "sound")
    report = inspect(tmp_path / "sound")
    assert report.faults == []
    kinds = {"zip": "torch.save, zip", "legacy": "torch.save, legacy", "safetensors": "safetensors"}
    assert report.files[0].format == kinds.get(name, report.files[0].format)


def test_the_canary_touches_its_file_where_it_is_unpickled(sound, tmp_path):
    again = originals(tmp_path)
    for name in ("zip", "module", "legacy", "lightning", "nanogpt"):
        torch.load(io.BytesIO(again[name]["."]), weights_only=False)
        (tmp_path / "canary").unlink()
    torch.load(io.BytesIO(again["trainer"]["scheduler.pt"]), weights_only=False)
    assert (tmp_path / "canary").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_seed_does_the_same_damage_and_others_do_other(sound, name):
    files = sound[0][name]
    same, twin, *others = (damaged(files, random.Random(seed)) for seed in (7, 7, *range(40)))
    assert same == twin
    assert sum(other != files for other in others) > 35


def crash(path: Path, as_json: bool) -> None:
    raise ZeroDivisionError("by zero")


def hang(path: Path, as_json: bool) -> None:
    try:
        signal.pause()
    except OSError:
        return


@pytest.mark.parametrize(
    ("inspects", "cause"), [(crash, "ZeroDivisionError: by zero"), (hang, "Hangs: no answer")]
)
def test_what_crashes_or_hangs_is_kept_and_named(sound, tmp_path, monkeypatch, inspects, cause):
    monkeypatch.setattr(inspect_fuzz, "inspect", inspects)
    monkeypatch.setattr(inspect_fuzz, "PATIENCE", 0.01)
    monkeypatch.setattr(inspect_fuzz.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    with pytest.raises(RuntimeError, match=f"zip, seed 7: {cause}") as error:
        look(sound[0]["zip"], "zip", 7, tmp_path / "damaged")
    assert str(error.value).endswith(f"Again: lastgood inspect {tmp_path}/zip-7")
    assert (tmp_path / "zip-7").read_bytes() == damaged(sound[0]["zip"], random.Random(7))["."]
