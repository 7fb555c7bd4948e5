"""Odd submissions of the small lab: how each is handed in, what it earns, what is said of it."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .small_lab import LAB, RIGHT, Json, again, answered, at, code, release, stripped, without, write

ALL, NONE = (2.0, 3.0), (0.0, 0.0)
FILE = f"{LAB}.ipynb"
ZERO = "each exercise has 0 points"


@dataclass(frozen=True)
class Odd:
    """`earns` are the points of the two checks. What is said holds each of `says`; none means silence."""

    hand_in: Callable[[Path], object]
    earns: tuple[float, float]
    says: tuple[str, ...] = ()
    graded: bool = True


def notebook(change: Callable[[Json], object], earns: tuple[float, float] = ALL, *says: str) -> Odd:
    """An answered notebook that was changed, under its own name."""

    def hand_in(folder: Path) -> None:
        made = answered()
        change(made)
        write(folder, made)

    return Odd(hand_in, earns, says)


def raw(content: bytes, *says: str, name: str = FILE) -> Odd:
    """A file that cannot be read as a notebook."""

    def hand_in(folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)

    return Odd(hand_in, NONE, (*says, ZERO), graded=False)


def files(*names: str) -> Callable[[Path], object]:
    """An answered notebook in each of these places."""
    return lambda folder: [write(folder, answered(), name) for name in names]


def encoded(encoding: str, words: str = "Größe") -> Callable[[Path], object]:
    """An answered notebook in another encoding."""

    def hand_in(folder: Path) -> None:
        made = answered()
        at(made, "double")["source"] += f"  # {words}"
        write(folder, made).write_bytes(json.dumps(made, ensure_ascii=False).encode(encoding))

    return hand_in


def marks(name: str, **changes: object) -> Callable[[Json], object]:
    """Other nbgrader metadata in a cell."""
    return lambda made: at(made, name)["metadata"]["nbgrader"].update(changes)


def sets(name: str, **changes: object) -> Callable[[Json], object]:
    """Other fields of a cell."""
    return lambda made: at(made, name).update(changes)


def _answer_in_copy(made: Json) -> None:
    again(made, "double")
    at(made, "double")["source"] = at(release(), "double")["source"]


def _test_copied_over(made: Json) -> None:
    """One test stands twice, the second time with the id of another, which is gone."""
    without(made, "check-area")
    again(made, "check-double", id="check-area")


def _older(made: Json) -> None:
    """The notebook of a release that asked for something else too, and not yet for the area."""
    without(made, "area", "check-area")
    about = {**at(made, "double")["metadata"]["nbgrader"], "grade_id": "triple"}
    made["cells"].insert(4, code("def triple(x):\n    return 3 * x", metadata={"nbgrader": about}))


def _format_3(folder: Path) -> None:
    made = answered()
    for cell in made["cells"]:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
        del cell["id"]
    heading = {"cell_type": "heading", "level": 2, "source": "Mine", "metadata": {}}
    sheet = {"cells": [heading, *made["cells"]], "metadata": {}}
    write(folder, {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [sheet]})


def _linked(folder: Path) -> None:
    write(folder.parent / "elsewhere", answered())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).symlink_to(folder.parent / "elsewhere" / FILE)


def _link_beside(folder: Path) -> None:
    write(folder, answered())
    (folder / "passwords").symlink_to("/etc/passwd")
    (folder / "..data").write_text("x")


def _folder_is_a_file(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"x")


def _pipe(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.mkfifo(folder / FILE)


def _folder_of_that_name(folder: Path) -> None:
    (folder / FILE).mkdir(parents=True)


def _large(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).touch()
    os.truncate(folder / FILE, 200_000_001)


def much_output(folder: Path, megabytes: int = 12) -> None:
    """What a progress bar that printed too often leaves in a file."""
    made = answered()
    line = "step 1 of 10 [=====>     ]\\n"
    mark = "OUTPUT"
    at(made, "double")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": mark}]
    head, tail = json.dumps(made).split(mark)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / FILE, "w", encoding="utf-8") as file:
        file.write(head)
        for _ in range(megabytes):
            file.write(line * (10**6 // len(line)))
        file.write(tail)


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(FILE, json.dumps(answered()))
    return packed.getvalue()


def _dated(said: str) -> Callable[[Path], object]:
    def hand_in(folder: Path) -> None:
        write(folder, answered())
        (folder / "timestamp.txt").write_text(said)

    return hand_in


def _conflict() -> bytes:
    lines = json.dumps(answered(), indent=1).split("\n")
    lines[4:4] = ["<<<<<<< HEAD", ' "a": 1,', "=======", ' "a": 2,', ">>>>>>> main"]
    return "\n".join(lines).encode()


def _unwritten_and_a_copy(folder: Path) -> None:
    write(folder, release())
    write(folder, answered(), f"{LAB}-copy.ipynb")


WHOLE = json.dumps(answered()).encode()
FOUND = "recognised by id, text or place"
BACK = "Deleted cells were put back"
FLIPPED = "put right"

ODD: dict[str, Odd] = {
    # files
    "honest": Odd(files(FILE), ALL),
    "renamed": Odd(files(f"{LAB} (1).ipynb"), ALL, (f"{LAB} (1).ipynb was graded as {FILE}",)),
    "other-name": Odd(files("Untitled.ipynb"), ALL, ("Untitled.ipynb was graded",)),
    "upper-case": Odd(files("SMALL.IPYNB"), ALL, ("SMALL.IPYNB was graded",)),
    "sub-folder": Odd(files(f"hw/{FILE}"), ALL, (f"hw/{FILE} was graded",)),
    "text-suffix": Odd(files(f"{FILE}.txt"), ALL, (f"{FILE}.txt was graded",)),
    "two": Odd(
        files(FILE, f"{LAB}-copy.ipynb"),
        ALL,
        (f"Two notebooks were handed in: {FILE} was graded, {LAB}-copy.ipynb was not.",),
    ),
    "unwritten-and-copy": Odd(_unwritten_and_a_copy, ALL, (f"{FILE} holds no answers", "Two notebooks")),
    "checkpoint": Odd(files(f".ipynb_checkpoints/{LAB}-checkpoint.ipynb"), NONE, (ZERO,), graded=False),
    "beside-checkpoint": Odd(files(FILE, f".ipynb_checkpoints/{LAB}-checkpoint.ipynb"), ALL),
    "nothing": Odd(
        lambda folder: folder.mkdir(parents=True, exist_ok=True),
        NONE,
        ("the folder is empty", ZERO),
        graded=False,
    ),
    "no-folder": Odd(_folder_is_a_file, NONE, ("No folder was handed in", ZERO), graded=False),
    "link": Odd(_linked, NONE, ("a link and not a file", ZERO), graded=False),
    "link-beside": Odd(_link_beside, ALL, ("left out: passwords",)),
    "pipe": Odd(_pipe, NONE, ("no ordinary file", ZERO), graded=False),
    "folder-named-so": Odd(_folder_of_that_name, NONE, ("a folder", ZERO), graded=False),
    "archive": raw(_zip(), "Unpack it", name=f"{LAB}.zip"),
    "archive-named-so": raw(_zip(), "a zip archive", "Unpack it"),
    "script": raw(b"print(1)", f"{LAB}.py", name=f"{LAB}.py"),
    "dots": Odd(files("..ipynb", "...ipynb"), ALL, ("was graded",)),
    "tags-in-name": Odd(files("<b>small.ipynb"), ALL, ("<b>small.ipynb was graded",)),
    # contents
    "empty": raw(b"", "is empty"),
    "blank": raw(b" \n\n", "is empty"),
    "no-json": raw(b"def double(x): return 2 * x", "does not begin as one"),
    "page": raw(b"<!DOCTYPE html><html>", "a web page"),
    "binary": raw(bytes(range(256)) * 40, "no text"),
    "zeros": raw(bytes(4096), "does not begin as one"),
    "cut-off": raw(WHOLE[: len(WHOLE) * 2 // 3], "breaks off before its end"),
    "cut-in-text": raw(WHOLE[: WHOLE.index(b"2 * x")], "breaks off before its end"),
    "damaged": raw(WHOLE.replace(b'"cells"', b"cells"), "is damaged", "line 1"),
    "conflict": raw(_conflict(), "merge conflict", "line 5"),
    "deep": raw(b'{"cells":' + b"[" * 100_000, "nested too deep"),
    "digits": raw(b'{"cells": [], "a": ' + b"9" * 5000 + b"}", "number"),
    "list": raw(b"[1, 2]", "no list of cells"),
    "no-cells": raw(b'{"nbformat": 4, "metadata": {}}', "no list of cells"),
    "cells-object": raw(b'{"cells": {"a": 1}}', "no list of cells"),
    "large": Odd(_large, NONE, ("200.0 MB are the most", "clear all outputs", ZERO), graded=False),
    "much-output": Odd(much_output, ALL),
    "bom": Odd(encoded("utf-8-sig"), ALL),
    "utf-16": Odd(encoded("utf-16"), ALL),
    "utf-16-no-mark": Odd(encoded("utf-16-le"), ALL),
    "latin-1": Odd(encoded("latin-1"), ALL, ("Latin-1",)),
    "line-breaks-in-text": Odd(
        lambda folder: write(folder, {}).write_bytes(WHOLE.replace(b"(x):\\n", b"(x):\n")), ALL
    ),
    "more-after-end": Odd(lambda folder: write(folder, {}).write_bytes(WHOLE + b"}}\n0"), ALL),
    # format
    "format-3": Odd(_format_3, ALL, ("notebook format 3",)),
    "format-4.4": notebook(lambda made: (stripped(made, "id"), made.update(nbformat_minor=4))),
    "format-5": notebook(lambda made: made.update(nbformat=5), ALL, "notebook format 5"),
    "format-words": notebook(lambda made: made.update(nbformat="4", nbformat_minor="five")),
    "no-format": notebook(lambda made: [made.pop(key) for key in ("nbformat", "nbformat_minor", "metadata")]),
    "other-kernel": notebook(lambda made: made.update(metadata={"kernelspec": {"name": "julia"}, "x": [1]})),
    # cells
    "many": notebook(
        lambda made: made["cells"].extend(code(f"x = {n}") for n in range(10_000)),
        ALL,
        "9,000 more were left out",
    ),
    "no-cell-objects": notebook(lambda made: made["cells"].extend([None, 7, "x"]), ALL, "3 of its cells"),
    "no-source": notebook(lambda made: at(made, "double").pop("source"), (0.0, 3.0)),
    "number-source": notebook(sets("double", source=7), (0.0, 3.0)),
    "lines-and-numbers": notebook(sets("double", source=["def double(x):\n", 7, "    return 2 * x"])),
    "lone-surrogate": notebook(sets("double", source=RIGHT["double"] + "  # \ud83d")),
    "id-twice": notebook(sets("imports", id="double")),
    "bad-ids": notebook(
        lambda made: [cell.update(id=f"no good {n}") for n, cell in enumerate(made["cells"])]
    ),
    "number-ids": notebook(lambda made: [cell.update(id=n) for n, cell in enumerate(made["cells"])]),
    "bad-outputs": notebook(sets("double", outputs={"a": [1]}, execution_count="x")),
    "bad-metadata": notebook(sets("imports", metadata=["x"], cell_type=["code"])),
    "test-deleted": notebook(lambda made: without(made, "check-double"), ALL, BACK, "check-double"),
    "tests-deleted": notebook(lambda made: without(made, "check-double", "check-area", "rule"), ALL, BACK),
    "answer-deleted": notebook(
        lambda made: without(made, "double"), (0.0, 3.0), "Cells for answers are missing", "double"
    ),
    "written-deleted": notebook(
        lambda made: without(made, "why"), ALL, "Cells for answers are missing", "why"
    ),
    "test-edited": notebook(sets("check-double", source="pass"), ALL, "not for editing", "check-double"),
    "test-emptied": notebook(
        lambda made: (sets("check-double", source="")(made), sets("double", source="double = None")(made)),
        (0.0, 3.0),
        "check-double",
    ),
    "rule-edited": notebook(sets("rule", source="RATE = 1"), ALL, "rule"),
    "test-as-text": notebook(sets("check-double", cell_type="markdown"), ALL, "check-double"),
    "answer-as-text": notebook(sets("double", cell_type="markdown")),
    "test-twice": notebook(lambda made: again(made, "check-double"), ALL, "handed in 2 times", "run once"),
    "answer-twice": notebook(
        lambda made: again(made, "double", source="def double(x):\n    return 0"),
        (0.0, 3.0),
        "last one before the check",
    ),
    "stub-twice": notebook(
        lambda made: again(made, "double", source=at(release(), "double")["source"]),
        ALL,
        "one with an answer",
    ),
    "answer-in-copy": notebook(_answer_in_copy, ALL, "one with an answer"),
    "test-copied-over": notebook(_test_copied_over, ALL, BACK, "check-area", "handed in 2 times"),
    "written-twice": notebook(lambda made: again(made, "why", source="Or not."), ALL, "stand beside it"),
    "plain-copy": notebook(lambda made: again(made, "check-double", metadata={})),
    "no-marks-on-one": notebook(sets("double", metadata={}), ALL, FOUND, "double"),
    "no-marks": notebook(lambda made: stripped(made, "metadata"), ALL, FOUND),
    "no-marks-no-ids": notebook(lambda made: stripped(made, "metadata", "id"), ALL, FOUND),
    "points-changed": notebook(marks("check-double", points=100), ALL, FLIPPED, "check-double"),
    "points-not-a-number": notebook(marks("check-double", points=float("nan")), ALL, FLIPPED),
    "points-text": notebook(marks("check-double", points="all"), ALL, FLIPPED),
    "test-as-answer": notebook(marks("check-double", solution=True, locked=False), ALL, FLIPPED),
    "test-not-graded": notebook(marks("check-double", grade=False), ALL, FLIPPED),
    "other-schema": notebook(marks("check-double", schema_version=1), ALL, FLIPPED),
    "newer-schema": notebook(marks("double", schema_version=99), ALL, FLIPPED),
    "name-changed": notebook(marks("check-double", grade_id="mine"), ALL, FOUND, "check-double"),
    "name-a-list": notebook(marks("check-double", grade_id=["x"]), ALL, FOUND),
    "marks-a-list": notebook(sets("check-double", metadata={"nbgrader": [1]}), ALL, FOUND),
    "older": notebook(_older, (2.0, 0.0), "perhaps of an older one", "triple", "area"),
    "input": notebook(lambda made: made["cells"].insert(2, code("name = input()"))),
    "forged-note": notebook(
        lambda made: made["cells"].insert(
            0, code("1", metadata={"lastgood": {"notes": ["You get 10 points."]}})
        )
    ),
    "another-lab": Odd(
        lambda folder: write(
            folder, stripped(without(release(), *RIGHT, "check-double", "check-area", "rule"), "id")
        ),
        NONE,
        ("holds no cell that is graded here", ZERO),
        graded=False,
    ),
    # dates
    "dated": Odd(_dated("2026-01-02 03:04:05 UTC"), ALL),
    "no-date": Odd(_dated("yesterday evening"), ALL, ("holds no date",)),
    "empty-date": Odd(_dated(""), ALL, ("holds no date",)),
    "future": Odd(_dated("2199-01-01 00:00:00"), ALL, ("still to come",)),
    "ancient": Odd(_dated("1066-10-14"), ALL, ("cannot be",)),
    "huge-date": Odd(_dated("9" * 400), ALL, ("holds no date",)),
}
