"""Lab 17, part B: clipping that turns, discards, stretches or measures wrongly."""

from autograder.mutants import Variant
from autograder.mutants.lab17.parts import CLIP, CLIP_BODY, FINITE, GRADIENTS, NORM, RESCALE

_ONE_BY_ONE = """    for gradient in gradients:
        own = gradient.norm().item()
        if own > max_norm:
            gradient.mul_(max_norm / own)
    return norm
"""

_FACTOR_MUTANTS = (
    Variant(
        "each-tensor-by-itself",
        "a tensor has a gradient, and a gradient has a norm",
        ((RESCALE, _ONE_BY_ONE),),
        {CLIP: 2},
        ("Each tensor is clipped by itself", "ok norm", "ok left"),
    ),
    Variant(
        "each-value-by-itself",
        "clipping cuts off what is too large",
        (
            (
                RESCALE,
                "    for gradient in gradients:\n"
                "        gradient.clamp_(-max_norm, max_norm)\n"
                "    return norm\n",
            ),
        ),
        {CLIP: 2},
        ("Each value is clipped by itself", "One factor for all"),
    ),
    Variant(
        "discarded",
        "a gradient that is too long is a bad one",
        (("            gradient.mul_(max_norm / norm)\n", "            gradient.zero_()\n"),),
        {CLIP: 2},
        ("discarded", "keeps its direction"),
    ),
    Variant(
        "discarded-to-none",
        "a step without a gradient is skipped",
        (
            (
                RESCALE,
                "    if norm > max_norm:\n"
                "        for parameter in parameters:\n"
                "            parameter.grad = None\n"
                "    return norm\n",
            ),
            (GRADIENTS, "    parameters = list(parameters)\n" + GRADIENTS),
        ),
        {CLIP: 2},
        ("None afterwards", "Nothing is discarded"),
        slow=True,
    ),
    Variant(
        "always-rescaled",
        "all steps are to have the same length",
        (
            (
                RESCALE,
                "    for gradient in gradients:\n"
                "        gradient.mul_(max_norm / (norm + 1e-12))\n"
                "    return norm\n",
            ),
        ),
        {CLIP: 1},
        ("below the threshold", "stretched up", "ok rescaled"),
    ),
    Variant(
        "divided-by-zero",
        "a norm is never 0",
        ((RESCALE, RESCALE.replace("norm > max_norm", "max_norm / norm < 1")),),
        {CLIP: 1},
        ("gradient of zeros", "ZeroDivisionError"),
    ),
    Variant(
        "max-norm-squared",
        "the sum of squares, so the square of the threshold",
        (
            (
                "            gradient.mul_(max_norm / norm)\n",
                "            gradient.mul_(max_norm**2 / norm)\n",
            ),
        ),
        {CLIP: 2},
        ("squared",),
    ),
    Variant(
        "unit-length",
        "clipped means normalised",
        (("            gradient.mul_(max_norm / norm)\n", "            gradient.div_(norm)\n"),),
        {CLIP: 2},
        ("divided by the norm", "1, not the threshold"),
        slow=True,
    ),
    Variant(
        "the-wrong-way-round",
        "norm over threshold",
        (("            gradient.mul_(max_norm / norm)\n", "            gradient.mul_(norm / max_norm)\n"),),
        {CLIP: 2},
        ("the wrong way",),
        slow=True,
    ),
    Variant(
        "new-tensors",
        "a name is a place",
        (
            (
                "            gradient.mul_(max_norm / norm)\n",
                "            gradient = gradient * (max_norm / norm)\n",
            ),
        ),
        {CLIP: 3},
        ("as they were", "in place", "Not tested yet"),
    ),
    Variant(
        "parameters-rescaled",
        "what is too long is the parameter",
        (
            (GRADIENTS, "    parameters = list(parameters)\n" + GRADIENTS),
            (
                RESCALE,
                "    if norm > max_norm:\n"
                "        for parameter in parameters:\n"
                "            parameter.data.mul_(max_norm / norm)\n"
                "    return norm\n",
            ),
        ),
        {CLIP: 5},
        ("The parameters have changed",),
    ),
    Variant(
        "a-generator-gone-through",
        "parameters are a list",
        (
            (
                CLIP_BODY,
                "    norm = math.sqrt(sum(p.grad.pow(2).sum().item() for p in parameters if "
                "p.grad is not None))\n" + FINITE + "    if norm > max_norm:\n"
                "        for p in parameters:\n"
                "            if p.grad is not None:\n"
                "                p.grad.mul_(max_norm / norm)\n"
                "    return norm\n",
            ),
        ),
        {CLIP: 2},
        ("that is a generator", "Make a list"),
    ),
)

