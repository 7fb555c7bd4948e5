"""Lab 17, part A: the learning rate as a pure function of the step."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab17.own import alike, near, number, refused, right_rate
from lastgood.teaching.checks.lab17.passages import UP_AND_DOWN
from lastgood.teaching.checks.report import Report, part, untested

BEYOND = 60  # steps after the horizon

Curve = Callable[..., float]  # of peak, warmup, horizon, floor, step


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    peak = source.randrange(10, 60) / 10_000
    warmup = source.randrange(8, 16)
    floor = round(peak * source.uniform(0.15, 0.3), 6)
    return {"curve": [peak, warmup, warmup + source.randrange(70, 110), floor]}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault, rates = refused(names["0"]), []
    horizon = inputs["curve"][2]
    for step in range(horizon + BEYOND + 1) if not fault else ():
        value, fault = attempt(names["0"], step, *inputs["curve"])
        rate, fault = (0.0, fault) if fault else number(value)
        if fault:
            return {"error": fault if step == 0 else f"At step {step}: {fault}"}
        rates.append(rate)
    return {"error": fault} if fault else {"rates": rates}


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return RATE.failed(data["error"])
    curve = inputs["curve"]
    _, warmup, horizon, _ = curve
    rates = exact.numbers(data["rates"], horizon + BEYOND + 1)
    up = _up_fault(rates[: warmup + 1], curve)
    known, down = _down_fault(rates[warmup : horizon + 1], curve, late=up == ONE_TOO_LONG)
    beyond = (
        part("beyond the horizon", 1, _beyond_fault(rates[horizon:], curve), UP_AND_DOWN)
        if known
        else untested("beyond the horizon", 1, "First the decay up to the horizon.")
    )
    parts = (part("warm-up", 1, up, UP_AND_DOWN), part("decay", 2, down, UP_AND_DOWN), beyond)
    return Report(RATE.exercise, parts)


ONE_TOO_LONG = (
    "The warm-up goes on one step too long, above the peak: the step with number warmup is no part of it."
)

UP: dict[str, Curve] = {
    "It starts at 0: the first step would train nothing. Step 0 is one warm-up-th of the way up.": (
        lambda p, w, h, f, s: p * s / w
    ),
    "It is one step late: the warm-up's last step, number warmup - 1, should be at the peak.": (
        lambda p, w, h, f, s: p * (s + 1) / (w + 1)
    ),
    "It starts from the floor. The warm-up is the peak's share: of w steps, the first has 1/w of it.": (
        lambda p, w, h, f, s: f + (p - f) * (s + 1) / w
    ),
    "There is no warm-up: the first step has the whole peak.": lambda p, w, h, f, s: p,
    "There is no warm-up: the cosine begins at step 0.": (
        lambda p, w, h, f, s: f + (p - f) * (1 + math.cos(math.pi * s / h)) / 2
    ),
}


def _up_fault(rates: list[float], curve: list[Any]) -> str:
    """What is wrong with steps 0 to warmup - 1, or empty. `rates` has one more, the first of the decay."""
    peak, warmup, *_ = curve
    if alike(rates[:warmup], [right_rate(step, *curve) for step in range(warmup)]):
        return ONE_TOO_LONG if near(rates[warmup], peak * (warmup + 1) / warmup) else ""
    for sentence, wrong in UP.items():
        if alike(rates[:warmup], [wrong(*curve, step) for step in range(warmup)]):
            return sentence
    return _largest_difference(rates[:warmup], curve, 0)


def _cosine(share: float) -> float:
    return 0.5 * (1 + math.cos(math.pi * share))


def _share(w: int, h: int, s: int) -> float:
    return (s - w) / (h - w)


DOWN: dict[str, Curve] = {
    "It decays to 0 instead of the floor.": lambda p, w, h, f, s: p * _cosine(_share(w, h, s)),
    "The cosine runs to 0 and is cut off at the floor. It should be squeezed between floor and peak: the "
    "curve is another one long before its end.": lambda p, w, h, f, s: max(f, p * _cosine(_share(w, h, s))),
    "The floor is added to a cosine that already starts at the peak: it begins above the peak. The cosine "
    "has only the way from peak to floor to go.": lambda p, w, h, f, s: f + p * _cosine(_share(w, h, s)),
    "The cosine counts from step 0: it has begun before the warm-up ends, and the peak is never reached. "
    "Count from the end of the warm-up.": lambda p, w, h, f, s: f + (p - f) * _cosine(s / h),
    "The decay takes `horizon` steps after the warm-up. The horizon is counted from step 0: "
    "horizon - warmup are left.": lambda p, w, h, f, s: f + (p - f) * _cosine((s - w) / h),
    "That is a straight line. A cosine falls slowly, then quickly, then slowly.": (
        lambda p, w, h, f, s: p + (f - p) * _share(w, h, s)
    ),
    "That is a quarter of a wave: it falls fastest at the end. From peak to floor a cosine goes half-way "
    "round, to π.": lambda p, w, h, f, s: f + (p - f) * math.cos(math.pi / 2 * _share(w, h, s)),
    "That is a whole wave, down and up again. From peak to floor a cosine goes half-way round, to π.": (
        lambda p, w, h, f, s: f + (p - f) * _cosine(2 * _share(w, h, s))
    ),
    "The angle is in degrees. math.cos takes radians: half-way round is math.pi, not 180.": (
        lambda p, w, h, f, s: f + (p - f) * 0.5 * (1 + math.cos(180 * _share(w, h, s)))
    ),
    "The cosine goes from 1 to -1, and the rate with it: below the floor, and below 0. 1 + cos "
    "goes from 2 to "
    "0.": lambda p, w, h, f, s: f + (p - f) * math.cos(math.pi * _share(w, h, s)),
    "The cosine goes only to an angle of 1, not half-way round: π is missing.": (
        lambda p, w, h, f, s: f + (p - f) * 0.5 * (1 + math.cos(_share(w, h, s)))
    ),
    "1 + cos goes from 2 to 0, so it begins far above the peak. Halve it.": (
        lambda p, w, h, f, s: f + (p - f) * 2 * _cosine(_share(w, h, s))
    ),
    "It is one step ahead: the step after the warm-up should be at the peak still.": (
        lambda p, w, h, f, s: f + (p - f) * _cosine(_share(w, h, s + 1))
    ),
}


def _down_fault(rates: list[float], curve: list[Any], *, late: bool) -> tuple[bool, str]:
    """Is it a decay that is known here, and what is wrong with steps warmup to horizon (empty: nothing)."""
    warmup, horizon = curve[1:3]
    skipped = 1 if late else 0  # the warm-up's mistake, which is told there
    steps = range(warmup + skipped, horizon + 1)
    if alike(rates[skipped:], [right_rate(step, *curve) for step in steps]):
        return True, ""
    for sentence, wrong in DOWN.items():
        # One step ahead, the last one may be capped at the horizon or not.
        if alike(rates[skipped:-1], [wrong(*curve, step) for step in steps[:-1]]):
            return True, sentence
    return False, _largest_difference(rates, curve, warmup)


def _beyond_fault(rates: list[float], curve: list[Any]) -> str:
    """`rates` from the horizon on: wherever the decay led, it stays there."""
    last = rates[0]
    if all(math.isclose(rate, last, rel_tol=1e-6, abs_tol=1e-3 * curve[3]) for rate in rates):
        return ""
    # The furthest one: close to the horizon both numbers would look the same.
    more = max(range(len(rates)), key=lambda i: abs(rates[i] - last))
    step, rate = curve[2] + more, rates[more]
    if rate > last:
        return (
            f"The cosine comes up again: at step {step} the rate is {rate:.3g}, at the horizon, step "
            f"{curve[2]}, it was {last:.3g}. Decay ends there."
        )
    return (
        f"It falls on: at step {step} the rate is {rate:.3g}, at the horizon, step {curve[2]}, it was "
        f"{last:.3g}. It stays there."
    )


def _largest_difference(rates: list[float], curve: list[Any], first: int) -> str:
    """`rates` of the steps from `first` on, of which at least one is wrong."""
    right = [right_rate(step, *curve) for step in range(first, first + len(rates))]
    i = max(range(len(rates)), key=lambda i: abs(rates[i] - right[i]))
    names = ("peak", "warmup", "horizon", "floor")
    given = ", ".join(f"{name} {value:g}" for name, value in zip(names, curve, strict=True))
    return f"For {given}: at step {first + i} it gives {rates[i]:.5g}, and {right[i]:.5g} is right."


RATE = Check("learning_rate", "A The learning rate of a step", 4, _draw, _measure, _judge)
