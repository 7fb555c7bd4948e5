"""Lab 00, part E: text that nobody wrote. Tried on two models of a few lines that leave no doubt."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor, nn

from lastgood.teaching.checks import exact
from lastgood.teaching.checks.core import Check, Data, attempt
from lastgood.teaching.checks.lab00.passages import DRAWN
from lastgood.teaching.checks.lab00.upstream import not_own, upstream
from lastgood.teaching.checks.report import Report, part, untested
from lastgood.training.model import GPTConfig

CONTEXT_POINTS, DRAW_POINTS = 2, 1
BLOCK, MANY = 6, 400
UNKNOWN = "The new characters are not those that the model is certain of."
CONFIG = GPTConfig(vocab_size=11, block_size=BLOCK)
CHANCES = (0.55, 0.25, 0.15, 0.05)


class _Certain(nn.Module):
    """Always certain: the next number is the sum of all in the window, and one more, modulo V."""

    def __init__(self) -> None:
        super().__init__()
        self.config = CONFIG

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) numbers to (B, T, V) logits, as the GPT does it."""
        if tokens.size(-1) > BLOCK:
            raise ValueError(f"{tokens.size(-1)} characters do not fit into a block of {BLOCK}")
        following = (tokens.cumsum(-1) + 1) % CONFIG.vocab_size
        return 60.0 * nn.functional.one_hot(following, CONFIG.vocab_size).float()


