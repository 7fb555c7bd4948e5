"""Lab 08, part C: the update of AdamW, against torch's over a hundred steps."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lastgood.teaching.checks.core import Check, Data
from lastgood.teaching.checks.lab08 import walk
from lastgood.teaching.checks.lab08.moments import averages, corrected
from lastgood.teaching.checks.lab08.own import asked, once, refused
from lastgood.teaching.checks.lab08.passages import DECAY, STATE_MACHINE
from lastgood.teaching.checks.report import Part, Report, part

SHAPE = (3, 4)
PLAIN, DECAYED = "100 steps without decay", "100 steps with decay"
WORTH = 2


@dataclass(frozen=True)
class Setting:
    """What AdamW is set to. `rates` has the learning rate of each step, as under a schedule."""

    rates: list[float]
    beta1: float
    beta2: float
    eps: float
    weight_decay: float


@dataclass(frozen=True)
class Belief:
    """What somebody takes the update for. The defaults are right."""

    decay: str = "decoupled"
    eps: str = "outside"
    moments: str = "corrected"
    root: bool = True
    rate: bool = True
    sign: float = -1.0


_THROUGH = (
    "The decay goes through the gradient and into the moments, where the division rescales it. "
    "That is Adam with an L2 penalty. AdamW shrinks the parameter by itself."
)
BELIEFS: dict[str, Belief] = {
    "The sign: the parameter climbs. It has to move against the gradient.": Belief(sign=1.0),
    "The moments are not corrected in your update: take what corrected_moments returns.": Belief(
        moments="raw"
    ),
    "Only the first moment is corrected in your update. Both begin at zero.": Belief(
        moments="only the first"
    ),
    "Only the second moment is corrected in your update. Both begin at zero.": Belief(
        moments="only the second"
    ),
    "Each step begins anew: nothing is left of the gradients before. Hand the caller's `state` on.": Belief(
        moments="of this step"
    ),
    "The moments are swapped: the first is divided by the root of the second.": Belief(moments="swapped"),
    "eps is inside the root. It is added after the root is taken.": Belief(eps="inside"),
    "eps is added before the second moment is corrected. Add it to the root of the corrected one.": Belief(
        eps="before the correction"
    ),
    "eps is missing under the fraction.": Belief(eps="none"),
    "eps is added to the parameter. It belongs under the fraction: brackets are missing.": Belief(
        eps="behind the fraction"
    ),
    "Each gradient is taken in twice: call corrected_moments once a step.": Belief(moments="taken twice"),
    "The root is missing: you divide by the second moment itself.": Belief(root=False),
    "The learning rate is missing in the update.": Belief(rate=False),
    "It is 1 - weight_decay that is scaled by the learning rate. Shrink by 1 - lr · weight_decay.": Belief(
        decay="scaled whole"
    ),
}
DECAYS: dict[str, Belief] = {
    "The weight decay is missing: the parameter does not shrink.": Belief(decay="none"),
    _THROUGH: Belief(decay="gradient"),
    "The decay is not scaled by the learning rate: shrink by lr · weight_decay.": (Belief(decay="unscaled")),
    "The decay is divided too, together with the first moment. It has to keep out of the division.": Belief(
        decay="divided"
    ),
    "The sign of the decay: the parameter grows.": Belief(decay="grows"),
    "The decay comes after the update and shrinks that as well. Shrink the parameter as it was.": (
        Belief(decay="after")
    ),
    "The decay is scaled by the square of the learning rate.": Belief(decay="squared"),
}


def believed(start: Tensor, gradients: Tensor, setting: Setting, belief: Belief = Belief()) -> Tensor:
    """The path (N, …) of a parameter under a belief about AdamW."""
    if belief.decay == "gradient":
        return _through_the_gradient(start, gradients, setting)
    first, second = _moments(gradients, setting, belief)
    at, path = start, []
    for number, rate in enumerate(setting.rates):
        down = _divisor(second[number], setting, belief, number + 1)
        up = first[number] + (setting.weight_decay * at if belief.decay == "divided" else 0.0)
        step = belief.sign * (rate if belief.rate else 1.0) * up / down
        step = step + (setting.eps if belief.eps == "behind the fraction" else 0.0)
        keep = _kept(setting, belief, rate)
        at = keep * (at + step) if belief.decay == "after" else keep * at + step
        path.append(at)
    return torch.stack(path)


def _moments(gradients: Tensor, setting: Setting, belief: Belief) -> tuple[Tensor, Tensor]:
    both = [(gradients, setting.beta1), (gradients**2, setting.beta2)]
    first, second = (corrected(x, beta) for x, beta in both)
    raw_first, raw_second = (averages(x, beta) for x, beta in both)
    twice_first, twice_second = (corrected(x.repeat_interleave(2, 0), beta) for x, beta in both)
    return {
        "corrected": (first, second),
        "raw": (raw_first, raw_second),
        "only the first": (first, raw_second),
        "only the second": (raw_first, second),
        "swapped": (second, first),
        "of this step": (gradients, gradients**2),
        "taken twice": (twice_first[0::2], twice_second[1::2]),
    }[belief.moments]


def _divisor(second: Tensor, setting: Setting, belief: Belief, step: int) -> Tensor:
    eps, root = setting.eps, second.sqrt() if belief.root else second
    if belief.eps == "inside":
        return (second + eps).sqrt()
    if belief.eps == "before the correction":
        return root + eps / math.sqrt(1 - setting.beta2**step)
    return root + (0.0 if belief.eps in ("none", "behind the fraction") else eps)


def _kept(setting: Setting, belief: Belief, rate: float) -> float:
    """What the decay leaves of the parameter in one step."""
    decay = setting.weight_decay
    kept: dict[str, float] = {
        "none": 1.0,
        "divided": 1.0,
        "unscaled": 1 - decay,
        "grows": 1 + rate * decay,
        "squared": 1 - rate * rate * decay,
        "scaled whole": rate * (1 - decay),
    }
    return kept.get(belief.decay, 1 - rate * decay)


def _through_the_gradient(start: Tensor, gradients: Tensor, setting: Setting) -> Tensor:
    at, first, second, path = start, torch.zeros_like(start), torch.zeros_like(start), []
    for number, (gradient, rate) in enumerate(zip(gradients, setting.rates, strict=True), start=1):
        whole = gradient + setting.weight_decay * at
        first = setting.beta1 * first + (1 - setting.beta1) * whole
        second = setting.beta2 * second + (1 - setting.beta2) * whole**2
        root = (second / (1 - setting.beta2**number)).sqrt()
        at = at - rate * first / (1 - setting.beta1**number) / (root + setting.eps)
        path.append(at)
    return torch.stack(path)


def torchs(start: Tensor, gradients: Tensor, setting: Setting) -> Tensor:
    """The path (N, …) of torch.optim.AdamW."""
    parameter = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.AdamW(
        [parameter],
        lr=0.0,
        betas=(setting.beta1, setting.beta2),
        eps=setting.eps,
        weight_decay=setting.weight_decay,
        foreach=False,
    )
    path = []
    for gradient, rate in zip(gradients, setting.rates, strict=True):
        optimizer.param_groups[0]["lr"] = rate
        parameter.grad = gradient
        optimizer.step()
        path.append(parameter.detach().clone())
    return torch.stack(path)


def _draw(seed: int) -> Data:
    """Without decay, an eps that shows where it stands; with decay, one that does not."""
    source = random.Random(seed)

    def setting(eps: float, weight_decay: float) -> dict[str, Any]:
        return {
            "rates": [round(source.uniform(0.02, 0.08), 4) for _ in range(walk.STEPS)],
            "beta1": source.choice([0.8, 0.85, 0.9]),
            "beta2": source.choice([0.95, 0.98, 0.99]),
            "eps": eps,
            "weight_decay": weight_decay,
        }

    return {
        "seed": seed,
        "settings": {
            PLAIN: setting(source.choice([0.02, 0.05]), 0.0),
            DECAYED: setting(1e-12, round(source.uniform(0.2, 0.5), 2)),
        },
    }


def _lane(inputs: Data, number: int = 0) -> tuple[Tensor, Tensor]:
    return walk.drawn(inputs["seed"] + number, SHAPE)


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    fault = refused(names["0"])
    found: Data = {"error": fault} if fault else {}
    for title, numbers in inputs["settings"].items() if not fault else ():
        setting = Setting(**numbers)

        def turn(
            parameter: Tensor, gradient: Tensor, state: walk.State, number: int, setting: Setting = setting
        ) -> tuple[Any, str]:
            told = (setting.beta1, setting.beta2, setting.eps, setting.weight_decay)
            value, fault = asked(names["0"], parameter, gradient, state, setting.rates[number], *told)
            return value, fault or walk.tensor_fault(value, gradient)

        walked = walk.conduct(turn, _lane(inputs), _lane(inputs, 1))
        if "error" in walked:
            return walked
        found[title] = walked
    return found


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return UPDATE.failed(data["error"])
    settings = {title: Setting(**numbers) for title, numbers in inputs["settings"].items()}
    parts = [_part(title, *_lane(inputs), settings[title], data[title]["path"]) for title in (PLAIN, DECAYED)]
    parts.append(part("what it is handed", 1, walk.handed(data[DECAYED]), STATE_MACHINE))
    return Report(UPDATE.exercise, once(parts))


def _part(title: str, start: Tensor, gradients: Tensor, setting: Setting, found: Tensor) -> Part:
    right = torchs(start, gradients, setting)
    if walk.close(found, right, right - start):
        return part(title, WORTH, "")
    for sentence, belief in (BELIEFS if title == PLAIN else BELIEFS | DECAYS).items():
        if walk.close(found, believed(start, gradients, setting, belief), right - start):
            return part(title, WORTH, sentence, DECAY)
    return part(title, WORTH, walk.parting(found, right, gradients), DECAY)


UPDATE = Check("adamw_step", "C3 AdamW", 2 * WORTH + 1, _draw, _measure, _judge)
