"""What is written comes back, what stands is replaced only by what is complete."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery.checkpoint import (
    CheckpointError,
    files,
    latest_good,
    list_checkpoints,
    prune,
    read,
    verify,
    write,
)
from lastgood.recovery.checkpoint.manifest import FileRecord

WriteSteps = Callable[..., list[Path]]
Spoil = Callable[[Path], None]


def state_of(step: int) -> dict[str, Any]:
    weights = torch.full((3, 5), float(step))
    return {
        "model": {"w": weights, "tied": weights, "half": torch.ones(2, dtype=torch.bfloat16)},
        "rng": [(step, 2**128, -1), None, True, 0.1, "über"],
        "moments": {0: torch.zeros(0), 1: torch.tensor(7, dtype=torch.int64)},
    }


def assert_same(left: Any, right: Any) -> None:
    assert type(left) is type(right)
    if isinstance(left, torch.Tensor):
        assert left.dtype == right.dtype
        assert torch.equal(left, right)
    elif isinstance(left, dict):
        assert list(left) == list(right)
        for key in left:
            assert_same(left[key], right[key])
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other)
    else:
        assert left == right


# What is written comes back


def test_a_state_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = write(tmp_path, state_of(120), step=120)
    checkpoint = read(path)
    assert path == tmp_path / "step-00000120"
    assert (checkpoint.path, checkpoint.step) == (path, 120)
    assert_same(checkpoint.state, state_of(120))


def test_the_manifest_names_sizes_checksums_and_versions(tmp_path: Path) -> None:
    path = write(tmp_path, state_of(1), step=1)
    manifest = verify(path)
    data = (path / "state.pt").read_bytes()
    assert manifest.files == {"state.pt": FileRecord(len(data), hashlib.sha256(data).hexdigest())}
    assert manifest.versions.keys() == {"python", "torch", "numpy", "lastgood"}
    assert manifest.versions["torch"] == torch.__version__
    assert sorted(os.listdir(path)) == ["manifest.json", "state.pt"]


def test_training_on_after_a_save_does_not_change_it(tmp_path: Path) -> None:
    state = state_of(1)
    path = write(tmp_path, state, step=1)
    state["model"]["w"].add_(1)
    assert_same(read(path).state, state_of(1))


def test_everything_is_on_the_disk_before_the_rename_and_the_rename_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    events: list[str] = []
    fsync, rename = os.fsync, os.rename

    def spy_fsync(descriptor: int) -> None:
        fsync(descriptor)
        synced = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        assert synced.is_dir() or synced.stat().st_size > 0
        events.append("temporary" if synced.name.endswith(".tmp") else synced.name)

    def spy_rename(source: Path, target: Path) -> None:
        assert source.parent == target.parent
        events.append(f"rename to {target.name}")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "rename", spy_rename)
    write(folder, state_of(1), step=1)
    assert events == ["state.pt", "manifest.json", "temporary", "rename to step-00000001", "run"]


# Writing a step again


def test_the_same_content_again_keeps_the_files_that_stand(tmp_path: Path) -> None:
    path = write(tmp_path, state_of(1), step=1)
    before = (path / "state.pt").stat().st_ino
    assert write(tmp_path, state_of(1), step=1) == path
    assert (path / "state.pt").stat().st_ino == before
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("damaged", [False, True], ids=["good", "damaged"])
def test_other_content_replaces_what_stands(tmp_path: Path, spoil: Spoil, damaged: bool) -> None:
    path = write(tmp_path, state_of(1), step=5)
    if damaged:
        spoil(path)
    assert write(tmp_path, state_of(2), step=5) == path
    assert_same(read(path).state, state_of(2))
    assert os.listdir(tmp_path) == [path.name]


def test_a_replacement_cut_short_counts_as_the_newer_one_and_is_tidied_up(tmp_path: Path) -> None:
    path = write(tmp_path, state_of(1), step=5)
    newer = write(tmp_path / "elsewhere", state_of(2), step=5).rename(tmp_path / "step-00000005.r2")
    assert list_checkpoints(tmp_path) == [path, newer]
    found = latest_good(tmp_path).checkpoint
    assert found is not None
    assert found.path == newer
    assert prune(tmp_path, keep_last=1) == [path]
    assert write(tmp_path, state_of(3), step=5) == path
    assert list_checkpoints(tmp_path) == [path]


# Writing what cannot be written


def test_a_refused_value_leaves_no_trace(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"step-00000001: state\['a'\]\[1\] is a set"):
        write(tmp_path / "new", {"a": [0, {1}]}, step=1)
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_read_back_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_steps: WriteSteps
) -> None:
    write_steps(tmp_path, 1)
    monkeypatch.setattr("lastgood.recovery.checkpoint.to_plain", lambda state, path: state)
    with pytest.raises(CheckpointError, match="torch refuses to load it"):
        write(tmp_path, {"x": frozenset([1])}, step=2)
    assert os.listdir(tmp_path) == ["step-00000001"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_save_tidies_up_and_passes_the_interrupt_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupt: type[BaseException], write_steps: WriteSteps
) -> None:
    def fail(folder: Path) -> None:
        raise interrupt

    write_steps(tmp_path, 1)
    monkeypatch.setattr(files, "sync_folder", fail)
    with pytest.raises(interrupt):
        write(tmp_path, state_of(2), step=2)
    assert os.listdir(tmp_path) == ["step-00000001"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.touch()
    with pytest.raises(CheckpointError, match=r"occupied: not a folder\. Save into a folder"):
        write(occupied, {}, step=1)
    with pytest.raises(CheckpointError, match=r"deep: cannot be created .*\. Create the folder"):
        write(tmp_path / "not" / "deep", {}, step=1)
