"""Lab 00, part B: where a position looks, with one head and with several."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import HEADS, WEIGHTS, WEIGHTS_BODY

_SPLIT = "part.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, H, T, D)"
_JOIN = "y.transpose(1, 2).reshape(B, T, C)"

_WEIGHTS_MUTANTS = (
    Variant(
        "not-scaled",
        "a softmax makes any scores fit",
        ((" / math.sqrt(q.size(-1))", ""),),
        {WEIGHTS: 3},
        ("not scaled", "√D"),
    ),
    Variant(
        "scaled-by-d",
        "D terms, so D divides",
        ((" / math.sqrt(q.size(-1))", " / q.size(-1)"),),
        {WEIGHTS: 3},
        ("divided by D", "root"),
    ),
    Variant(
        "scaled-by-t",
        "the last axis of the scores is what counts",
        ((" / math.sqrt(q.size(-1))", " / math.sqrt(q.size(-2))"),),
        {WEIGHTS: 3},
        ("√T",),
    ),
    Variant(
        "mask-by-multiplication",
        "what is multiplied by 0 is gone",
        (('scores.masked_fill(~mask, float("-inf"))', "scores * mask"),),
        {WEIGHTS: 3},
        ("multiplies the scores", "e⁰ is 1"),
    ),
    Variant(
        "mask-after-the-softmax",
        "what is forbidden gets no weight",
        (
            (
                WEIGHTS_BODY,
                "    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))\n"
                "    return scores.softmax(dim=-1) * mask\n",
            ),
        ),
        {WEIGHTS: 3},
        ("after the softmax", "no longer add up to 1"),
    ),
    Variant(
        "mask-the-wrong-way-round",
        "True means hidden",
        (("masked_fill(~mask", "masked_fill(mask"),),
        {WEIGHTS: 3},
        ("the wrong way round",),
    ),
    Variant(
        "softmax-over-the-queries",
        "the other axis of two",
        (("return scores.softmax(dim=-1)", "return scores.softmax(dim=-2)"),),
        {WEIGHTS: 3},
        ("the wrong axis",),
    ),
    Variant(
        "softmax-over-axis-1",
        "axis 0 is the batch, axis 1 is time",
        (("return scores.softmax(dim=-1)", "return scores.softmax(dim=1)"),),
        {WEIGHTS: 3},
        ("axis 1", "from the end"),
    ),
    Variant(
        "transposed-in-the-wrong-place",
        "the axes behind the batch are 1 and 2",
        (("q @ k.transpose(-2, -1) / math", "q @ k.transpose(1, 2) / math"),),
        {WEIGHTS: 3},
        ("raised RuntimeError", "q and k of shape"),
    ),
)

_HEADS_MUTANTS = (
    Variant(
        "heads-not-split",
        "q, k and v have the right shape already",
        ((f"            {_SPLIT}\n", "            part.view(B, T, 1, C).transpose(1, 2)\n"),),
        {HEADS: 4},
        ("not split", "as wide as all channels"),
    ),
    Variant(
        "heads-split-by-a-reshape",
        "what counts is the shape",
        ((_SPLIT, "part.reshape(B, self.n_head, T, C // self.n_head)"),),
        {HEADS: 4},
        ("split by a reshape alone", "mixes positions with channels"),
    ),
    Variant(
        "heads-joined-by-a-reshape",
        "reshape brings (B, H, T, D) to (B, T, C)",
        ((_JOIN, "y.reshape(B, T, C)"),),
        {HEADS: 4},
        ("joined by a reshape alone", "mixes heads with positions"),
    ),
    Variant(
        "every-h-th-channel",
        "C is D times H",
        ((_SPLIT, "part.view(B, T, C // self.n_head, self.n_head).permute(0, 3, 1, 2)"),),
        {HEADS: 4},
        ("every H-th channel",),
    ),
    Variant(
        "scaled-by-c",
        "the vectors have C channels",
        (
            (
                "        weights = attention_weights(q, k, self.mask[:T, :T])  # (B, H, T, T)\n",
                "        scores = q @ k.transpose(-2, -1) / math.sqrt(C)\n"
                '        weights = scores.masked_fill(~self.mask[:T, :T], float("-inf")).softmax(-1)\n',
            ),
        ),
        {HEADS: 4},
        ("divided by √C", "D channels"),
    ),
    Variant(
        "keys-before-queries",
        "the order of the three does not matter",
        (("        q, k, v = (\n", "        k, q, v = (\n"),),
        {HEADS: 4},
        ("Queries and keys are swapped",),
    ),
    Variant(
        "no-last-layer",
        "the heads are the result",
        ((f"self.out({_JOIN})", _JOIN),),
        {HEADS: 4},
        ("self.out is never used",),
    ),
    Variant(
        "heads-without-dropout",
        "dropout is for the MLP",
        (("y = self.dropout(weights) @ v", "y = weights @ v"),),
        {HEADS: 1},
        ("self.dropout is never used", "ok heads"),
    ),
    Variant(
        "a-mask-as-long-as-the-block",
        "every window is full",
        (("self.mask[:T, :T]", "self.mask"),),
        {HEADS: 4},
        ("forward raised RuntimeError", "first T rows", "x of shape"),
    ),
    Variant(
        "heads-split-by-a-view",
        "a view makes any shape of the same size",
        ((_SPLIT, "part.view(B, self.n_head, T, C // self.n_head)"),),
        {HEADS: 4},
        ("side by side", "may mix them up", "then transpose"),
    ),
    Variant(
        "heads-behind-time",
        "with an axis for the heads they are split",
        (
            (_SPLIT, "part.view(B, T, self.n_head, C // self.n_head)"),
            (_JOIN, "y.reshape(B, T, C)"),
        ),
        {HEADS: 4},
        ("must match", "swap H and T"),
    ),
    Variant(
        "dropout-on-the-values",
        "what the head gives is dropped",
        (("y = self.dropout(weights) @ v", "y = self.dropout(weights @ v)"),),
        {HEADS: 1},
        ("in the wrong place", "before they meet the values", "ok heads"),
    ),
)

ATTENTION_MUTANTS = (*_WEIGHTS_MUTANTS, *_HEADS_MUTANTS)
