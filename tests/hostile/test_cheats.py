"""Cheats on the tests earn nothing, and cost nobody else anything."""

from collections.abc import Iterator

import pytest

from .attacks.cheats import CHEATS, CONTROL
from .classroom import FIRST, Classroom, honest, watching

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own, in this process
]
ATTACKS = {**CHEATS, "control": CONTROL}
SLOTS = [attack.check for attack in ATTACKS.values()]
TWO = [SLOTS.index("causal_mask"), SLOTS.index("state_bytes")]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Classroom]:
    """The class, graded: someone honest, then the cheat."""
    folder = tmp_path_factory.mktemp("cheats")
    with watching(folder / "machine") as watch:
        room = Classroom(folder / "course", SLOTS)
        right = honest(SLOTS)
        room.hand_in(FIRST, [answer if n in TWO else None for n, answer in enumerate(right)])
        room.hand_in("cheat", list(ATTACKS.values()))
        assert room.grade(FIRST) == ""
        before = room.files(FIRST), room.rows(FIRST), room.elsewhere()
        assert room.grade("cheat") == ""
        assert (room.files(FIRST), room.rows(FIRST), room.elsewhere()) == before
        assert watch.knocks == []
        yield room


@pytest.mark.parametrize("name", ATTACKS)
def test_a_cheat_earns_nothing(room: Classroom, name: str) -> None:
    number = list(ATTACKS).index(name)
    assert room.points("cheat")[number] == ATTACKS[name].earns


def test_the_honest_keep_what_they_earned(room: Classroom) -> None:
    assert [room.points(FIRST)[n] for n in TWO] == [2.0, 1.0]
