"""What is written comes back, what is damaged is passed over, and the last good one always stays."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from lastgood.recovery import files
from lastgood.recovery.checkpoint import (
    CheckpointError,
    latest_good,
    list_checkpoints,
    prune,
    read,
    verify,
    write,
)
from lastgood.recovery.manifest import FileRecord


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


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def spoil(checkpoint: Path) -> None:
    data = bytearray((checkpoint / "state.pt").read_bytes())
    data[300] ^= 0xFF
    (checkpoint / "state.pt").write_bytes(data)


def write_all(folder: Path, *steps: int) -> list[Path]:
    return [write(folder, state_of(step), step=step) for step in steps]


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


def test_listing_is_by_step_and_passes_over_foreign_names(tmp_path: Path) -> None:
    write_all(tmp_path, 100_000_000, 20, 3)
    for name in ("x", "step-5", "step-000000007", "step-00000009.r1", "step-00000009.tmp", ".step-00000009"):
        (tmp_path / name).mkdir()
    assert names(list_checkpoints(tmp_path)) == ["step-00000003", "step-00000020", "step-100000000"]


# Writing a step again


def test_the_same_content_again_keeps_the_files_that_stand(tmp_path: Path) -> None:
    path = write(tmp_path, state_of(1), step=1)
    before = (path / "state.pt").stat().st_ino
    assert write(tmp_path, state_of(1), step=1) == path
    assert (path / "state.pt").stat().st_ino == before
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("damage", [None, spoil], ids=["good", "damaged"])
def test_other_content_replaces_what_stands(tmp_path: Path, damage: Callable[[Path], object] | None) -> None:
    path = write(tmp_path, state_of(1), step=5)
    if damage:
        damage(path)
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


# Falling back


def test_the_newest_is_found_and_nothing_is_skipped(tmp_path: Path) -> None:
    write_all(tmp_path, 1, 2)
    found = latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.checkpoint.step == 2
    assert found.skipped == []


def test_damaged_ones_are_skipped_with_the_reason_for_each(tmp_path: Path) -> None:
    _, second, third = write_all(tmp_path, 1, 2, 3)
    spoil(second)
    (third / "manifest.json").unlink()
    found = latest_good(tmp_path)
    assert found.checkpoint is not None
    assert_same(found.checkpoint.state, state_of(1))
    assert [(skip.path, skip.reason.split(":")[0]) for skip in found.skipped] == [
        (third, "manifest.json"),
        (second, "state.pt"),
    ]


def test_without_a_good_one_there_is_none(tmp_path: Path) -> None:
    assert latest_good(tmp_path).checkpoint is None
    spoil(write(tmp_path, state_of(1), step=1))
    found = latest_good(tmp_path)
    assert found.checkpoint is None
    assert len(found.skipped) == 1


@pytest.mark.parametrize("action", [latest_good, list_checkpoints, prune])
def test_a_missing_folder_is_an_error_and_no_empty_result(
    tmp_path: Path, action: Callable[[Path], object]
) -> None:
    with pytest.raises(CheckpointError, match=r"nowhere: does not exist\. Check the path"):
        action(tmp_path / "nowhere")


# Pruning


def test_the_last_ones_stay_and_the_others_go_oldest_first(tmp_path: Path) -> None:
    paths = write_all(tmp_path, 1, 2, 3, 4)
    assert prune(tmp_path, keep_last=2) == paths[:2]
    assert sorted(os.listdir(tmp_path)) == names(paths[2:])


def test_milestones_stay(tmp_path: Path) -> None:
    write_all(tmp_path, 0, 5, 10, 15, 20, 25)
    assert names(prune(tmp_path, keep_last=1, keep_every=10)) == ["step-00000005", "step-00000015"]


# transformers#25129, #11769: rotation deleted the newest or all checkpoints.
@pytest.mark.parametrize("spoilt", [(4,), (3, 4), (2, 3, 4), (1, 2, 4)])
@pytest.mark.parametrize("keep_last", [1, 2, 3])
def test_the_last_good_one_stays_whatever_is_damaged(
    tmp_path: Path, spoilt: tuple[int, ...], keep_last: int
) -> None:
    paths = dict(zip((1, 2, 3, 4), write_all(tmp_path, 1, 2, 3, 4), strict=True))
    for step in spoilt:
        spoil(paths[step])
    before = latest_good(tmp_path).checkpoint
    assert before is not None
    removed = prune(tmp_path, keep_last=keep_last)
    after = latest_good(tmp_path).checkpoint
    assert after is not None
    assert after.path == before.path
    good = [step for step in paths if step not in spoilt]
    assert all(paths[step].exists() for step in good[-keep_last:])
    assert removed == [path for path in paths.values() if not path.exists()]
    assert not (removed and len(good) < keep_last), "too few are good to be sure of any removal"


def test_nothing_is_removed_where_nothing_is_good(tmp_path: Path) -> None:
    for path in write_all(tmp_path, 1, 2, 3):
        spoil(path)
    assert prune(tmp_path, keep_last=1) == []
    assert len(list_checkpoints(tmp_path)) == 3


def test_a_link_to_a_checkpoint_is_removed_and_not_followed(tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere", state_of(1), step=1)
    (tmp_path / "step-00000001").symlink_to(target)
    write(tmp_path, state_of(2), step=2)
    assert names(prune(tmp_path, keep_last=1)) == ["step-00000001"]
    verify(target)


@pytest.mark.parametrize("arguments", [{"keep_last": 0}, {"keep_every": 0}])
def test_a_prune_that_could_remove_all_is_refused(tmp_path: Path, arguments: dict[str, int]) -> None:
    write_all(tmp_path, 1)
    with pytest.raises(CheckpointError, match=r"is 0\. Pass"):
        prune(tmp_path, **arguments)
    assert len(list_checkpoints(tmp_path)) == 1


# Writing what cannot be written


@pytest.mark.parametrize("step", [-1, True, 1.0, "1"])
def test_a_step_that_is_no_count_is_refused(tmp_path: Path, step: Any) -> None:
    with pytest.raises(CheckpointError, match="step is"):
        write(tmp_path, {}, step=step)


def test_a_refused_value_leaves_no_trace(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"step-00000001: state\['a'\]\[1\] is a set"):
        write(tmp_path / "new", {"a": [0, {1}]}, step=1)
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_read_back_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(tmp_path, 1)
    monkeypatch.setattr("lastgood.recovery.checkpoint.to_plain", lambda state, path: state)
    with pytest.raises(CheckpointError, match="torch refuses to load it"):
        write(tmp_path, {"x": frozenset([1])}, step=2)
    assert os.listdir(tmp_path) == ["step-00000001"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_save_tidies_up_and_passes_the_interrupt_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupt: type[BaseException]
) -> None:
    def fail(folder: Path) -> None:
        raise interrupt

    write_all(tmp_path, 1)
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
