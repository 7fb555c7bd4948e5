"""A file is read within bounds, whatever it holds."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.intake import lean
from autograder.intake.lean import LeanError, without_outputs
from autograder.intake.reading import LARGEST, LARGEST_LEAN, ReadingError, notebook_in

from .odd import much_output
from .small_lab import LAB, answered, at, code, write


def outputs_of(count: int) -> list[object]:
    """Outputs with all that could be mistaken for their end."""
    tricky = {"output_type": "display_data", "data": {"a]": ['"outputs": [', "\\", '\\"', {"b}": "]"}]}}
    return [tricky] * count


def test_a_notebook_without_its_outputs_is_the_same_but_for_them() -> None:
    made = answered()
    for cell in made["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = outputs_of(3)
            cell["source"] += '\n# "outputs": [ and \\"outputs\\": ['
    lean_one = json.loads(without_outputs(json.dumps(made).encode()))
    for cell in made["cells"]:
        if "outputs" in cell:
            cell["outputs"] = []
    assert lean_one == made


@pytest.mark.parametrize("value", [{"a": [{"b": "}"}]}, "text", []])
def test_outputs_that_are_no_list_are_left_out_too(value: object) -> None:
    lean_one = without_outputs(json.dumps({"outputs": value, "source": "1"}).encode())
    assert json.loads(lean_one) == {"outputs": [], "source": "1"}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_bytes_there_are_something_is_left_of_them(seed: int) -> None:
    dice = random.Random(seed)
    pieces = [b'"outputs":', b"[", b"]", b"{", b"}", b'"', b"\\", b"x", b",", b" ", b'"outputs"']
    for _ in range(500):
        raw = b"".join(dice.choices(pieces, k=dice.randrange(30)))
        assert len(without_outputs(raw)) <= len(raw) + 2 * raw.count(b"outputs")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", [b'\\"', b'"', b"\\", b'"a'])
def test_a_text_without_an_end_is_looked_at_once(piece: bytes) -> None:
    raw = b'"' + piece * 300_000 + b"\\"
    assert without_outputs(raw) == raw


def test_a_file_of_brackets_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lean, "TOKENS", 1000)
    with pytest.raises(LeanError):
        without_outputs(b"[]," * 1000)
    (tmp_path / "a").write_bytes(b'{"cells":[' + b"[]," * (LARGEST_LEAN // 3) + b"[]]}")
    with pytest.raises(ReadingError, match="beside the outputs"):
        notebook_in(tmp_path / "a")


def test_large_pictures_are_asked_to_be_taken_out(tmp_path: Path) -> None:
    made = answered()
    at(made, "end")["attachments"] = {"a.png": {"image/png": "A" * LARGEST_LEAN}}
    with pytest.raises(ReadingError, match="take out large pictures"):
        notebook_in(write(tmp_path, made))


def test_a_cell_that_is_too_long_is_left_empty_and_named(tmp_path: Path) -> None:
    made = answered()
    made["cells"].append(code("#" * 100_001))
    handed = notebook_in(write(tmp_path, made))
    assert handed.cells[-1].source == ""
    assert handed.notes == ("1 of its cells is left empty: more than 100,000 characters.",)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_file_is_neither_followed_nor_waited_for(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    match kind:
        case "link":
            path.symlink_to(write(tmp_path, answered()))
        case "folder":
            path.mkdir()
        case _:
            os.mkfifo(path)
    with pytest.raises(ReadingError, match="is a link, a folder or a pipe"):
        notebook_in(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, answered())
    path.chmod(0)
    with pytest.raises(ReadingError, match="cannot be opened"):
        notebook_in(path)


READ = """
import resource, sys
from pathlib import Path
from autograder.intake.reading import ReadingError, notebook_in
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    print(len(notebook_in(Path(sys.argv[1])).cells))
except ReadingError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["output", "brackets", "numbers", "small brackets"])
def test_reading_takes_no_more_than_twice_the_largest_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"{LAB}.ipynb"
    if kind == "output":
        much_output(tmp_path, 100)
    else:
        piece = b"1," if kind == "numbers" else b"[],"
        size = LARGEST_LEAN - 100 if kind == "small brackets" else 150 * 10**6
        path.write_bytes(b'{"cells":[' + piece * (size // len(piece)) + b"0]}")
    said = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    assert int(said.stdout.splitlines()[-1]) * 1024 < 2 * LARGEST
