"""Lab 00, parts A and B: embeddings and attention."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import (
    EMBED,
    EMBED_BODY,
    HEADS,
    HEADS_BODY,
    MASK,
    WEIGHTS,
    WEIGHTS_BODY,
)

_SPLIT = "part.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, H, T, D)"
_JOIN = "y.transpose(1, 2).reshape(B, T, C)"

_EMBED_MUTANTS = (
    Variant(
        "positions-forgotten",
        "a character is a character",
        ((EMBED_BODY, "    return characters[tokens]\n"),),
        {EMBED: 2},
        ("Positions are missing",),
    ),
    Variant(
        "positions-along-the-batch",
        "a new axis makes the shapes fit",
        ((EMBED_BODY, "    return characters[tokens] + positions[: tokens.size(0), None]\n"),),
        {EMBED: 2},
        ("follows the batch", "along T"),
    ),
    Variant(
        "positions-of-the-characters",
        "both tables are looked up by the tokens",
        ((EMBED_BODY, "    return characters[tokens] + positions[tokens]\n"),),
        {EMBED: 2},
        ("by the character's number",),
    ),
    Variant(
        "positions-of-a-whole-block",
        "a window is as long as the block",
        ((EMBED_BODY, "    return characters[tokens] + positions\n"),),
        {EMBED: 2},
        ("raised RuntimeError", "must match"),
    ),
    Variant(
        "embeddings-side-by-side",
        "two things are joined by cat",
        (
            (
                EMBED_BODY,
                "    B, T = tokens.shape\n"
                "    return torch.cat([characters[tokens], positions[:T].expand(B, T, -1)], dim=-1)\n",
            ),
        ),
        {EMBED: 2},
        ("side by side", "C stays C"),
    ),
)

_MASK_MUTANTS = (
    Variant(
        "mask-shifted",
        "the diagonal is hidden",
        ((".tril()", ".tril(-1)"),),
        {MASK: 2},
        ("off by one", "does not see itself"),
    ),
    Variant(
        "mask-that-sees-one-ahead",
        "the triangle above the diagonal is what is hidden",
        ((".tril()", ".tril(1)"),),
        {MASK: 2},
        ("off by one", "t + 1"),
    ),
    Variant(
        "mask-transposed",
        "the upper triangle is the one that comes later",
        ((".tril()", ".triu()"),),
        {MASK: 2},
        ("transposed",),
    ),
)

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
        ("forward raised RuntimeError",),
    ),
    Variant(
        "borrowed-attention",
        "the library has it, and a subclass is mine",
        (
            (
                "from lastgood.training.model import GPTConfig\n",
                "from lastgood.training.model import GPTConfig\n"
                "from lastgood.training.model import SelfAttention as Theirs\n",
            ),
            ("class SelfAttention(nn.Module):", "class SelfAttention(Theirs):"),
            (
                "        super().__init__()\n        self.n_head",
                "        super().__init__(config)\n        self.n_head",
            ),
            (HEADS_BODY, "        return super().forward(x)\n"),
        ),
        {HEADS: 4},
        ("the library's own class",),
    ),
)

ATTENTION_MUTANTS = (*_EMBED_MUTANTS, *_MASK_MUTANTS, *_WEIGHTS_MUTANTS, *_HEADS_MUTANTS)
