"""Lab 20, part B: the interval at which the expected time is least."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from lastgood.recovery import interval as library
from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, number
from lastgood.teaching.checks.lab20.own import asked, refused
from lastgood.teaching.checks.lab20.passages import EXACT, LOWEST
from lastgood.teaching.checks.report import Report, part

TOLERANCE = 0.01  # of the interval: narrower than any run needs, so that Young's rule shows
NEAR = 0.1

_MISTAKES: dict[str, Callable[[float, float], Any]] = {
    "This is Young's formula. It leaves out that saves can be struck, and a stretch be hit twice.": (
        library.young
    ),
    "This is √(2·save_cost·mtbf) + save_cost. The interval is work, and the save is no part of it. "
    "Young's root is too long as it is.": library.young_plus_save,
    "This is Daly's bracket with + save_cost where he has a minus.": library.daly_plus_save,
    "This is the best interval plus the save: the time from one save's end to the next one's. "
    "The interval is the work alone.": lambda save_cost, mtbf: library.optimum(save_cost, mtbf) + save_cost,
}


def exact_time(work: Any, interval: Any, save_cost: Any, mtbf: Any, restart_cost: Any = 0.0) -> Any:
    """`expected_time` as the formula has it: for numbers and arrays, wherever a search goes."""
    span = (np.asarray(interval, dtype=float) + save_cost) / mtbf
    return mtbf * np.exp(np.asarray(restart_cost) / mtbf) * np.expm1(span) * work / interval


def _draw(seed: int) -> Data:
    """Three runs, [save_cost, mtbf, restart_cost] in hours: cheap saves, dear ones, and very dear ones."""
    source = random.Random(seed)
    runs = []
    for low, high in ((0.02, 0.04), (0.1, 0.15), (0.4, 0.6)):
        mtbf = float(source.randrange(4, 13))
        restart = source.randrange(5, 16) / 10
        runs.append([round(mtbf * source.uniform(low, high), 2), mtbf, restart])
    return {"runs": runs}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    if fault:
        return {"error": fault}
    found = []
    for save_cost, mtbf, restart in inputs["runs"]:
        pair = []
        for slowness in (1, 3):
            value, fault = asked(names["0"], exact_time, save_cost, mtbf, slowness * restart)
            figure, not_one = ("", "") if fault else number(value)
            if fault or not_one:
                return {"error": fault or not_one}
            pair.append(figure)
        found.append(pair)
    return {"intervals": found}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return BEST.failed(data["error"])
    fault, reread = _fault(inputs["runs"], data["intervals"])
    return Report(BEST.exercise, (part("best interval", BEST.worth, fault, reread),))


def _fault(runs: list[list[float]], found: Any) -> tuple[str, str]:
    """What is wrong with the intervals, and what to reread."""
    pairs = [exact.numbers(pair, 2) for pair in exact.items(found, len(runs))]
    for pair, run in zip(pairs, runs, strict=True):
        if not all(map(math.isfinite, pair)):
            return _cost(next(x for x in pair if not math.isfinite(x)), run), LOWEST
    firsts = [first for first, _ in pairs]
    off = [abs(x / float(library.optimum(d, m)) - 1) for x, (d, m, _) in zip(firsts, runs, strict=True)]
    for (first, second), (d, m, restart) in zip(pairs, runs, strict=True):
        if abs(second - first) > TOLERANCE * abs(first):
            return (
                f"For save_cost {d:g} h and mtbf {m:g} h you get {first:.3g} h where a restart takes "
                f"{restart:g} h, and {second:.3g} h where it takes {3 * restart:g} h. "
                "A slow restart costs the same at each failure, whatever the interval: it does not move the "
                "lowest point."
            ), EXACT
    if max(off) <= TOLERANCE:
        return "", ""
    for sentence, formula in _MISTAKES.items():
        if all(
            abs(x / float(formula(d, m)) - 1) <= TOLERANCE for x, (d, m, _) in zip(firsts, runs, strict=True)
        ):
            return f"{sentence}\n{_cost(firsts[-1], runs[-1])}", LOWEST
    worst = off.index(max(off))
    if max(off) <= NEAR:
        return f"Near, but not within 1 %. Search more finely.\n{_cost(firsts[worst], runs[worst])}", LOWEST
    return _cost(firsts[worst], runs[worst]), LOWEST


def _cost(interval: float, run: list[float]) -> str:
    save_cost, mtbf, _ = run
    given = f"For save_cost {save_cost:g} h and mtbf {mtbf:g} h you get {interval:.4g} h"
    if not 0 < interval < 100 * mtbf:
        return f"{given}, which is no interval to work by."
    much = 100 * float(library.excess(interval, save_cost, mtbf))
    way = "too long" if interval > float(library.optimum(save_cost, mtbf)) else "too short"
    return f"{given}: {way}. The run takes {much:.2g} % longer than it has to."


BEST = Check("best_interval", "B1 The lowest point", 3, _draw, _measure, _judge)
