"""Lab 18, part A: the two blanks of the GPT."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import LOSS, MODEL

MODEL_MUTANTS = (
    Variant(
        "mask-off-by-one",
        "the triangle above the diagonal is what is hidden",
        ((".tril()", ".tril(1)"),),
        {MODEL: 2},
        ("off by one", "t + 1"),
    ),
    Variant(
        "loss-not-shifted",
        "logits and tokens have the same length, so they belong together",
        (
            (
                "logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()",
                "logits.flatten(0, 1), tokens.flatten()",
            ),
        ),
        {LOSS: 2},
        ("Not shifted",),
    ),
    Variant(
        "mask-inverted",
        "True means masked",
        ((".tril()", ".triu(1)"),),
        {MODEL: 2},
        ("inverted",),
    ),
    Variant(
        "mask-of-minus-infinity",
        "a mask is added to the scores",
        (
            (
                "    return torch.ones(length, length, dtype=torch.bool).tril()\n",
                '    return torch.full((length, length), float("-inf")).triu(1)\n',
            ),
        ),
        {MODEL: 2},
        ("should hold booleans",),
    ),
    Variant(
        "loss-shifted-the-wrong-way",
        "the target is what came before",
        (("logits[:, :-1].flatten(0, 1), tokens[:, 1:]", "logits[:, 1:].flatten(0, 1), tokens[:, :-1]"),),
        {LOSS: 2},
        ("the wrong way",),
    ),
    Variant(
        "loss-around-the-corner",
        "roll shifts by one",
        (
            (
                "logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()",
                "logits.flatten(0, 1), tokens.roll(-1, 1).flatten()",
            ),
        ),
        {LOSS: 2},
        ("that row has no target and must be left out",),
    ),
)
