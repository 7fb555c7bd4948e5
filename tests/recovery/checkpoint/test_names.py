"""What bears the name of a checkpoint, to the letter, and what only looks like it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.checkpoint import CheckpointError, prune, read, write

FoundIn = Callable[[Path], tuple[int | None, list[str]]]


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
def test_a_name_that_write_does_not_give_is_passed_over_and_stays(
    tmp_path: Path, name: str, found_in: FoundIn
) -> None:
    write(tmp_path, {"value": 1}, step=1)
    shutil.copytree(tmp_path / "step-00000001", tmp_path / name)
    write(tmp_path, {"value": 2}, step=2)
    assert found_in(tmp_path) == (2, [])
    assert [path.name for path in prune(tmp_path, keep_last=1)] == ["step-00000001"]
    read(tmp_path / name)


@pytest.mark.parametrize("step", [-1, True, 1.0, "1"])
def test_a_step_that_is_no_count_is_refused(tmp_path: Path, step: Any) -> None:
    with pytest.raises(CheckpointError, match="step is"):
        write(tmp_path, {}, step=step)


@pytest.mark.parametrize("step", [2**63, 10**300, 10**5000, -(10**5000)], ids=int.bit_length)
def test_a_step_that_no_run_reaches_is_refused(tmp_path: Path, step: int) -> None:
    with pytest.raises(CheckpointError, match="step is beyond 64 bits"):
        write(tmp_path, {"value": 1}, step=step)


def test_the_last_step_that_64_bits_hold_is_a_step(tmp_path: Path, found_in: FoundIn) -> None:
    write(tmp_path, {"value": 1}, step=2**63 - 1)
    assert found_in(tmp_path) == (2**63 - 1, [])
