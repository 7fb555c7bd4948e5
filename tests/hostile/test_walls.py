"""State that takes another way than the checkpoint does not arrive, and earns nothing."""

import ctypes
import platform
import shutil
from collections.abc import Iterator
from contextlib import suppress

import pytest

from .attacks.walls import CAPTURES, saves
from .classroom import SECRET, Attack, Classroom, watching

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own, in this process
]


KEYCTL = {"x86_64": 250, "aarch64": 219}
SAVES = list(saves("", 0))


@pytest.fixture(scope="module", autouse=True)
def _keyring() -> None:
    """A keyring of this process's own, as whoever logs in has one; processes that it starts inherit it."""
    with suppress(KeyError):
        ctypes.CDLL(None).syscall(KEYCTL[platform.machine()], 1, None)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Classroom]:
    folder = tmp_path_factory.mktemp("captures")
    with watching(folder / "machine") as watch:
        room = Classroom(folder / "course", [attack.check for attack in CAPTURES.values()])
        room.hand_in("smuggler", list(CAPTURES.values()))
        assert room.grade("smuggler") == ""
        assert watch.knocks == []
        yield room


@pytest.mark.parametrize("name", CAPTURES)
def test_a_state_that_is_not_in_the_file_is_not_there(captures: Classroom, name: str) -> None:
    assert captures.points("smuggler")[list(CAPTURES).index(name)] == CAPTURES[name].earns


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Classroom, dict[str, Attack]]]:
    folder = tmp_path_factory.mktemp("saves")
    before = shutil.disk_usage("/dev/shm").used
    with watching(folder / "machine") as watch:
        attacks = saves(str(watch.secret), watch.port)
        room = Classroom(folder / "course", [attack.check for attack in attacks.values()])
        room.hand_in("saver", list(attacks.values()))
        assert room.grade("saver") == ""
        assert watch.knocks == []
        assert watch.secret.read_text() == f"{SECRET}\n"
        assert shutil.disk_usage("/dev/shm").used < before + 10**6
        yield room, attacks


@pytest.mark.parametrize("name", SAVES)
def test_what_was_not_saved_does_not_come_back(saved: tuple[Classroom, dict[str, Attack]], name: str) -> None:
    room, attacks = saved
    assert room.points("saver")[list(attacks).index(name)] == attacks[name].earns


def test_no_file_of_the_machine_is_quoted(saved: tuple[Classroom, dict[str, Attack]]) -> None:
    assert SECRET not in saved[0].page("saver")
