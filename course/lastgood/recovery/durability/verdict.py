"""The verdict on `save` and `load`, from what the processes saw, in words that a learner can act on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lastgood.recovery.components import COMPONENTS, STEP, TITLES, differences
from lastgood.recovery.learner.answers import plain
from lastgood.recovery.wire import same

NOT_THAT_RUN = "what the processes say that they saw is not the run whose states were saved"
MOST_NAMES = 12  # of files that are told


@dataclass(frozen=True)
class Durability:
    """The verdict on `save` and `load`."""

    stopped: dict[str, Any] | None = None
    round_trip: str = ""  # what went wrong after a finished save; empty where nothing did
    torn: tuple[str, ...] = ()  # one sentence for each point at which a kill left neither state
    points: int = 0  # how many points were tried
    reference: bool = False  # tested with the library's capture and restore

    @property
    def passed(self) -> bool:
        return self.stopped is None and not self.round_trip and not self.torn and self.points > 0


def judge(data: dict[str, Any]) -> Durability:
    """The verdict, from what the processes saw."""
    reference = data["reference"]
    for stage in ("saver", "loaded"):
        if "error" in data.get(stage, {}):
            return Durability(stopped=data[stage]["error"], reference=reference)
    for seen in data["kept"]:
        if "error" in seen:
            return Durability(stopped=seen["error"], reference=reference)
    if not data["true"]:
        return Durability(round_trip=NOT_THAT_RUN, reference=reference)
    old, new, after = (seen["restored"] for seen in data["kept"])
    torn = (_saved_words(s, after) if s["then_saved"] else _torn_words(s, old, new) for s in data["torn"])
    sizes = dict(data["saver"]["files"])
    found = tuple(_line(seen, what, sizes) for seen, what in zip(data["torn"], torn, strict=True) if what)
    return Durability(None, _round_trip(data, new), found, len(data["torn"]), reference)


def _line(seen: dict[str, Any], what: str, sizes: dict[str, int]) -> str:
    """Where it was killed, and what that led to."""
    says, cut = seen["says"], seen["cut"]
    if seen["survived"] and any(cut):
        refused = "in two saves in a row, the rest of a file" if len(cut) > 1 else f"{says}, the rest"
        return f"{refused} was refused, and save went on: {what}. Does save notice how much was written?"
    if seen["then_saved"]:
        return f"killed {says}; the next save was not killed: {what}"
    if len(cut) > 1 and all(cut):
        now = f". Cut off are now {' and '.join(sorted(cut[-1]))}" if len(cut[-1]) > 1 else ""
        return (
            f"killed when half of {cut[0][0]} was written, and the next save when half of {cut[1][0]} was: "
            f"{what}{now}"
        )
    if "of the new state" in says and any(cut):
        return f"killed {says}, into {cut[0][0]}: {what}"
    full = sizes.get(seen["target"], 0)
    if seen["bytes"] is not None and seen["bytes"] < full:
        says += f", when only {seen['bytes']:,} of {full:,} bytes were in the file"
    return f"killed {says}: {what}"


def _round_trip(data: dict[str, Any], new: dict[str, Any]) -> str:
    """What is wrong with what `load` returned after the last save; empty where nothing is."""
    loaded = data["loaded"]["restored"]
    outside = sorted({*data["saver"]["outside"], *data["loaded"]["outside"]})
    if outside:
        return (
            f"save and load use a file outside the folder that they were given, {outside[0]}: "
            "when a node is lost, what lies outside the folder is lost with it"
        )
    if same(loaded, new):
        return ""
    step, newest = loaded[STEP]["step"], new[STEP]["step"]
    parts = differences(loaded, new)
    if len(parts) > 1 and step < newest:
        return (
            f"load found the state of step {step}, though the newest that was saved is of step {newest}"
            + _lying(data["saver"]["files"])
        )
    return "what load returned is not what save was given: " + "; ".join(
        f"{TITLES[name]} ({difference})" for name, difference in parts.items()
    )


def _lying(files: list[list[Any]]) -> str:
    """The names of the files that the last save left in the folder."""
    names = [str(Path(*Path(name).parts[1:])) for name, _ in files]
    if len(names) < 2:
        return f". In the folder lies {names[0]}" if names else ""
    count = "" if len(names) <= MOST_NAMES else f", the last {MOST_NAMES} of {len(names)}"
    return f". In the folder lie, in the order of writing{count}: {', '.join(names[-MOST_NAMES:])}"


def _torn_words(seen: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> str:
    """What a kill led to; empty where `load` finds one of the two states."""
    if "error" in seen:
        return _error_words(seen["error"])
    if same(seen["restored"], old) or same(seen["restored"], new):
        return ""
    found = seen["restored"]
    newer = [name for name in COMPONENTS if same(found[name], new[name])]
    older = [name for name in COMPONENTS if same(found[name], old[name])]
    if newer and older and {*newer, *older} == {*COMPONENTS}:
        some, whose, others = (newer, "newer", "older") if len(newer) < 3 else (older, "older", "newer")
        return f"load returned a mix: {_titles(some)} from the {whose} save, the rest from the {others}"
    return "load returned a state that is neither the older nor the newer one"


def _titles(names: list[str]) -> str:
    *most, last = (TITLES[name] for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def _saved_words(seen: dict[str, Any], saved: dict[str, Any]) -> str:
    """What a kill and a whole save after it led to; empty where `load` finds what was saved."""
    if "error" in seen:
        words = _error_words(seen["error"])
        return f"it{words.removeprefix('save')}" if seen["error"]["stage"] == "save" else words
    return "" if same(seen["restored"], saved) else "load did not find what it saved"


def _error_words(error: dict[str, Any]) -> str:
    kind, message = error["kind"], plain(error)
    if error["stage"] == "load" and kind == "FileNotFoundError":
        path = Path(error["message"].rpartition(": ")[2].strip("'\""))
        return f"load found no file of the name {path.name}"
    if error["stage"] == "load" and (kind in _HALF or any(sign in message for sign in _SIGNS_OF_HALF)):
        return f"load found a cut-off file ({kind})"
    return f"{error['stage']} raised {kind} ({_INSIDE.sub('checkpoints', message)})"


_HALF = ("EOFError", "UnpicklingError", "BadZipFile", "JSONDecodeError", "SafetensorError")
_SIGNS_OF_HALF = ("PytorchStreamReader", "[Errno 22]")
_INSIDE = re.compile(r"/\S*/lastgood-save-[^/]*/[^/]*/checkpoints")
