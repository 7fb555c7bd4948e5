"""What stands in a folder is found by its name and its content, whatever else stands there."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.checkpoint import CheckpointError, latest_good, list_checkpoints, prune, write

FoundIn = Callable[[Path], tuple[int | None, list[str]]]
WriteSteps = Callable[..., list[Path]]
Spoil = Callable[[Path], None]


# Listed, and the newest good one found


def test_listing_is_by_step_and_passes_over_foreign_names(tmp_path: Path, write_steps: WriteSteps) -> None:
    largest, middle, smallest = write_steps(tmp_path, 100_000_000, 20, 3)
    for name in ("x", "step-5", "step-000000007", "step-00000009.r1", "step-00000009.tmp", ".step-00000009"):
        (tmp_path / name).mkdir()
    assert list_checkpoints(tmp_path) == [smallest, middle, largest]


def test_the_newest_is_found_and_nothing_is_skipped(tmp_path: Path, write_steps: WriteSteps) -> None:
    write_steps(tmp_path, 1, 2)
    found = latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.checkpoint.step == 2
    assert found.skipped == []


def test_damaged_ones_are_skipped_with_the_reason_for_each(
    tmp_path: Path, write_steps: WriteSteps, spoil: Spoil
) -> None:
    _, second, third = write_steps(tmp_path, 1, 2, 3)
    spoil(second)
    (third / "manifest.json").unlink()
    found = latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.checkpoint.state == {"value": 1}
    assert [(skip.path, skip.reason.split(":")[0]) for skip in found.skipped] == [
        (third, "manifest.json"),
        (second, "state.pt"),
    ]


def test_without_a_good_one_there_is_none(tmp_path: Path, spoil: Spoil) -> None:
    assert latest_good(tmp_path).checkpoint is None
    spoil(write(tmp_path, {"value": 1}, step=1))
    found = latest_good(tmp_path)
    assert found.checkpoint is None
    assert len(found.skipped) == 1


@pytest.mark.parametrize("action", [latest_good, list_checkpoints, prune])
def test_a_missing_folder_is_an_error_and_no_empty_result(
    tmp_path: Path, action: Callable[[Path], object]
) -> None:
    with pytest.raises(CheckpointError, match=r"nowhere: does not exist\. Check the path"):
        action(tmp_path / "nowhere")


# Names that stand for nothing good


def a_pipe_inside(path: Path) -> None:
    path.mkdir()
    os.mkfifo(path / "manifest.json")


def a_good_one_of_another_step(path: Path) -> None:
    shutil.copytree(path.parent / "step-00000001", path)


NO_CHECKPOINTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a file": (Path.touch, "not a folder"),
    "an empty folder": (Path.mkdir, "an empty folder"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "cannot be read"),
    "a link to nowhere": (lambda path: path.symlink_to("nowhere"), "does not exist"),
    "a pipe": (os.mkfifo, "not a folder"),
    "a pipe inside": (a_pipe_inside, "not a file"),
    "another step": (a_good_one_of_another_step, "of step 1"),
}


@pytest.mark.parametrize("name", ["step-00000012", "step-00000012.r2", "step-" + "9" * 200])
@pytest.mark.parametrize(("make", "reason"), NO_CHECKPOINTS.values(), ids=NO_CHECKPOINTS)
def test_what_bears_the_name_and_is_none_is_skipped_with_the_reason(
    tmp_path: Path, make: Callable[[Path], object], reason: str, name: str, found_in: FoundIn
) -> None:
    write(tmp_path, {"value": 1}, step=1)
    make(tmp_path / name)
    step, (said,) = found_in(tmp_path)
    assert step == 1
    assert reason in said
    assert prune(tmp_path, keep_last=1) == []
    assert write(tmp_path, {"value": 12}, step=12).name == "step-00000012"
    assert found_in(tmp_path) == (12, [said] if "99" in name else [])


# Half-written ones


def without(name: str) -> Callable[[Path], object]:
    return lambda path: (path / name).unlink()


def half(name: str) -> Callable[[Path], object]:
    return lambda path: os.truncate(path / name, (path / name).stat().st_size // 2)


def pipe_for(name: str) -> Callable[[Path], object]:
    return lambda path: (without(name)(path), os.mkfifo(path / name))


HALVES = {
    f"{what} {name}": make(name)
    for name in ("state.pt", "manifest.json")
    for what, make in (("no", without), ("half a", half), ("a pipe as", pipe_for))
}


# Automodel#3254: a half-written folder made resume hang. It is skipped, told, and the last good one is used.
@pytest.mark.parametrize("damage", HALVES.values(), ids=HALVES)
def test_resuming_over_a_half_written_one_does_not_hang(
    tmp_path: Path, damage: Callable[[Path], object], found_in: FoundIn
) -> None:
    write(tmp_path, {"value": 1}, step=1)
    damage(write(tmp_path, {"value": 2}, step=2))
    (tmp_path / f".step-00000003.{2**40}-5-0badcafe.tmp").mkdir()
    step, (first, second) = found_in(tmp_path)
    assert step == 1
    assert first.startswith(("state.pt: ", "manifest.json: "))
    assert "half written" in second


# Clocks


class SetBack:
    """A clock that goes backwards."""

    def __init__(self) -> None:
        self.now = 2_000_000_000.0

    def __call__(self) -> float:
        self.now -= 86_400
        return self.now


# transformers#25129, #11769: rotation deleted the newest or all checkpoints.
@pytest.mark.parametrize("newest_first", [True, False])
def test_a_clock_that_is_set_back_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newest_first: bool, found_in: FoundIn
) -> None:
    clock = SetBack()
    monkeypatch.setattr(time, "time", clock)
    monkeypatch.setattr(time, "time_ns", lambda: int(clock() * 1e9))
    for step in (1, 2, 3, 4):
        path = write(tmp_path, {"value": step}, step=step)
        stamp = 10**9 * (5 - step if newest_first else 2**33 - step)  # in 1970, or in the far future
        for item in (*path.iterdir(), path):
            os.utime(item, ns=(stamp, stamp))
    assert found_in(tmp_path) == (4, [])
    assert [path.name for path in prune(tmp_path, keep_last=2)] == ["step-00000001", "step-00000002"]
    assert found_in(tmp_path) == (4, [])


def test_the_bytes_of_a_checkpoint_do_not_depend_on_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write(tmp_path / "first", {"value": 1}, step=1)
    monkeypatch.setattr(time, "time", SetBack())
    second = write(tmp_path / "second", {"value": 1}, step=1)
    for name in ("state.pt", "manifest.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


# Many in the way


def old_ones(folder: Path, count: int) -> None:
    for step in range(1, count + 1):
        (folder / f"step-{step:08d}").mkdir()


def newer_ones(folder: Path, count: int) -> None:
    for step in range(count):
        (folder / f"step-{10**7 + 10 + step:08d}").mkdir()


def half_removed_ones(folder: Path, count: int) -> None:
    for step in range(count):
        (folder / f".step-{step:08d}.{2**40}-5-{step:08x}.del").mkdir()


IN_THE_WAY = {
    "old ones": (old_ones, 0, 1),
    "newer ones": (newer_ones, 1, 0),
    "halves": (half_removed_ones, 1, 1),
}


@pytest.fixture(params=IN_THE_WAY.values(), ids=IN_THE_WAY)
def find_and_prune(
    request: pytest.FixtureRequest, found_in: FoundIn, write_steps: WriteSteps
) -> Callable[[Path, int], None]:
    make, skipped, pruned = request.param
    first, second = 10**7 + 1, 10**7 + 2

    def find_and_prune(folder: Path, count: int) -> None:
        make(folder, count)
        write_steps(folder, first, second)
        step, reasons = found_in(folder)
        assert step == second
        assert len(reasons) == skipped * count
        assert len(prune(folder, keep_last=2)) == pruned * count
        assert len(os.listdir(folder)) == 2 + (1 - pruned) * count
        assert found_in(folder)[0] == second

    return find_and_prune


def test_hundreds_of_folders_in_the_way_change_nothing(
    tmp_path: Path, find_and_prune: Callable[[Path, int], None]
) -> None:
    find_and_prune(tmp_path, 100)


@pytest.mark.slow
def test_ten_thousand_folders_in_the_way_change_nothing(
    on_disk: Any, find_and_prune: Callable[[Path, int], None]
) -> None:
    on_disk("size=1g", lambda disk: find_and_prune(disk.path, 10_000))
