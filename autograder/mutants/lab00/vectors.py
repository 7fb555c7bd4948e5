"""Lab 00, part A and the first of part B: embeddings, and what a position may see."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import EMBED, EMBED_BODY, MASK

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
        ("raised RuntimeError", "must match", "tokens of shape", "(block_size, C)"),
    ),
    Variant(
        "position-of-the-end",
        "T places are positions[T]",
        ((EMBED_BODY, "    B, T = tokens.shape\n    return characters[tokens] + positions[T]\n"),),
        {EMBED: 2},
        ("All positions get the same", "that of position T", "positions[:T]"),
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

VECTORS_MUTANTS = (*_EMBED_MUTANTS, *_MASK_MUTANTS)
