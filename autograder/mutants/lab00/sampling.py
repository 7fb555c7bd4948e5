"""Lab 00, part E: text."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import SAMPLE

_DRAW = "torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)  # (1, 1)"

SAMPLING_MUTANTS = (
    Variant(
        "argmax",
        "the model knows best",
        ((_DRAW, "logits.argmax(dim=-1, keepdim=True)"),),
        {SAMPLE: 1},
        ("always the likeliest", "ok context"),
    ),
    Variant(
        "from-the-first-row",
        "row 0 is the answer",
        (("block_size :])[:, -1]  # (1, V)", "block_size :])[:, 0]"),),
        {SAMPLE: 3},
        ("first row",),
    ),
    Variant(
        "not-cut-to-the-block",
        "the more context the better",
        (("model(tokens[:, 1 - model.config.block_size :])[:, -1]  # (1, V)", "model(tokens)[:, -1]"),),
        {SAMPLE: 3},
        ("longer than the model's block", "last block_size"),
    ),
    Variant(
        "cut-at-the-wrong-end",
        "block_size characters are block_size characters",
        (("tokens[:, 1 - model.config.block_size :])", "tokens[:, : model.config.block_size - 1])"),),
        {SAMPLE: 3},
        ("the wrong end",),
    ),
    Variant(
        "a-place-that-was-never-trained",
        "a block of 48 has 48 places",
        (("tokens[:, 1 - model.config.block_size :])", "tokens[:, -model.config.block_size :])"),),
        {SAMPLE: 3},
        ("the whole block", "has no target", "block_size - 1"),
    ),
    Variant(
        "last-character-alone",
        "the next character follows the last one",
        (("tokens[:, 1 - model.config.block_size :])", "tokens[:, -1:])"),),
        {SAMPLE: 3},
        ("the last character only",),
    ),
    Variant(
        "seed-ignored",
        "torch draws",
        ((_DRAW, "torch.multinomial(logits.softmax(dim=-1), 1)"),),
        {SAMPLE: 1},
        ("global generator",),
    ),
    Variant(
        "seeded-anew",
        "a seed makes it reproducible",
        (
            (
                "    with torch.no_grad():\n        for _ in range(n):\n            logits",
                "    generator.manual_seed(0)\n"
                "    with torch.no_grad():\n        for _ in range(n):\n            logits",
            ),
        ),
        {SAMPLE: 1},
        ("Another seed gives the same text",),
    ),
    Variant(
        "softmax-twice",
        "probabilities are made twice as sure",
        ((_DRAW, "torch.multinomial(logits.softmax(dim=-1).softmax(dim=-1), 1, generator=generator)"),),
        {SAMPLE: 3},
        ("softmax of the logits as they are",),
    ),
    Variant(
        "block-of-the-notebook",
        "there is one config",
        (("tokens[:, 1 - model.config.block_size :])", "tokens[:, 1 - config.block_size :])"),),
        {SAMPLE: 3},
        ("longer than the model's block", "by model.config"),
    ),
    Variant(
        "multinomial-of-logits",
        "multinomial takes what the model gives",
        ((_DRAW, "torch.multinomial(logits, 1, generator=generator)"),),
        {SAMPLE: 3},
        ("probability tensor", "The model gives logits"),
    ),
    Variant(
        "last-of-the-batch",
        "the last row is [-1]",
        (("block_size :])[:, -1]  # (1, V)", "block_size :])[-1]"),),
        {SAMPLE: 3},
        ("raised RuntimeError", "[:, -1]"),
    ),
)
