"""A lab of a few lines, not of this course's kind: asserts, a hidden test, a written answer."""

import copy
import json
from pathlib import Path
from typing import Any

from autograder.intake.reading import notebook_in
from autograder.intake.released import Marked, Released, released

LAB = "small"
Json = dict[str, Any]
_TAGS = {"schema_version": 3, "task": False, "locked": False, "grade": False, "solution": False}
_HIDDEN = "\n### BEGIN HIDDEN TESTS\nassert double(-3) == -6\n### END HIDDEN TESTS"
RIGHT = {
    "double": "def double(x):\n    return 2 * x",
    "area": "def area(side):\n    return side**RATE",
    "why": "A square has two sides.",
}
POINTS = {"check-double": 2, "check-area": 3, "why": 2}
RULE = "RATE = 2"
TESTS = {"check-double": "assert double(2) == 4", "check-area": "assert area(3) == 9"}


def master() -> Json:
    """The instructor's notebook."""
    return _notebook(
        [
            _cell("markdown", "# Small", "title"),
            _cell("code", "import math", "imports"),
            _cell("code", RULE, "rule", locked=True),
            _cell("code", _solution("double", "x", "2 * x"), "double", solution=True),
            _cell("code", TESTS["check-double"] + _HIDDEN, "check-double", grade=True, locked=True),
            _cell("markdown", "Areas are next.", "prose"),
            _cell("code", _solution("area", "side", "side**RATE"), "area", solution=True),
            _cell("code", TESTS["check-area"], "check-area", grade=True, locked=True),
            _cell("markdown", "Because it is so.", "why", solution=True, grade=True),
            _cell("markdown", "The end.", "end"),
        ]
    )


def release() -> Json:
    """The notebook as nbgrader releases it."""
    made = master()
    for cell in made["cells"]:
        name = cell["id"]
        if name in ("double", "area"):
            cell["source"] = (
                cell["source"].partition("\n    ### BEGIN")[0]
                + "\n    # YOUR CODE HERE\n    raise NotImplementedError"
            )
        elif name == "why":
            cell["source"] = "YOUR ANSWER HERE"
        cell["source"] = cell["source"].partition(_HIDDEN)[0]
    return made


def answered() -> Json:
    """What an honest learner hands in who can do it all."""
    made = release()
    for cell in made["cells"]:
        cell["source"] = RIGHT.get(cell["id"], cell["source"])
    return made


def at(notebook: Json, name: str) -> Json:
    """The cell with this id."""
    found: Json = next(cell for cell in notebook["cells"] if cell.get("id") == name)
    return found


def without(notebook: Json, *names: str) -> Json:
    """The notebook without the cells of these ids."""
    notebook["cells"] = [cell for cell in notebook["cells"] if cell.get("id") not in names]
    return notebook


def stripped(notebook: Json, *keys: str) -> Json:
    """The notebook as other programs leave it, which know nothing of some of its keys."""
    for cell in notebook["cells"]:
        for key in keys:
            cell.pop(key, None)
        if "metadata" in keys:
            cell["metadata"] = {}
    return notebook


def again(notebook: Json, name: str, **changes: Any) -> Json:
    """The notebook with a second copy of a cell below the first."""
    cells = notebook["cells"]
    place = cells.index(at(notebook, name))
    cells.insert(place + 1, {**copy.deepcopy(cells[place]), "id": f"{name}-copy", **changes})
    return notebook


def code(source: str, **more: Any) -> Json:
    """A cell of the learner's own."""
    return {
        "cell_type": "code",
        "source": source,
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        **more,
    }


def write(folder: Path, notebook: Json, name: str = f"{LAB}.ipynb") -> Path:
    """Hand in a notebook."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def marks() -> dict[str, Marked]:
    """What the gradebook holds of it: locked cells with their hidden tests, answers as released."""
    full = {cell["id"]: cell for cell in master()["cells"]}
    made = {}
    for cell in release()["cells"]:
        about = cell["metadata"].get("nbgrader")
        if about:
            name = cell["id"]
            source = full[name]["source"] if about["locked"] else cell["source"]
            flags = {key: about[key] for key in ("locked", "grade", "solution", "task")}
            made[name] = Marked(
                name, cell["cell_type"], source, "0" * 32, points=POINTS.get(name, 0), **flags
            )
    return made


def as_released(folder: Path) -> Released:
    """The release as the intake has it. `folder` is for its file."""
    return released(LAB, notebook_in(write(folder, release())), marks())


def _notebook(cells: list[Json]) -> Json:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}


def _cell(kind: str, source: str, name: str, **flags: bool) -> Json:
    made = {"cell_type": kind, "source": source, "id": name, "metadata": {}}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    if flags:
        points = {"points": POINTS[name]} if flags.get("grade") else {}
        made["metadata"] = {"nbgrader": {**_TAGS, **flags, **points, "grade_id": name, "cell_type": kind}}
    return made


def _solution(name: str, arguments: str, body: str) -> str:
    return f"def {name}({arguments}):\n    ### BEGIN SOLUTION\n    return {body}\n    ### END SOLUTION"
