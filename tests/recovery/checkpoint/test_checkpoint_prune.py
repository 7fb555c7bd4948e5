"""Old checkpoints go, and the last good one always stays."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lastgood.recovery.checkpoint import CheckpointError, latest_good, list_checkpoints, prune, verify, write

WriteSteps = Callable[..., list[Path]]
Spoil = Callable[[Path], None]


def test_the_last_ones_stay_and_the_others_go_oldest_first(tmp_path: Path, write_steps: WriteSteps) -> None:
    paths = write_steps(tmp_path, 1, 2, 3, 4)
    assert prune(tmp_path, keep_last=2) == paths[:2]
    assert list_checkpoints(tmp_path) == paths[2:]
    assert len(os.listdir(tmp_path)) == 2


def test_milestones_stay(tmp_path: Path, write_steps: WriteSteps) -> None:
    _, five, _, fifteen, _, _ = write_steps(tmp_path, 0, 5, 10, 15, 20, 25)
    assert prune(tmp_path, keep_last=1, keep_every=10) == [five, fifteen]


# transformers#25129, #11769: rotation deleted the newest or all checkpoints.
@pytest.mark.parametrize("spoilt", [(4,), (3, 4), (2, 3, 4), (1, 2, 4)])
@pytest.mark.parametrize("keep_last", [1, 2, 3])
def test_the_last_good_one_stays_whatever_is_damaged(
    tmp_path: Path, spoilt: tuple[int, ...], keep_last: int, write_steps: WriteSteps, spoil: Spoil
) -> None:
    paths = dict(zip((1, 2, 3, 4), write_steps(tmp_path, 1, 2, 3, 4), strict=True))
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


def test_nothing_is_removed_where_nothing_is_good(
    tmp_path: Path, write_steps: WriteSteps, spoil: Spoil
) -> None:
    for path in write_steps(tmp_path, 1, 2, 3):
        spoil(path)
    assert prune(tmp_path, keep_last=1) == []
    assert len(list_checkpoints(tmp_path)) == 3


def test_a_link_to_a_checkpoint_is_removed_and_not_followed(tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere", {"value": 1}, step=1)
    link = tmp_path / "step-00000001"
    link.symlink_to(target)
    write(tmp_path, {"value": 2}, step=2)
    assert prune(tmp_path, keep_last=1) == [link]
    assert not link.is_symlink()
    verify(target)


@pytest.mark.parametrize("arguments", [{"keep_last": 0}, {"keep_every": 0}])
def test_a_prune_that_could_remove_all_is_refused(
    tmp_path: Path, arguments: dict[str, int], write_steps: WriteSteps
) -> None:
    write_steps(tmp_path, 1)
    with pytest.raises(CheckpointError, match=r"is 0\. Pass"):
        prune(tmp_path, **arguments)
    assert len(list_checkpoints(tmp_path)) == 1
