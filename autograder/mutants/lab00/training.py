"""Lab 00, parts D and E: loss, training, evaluation and text."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import (
    HELDOUT,
    HELDOUT_BODY,
    LOSS,
    LOSS_BODY,
    SAMPLE,
    STEP,
    STEP_BODY,
)

_LOSS_MUTANTS = (
    Variant(
        "loss-not-shifted",
        "logits and tokens have the same length, so they belong together",
        ((LOSS_BODY, "    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten())\n"),),
        {LOSS: 2},
        ("Not shifted",),
    ),
    Variant(
        "loss-summed",
        "the loss of a batch is the sum of its losses",
        (("tokens[:, 1:].flatten())", 'tokens[:, 1:].flatten(), reduction="sum")'),),
        {LOSS: 2},
        ("where the mean is wanted",),
    ),
)

_STEP_MUTANTS = (
    Variant(
        "gradient-never-zeroed",
        "backward computes the gradient",
        (("    optimizer.zero_grad()\n", ""),),
        {STEP: 2},
        ("never set to zero", "ok loss returned"),
    ),
    Variant(
        "gradient-zeroed-too-late",
        "zero_grad belongs before the step",
        (
            (
                "    optimizer.zero_grad()\n    loss.backward()\n",
                "    loss.backward()\n    optimizer.zero_grad()\n",
            ),
        ),
        {STEP: 2},
        ("there is no gradient",),
    ),
    Variant(
        "step-before-backward",
        "the optimizer looks ahead",
        (
            (
                STEP_BODY,
                "    loss = next_token_loss(model(batch.inputs), batch.tokens)\n"
                "    optimizer.step()\n"
                "    optimizer.zero_grad()\n"
                "    loss.backward()\n"
                "    return loss.item()\n",
            ),
        ),
        {STEP: 3},
        ("First backward, then the step",),
    ),
    Variant(
        "step-of-the-batch-before",
        "a step begins with the step",
        (
            (
                STEP_BODY,
                "    optimizer.step()\n"
                "    optimizer.zero_grad()\n"
                "    loss = next_token_loss(model(batch.inputs), batch.tokens)\n"
                "    loss.backward()\n"
                "    return loss.item()\n",
            ),
        ),
        {STEP: 2},
        ("optimizer.step() comes before loss.backward()", "the batch before"),
    ),
    Variant(
        "no-step",
        "backward trains",
        (("    optimizer.step()\n", ""),),
        {STEP: 2},
        ("optimizer.step() is never called",),
    ),
    Variant(
        "reads-what-it-predicts",
        "a language model reads its own targets",
        (("model(batch.inputs), batch.tokens)", "model(batch.tokens), batch.tokens)"),),
        {STEP: 3},
        ("reads batch.tokens",),
    ),
    Variant(
        "predicts-what-it-reads",
        "inputs are shifted, so they are the targets",
        (("model(batch.inputs), batch.tokens)", "model(batch.inputs), batch.inputs)"),),
        {STEP: 3},
        ("compares with batch.inputs",),
    ),
    Variant(
        "loss-with-its-graph",
        "a tensor is a number",
        (("    return loss.item()\n", "    return loss\n"),),
        {STEP: 1},
        ("graph", "loss.item()", "ok update"),
    ),
)

_HELDOUT_MUTANTS = (
    Variant(
        "evaluated-with-dropout",
        "no_grad is evaluation",
        (
            (
                HELDOUT_BODY,
                "    with torch.no_grad():\n        return next_token_loss(model(windows), windows).item()\n",
            ),
        ),
        {HELDOUT: 1},
        ("Dropout was on", "model.eval()"),
    ),
    Variant(
        "left-in-evaluation",
        "whoever trains switches it back",
        (("    model.train(was_training)\n", ""),),
        {HELDOUT: 1},
        ("is left in evaluation mode",),
    ),
    Variant(
        "left-in-training",
        "after an evaluation comes training",
        (("    model.train(was_training)\n", "    model.train()\n"),),
        {HELDOUT: 1},
        ("is left in training mode",),
    ),
)

_DRAW = "torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)  # (1, 1)"

_SAMPLE_MUTANTS = (
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
)

TRAINING_MUTANTS = (*_LOSS_MUTANTS, *_STEP_MUTANTS, *_HELDOUT_MUTANTS, *_SAMPLE_MUTANTS)
