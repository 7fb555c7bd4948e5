"""Lab 08, part B: bytes in memory, bytes in a checkpoint, and OPT's 1.6 TB."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from lastgood.teaching.checks.core import Check, Data, number
from lastgood.teaching.checks.lab08.own import asked, in_checkpoint, in_memory, once, refused
from lastgood.teaching.checks.lab08.passages import BYTES, IN_MEMORY, ON_DISK, OPT
from lastgood.teaching.checks.report import Part, Report, part
from lastgood.training import memory

TOLERANCE = 1e-3
PRECISIONS = {"32 bits throughout": False, "mixed precision": True}

Formula = Callable[[int, int, bool], float]


def _near(found: float, right: float, tolerance: float = TOLERANCE) -> bool:
    return abs(found - right) <= tolerance * abs(right)


def _draw(seed: int) -> Data:
    """Parameters for each number of moments. No mistake is right for all three."""
    source = random.Random(seed)
    return {"runs": [[source.randrange(1_000, 200_000) * 1_000, moments] for moments in (0, 1, 2)]}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    found: dict[str, list[float]] = {}
    for title, mixed in PRECISIONS.items() if not fault else ():
        for parameters, moments in inputs["runs"]:
            value, fault = asked(names["0"], parameters, moments, mixed)
            figure, fault = (0.0, fault) if fault else number(value)
            if fault:
                return {"error": fault}
            found.setdefault(title, []).append(figure)
    return {"error": fault} if fault else {"found": found}


def _size_check(
    name: str, exercise: str, right: Formula, mistakes: Mapping[str, Formula], reread: str
) -> Check:
    def judge(inputs: Data, data: Data) -> Report:
        if "error" in data:
            return check.failed(data["error"])
        parts = (verdict(title, inputs["runs"], data["found"][title]) for title in PRECISIONS)
        return Report(exercise, once(parts))

    def verdict(title: str, runs: list[list[int]], found: list[float]) -> Part:
        mixed = PRECISIONS[title]

        def are(formula: Formula) -> bool:
            return all(_near(size, formula(n, k, mixed)) for size, (n, k) in zip(found, runs, strict=True))

        if are(right):
            return part(title, 1, "")
        why = next((sentence for sentence, wrong in mistakes.items() if are(wrong)), "")
        at = next(i for i, (n, k) in enumerate(runs) if not _near(found[i], right(n, k, mixed)))
        each, wanted = found[at] / runs[at][0], right(1, runs[at][1], mixed)
        told = f"With {runs[at][1]} moments you have {each:.4g} bytes a parameter, and {wanted:g} is right."
        return part(title, 1, why or told.replace("With 1 moments", "With 1 moment"), reread)

    check = Check(name, exercise, 2, _draw, _measure, judge)
    return check


def _each(weights: float, master: float, gradients: float, moment: float, most: int = 2) -> Formula:
    """Bytes where each parameter takes so many in each component."""
    return lambda n, k, mixed: n * (weights + master + gradients + min(k, most) * moment)


def _both(full: Formula, mixed_one: Formula) -> Formula:
    return lambda n, k, mixed: (mixed_one if mixed else full)(n, k, mixed)


def _in_units(right: Formula) -> dict[str, Formula]:
    return {
        "That is in bits. A byte has eight.": lambda n, k, mixed: 8 * right(n, k, mixed),
        "That is in gigabytes. Bytes are wanted.": lambda n, k, mixed: right(n, k, mixed) / 1e9,
        "That is in megabytes. Bytes are wanted.": lambda n, k, mixed: right(n, k, mixed) / 1e6,
        "That is for one parameter. How many are there?": lambda n, k, mixed: right(1, k, mixed),
    }


MEMORY = _size_check(
    "in_memory",
    "B1 Bytes in memory",
    in_memory,
    {
        "The gradients are forgotten: one number for each parameter, from backward until the next.": _both(
            _each(4, 0, 0, 4), _each(2, 4, 0, 4)
        ),
        "The master weights are forgotten: beside its 16-bit weights, the run keeps them in 32 bits.": (
            _each(2, 0, 2, 4)
        ),
        "One moment only. With two, each parameter has two more numbers.": _both(
            _each(4, 0, 4, 4, most=1), _each(2, 4, 2, 4, most=1)
        ),
        "The moments are counted in 16 bits. They stay in 32: small changes would be rounded away.": (
            _each(2, 4, 2, 2)
        ),
        "The gradients are counted in 32 bits. In this table they have 16.": _each(2, 4, 4, 4),
        "The weights are there twice, once in 16 bits and once in 32. You count those in 32.": (
            _each(0, 4, 2, 4)
        ),
        "Everything is counted in 16 bits.": lambda n, k, mixed: 2 * n * (2 + k) if mixed else -1,
        "Everything is counted in 32 bits.": lambda n, k, mixed: 4 * n * (3 + k) if mixed else -1,
        "Two moments, whatever `moments` says.": lambda n, k, mixed: in_memory(n, 2, mixed),
        "The moments are forgotten.": lambda n, k, mixed: in_memory(n, 0, mixed),
        "That is how many numbers there are. How many bytes has each?": lambda n, k, mixed: (
            n * (2 + k + mixed)
        ),
        **_in_units(in_memory),
    },
    IN_MEMORY,
)

CHECKPOINT = _size_check(
    "in_checkpoint",
    "B2 Bytes in a checkpoint",
    in_checkpoint,
    {
        "The gradients are saved. The next step computes its own: nothing reads those of the last one.": (
            in_memory
        ),
        "The master weights are forgotten. The 16-bit ones are their rounded copy: small changes are lost.": (
            _each(2, 0, 0, 4)
        ),
        "The 16-bit weights are left out. They could be made anew, but here they are saved.": _each(
            0, 4, 0, 4
        ),
        "One moment only. Both decide the next step.": _both(
            _each(4, 0, 0, 4, most=1), _each(2, 4, 0, 4, most=1)
        ),
        "The moments are counted in 16 bits. They stay in 32.": _each(2, 4, 0, 2),
        "These are the weights alone. What the optimizer remembers has to be saved too.": (
            lambda n, k, mixed: in_checkpoint(n, 0, mixed)
        ),
        "Two moments, whatever `moments` says.": lambda n, k, mixed: in_checkpoint(n, 2, mixed),
        "Everything is counted in 32 bits.": lambda n, k, mixed: 4 * n * (2 + k) if mixed else -1,
        **_in_units(in_checkpoint),
    },
    ON_DISK,
)

OPT_PARAMETERS, TB, TIB = 175 * 10**9, 10**12, 2**40
_OPT_BYTES = memory.in_checkpoint(OPT_PARAMETERS, memory.MIXED_NO_MASTER, memory.ADAM)
_OPT_MISTAKES = {
    12: "That is 12 bytes a parameter, as with gradients or 32-bit weights. Neither is in the file.",
    14: "That is 14 bytes a parameter, as with master weights. The 1.6 TB have no room for them.",
    16: "That is 16 bytes a parameter: all that is in memory.",
    8: "That is 8 bytes a parameter: the moments without the weights.",
    6: "That is 6 bytes a parameter: one moment. Adam has two.",
    2: "That is 2 bytes a parameter: the weights alone.",
    4: "That is 4 bytes a parameter: weights, and no moments.",
}


def _measure_opt(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    value, fault = ((), fault) if fault else asked(names["0"])
    if fault:
        return {"error": fault}
    try:
        sizes = [float(size) for size in value]
    except (TypeError, ValueError):
        sizes = []
    return {"sizes": sizes} if len(sizes) == 2 else {"error": "Return two numbers: terabytes, tebibytes."}


def _judge_opt(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return OPT_SIZE.failed(data["error"])
    terabytes, tebibytes = data["sizes"]
    parts = (_opt_part("TB", terabytes, TB, TIB), _opt_part("TiB", tebibytes, TIB, TB))
    return Report(OPT_SIZE.exercise, once(parts))


def _opt_part(unit: str, found: float, size: int, other: int) -> Part:
    if _near(found * size, _OPT_BYTES, 0.005):
        return part(unit, 1, "")
    what = {"TB": "A terabyte is 10¹² bytes", "TiB": "A tebibyte is 2⁴⁰ bytes"}[unit]
    for bytes_each, sentence in _OPT_MISTAKES.items():
        if _near(found * size, OPT_PARAMETERS * bytes_each, 0.005):
            return part(unit, 1, sentence, BYTES)
    if _near(found * other, _OPT_BYTES, 0.005):
        swapped = "TiB" if unit == "TB" else "TB"
        return part(unit, 1, f"As {swapped} it would be right. {what}.", OPT)
    for value, sentence in _opt_slips(size).items():
        if _near(found, value, 0.005):
            return part(unit, 1, f"{sentence} {what}.", OPT)
    return part(unit, 1, f"You get {found:,.4g}. {what}; how many has a parameter?", OPT)


def _opt_slips(unit: int) -> dict[float, str]:
    """Values of the right bytes in the wrong unit, in so many bytes."""
    right = _OPT_BYTES / unit
    return {
        float(_OPT_BYTES): "That is in bytes.",
        _OPT_BYTES / 10**9: "That is in gigabytes.",
        _OPT_BYTES / 2**30: "That is in gibibytes.",
        right / 10**9: "That is for 175 parameters, not 175 billion.",
        _OPT_BYTES / (1024 * 10**9): "1,024 · 10⁹ is neither unit.",
        _OPT_BYTES * unit / 10**24: "You multiply by the unit. Divide: where it is larger, there are fewer.",
        round(right, 1): "That is rounded. Leave the digits.",
    }


OPT_SIZE = Check("opt_checkpoint", "B3 OPT's checkpoint", 2, lambda seed: {}, _measure_opt, _judge_opt)