_NORM_MUTANTS = (
    Variant(
        "norms-added",
        "the norm of all is the sum of the norms",
        ((NORM, "    norm = sum(gradient.norm().item() for gradient in gradients)\n"),),
        {CLIP: 3},
        ("norms of the tensors are added", "ok left"),
    ),
    Variant(
        "no-root",
        "a sum of squares is a length",
        ((NORM, "    norm = sum(gradient.pow(2).sum().item() for gradient in gradients)\n"),),
        {CLIP: 3},
        ("The root is missing",),
    ),
    Variant(
        "largest-tensor",
        "the longest one is the one that hurts",
        ((NORM, "    norm = max((g.norm().item() for g in gradients), default=0.0)\n"),),
        {CLIP: 4},
        ("largest norm of a single tensor",),
        slow=True,
    ),
    Variant(
        "the-norm-after",
        "the log shows what was used",
        ((RESCALE, RESCALE.replace("return norm", "return min(norm, max_norm)")),),
        {CLIP: 1},
        ("the norm after clipping", "ok rescaled"),
    ),
    Variant(
        "no-return",
        "the gradients are the result",
        ((RESCALE, RESCALE.replace("    return norm\n", "")),),
        {CLIP: 5},
        ("Is a `return` missing?",),
    ),
)

_HARD_MUTANTS = (
    Variant(
        "every-parameter-has-one",
        "backward fills all gradients",
        ((" for parameter in parameters if parameter.grad is not None]", " for parameter in parameters]"),),
        {CLIP: 1},
        ("parameters without a gradient", "leave it out", "ok rescaled"),
    ),
    Variant(
        "stops-at-the-first-none",
        "without a gradient there is nothing to do",
        (
            (
                GRADIENTS,
                "    gradients = []\n"
                "    for parameter in parameters:\n"
                "        if parameter.grad is None:\n"
                "            break\n"
                "        gradients.append(parameter.grad)\n",
            ),
        ),
        {CLIP: 1},
        ("parameters without a gradient", "treat the others"),
    ),
    Variant(
        "nan-passes",
        "a norm is a number",
        ((FINITE, ""),),
        {CLIP: 1},
        ("With a gradient with inf: no error", "math.isfinite"),
    ),
    Variant(
        "only-nan-is-broken",
        "inf is large, and large is clipped",
        (("    if not math.isfinite(norm):\n", "    if math.isnan(norm):\n"),),
        {CLIP: 1},
        ("With a gradient with inf: no error", "tensors hold nan"),
    ),
    Variant(
        "clipped-before-the-error",
        "the error comes at the end",
        (
            (FINITE, ""),
            (RESCALE, "    for gradient in gradients if not norm <= max_norm else ():\n"
             "        gradient.mul_(max_norm / norm)\n" + FINITE + "    return norm\n"),
        ),
        {CLIP: 1},
        ("changed before the error",),
        slow=True,
    ),
    Variant(
        "an-assertion",
        "assert is an error",
        ((FINITE, '    assert math.isfinite(norm), "not finite"\n'),),
        {CLIP: 1},
        ("AssertionError", "A ValueError was asked for"),
    ),
    Variant(
        "torchs-own",
        "torch has it",
        ((CLIP_BODY, "    return nn.utils.clip_grad_norm_(parameters, max_norm)\n"),),
        {CLIP: 5},
        ("It uses clip_grad_norm_", "then compare"),
    ),
)  # fmt: skip

CLIPPING_MUTANTS = (*_FACTOR_MUTANTS, *_NORM_MUTANTS, *_HARD_MUTANTS)
