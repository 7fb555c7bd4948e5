"""Lab 00, part D: loss, training and evaluation."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import (
    HELDOUT,
    HELDOUT_BODY,
    LOSS,
    LOSS_BODY,
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
    Variant(
        "loss-of-probabilities",
        "cross entropy takes probabilities",
        (("logits[:, :-1].flatten(0, 1)", "logits[:, :-1].softmax(-1).flatten(0, 1)"),),
        {LOSS: 2},
        ("softmax comes before it", "has its own"),
    ),
    Variant(
        "loss-cut-along-the-batch",
        "the first axis is time",
        (
            (
                "logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()",
                "logits[:-1].flatten(0, 1), tokens[1:].flatten()",
            ),
        ),
        {LOSS: 2},
        ("Shifted along B", "the second axis"),
    ),
    Variant(
        "loss-cut-after-flattening",
        "the text is one long line",
        (
            (
                "logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()",
                "logits.flatten(0, 1)[:-1], tokens.flatten()[1:]",
            ),
        ),
        {LOSS: 2},
        ("after the windows were joined", "Cut first, then flatten"),
    ),
    Variant(
        "loss-with-three-axes",
        "cross_entropy finds the last axis itself",
        (("logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()", "logits[:, :-1], tokens[:, 1:]"),),
        {LOSS: 2},
        ("Expected target size", "(N, V) logits", "flatten(0, 1)"),
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
    Variant(
        "held-out-loss-as-a-tensor",
        "without a graph a tensor is a number",
        (("next_token_loss(model(windows), windows).item()", "next_token_loss(model(windows), windows)"),),
        {HELDOUT: 1},
        ("still a tensor", "loss.item()", "ok leaves the model"),
    ),
)

TRAINING_MUTANTS = (*_LOSS_MUTANTS, *_STEP_MUTANTS, *_HELDOUT_MUTANTS)
