"""Lab 00: what the library did, in another's name."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import (
    BLOCK,
    BLOCK_BODY,
    GPT,
    GPT_BODY,
    HEADS,
    HEADS_BODY,
    LOSS,
    LOSS_BODY,
    MASK,
    MASK_BODY,
    MLP,
    MLP_BODY,
)

_IMPORT = "from lastgood.training.model import GPTConfig\n"


def _with(what: str) -> tuple[str, str]:
    """An edit that imports more of the library's model."""
    return _IMPORT, f"from lastgood.training.model import {what}\n{_IMPORT}"


BORROWED_MUTANTS = (
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
    Variant(
        "borrowed-model",
        "a subclass is a class of mine",
        (
            (
                "from lastgood.training.model import GPTConfig\n",
                "from lastgood.training.model import GPT as Theirs\n"
                "from lastgood.training.model import GPTConfig\n",
            ),
            ("class GPT(nn.Module):", "class GPT(Theirs):"),
            (
                "        super().__init__()\n        self.config",
                "        super().__init__(config)\n        self.config",
            ),
            (GPT_BODY, "        return super().forward(tokens)\n"),
        ),
        {GPT: 4},
        ("the library's own class",),
    ),
    Variant(
        "borrowed-by-a-call",
        "a function of mine that calls the library's",
        (_with("causal_mask as theirs"), (MASK_BODY, "    return theirs(length)\n")),
        {MASK: 2},
        ("`causal_mask` uses `theirs`", "the library's own"),
    ),
    Variant(
        "borrowed-inside-a-helper",
        "what a helper of mine calls is not mine to answer for",
        (
            _with("Block as Theirs"),
            (MLP_BODY, "    return _made(config)\n\n\ndef _made(config):\n    return Theirs(config).mlp\n"),
        ),
        {MLP: 2},
        ("`make_mlp` uses `Theirs`", "the library's own"),
    ),
    Variant(
        "borrowed-by-an-import-inside",
        "what is imported inside is seen by nobody",
        (
            (
                LOSS_BODY,
                "    from lastgood.training import model\n\n"
                "    return model.next_token_loss(logits, tokens)\n",
            ),
        ),
        {LOSS: 2},
        ("uses `lastgood.training`", "the library's own"),
    ),
    Variant(
        "borrowed-as-a-part",
        "a class of mine that holds one of theirs",
        (
            _with("Block as Theirs"),
            (BLOCK_BODY, "        return Theirs.forward(self, x)\n"),
        ),
        {BLOCK: 3},
        ("`Block` uses `Theirs`", "the library's own"),
    ),
)
