"""Lab 00, part C: MLP, block and the whole model."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import BLOCK, BLOCK_BODY, GPT, MLP, TIED

_MLP_MUTANTS = (
    Variant(
        "no-activation",
        "two layers are more than one",
        (("        nn.GELU(),\n", ""),),
        {MLP: 2},
        ("activation is missing", "no more than one"),
    ),
    Variant(
        "relu",
        "an activation is an activation",
        (("        nn.GELU(),\n", "        nn.ReLU(),\n"),),
        {MLP: 2},
        ("is a ReLU",),
    ),
    Variant(
        "mlp-as-narrow-as-the-stream",
        "C channels in, C channels out",
        (
            ("nn.Linear(config.n_embd, 4 * config.n_embd)", "nn.Linear(config.n_embd, config.n_embd)"),
            ("nn.Linear(4 * config.n_embd, config.n_embd)", "nn.Linear(config.n_embd, config.n_embd)"),
        ),
        {MLP: 2},
        ("has shape", "it should be"),
    ),
    Variant(
        "mlp-without-dropout",
        "dropout is for attention",
        (("        nn.Dropout(config.dropout),\n    )", "    )"),),
        {MLP: 2},
        ("There is no dropout",),
    ),
)

_BLOCK_MUTANTS = (
    Variant(
        "residual-forgotten",
        "layers follow each other",
        (
            (
                BLOCK_BODY,
                "        x = self.dropout(self.attention(self.norm_1(x)))\n"
                "        return self.mlp(self.norm_2(x))\n",
            ),
        ),
        {BLOCK: 3},
        ("residual is forgotten", "takes its place"),
    ),
    Variant(
        "residual-forgotten-around-the-mlp",
        "the MLP is the end of the block",
        (("return x + self.mlp(", "return self.mlp("),),
        {BLOCK: 3},
        ("forgotten around the MLP",),
    ),
    Variant(
        "norm-after",
        "the sum is what has to be normalised, as in the first transformer",
        (
            (
                BLOCK_BODY,
                "        x = self.norm_1(x + self.dropout(self.attention(x)))\n"
                "        return self.norm_2(x + self.mlp(x))\n",
            ),
        ),
        {BLOCK: 3},
        ("comes after the sum", "pre-norm"),
    ),
    Variant(
        "stream-normalised",
        "x is normalised once and used",
        (
            (
                BLOCK_BODY,
                "        x = self.norm_1(x)\n"
                "        x = x + self.dropout(self.attention(x))\n"
                "        x = self.norm_2(x)\n"
                "        return x + self.mlp(x)\n",
            ),
        ),
        {BLOCK: 3},
        ("x itself is normalised",),
    ),
    Variant(
        "one-norm-twice",
        "a norm is a norm",
        (("self.norm_2(x))\n", "self.norm_1(x))\n"),),
        {BLOCK: 3},
        ("norm_1 is used twice",),
    ),
    Variant(
        "side-by-side",
        "attention and MLP both read x",
        (
            (
                BLOCK_BODY,
                "        attended = self.dropout(self.attention(self.norm_1(x)))\n"
                "        return x + attended + self.mlp(self.norm_2(x))\n",
            ),
        ),
        {BLOCK: 3},
        ("from before attention",),
    ),
    Variant(
        "dropout-on-the-stream",
        "dropout comes last",
        (
            (
                "x = x + self.dropout(self.attention(self.norm_1(x)))",
                "x = self.dropout(x + self.attention(self.norm_1(x)))",
            ),
        ),
        {BLOCK: 1},
        ("in the wrong place", "before that is added"),
    ),
    Variant(
        "x-changed-in-place",
        "+= is short for x = x +",
        (
            (
                "        x = x + self.dropout(self.attention(self.norm_1(x)))",
                "        x += self.dropout(self.attention(self.norm_1(x)))",
            ),
        ),
        {BLOCK: 3},
        ("changes x in place", "backward()"),
    ),
    Variant(
        "attention-lost-on-the-way",
        "x is x",
        (
            (
                BLOCK_BODY,
                "        y = x + self.dropout(self.attention(self.norm_1(x)))\n"
                "        return x + self.mlp(self.norm_2(y))\n",
            ),
        ),
        {BLOCK: 3},
        ("lost on the way", "the x from before"),
    ),
)

_GPT_MUTANTS = (
    Variant(
        "model-without-positions",
        "nn.Embedding is all there is to it",
        (
            (
                "x = embed(tokens, self.tokens.weight, self.positions.weight)  # (B, T, C)",
                "x = self.tokens(tokens)",
            ),
        ),
        {GPT: 3},
        ("Positions are missing", "ok tied head"),
    ),
    Variant(
        "no-last-norm",
        "each block has its norms",
        (("return self.head(self.norm(x))", "return self.head(x)"),),
        {GPT: 3},
        ("last norm is missing",),
    ),
    Variant(
        "blocks-that-do-not-build-on-each-other",
        "each block gets the embeddings",
        (
            (
                "        for block in self.blocks:\n            x = block(x)\n",
                "        start = x\n        for block in self.blocks:\n            x = block(start)\n",
            ),
        ),
        {GPT: 3},
        ("reads the embeddings", "x = block(x)"),
    ),
    Variant(
        "probabilities",
        "a model gives probabilities",
        (("return self.head(self.norm(x))", "return self.head(self.norm(x)).softmax(dim=-1)"),),
        {GPT: 3},
        ("Those are probabilities",),
    ),
    Variant(
        "head-not-tied",
        "the same numbers to begin with",
        ((TIED, "        self.head.weight.data.copy_(self.tokens.weight)\n"),),
        {GPT: 1},
        ("not tied", "weights of its own"),
    ),
    Variant(
        "tied-by-memory",
        "the same memory is the same parameter",
        ((TIED, "        self.head.weight.data = self.tokens.weight.data\n"),),
        {GPT: 1},
        ("same memory", "two parameters"),
    ),
    Variant(
        "embeddings-without-dropout",
        "dropout is for blocks",
        (("        x = self.dropout(x)\n        for", "        for"),),
        {GPT: 3},
        ("self.dropout is never used", "sum of the embeddings"),
    ),
    Variant(
        "positions-looked-up-by-tokens",
        "both embeddings are called with the tokens",
        (
            (
                "embed(tokens, self.tokens.weight, self.positions.weight)  # (B, T, C)",
                "self.tokens(tokens) + self.positions(tokens)",
            ),
        ),
        {GPT: 3},
        ("asks for row tokens", "0 to T - 1", "ok tied head"),
    ),
    Variant(
        "tables-as-modules",
        "an embedding is a table",
        (
            (
                "embed(tokens, self.tokens.weight, self.positions.weight)",
                "embed(tokens, self.tokens, self.positions)",
            ),
        ),
        {GPT: 4},
        ("not subscriptable", "is its .weight"),
    ),
    Variant(
        "blocks-called-as-one",
        "a ModuleList is a Sequential",
        (("        for block in self.blocks:\n            x = block(x)\n", "        x = self.blocks(x)\n"),),
        {GPT: 4},
        ("is a list and no layer", "each module in it"),
    ),
)

MODEL_MUTANTS = (*_MLP_MUTANTS, *_BLOCK_MUTANTS, *_GPT_MUTANTS)
