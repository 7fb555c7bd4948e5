"""Lab 19, part B: the last good checkpoint among torn, corrupt and foreign ones."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lastgood.recovery.job import checkpoints
from lastgood.recovery.job.checkpoints import CORRUPT, FOREIGN, MANIFEST, STATE, TORN
from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, attempt, borrowed
from lastgood.teaching.checks.lab19.passages import NEWEST
from lastgood.teaching.checks.report import Report, part, untested

RUN, OTHER = "run-a", "run-b"
NEWEST_GOOD, SAYS_WHY, NONE = (
    "finds the newest good one",
    "says what it passed over, and why",
    "says when there is none",
)
WAYS = ("cut", "flipped", "of another run", "renamed", "no manifest", "half a manifest", "no state")
WORDS = dict(zip(WAYS, (TORN, CORRUPT, FOREIGN, FOREIGN, TORN, TORN, TORN), strict=True))
LITTER = ("notes.txt", "step-{}.tmp", "step-{}.bak", "best")


def _draw(seed: int) -> Data:
    """Folders: for each step, oldest first, what is wrong with its checkpoint ("" for nothing)."""
    source = random.Random(seed)
    every = source.choice((4, 5, 10))
    steps = [100 + every * k for k in range(-3, 4)]  # from two digits to three: names do not sort as steps do
    ways = list(WAYS)
    source.shuffle(ways)
    return {
        "seed": seed,
        "folders": {
            "sound": [[step, ""] for step in steps],
            "some damaged": [
                *([s, ""] for s in steps[:3]),
                *([s, w] for s, w in zip(steps[3:7], ways[:4], strict=True)),
            ],
            "others damaged": [
                *([s, ""] for s in steps[:2]),
                *([s, w] for s, w in zip(steps[2:5], ways[4:], strict=True)),
            ],
            "all damaged": [[steps[0], "cut"], [steps[1], "no manifest"]],
            "empty": [],
        },
    }


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    if refused := borrowed(names["0"]):
        return {"error": refused}
    told: Data = {}
    for title, contents in inputs["folders"].items():
        with tempfile.TemporaryDirectory() as folder:
            _lay_out(Path(folder), contents, random.Random(inputs["seed"]))
            value, fault = attempt(names["0"], Path(folder), RUN)
        told[title] = {"error": fault} if fault else _told(value)
    return told


def _told(value: Any) -> Data:
    """A learner's answer as plain data."""
    if not (isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[1], dict)):
        return {"error": "It should return two things: a path or None, and a dict of what was passed over."}
    found, skipped = value
    if not isinstance(found, Path | str | None):
        return {"error": f"The first thing that it returns is a {type(found).__name__}, not a path or None."}
    return {
        "found": None if found is None else Path(found).name,
        "skipped": {Path(str(key)).name: str(why) for key, why in skipped.items()},
    }


def _lay_out(folder: Path, contents: list[list[Any]], source: random.Random) -> None:
    """Make checkpoints as `contents` says, with times that mislead, and what else lies about in a folder."""
    for step, way in contents:
        path = checkpoints.write(
            folder, OTHER if way == "of another run" else RUN, step, source.randbytes(400)
        )
        _spoil(path, way)
    if contents:
        beyond = contents[-1][0] + 50
        for name in LITTER:
            place = folder / name.format(beyond)
            if place.suffix == ".txt":
                place.write_text("step-9999 was lovely")
            else:
                shutil.copytree(folder / f"step-{contents[0][0]}", place)
    oldest_first = sorted(
        folder.iterdir(), key=lambda path: checkpoints.step_of(path.name) or 0, reverse=True
    )
    for age, path in enumerate(oldest_first):
        for each in (*path.glob("*"), path):
            os.utime(each, (1_700_000_000 + age, 1_700_000_000 + age))


