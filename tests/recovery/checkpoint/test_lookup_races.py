"""A folder is read while another process changes it: what is there in the end is found."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.checkpoint import CheckpointError, files, latest_good, lookup, prune, write

FoundIn = Callable[[Path], tuple[int | None, list[str]]]
WriteSteps = Callable[..., list[Path]]


def during_first(name: str, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], module: Any) -> None:
    """Have `act` happen just before the first call of a function."""
    original = getattr(module, name)

    def late(*arguments: Any) -> Any:
        monkeypatch.undo()
        act()
        return original(*arguments)

    monkeypatch.setattr(module, name, late)


def test_a_reader_that_is_overtaken_by_writer_and_pruner_finds_what_is_there_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found_in: FoundIn, write_steps: WriteSteps
) -> None:
    def move_on() -> None:
        write_steps(tmp_path, 3, 4)
        prune(tmp_path, keep_last=1)

    write_steps(tmp_path, 1, 2)
    during_first("read", monkeypatch, move_on, lookup)
    assert found_in(tmp_path) == (4, [])


@pytest.mark.parametrize(("name", "module"), [("read", lookup), ("open_verified", files)])
def test_a_step_that_is_written_again_under_a_reader_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: Any, write_steps: WriteSteps
) -> None:
    write_steps(tmp_path, 1, 2)
    during_first(name, monkeypatch, lambda: write(tmp_path, {"value": 22}, step=2), module)
    found = latest_good(tmp_path)
    assert found.checkpoint is not None
    assert found.checkpoint.state["value"] == 22
    assert found.skipped == []


def test_what_cannot_even_be_looked_at_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found_in: FoundIn
) -> None:
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

    write(tmp_path, {"value": 1}, step=1)
    monkeypatch.setattr(lookup, "read", overtaken)
    with pytest.raises(CheckpointError, match=r"changes as it is read\. Read it again"):
        latest_good(tmp_path)
