"""A notebook that lies in the protocol is graded, and that is all."""

import base64
import json
import resource
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.judge import court as court_module
from autograder.judge.court import Court
from autograder.memory import VARIABLE
from autograder.sandbox.settings import Sandbox
from lastgood.recovery.wire import pack

from .attacks.protocol import FILLS, protocols
from .classroom import FIRST, LAB, LAST, ROOT, Attack, Classroom, honest, watching

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs_bwrap,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),  # nbgrader's own, in this process
]
NAMES = list(protocols(""))
SETTINGS = "c.Execute.timeout = 30\nc.Execute.iopub_timeout = 4"
MB = 10**6


@pytest.fixture(scope="module")
def room(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Classroom, dict[str, Attack], dict[str, str]]]:
    folder = tmp_path_factory.mktemp("protocol")
    with watching(folder / "machine") as watch:
        attacks = protocols(str(watch.socket))
        room = Classroom(folder / "course", ["causal_mask", "causal_mask"], SETTINGS)
        right = honest(room.slots)
        for student in (FIRST, LAST):
            room.hand_in(student, right)
        for student, attack in attacks.items():
            room.hand_in(student, [right[0], attack])
        fell = {}
        with room.grading():
            assert room.grade(FIRST) == ""
            before = room.files(FIRST), room.rows(FIRST), room.elsewhere()
            for student in attacks:
                fell[student] = room.grade(student)
                assert (room.files(FIRST), room.rows(FIRST), room.elsewhere()) == before
            assert room.grade(LAST) == ""
        assert watch.knocks == []
        yield room, attacks, fell


@pytest.mark.parametrize("name", NAMES)
def test_it_earns_what_was_right_and_no_more(
    room: tuple[Classroom, dict[str, Attack], dict[str, str]], name: str
) -> None:
    classroom, attacks, fell = room
    assert fell[name] == ""
    assert classroom.points(name) == [2.0, attacks[name].earns]


def test_the_honest_keep_what_they_earned(room: tuple[Classroom, dict[str, Attack], dict[str, str]]) -> None:
    assert [room[0].points(student) for student in (FIRST, LAST)] == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("student", "most"), [("floods", 22 * MB), ("printed", 3 * MB), ("displays-junk", MB)]
)
def test_a_graded_notebook_is_no_larger_than_it_may_be(
    room: tuple[Classroom, dict[str, Attack], dict[str, str]], student: str, most: int
) -> None:
    path = room[0].course.folder("autograded", LAB, student) / f"{LAB}.ipynb"
    assert path.stat().st_size < most


def test_a_judge_that_is_kept_waiting_leaves_nothing_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(court_module, "JUDGE_S", 10.0)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:  # other tests have judges at the same time
        monkeypatch.setenv(VARIABLE, memory)
        room = Classroom(tmp_path / "course", ["save_load"])
        room.hand_in("filler", [FILLS])
        assert room.grade("filler") == ""
        assert room.points("filler") == [0.0]
        assert list(Path(memory).iterdir()) == []


# What a kernel can send as an answer, without a kernel.


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    with Court(ROOT, Sandbox(unsafe=True)) as court:
        yield court


def many(placeholder: str, count: int, block: bytes) -> bytes:
    """An answer in which one block of bytes stands in many places."""
    frame = json.dumps({"masks": [{placeholder: "0"}] * count}).encode()
    whole = pack({"x": block})
    (size,) = struct.unpack_from("<Q", whole)
    return struct.pack("<Q", len(frame)) + frame + whole[8 + size :]


def framed(frame: bytes, rest: bytes = b"") -> bytes:
    return struct.pack("<Q", len(frame)) + frame + rest


BOMBS = {
    "one block in many places": lambda: many("$bytes", 400, bytes(10 * MB)),
    "lists in lists": lambda: framed(b'{"masks":[' + b"[]," * (MB // 2) + b"[]]}"),
    "a header of an exabyte": lambda: framed(b"{}", struct.pack("<Q", 1 << 60) + b"{"),
    "a shape of an exabyte": lambda: framed(
        b'{"masks":[{"$tensor":"0"}]}',
        framed(b'{"0":{"dtype":"F32","shape":[1152921504606846976,0],"data_offsets":[0,0]}}'),
    ),
    "a frame longer than all": lambda: struct.pack("<Q", (1 << 64) - 1) + b"{}",
    "a number of many digits": lambda: framed(b'{"masks":' + b"9" * MB + b"}"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_an_answer_that_unpacks_to_more_than_there_is_earns_nothing(court: Court, name: str) -> None:
    inputs = court.draw("lab18", "causal_mask")
    assert inputs is not None
    answer = base64.b64encode(pack({"measured": BOMBS[name](), "stderr": ""})).decode()
    report = court.judge("lab18", "causal_mask", inputs, answer)
    assert report["text/plain"] == "0"


def test_judging_those_took_no_more_memory_than_a_judge_has(court: Court) -> None:
    court.close()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    assert peak < 2.5 * 2**30