def _spoil(path: Path, way: str) -> None:
    if way == "cut":
        checkpoints.damage(path, TORN)
    elif way == "flipped":
        checkpoints.damage(path, CORRUPT)
    elif way == "renamed":  # somebody copied an earlier one to here
        step = checkpoints.step_of(path.name)
        text = (path / MANIFEST).read_text()
        (path / MANIFEST).write_text(text.replace(f'"step": {step}', '"step": 3'))
    elif way == "no manifest":
        (path / MANIFEST).unlink()
    elif way == "half a manifest":
        (path / MANIFEST).write_text((path / MANIFEST).read_text()[:40])
    elif way == "no state":
        (path / STATE).unlink()


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return FOUND.failed(data["error"])
    folders = inputs["folders"]
    data = {title: _answer(data[title]) for title in folders}
    sound = "sound", "some damaged", "others damaged"
    if "error" in data["sound"]:
        return FOUND.failed(f"{data['sound']['error']}{_litter(data['sound']['error'])}", NEWEST)
    wrong = _first(_misfound(folders[title], data[title]) for title in sound)
    none = _first(_misfound(folders[title], data[title]) for title in ("all damaged", "empty"))
    if wrong:
        says_why = untested(SAYS_WHY, 1, "First the right one has to be found.")
    else:
        unsaid = _first(_unsaid(folders[title], data[title]) for title in sound[1:])
        says_why = part(SAYS_WHY, 1, unsaid, NEWEST)
    parts = (part(NEWEST_GOOD, 3, wrong, NEWEST), says_why, part(NONE, 1, none, NEWEST))
    return Report(FOUND.exercise, parts)


def _answer(told: Any) -> Data:
    """What came for one folder. Raises NotAnAnswer where `measure` could not have returned it."""
    if isinstance(told, dict) and "error" in told:
        return dict(exact.texts(told))
    about = exact.under(told, ("found", "skipped"))
    return {"found": exact.text_or_none(about["found"]), "skipped": exact.texts(about["skipped"])}


def _first(sentences: Iterable[str]) -> str:
    """The first that is not empty, if any."""
    return next(filter(None, sentences), "")


def _misfound(contents: list[list[Any]], told: Data) -> str:
    """A sentence where another checkpoint than the last good one was found."""
    if "error" in told:
        return f"{told['error']} (In a folder with {_listed(contents)}.){_unread(told['error'])}"
    good = [step for step, way in contents if not way]
    right = f"step-{good[-1]}" if good else None
    found = told["found"]
    if found == right:
        return ""
    ways = {f"step-{step}": way for step, way in contents}
    if found is None:
        return f"It found none, and {right} is good. (The folder holds {_listed(contents)}.)"
    if found not in ways:
        return f"It found {found}, which is no checkpoint: those are named step- and a number, and no more."
    if ways[found]:
        return f"It trusted {found}, which is {WORDS[ways[found]]} ({_HOW[ways[found]]})." + (
            f" {right} is the newest good one." if right else " There is no good one: that is None."
        )
    return f"It found {found}, and {right} is newer. {_order(found, [f'step-{step}' for step in good])}"


def _litter(error: str) -> str:
    if "raised" not in error:
        return ""
    return (
        " (Every checkpoint of this folder is good. It also holds notes.txt, a step-165.tmp and the like: "
        "those are not named as checkpoints are, so leave them alone.)"
    )


def _unread(error: str) -> str:
    """What to do where a file that is missing or broken off made the learner's function raise."""
    if "[Errno" not in error and "JSONDecodeError" not in error:
        return ""
    return " A file that is missing or broken off is what torn means: catch the error, and say so."


_HOW = {
    "cut": "state.pt is shorter than its manifest says",
    "flipped": "one byte is another, so its SHA-256 is not that of the manifest",
    "of another run": "its manifest names another run",
    "renamed": "its manifest names another step",
    "no manifest": "it has no manifest",
    "half a manifest": "its manifest breaks off",
    "no state": "it has no state.pt",
}


def _order(found: str, good: list[str]) -> str:
    if found == good[0]:
        return "Its files have the latest time; but a copy or a set-back clock changes times. Go by the step."
    if found == max(good):
        return "As text, it sorts behind: step-95 comes after step-100. Go by the number."
    return "Go by the step."


def _unsaid(contents: list[list[Any]], told: Data) -> str:
    newest = max(step for step, way in contents if not way)
    ways = {f"step-{step}": way for step, way in contents}
    for step, way in reversed(contents):
        why = told["skipped"].get(f"step-{step}")
        if step > newest and why is None:
            return f"step-{step} was passed over, and nothing is said of it."
        if step > newest and WORDS[way] not in why.lower():
            return f"Of step-{step} you say {why!r}; it is {WORDS[way]} ({_HOW[way]})."
    blamed = [name for name in told["skipped"] if ways.get(name) == ""]
    return f"{blamed[0]} stands among those passed over, and it is good." if blamed else ""


def _listed(contents: list[list[Any]]) -> str:
    return (
        ", ".join(f"step-{step}{f' ({WORDS[way]})' if way else ''}" for step, way in contents)
        or "nothing in it"
    )


FOUND = Check("last_good", "B The last good checkpoint", 5, _draw, _measure, _judge)
