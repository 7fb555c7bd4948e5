"""A notebook reaches nobody else: not their grades, not their files, not the machine."""

import ctypes
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .attacks.neighbours import attempts, in_the_folder
from .classroom import FIRST, LAB, LAST, SECRET, Attack, Classroom, honest, watching

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own, in this process
]
NAMES = list(attempts(Path(), Path(), 0, Path(), 0))
HANDED_IN = "torch.ones(n, n"  # of what the first wrote
SLOTS = ["causal_mask"] * len(NAMES)
ADD_KEY = {"x86_64": (248, 250), "aarch64": (217, 219)}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Classroom, list[Attack]]]:
    folder = tmp_path_factory.mktemp("neighbours")
    if numbers := ADD_KEY.get(platform.machine()):
        add, control = numbers
        ctypes.CDLL(None).syscall(control, 1, None)
        ctypes.CDLL(None).syscall(add, b"user", b"canary", SECRET.encode(), len(SECRET), -3)
    with watching(folder / "machine") as watch:
        root = folder / "course"
        attacks = list(attempts(root, watch.secret, watch.port, watch.socket, os.getpid()).values())
        room = Classroom(root, SLOTS)
        for student in (FIRST, LAST):
            room.hand_in(student, honest(SLOTS)[:1])
        room.hand_in("neighbour", attacks)
        room.hand_in("beside", [in_the_folder(watch.secret, root)])
        with room.grading():
            assert room.grade(FIRST) == ""
            before = room.files(FIRST), room.rows(FIRST), room.elsewhere()
            assert room.grade("neighbour") == ""
            assert room.grade("beside") == ""
            assert (room.files(FIRST), room.rows(FIRST), room.elsewhere()) == before
            assert watch.knocks == []
            assert watch.secret.read_text() == f"{SECRET}\n"
            assert room.grade(LAST) == ""
        yield room, attacks


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_an_attempt_does_not_come_through(room: tuple[Classroom, list[Attack]], number: int) -> None:
    classroom, attacks = room
    assert classroom.points("neighbour")[number] == attacks[number].earns


@pytest.mark.parametrize("student", ["neighbour", "beside"])
def test_nothing_of_others_is_in_what_the_author_gets(
    room: tuple[Classroom, list[Attack]], student: str
) -> None:
    files = room[0].files(student)
    assert any(name.endswith(".html") for name in files)
    assert [name for name, data in files.items() if SECRET.encode() in data or b"SQLite" in data] == []
    assert not any(Path(name).is_symlink() for name in files)


def test_who_comes_after_is_graded(room: tuple[Classroom, list[Attack]]) -> None:
    assert room[0].points(LAST)[0] == 2.0


def _link_to_the_notebook(room: Classroom, path: Path) -> None:
    path.unlink()
    path.symlink_to(room.course.folder("submitted", LAB, FIRST) / path.name)


def _link_to_the_master(room: Classroom, path: Path) -> None:
    path.unlink()
    path.symlink_to(room.course.folder("autograded", LAB, FIRST) / path.name)


def _link_to_the_folder(room: Classroom, path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.symlink_to(room.course.folder("submitted", LAB, FIRST))


@pytest.mark.parametrize("link", [_link_to_the_notebook, _link_to_the_master, _link_to_the_folder])
def test_a_link_to_what_another_handed_in_earns_nothing(
    room: tuple[Classroom, list[Attack]], link: Callable[[Classroom, Path], None]
) -> None:
    classroom, _ = room
    student = f"linked{link.__name__.replace('_', '-')}"
    link(classroom, classroom.hand_in(student, []))
    before = classroom.files(FIRST), classroom.rows(FIRST)
    assert classroom.grade(student) == ""
    assert sum(classroom.points(student)) == 0
    assert "a link and not a f" in classroom.feedback(student)  # file, or folder
    assert HANDED_IN not in "".join(map(bytes.decode, classroom.files(student).values()))
    assert (classroom.files(FIRST), classroom.rows(FIRST)) == before
