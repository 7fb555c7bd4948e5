"""What stands in a folder is found by its name and its content, whatever else stands there."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery import files, lookup
from lastgood.recovery.checkpoint import (
    CheckpointError,
    latest_good,
    prune,
    read,
    write,
)


def state_of(value: int) -> dict[str, Any]:
    return {"value": value, "w": torch.full((4,), float(value))}


def found_in(folder: Path) -> tuple[int | None, list[str]]:
    """The step found, and the reasons for what was skipped."""
    found = latest_good(folder)
    return found.checkpoint and found.checkpoint.step, [skip.reason for skip in found.skipped]


# Names that look like checkpoints and are none


FOREIGN = [
    "step-1",
    "step-0000001٣",
    "step-٠٠٠٠٠٠١٣",
    "step-00000012.bak",
    "step-00000012.r1",
    "step-00000012.r02",
    "step-00000012.r٢",
    "step-00000012 ",
    "step-00000012\n",
    "Step-00000012",
    "step-+0000012",
    "step--0000012",
    "step-0000001_2",
    "step-000000012",
    "step-00000012.tmp",
    ".step-00000012",
    "step_00000012",
    "step-00000012.r2.r3",
    os.fsdecode(b"step-0000001\xff"),
]


@pytest.mark.parametrize("name", FOREIGN, ids=ascii)
def test_a_name_that_write_does_not_give_is_passed_over_and_stays(tmp_path: Path, name: str) -> None:
    write(tmp_path, state_of(1), step=1)
    shutil.copytree(tmp_path / "step-00000001", tmp_path / name)
    write(tmp_path, state_of(2), step=2)
    assert found_in(tmp_path) == (2, [])
    assert [path.name for path in prune(tmp_path, keep_last=1)] == ["step-00000001"]
    read(tmp_path / name)


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
    tmp_path: Path, make: Callable[[Path], object], reason: str, name: str
) -> None:
    write(tmp_path, state_of(1), step=1)
    make(tmp_path / name)
    step, (said,) = found_in(tmp_path)
    assert step == 1
    assert reason in said
    assert prune(tmp_path, keep_last=1) == []
    assert write(tmp_path, state_of(12), step=12).name == "step-00000012"
    assert found_in(tmp_path) == (12, [said] if "99" in name else [])


@pytest.mark.parametrize("step", [2**63, 10**300, 10**5000, -(10**5000)], ids=int.bit_length)
def test_a_step_that_no_run_reaches_is_refused(tmp_path: Path, step: int) -> None:
    with pytest.raises(CheckpointError, match="step is beyond 64 bits"):
        write(tmp_path, state_of(1), step=step)


def test_the_last_step_that_64_bits_hold_is_a_step(tmp_path: Path) -> None:
    write(tmp_path, state_of(1), step=2**63 - 1)
    assert found_in(tmp_path) == (2**63 - 1, [])


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
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    write(tmp_path, state_of(1), step=1)
    damage(write(tmp_path, state_of(2), step=2))
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newest_first: bool
) -> None:
    clock = SetBack()
    monkeypatch.setattr(time, "time", clock)
    monkeypatch.setattr(time, "time_ns", lambda: int(clock() * 1e9))
    for step in (1, 2, 3, 4):
        path = write(tmp_path, state_of(step), step=step)
        stamp = 10**9 * (5 - step if newest_first else 2**33 - step)  # in 1970, or in the far future
        for item in (*path.iterdir(), path):
            os.utime(item, ns=(stamp, stamp))
    assert found_in(tmp_path) == (4, [])
    assert [path.name for path in prune(tmp_path, keep_last=2)] == ["step-00000001", "step-00000002"]
    assert found_in(tmp_path) == (4, [])


def test_the_bytes_of_a_checkpoint_do_not_depend_on_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write(tmp_path / "first", state_of(1), step=1)
    monkeypatch.setattr(time, "time", SetBack())
    second = write(tmp_path / "second", state_of(1), step=1)
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


def find_and_prune(
    folder: Path, make: Callable[[Path, int], None], skipped: int, pruned: int, count: int
) -> None:
    make(folder, count)
    for step in (1, 2):
        write(folder, state_of(step), step=10**7 + step)
    step, reasons = found_in(folder)
    assert step == 10**7 + 2
    assert len(reasons) == skipped * count
    assert len(prune(folder, keep_last=2)) == pruned * count
    assert len(os.listdir(folder)) == 2 + (1 - pruned) * count
    assert found_in(folder)[0] == 10**7 + 2


@pytest.mark.parametrize("way", IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_hundreds_of_folders_in_the_way_change_nothing(tmp_path: Path, way: tuple[Any, int, int]) -> None:
    find_and_prune(tmp_path, *way, count=100)


@pytest.mark.slow
@pytest.mark.parametrize("way", IN_THE_WAY.values(), ids=IN_THE_WAY)
def test_ten_thousand_folders_in_the_way_change_nothing(on_disk: Any, way: tuple[Any, int, int]) -> None:
    on_disk("size=1g", lambda disk: find_and_prune(disk.path, *way, count=10_000))


# A writer at work while another process reads


def during_first(name: str, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], module: Any) -> None:
    """Have `act` happen just before the first call of a function."""
    original = getattr(module, name)

    def late(*arguments: Any) -> Any:
        monkeypatch.undo()
        act()
        return original(*arguments)

    monkeypatch.setattr(module, name, late)


def test_a_reader_that_is_overtaken_by_writer_and_pruner_finds_what_is_there_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def move_on() -> None:
        for step in (3, 4):
            write(tmp_path, state_of(step), step=step)
        prune(tmp_path, keep_last=1)

    for step in (1, 2):
        write(tmp_path, state_of(step), step=step)
    during_first("read", monkeypatch, move_on, lookup)
    assert found_in(tmp_path) == (4, [])


@pytest.mark.parametrize(("name", "module"), [("read", lookup), ("open_verified", files)])
def test_a_step_that_is_written_again_under_a_reader_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: Any
) -> None:
    write(tmp_path, state_of(1), step=1)
    write(tmp_path, state_of(2), step=2)
    during_first(name, monkeypatch, lambda: write(tmp_path, state_of(22), step=2), module)
    found = latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.checkpoint.state["value"] == 22
    assert found.skipped == []


def test_what_cannot_even_be_looked_at_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    (tmp_path / "step-00000001").mkdir()
    monkeypatch.setattr(os, "lstat", refuse)
    assert found_in(tmp_path) == (None, ["step-00000001: an empty folder"])


def test_a_folder_that_never_rests_is_told_instead_of_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(path: Path) -> Any:
        path.rename(tmp_path / f"away-{len(os.listdir(tmp_path))}")
        path.mkdir()
        raise CheckpointError(path, "damaged", "None.")

    write(tmp_path, state_of(1), step=1)
    monkeypatch.setattr(lookup, "read", overtaken)
    with pytest.raises(CheckpointError, match=r"changes as it is read\. Read it again"):
        latest_good(tmp_path)
