"""What workers leave is removed: by their runner, or, where that was killed, by the next one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.memory import VARIABLE, in_memory
from autograder.runner.scratch import Scratch


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A folder on disk and one that stands for memory."""
    disk, memory = tmp_path / "disk", tmp_path / "memory"
    for variable, place in (("TMPDIR", disk), (VARIABLE, memory)):
        place.mkdir()
        monkeypatch.setenv(variable, str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    return disk, memory


def left(places: tuple[Path, Path]) -> list[list[str]]:
    return [sorted(path.name for path in place.iterdir()) for place in places]


def test_workers_write_into_folders_that_are_removed(places: tuple[Path, Path]) -> None:
    scratch = Scratch()
    folders = [Path(scratch.environment[name]) for name in ("TMPDIR", VARIABLE)]
    assert [folder.parent for folder in folders] == list(places)
    for folder in folders:
        (folder / "deep/er").mkdir(parents=True)
        (folder / "deep/er/file").touch()
    scratch.remove()
    assert left(places) == [[], []]


def test_what_a_killed_runner_left_is_removed_and_what_a_living_one_has_is_not(
    places: tuple[Path, Path],
) -> None:
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True)
    dead = int(done.stdout)
    for place in places:
        (place / f"lastgood-grade-{dead}-abc").mkdir()
        (place / f"lastgood-grade-{os.getppid()}-abc").mkdir()
        (place / "lastgood-grade-of-another-kind").mkdir()
        (place / f"lastgood-grade-{dead}-link").symlink_to(place)
    Scratch().remove()
    kept = sorted(
        [
            f"lastgood-grade-{os.getppid()}-abc",
            "lastgood-grade-of-another-kind",
            f"lastgood-grade-{dead}-link",
        ]
    )
    assert left(places) == [kept, kept]


def test_without_a_folder_in_memory_the_disk_serves(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "/nowhere")
    assert in_memory() is None
    scratch = Scratch()
    assert len(set(scratch.environment.values())) == 1
    scratch.remove()
    assert left(places) == [[], []]
