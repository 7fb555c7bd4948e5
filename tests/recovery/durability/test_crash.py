"""A process dies exactly where it was told to."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from lastgood.recovery.durability import crash


def status_of(work: Callable[[], None]) -> int:
    """Run `work` in a fork; how it ended, as in subprocess."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def save(folder: Path) -> None:
    (folder / "sub").mkdir()
    with open(folder / "sub" / "new", "wb") as file:
        file.write(b"x" * 1000)
    (folder / "old").read_bytes()
    os.replace(folder / "sub" / "new", folder / "old")
    os.remove(folder / "rest")


CHANGES = ["mkdir sub", "open sub/new", "rename sub/new to old", "remove rest"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "watched").mkdir()
    (tmp_path / "watched" / "old").write_bytes(b"old")
    (tmp_path / "watched" / "rest").touch()
    return tmp_path / "watched"


def test_every_change_below_the_folder_is_seen_and_nothing_else(folder: Path) -> None:
    def work() -> None:
        seen: list[str] = []
        crash.watch(folder, seen.append)
        save(folder)
        (folder.parent / "elsewhere").write_text("not below")
        (folder.parent / "seen").write_text("\n".join(seen))

    assert status_of(work) == 0
    assert (folder.parent / "seen").read_text().splitlines() == CHANGES


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_it_dies_before_the_change_with_that_number_and_after_the_one_before(
    folder: Path, number: int
) -> None:
    def work() -> None:
        crash.die_at_change(folder, number)
        save(folder)

    assert status_of(work) == -signal.SIGKILL
    done = [
        (folder / "sub").exists(),
        (folder / "sub" / "new").exists() or (folder / "old").read_bytes() != b"old",
        (folder / "old").read_bytes() != b"old",
        not (folder / "rest").exists(),
    ]
    assert done == [i < number for i in range(len(CHANGES))]


def test_it_survives_where_there_is_no_such_change(folder: Path) -> None:
    def work() -> None:
        crash.die_at_change(folder, 4)
        save(folder)

    assert status_of(work) == 0


@pytest.mark.parametrize("size", [1, 400, 999])
def test_it_dies_with_exactly_that_much_written(folder: Path, size: int) -> None:
    def work() -> None:
        crash.die_at_size(size)
        save(folder)

    assert status_of(work) == -signal.SIGXFSZ
    assert (folder / "sub" / "new").stat().st_size == size
    assert (folder / "old").read_bytes() == b"old"


def test_files_opened_or_changed_outside_the_folder_are_told_apart_from_those_inside(folder: Path) -> None:
    (folder.parent / "read").touch()
    (folder.parent / "link").symlink_to(folder)

    def work() -> None:
        found = crash.strangers(folder)
        save(folder)
        (folder.parent / "link" / "inside").write_text("by another name")
        (folder.parent / "read").read_bytes()
        os.replace(folder / "old", folder.parent / "moved")
        open(os.devnull).close()
        told = sorted(os.path.relpath(path, folder.parent) for path in found)
        (folder.parent / "told").write_text("\n".join(told))

    assert status_of(work) == 0
    assert (folder.parent / "told").read_text().splitlines() == ["moved", "read"]


def test_it_dies_just_after_a_rename_with_its_buffers_unwritten(folder: Path) -> None:
    def work() -> None:
        crash.die_at_change(folder, 1, done=True)
        file = open(folder / "new", "wb")  # noqa: SIM115 - the mistake that is tested
        file.write(b"x" * 100)  # stays in the buffer: the file is closed too late
        os.replace(folder / "new", folder / "old")
        file.close()

    assert status_of(work) == -signal.SIGKILL
    assert not (folder / "new").exists()
    assert (folder / "old").read_bytes() == b""


def test_it_dies_in_the_middle_of_the_file_opened_by_that_change(folder: Path) -> None:
    def work() -> None:
        (folder.parent / "first").write_bytes(b"x" * 1000)  # not held up by the limit that comes later
        crash.die_at_change(folder, 0, then_bytes=300)
        shutil.copy(folder.parent / "first", folder / "copy")

    assert status_of(work) == -signal.SIGXFSZ
    assert (folder / "copy").stat().st_size == 300