class _Loaded(nn.Module):
    """A loaded die: the same chances for the next character, whatever came before."""

    def __init__(self, chances: list[float]) -> None:
        super().__init__()
        self.config = GPTConfig(vocab_size=len(chances), block_size=BLOCK)
        self.logits = torch.tensor(chances).log()

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) numbers to (B, T, V) logits."""
        return self.logits.expand(*tokens.shape, -1)


def _draw(seed: int) -> Data:
    source = random.Random(seed)
    prompt = [source.randrange(1, CONFIG.vocab_size) for _ in range(source.randrange(2, 5))]
    chances = source.sample(CHANCES, len(CHANCES))
    return {"prompt": prompt, "n": source.randrange(12, 18), "chances": chances, "seed": seed}


def _measure(names: dict[str, Any], inputs: Data) -> Data:
    prompt = torch.tensor([inputs["prompt"]])

    def drawn(model: nn.Module, n: int, seed: int) -> tuple[Any, str]:
        return attempt(names["0"], model.eval(), prompt.clone(), n, torch.Generator().manual_seed(seed))

    with upstream(names["0"], "sample"):
        if refused := not_own(names["0"], "sample"):
            return {"error": refused}
        found, raised = drawn(_Certain(), inputs["n"], inputs["seed"])
        if raised:
            return {"error": raised}
        data: Data = {"found": found}
        before = torch.get_rng_state()
        model = _Loaded(inputs["chances"])
        for name, seed in (("one", 1), ("again", 1), ("other", 2)):
            value, raised = drawn(model, MANY if name == "one" else 40, inputs["seed"] + seed)
            if raised or not isinstance(value, Tensor):
                return {"error": raised or f"It returns a {type(value).__name__}, not a tensor."}
            data[name] = value
        data["global"] = not torch.equal(before, torch.get_rng_state())
    return data


def _judge(inputs: Data, data: Data) -> Report:
    if "error" in data:
        return SAMPLE.failed(_in_words(data["error"]), DRAWN if "do not fit" in data["error"] else "")
    context = _context(inputs, data["found"])
    if context == UNKNOWN:
        context = _chance(inputs, data) or context  # drawn from other probabilities, certainty is none
    first = part("context", CONTEXT_POINTS, context, DRAWN)
    if context:
        second = untested("drawn by chance", DRAW_POINTS, "First the context has to be right.")
    else:
        second = part("drawn by chance", DRAW_POINTS, _chance(inputs, data), DRAWN)
    return Report(SAMPLE.exercise, (first, second))


def _in_words(error: str) -> str:
    if "do not fit into a block" in error:
        return (
            f"The text has grown longer than the model's block of {BLOCK}. Show it the last block_size - 1 "
            "characters only, by model.config: this model is a smaller one than the notebook's."
        )
    if "probability tensor" in error:
        return f"{error}\nThe model gives logits. The softmax makes probabilities of them."
    if "Sizes of tensors" in error:
        return (
            f"{error}\nTokens grow along T, their last axis. The model gives (1, T, V) logits; the last row "
            "of them is [:, -1], and a new token is (1, 1)."
        )
    return error


def _context(inputs: Data, found: Any) -> str:
    prompt, n = inputs["prompt"], inputs["n"]
    if found is None:
        return "The function returned None. Is a `return` missing?"
    if not isinstance(found, Tensor):
        return f"The result is a {type(found).__name__}, not a tensor."
    shape = (1, len(prompt) + n)
    if tuple(found.shape) == (1, n):
        return "The new characters alone are returned. Return the beginning, too, with them after it."
    if tuple(found.shape) != shape:
        return f"The result has shape {tuple(found.shape)}, it should be {shape}: (1, T + n)."
    numbers = found[0].tolist()
    if numbers[: len(prompt)] != prompt:
        return "The beginning has changed. New characters come after it."
    for sentence, window in _WINDOWS.items():
        if numbers == _continued(prompt, n, window):
            return sentence
    return UNKNOWN


def _continued(prompt: list[int], n: int, window: Any) -> list[int]:
    numbers = list(prompt)
    for _ in range(n):
        numbers.append((sum(window(numbers)) + 1) % CONFIG.vocab_size)
    return numbers


_WINDOWS = {
    "": lambda numbers: numbers[1 - BLOCK :],
    "The model is shown the whole block. In training the last place of a full window has no target, so "
    "nobody has taught it anything. Show it the last block_size - 1 characters.": (
        lambda numbers: numbers[-BLOCK:]
    ),
    "The next character is drawn from the first row of the logits. The last row has seen all of the text.": (
        lambda numbers: numbers[1 - BLOCK :][:1]
    ),
    "The model is given the last character only. It should see the last block_size - 1.": (
        lambda numbers: numbers[-1:]
    ),
    "The text is cut at the wrong end: the model sees the first characters and never the last.": (
        lambda numbers: numbers[: BLOCK - 1]
    ),
    "The text is cut at the wrong end: the model sees the first block and never the last.": (
        lambda numbers: numbers[:BLOCK]
    ),
    "The text is cut one too short: the model can make use of block_size - 1 characters.": (
        lambda numbers: numbers[2 - BLOCK :]
    ),
}


def _chance(inputs: Data, data: Data) -> str:
    new = {name: data[name][0, len(inputs["prompt"]) :].tolist() for name in ("one", "again", "other")}
    chances = inputs["chances"]
    likeliest = chances.index(max(chances))
    if set(new["one"]) == {likeliest}:
        return "It is always the likeliest character. Draw: each as often as its probability says."
    if exact.flag(data["global"]):
        return (
            "It draws from torch's global generator, and yours is not used: your seed has no say in the "
            "text, and drawing it changes a training run that goes on. Pass generator=generator."
        )
    if new["again"] != new["one"][:40]:
        return "The same seed gives another text each time: the generator that is given is not used."
    if new["other"] == new["again"]:
        return "Another seed gives the same text: the generator that is given is not used as it is."
    for number, chance in enumerate(chances):
        count = new["one"].count(number)
        if abs(count - MANY * chance) > 6 * (MANY * chance * (1 - chance)) ** 0.5:
            return (
                f"A character of probability {chance} came {count} times in {MANY}. The probabilities are "
                "the softmax of the logits as they are."
            )
    return ""


SAMPLE = Check("sample", "E1 Sampling", CONTEXT_POINTS + DRAW_POINTS, _draw, _measure, _judge)
