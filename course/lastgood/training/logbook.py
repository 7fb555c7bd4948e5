"""The corpus: lines of a training run's incident log, drawn from a grammar whose entropy is known exactly.

Lines are independent and end in a newline, and no line has two derivations. So the entropy of the text, in
nats a character, is the entropy of one line divided by its mean length: `ENTROPY`. No model that has not seen
the text can predict it better on average, which makes it the floor under every held-out loss.

Two ways to be misled. A model trained for several epochs can push its *training* loss below the floor by
memorising. And a window of text that starts in the middle of a line leaves its first characters harder to
predict than the grammar says, so a held-out loss over windows ends a little above the floor.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor


@dataclass(frozen=True)
class Choice:
    """One of several alternatives, with the probability of each."""

    options: tuple[Node, ...]
    weights: tuple[float, ...]

    @cached_property
    def probabilities(self) -> tuple[float, ...]:
        return tuple(weight / sum(self.weights) for weight in self.weights)


@dataclass(frozen=True)
class Chain:
    """Several nodes, one after the other, drawn independently."""

    parts: tuple[Node, ...]


Node = str | Choice | Chain


def one_of(*options: Node, weights: Sequence[float] | None = None) -> Choice:
    """A choice, with equal weights where none are given."""
    return Choice(options, tuple(weights) if weights else (1.0,) * len(options))


def chain(*parts: Node) -> Chain:
    """Parts in a row."""
    return Chain(parts)


DIGIT = one_of(*"0123456789")
CLOCK = chain(one_of("0", "1"), DIGIT, ":", one_of(*"012345"), DIGIT)
# Repeat offenders: a few hosts appear far more often than the rest.
HOST = chain("node", one_of(*(f"{n:02d}" for n in range(16)), weights=[16 / (n + 1) for n in range(16)]))
STEP = chain(one_of(*"123456789"), DIGIT, "00")
CAUSE = one_of(
    "ecc error", "nvlink down", "nccl timeout", "host unreachable", "disk full", weights=[5, 3, 4, 2, 1]
)
LINE = chain(
    CLOCK,
    " ",
    one_of(
        chain(HOST, " lost: ", CAUSE),
        chain(HOST, " cordoned, spare ", HOST, " joins"),
        chain("restarted from step ", STEP),
        chain("checkpoint ", STEP, " saved"),
        chain("loss scale 2^", DIGIT, ", step skipped"),
        weights=[4, 3, 4, 6, 2],
    ),
    "\n",
)


def entropy(node: Node) -> float:
    """Entropy of a node's derivations, in nats: of its own choice plus the mean of what stands below it."""
    match node:
        case str():
            return 0.0
        case Chain(parts):
            return sum(entropy(part) for part in parts)
        case Choice():
            pairs = list(zip(node.probabilities, node.options, strict=True))
            return sum(p * (entropy(option) - math.log(p)) for p, option in pairs)


def mean_length(node: Node) -> float:
    """Mean number of characters that a node draws."""
    match node:
        case str():
            return float(len(node))
        case Chain(parts):
            return sum(mean_length(part) for part in parts)
        case Choice():
            return sum(p * mean_length(o) for p, o in zip(node.probabilities, node.options, strict=True))


ENTROPY = entropy(LINE) / mean_length(LINE)
"""The floor: entropy of the logbook in nats a character, from the grammar alone."""


def draw(node: Node, source: random.Random) -> str:
    """One text of the node. Uses only `source.random()`, which Python keeps the same everywhere."""
    match node:
        case str():
            return node
        case Chain(parts):
            return "".join(draw(part, source) for part in parts)
        case Choice():
            ticket = source.random()
            for p, option in zip(node.probabilities, node.options, strict=True):
                ticket -= p
                if ticket < 0:
                    return draw(option, source)
            return draw(node.options[-1], source)  # rounding left a crumb of probability


def derivations(node: Node, text: str) -> Iterator[tuple[float, str]]:
    """Every way in which `node` can begin `text`: (log probability in nats, the rest of the text)."""
    match node:
        case str():
            if text.startswith(node):
                yield 0.0, text[len(node) :]
        case Chain(()):
            yield 0.0, text
        case Chain((first, *others)):
            for log_p, rest in derivations(first, text):
                for log_q, end in derivations(Chain(tuple(others)), rest):
                    yield log_p + log_q, end
        case Choice():
            for p, option in zip(node.probabilities, node.options, strict=True):
                for log_q, rest in derivations(option, text):
                    yield math.log(p) + log_q, rest


@lru_cache(maxsize=8)
def generate(seed: int, n_chars: int) -> str:
    """The first `n_chars` characters of the logbook of a seed: the same text on every platform.

    A longer text of the same seed begins with the shorter one. Raises ValueError where `n_chars` is negative.
    """
    if n_chars < 0:
        raise ValueError(f"n_chars={n_chars}: a text cannot have fewer than 0 characters")
    source = random.Random(seed)
    lines: list[str] = []
    length = 0
    while length < n_chars:
        lines.append(draw(LINE, source))
        length += len(lines[-1])
    return "".join(lines)[:n_chars]


def _characters(node: Node) -> set[str]:
    if isinstance(node, str):
        return set(node)
    below = node.parts if isinstance(node, Chain) else node.options
    return set().union(*(_characters(part) for part in below))


CHARACTERS = "".join(sorted(_characters(LINE)))


class Vocabulary:
    """Characters to numbers and back. The default holds every character that the logbook can print."""

    def __init__(self, characters: str = CHARACTERS) -> None:
        self.characters = characters
        self._numbers = {character: number for number, character in enumerate(characters)}

    def __len__(self) -> int:
        return len(self.characters)

    def encode(self, text: str) -> Tensor:
        """(T,) int64 numbers of a text. Raises ValueError naming the first character that is not known."""
        try:
            return torch.tensor([self._numbers[character] for character in text], dtype=torch.long)
        except KeyError as missing:
            at = text.index(missing.args[0])
            raise ValueError(f"character {missing} at position {at} is not in the vocabulary") from None

    def decode(self, numbers: Tensor | Sequence[int]) -> str:
        """The text of (T,) numbers."""
        return "".join(self.characters[int(number)] for number in numbers)
