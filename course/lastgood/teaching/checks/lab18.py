"""Lab 18's checks: the two blanks of the GPT, capture and restore, save and load, and the numbers."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lastgood.recovery import audit, durability
from lastgood.recovery.bundle import BundleError
from lastgood.recovery.components import TITLES
from lastgood.recovery.reads import data_globals
from lastgood.recovery.warm import shared_server
from lastgood.teaching.checks.core import Check, Data, attempt, borrowed
from lastgood.teaching.checks.report import Part, Report, part
from lastgood.training.model import causal_mask, next_token_loss

TAUGHT = ("lastgood.recovery.state", "lastgood.recovery.checkpoint")
MORE_THAN_WEIGHTS = "lesson 18, “A checkpoint is more than the weights”"


# A1. The causal mask


def _draw_mask(seed: int) -> Data:
    # The longest first: on one position or two, different mistakes look alike.
    return {"lengths": [*sorted(random.Random(seed).sample(range(4, 12), 2), reverse=True), 2, 1]}


def _measure_mask(names: dict[str, Any], inputs: Data) -> Data:
    refused = borrowed(names["0"])
    masks = []
    for length in inputs["lengths"]:
        value, fault = (None, refused) if refused else attempt(names["0"], length)
        if fault:
            return {"error": fault}
        masks.append(value)
    return {"masks": masks}


def _judge_mask(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return MASK.failed(data["error"])
    for length, mask in zip(inputs["lengths"], data["masks"], strict=True):
        fault = _mask_fault(mask, causal_mask(length))
        if fault:
            return MASK.failed(f"With {length} positions: {fault}", "lab 18, “What a position may see”")
    return Report(MASK.exercise, (Part("causal mask", MASK.worth, MASK.worth),))


def _mask_fault(mask: Any, right: Tensor) -> str:
    T = len(right)
    if mask is None:
        return "the function returned None. Is a `return` missing?"
    if not isinstance(mask, Tensor):
        return f"the result is a {type(mask).__name__}, not a tensor."
    if tuple(mask.shape) != (T, T):
        return f"the mask has shape {tuple(mask.shape)}, it should be ({T}, {T})."
    if mask.dtype != torch.bool:
        return f"the mask holds {mask.dtype}, it should hold booleans: True where looking is allowed."
    if torch.equal(mask, right):
        return ""
    if torch.equal(mask, ~right):
        return "it is inverted: True stands where looking is forbidden."
    if torch.equal(mask, right.T):
        return "it is transposed: a position sees what comes after it, not what came before."
    if torch.equal(mask, torch.ones(T, T).tril(1).bool()):
        return "off by one: position t also sees position t + 1, the very character it has to predict."
    if torch.equal(mask, torch.ones(T, T).tril(-1).bool()):
        return "off by one: a position does not see itself, and the first one sees nothing at all."
    row, column = (mask != right).nonzero()[0].tolist()
    return f"position {row} {'sees' if mask[row, column] else 'does not see'} position {column}."


MASK = Check("causal_mask", "A1 Causal mask", 2, _draw_mask, _measure_mask, _judge_mask)


# A2. The shifted loss


def _batch(inputs: Data) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(inputs["seed"])
    B, T, V = inputs["shape"]
    logits = 2 * torch.randn(B, T, V, generator=source)
    return logits, torch.randint(V, (B, T), generator=source)


def _draw_loss(seed: int) -> Data:
    source = random.Random(seed)
    return {"seed": seed, "shape": [source.randrange(2, 5), source.randrange(4, 9), source.randrange(5, 11)]}


def _measure_loss(names: dict[str, Any], inputs: Data) -> Data:
    refused = borrowed(names["0"])
    if refused:
        return {"error": refused}
    logits, tokens = _batch(inputs)
    value, fault = attempt(names["0"], logits.requires_grad_(), tokens)
    if fault:
        return {"error": fault}
    if not isinstance(value, Tensor) or value.dim() != 0:
        shape = f" of shape {tuple(value.shape)}" if isinstance(value, Tensor) else ""
        return {
            "error": f"The result is a {type(value).__name__}{shape}, it should be a tensor of one number."
        }
    return {"loss": value.item(), "differentiable": value.requires_grad}


def _judge_loss(inputs: Data, data: Data) -> Report:
    fault = data.get("error") or _loss_fault(data, *_batch(inputs))
    if fault:
        return LOSS.failed(fault, "lab 18, “What it has to predict”")
    return Report(LOSS.exercise, (Part("shifted loss", LOSS.worth, LOSS.worth),))


def _loss_fault(data: Data, logits: Tensor, tokens: Tensor) -> str:
    def is_it(value: Tensor) -> bool:
        return bool(abs(data["loss"] - value.item()) < 1e-4 * max(1.0, abs(value.item())))

    def cross_entropy(rows: Tensor, targets: Tensor, reduction: str = "mean") -> Tensor:
        return F.cross_entropy(rows.flatten(0, 1), targets.flatten(), reduction=reduction)

    if is_it(next_token_loss(logits, tokens)):
        return (
            ""
            if data["differentiable"]
            else "No gradient can flow back: the result is cut off from the logits."
        )
    if is_it(cross_entropy(logits, tokens)):
        return "Not shifted: row t is asked for token t, which it has just read, instead of token t + 1."
    if is_it(cross_entropy(logits[:, 1:], tokens[:, :-1])):
        return "Shifted the wrong way: row t + 1 is asked for token t, which came before."
    if is_it(cross_entropy(logits, tokens.roll(-1, 1))):
        return "The last row is asked for the first token: it has no target and must be left out."
    if is_it(cross_entropy(logits[:, :-1], tokens[:, 1:], "sum")):
        return "The sum over all predictions, where the mean is wanted: it would grow with the batch."
    right = next_token_loss(logits, tokens).item()
    return f"It gives {data['loss']:.4f} nats a character for this batch, and {right:.4f} is right."


LOSS = Check("next_token_loss", "A2 Shifted loss", 2, _draw_loss, _measure_loss, _judge_loss)


# B. capture and restore


def _draw_seed(seed: int) -> Data:
    return {"seed": seed}


def _plan(inputs: Data) -> audit.Plan:
    return audit.draw_plan(TAUGHT, inputs["seed"])


def _measure_contents(names: dict[str, Any], inputs: Data) -> Data:
    functions = {"capture": names["0"], "restore": names["1"]}
    for name, function in functions.items():
        refused = borrowed(function)
        if refused:
            return {"error": f"{name}: {refused}"}
    try:
        measured = audit.measure(functions, _plan(inputs))
    except BundleError as error:
        return {"error": str(error)}
    return {"audit": measured, "reads": data_globals(functions.values())}


def _judge_contents(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return CONTENTS.failed(data["error"])
    found = audit.judge(_plan(inputs), data["audit"])
    if found.stopped:
        return CONTENTS.failed(_stopped(found.stopped) + _reads(data["reads"]))
    if found.refused:
        return CONTENTS.failed(_sentence(found.refused) + _reads(data["reads"]), MORE_THAN_WEIGHTS)
    each = CONTENTS.worth / len(found.findings)
    parts = tuple(
        part(
            TITLES[f.component],
            each,
            _component_fault(f, found),
            MORE_THAN_WEIGHTS,
        )
        for f in found.findings
    )
    figure, note = "", "The resumed run is the run it continues: every loss is equal, bit for bit."
    if not found.passed:
        from lastgood.teaching.views.curves import loss_curves_svg  # matplotlib: 1 s, for a picture of a loss

        note = _curve_words(found) + _reads(data["reads"])
        figure = loss_curves_svg(found.expected, list(found.found), found.captured_at, note)
    return Report(CONTENTS.exercise, parts, note, figure)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _component_fault(finding: audit.Finding, found: audit.Audit) -> str:
    if finding.kept:
        return ""
    fault = _sentence(finding.why)
    if finding.first_step is not None:
        fault += f" First step that it changes: {finding.first_step}"
        fault += " (the first after the resume)" if finding.first_step == found.captured_at else ""
        fault += f", loss off by up to {finding.gap:.3g} nats." if finding.gap else "."
    return fault


def _curve_words(found: audit.Audit) -> str:
    if found.first_step is None:
        return "The first resumed run looks exactly right."
    if not found.found:
        return f"Captured after {found.captured_at} steps. The resumed run could not take its first step."
    gap = max(abs(a - b) for a, b in zip(found.expected, found.found, strict=True))
    return (
        f"Captured after {found.captured_at} steps. The resumed run differs from the undisturbed one "
        f"from step {found.first_step} on; the largest gap of the loss is {gap:.3g} nats."
    )


def _reads(names: list[str]) -> str:
    if not names:
        return ""
    return (
        f" Your functions also read these values of the notebook: {', '.join(names)}. "
        "A process that resumes after a kill has only what is in the file."
    )


def _stopped(error: Data) -> str:
    if error["blank"]:
        return f"{error['stage']} is not written yet: it raises NotImplementedError."
    if error["kind"] in ("ReturnedNone", "TimeoutError", "ProcessDied"):  # ours, whole sentences
        return f"{error['stage']}: {audit.plain(error)}"
    words = f"{error['stage']} raised {error['kind']}: {audit.plain(error)}"
    return words + (f"\nin the line: {error['line']}" if error["line"] else "")


CONTENTS = Check(
    "capture_restore", "B Capture and restore", 10, _draw_seed, _measure_contents, _judge_contents
)


# C. save and load


def _measure_durability(names: dict[str, Any], inputs: Data) -> Data:
    functions = dict(zip(("save", "load", "capture", "restore"), names.values(), strict=True))
    for name in ("save", "load"):
        refused = borrowed(functions[name])
        if refused:
            return {"error": f"{name}: {refused}"}
    try:
        measured = durability.measure(functions, _plan(inputs))
    except BundleError as error:
        return {"error": str(error)}
    return {"saved": measured, "reads": data_globals([functions["save"], functions["load"]])}


def _judge_durability(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return DURABILITY.failed(data["error"])
    found = durability.judge(data["saved"])
    note = ""
    if found.reference:
        note = "Your capture and restore give nothing to save yet, so this was tried with the course's own."
    if found.stopped:
        report = DURABILITY.failed(_stopped(found.stopped) + _reads(data["reads"]))
        return Report(report.exercise, report.parts, note)
    round_trip = _sentence(found.round_trip) + _reads(data["reads"]) if found.round_trip else ""
    torn = "\n".join(_sentence(line) for line in found.torn)
    if round_trip:
        torn = "Not tried yet: first a state has to come back."
    elif torn:
        moments = f"{len(found.torn)} of {found.points} moments"
        torn += f"\n({moments}. After each, load must find the old state or the new one.)"
    reread = "lab 18, “A save that a kill cannot tear”"
    parts = (
        part("comes back in a fresh process", 2, round_trip, reread),
        part("survives a kill at any moment of a save", 4, torn, reread),
    )
    return Report(DURABILITY.exercise, parts, note)


DURABILITY = Check("save_load", "C Save and load", 6, _draw_seed, _measure_durability, _judge_durability)


# D. Numbers and a choice


def _call(names: dict[str, Any], inputs: Data) -> Data:
    value, fault = attempt(names["0"], *inputs["arguments"])
    if fault:
        return {"error": fault}
    if isinstance(value, str):
        return {"value": value}
    try:
        return {"value": float(value)}
    except (TypeError, ValueError):
        return {"error": f"The result is a {type(value).__name__}; a number or a letter is wanted."}


def _numeric(
    name: str,
    exercise: str,
    draw: Callable[[int], Data],
    answer: Callable[..., float],
    mistakes: dict[str, Callable[..., float]],
) -> Check:
    """A question whose answer is a number, within 1 percent. `mistakes`: a sentence and what it explains."""

    def near(value: float, target: float) -> bool:
        return abs(value - target) <= 0.01 * abs(target)

    def verdict(inputs: Data, data: Data) -> Report:
        if "error" in data:
            return question.failed(data["error"])
        value, arguments = data["value"], inputs["arguments"]
        if isinstance(value, str):
            return question.failed(f"The result is the text {value!r}; a number is wanted.")
        if near(value, answer(*arguments)):
            return Report(exercise, (Part("answer", 1, 1),))
        for sentence, wrong in mistakes.items():
            if near(value, wrong(*arguments)):
                return question.failed(sentence)
        given = f" for {', '.join(f'{a:,}' for a in arguments)}" if arguments else ""
        return question.failed(
            f"You get {value:,.6g}{given}, which is not it. Write the sum down with its units."
        )

    question = Check(name, exercise, 1, draw, _call, verdict)
    return question


HOURS = _numeric(
    "hours_between_restarts",
    "D1 Hours between restarts",
    lambda seed: {"arguments": []},
    lambda: 60 * 24 / (35 + 70),
    {
        "That counts the 35 manual restarts alone. Add the automatic ones.": lambda: 60 * 24 / 35,
        "That counts the automatic restarts alone. Add the manual ones.": lambda: 60 * 24 / 70,
        "That is restarts a day. The question asks for hours between two of them.": lambda: 105 / 60,
        "That is days. The question asks for hours.": lambda: 60 / 105,
    },
)

BYTES = _numeric(
    "state_bytes",
    "D2 Bytes of parameters and AdamW state",
    lambda seed: {"arguments": [random.Random(seed).randrange(10**6, 10**9)]},
    lambda n: 12 * n,
    {
        "That is the parameters alone. AdamW keeps two more numbers for each of them.": lambda n: 4 * n,
        "That is one moment. AdamW keeps two: of the gradient and of its square.": lambda n: 8 * n,
        "That includes the gradients. They are computed anew in each step and need not be saved.": lambda n: (
            16 * n
        ),
        "That is bits, not bytes.": lambda n: 96 * n,
    },
)

LOST = _numeric(
    "lost_hours",
    "D3 Work lost to restarts",
    lambda seed: {
        "arguments": [random.Random(seed).randrange(20, 200), random.Random(seed + 1).randrange(2, 13)]
    },
    lambda restarts, interval: restarts * interval / 2,
    {
        "That is the worst case. A failure comes on average in the middle of an interval.": lambda r, h: (
            r * h
        ),
        "That is one restart. The question asks for all of them.": lambda r, h: h / 2,
    },
)


_SALT = "lab18/symptom/"
_KEY = "72d3a0043400a60149e46e12ad2270a180bb28dd705a0274a87d224fa335c41c"
_WHY = {
    "a": "Without its parameters the loss would jump back to where training began.",
    "b": "Lost moments make the first updates odd, but the learning rate does not come from them.",
    "d": "Another RNG state gives other dropout masks, and leaves the learning rate alone.",
}


def _digest(letter: str) -> str:
    return hashlib.sha256((_SALT + letter).encode()).hexdigest()


def _judge_symptom(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return SYMPTOM.failed(data["error"])
    letter = str(data["value"]).strip().strip(".)").lower()
    if _digest(letter) == _KEY:
        return Report(SYMPTOM.exercise, (Part("answer", 1, 1),))
    return SYMPTOM.failed(
        _WHY.get(letter, "Answer with one of the letters a, b, c and d, as text."), MORE_THAN_WEIGHTS
    )


SYMPTOM = Check("symptom", "D4 A symptom", 1, lambda seed: {"arguments": []}, _call, _judge_symptom)


class Lab18:
    """The checks, under the names by which graded cells call them."""

    causal_mask = staticmethod(MASK)
    next_token_loss = staticmethod(LOSS)
    capture_restore = staticmethod(CONTENTS)
    save_load = staticmethod(DURABILITY)
    hours_between_restarts = staticmethod(HOURS)
    state_bytes = staticmethod(BYTES)
    lost_hours = staticmethod(LOST)
    symptom = staticmethod(SYMPTOM)

    def __init__(self) -> None:
        shared_server()  # begins to import torch in the background, while the learner reads on


CHECKS = (MASK, LOSS, CONTENTS, DURABILITY, HOURS, BYTES, LOST, SYMPTOM)
check = Lab18()
