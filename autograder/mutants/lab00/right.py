"""Lab 00's right solutions, written differently."""

from autograder.mutants import Variant
from autograder.mutants.lab00.parts import (
    BLOCK_BODY,
    EMBED_BODY,
    GPT_BODY,
    HEADS_BODY,
    HELDOUT_BODY,
    LOSS_BODY,
    MASK_BODY,
    MLP_BODY,
    SAMPLE_BODY,
    STEP_BODY,
    TIED,
    WEIGHTS_BODY,
)

_EMBED_START = "def embed("

RIGHT_STYLES = (
    Variant(
        "einsum",
        "axes by their letters, where instead of masked_fill, gather instead of cross_entropy",
        (
            (
                EMBED_BODY,
                "    places = torch.arange(tokens.shape[-1])\n"
                "    return F.embedding(tokens, characters) + F.embedding(places, positions)\n",
            ),
            (MASK_BODY, "    place = torch.arange(length)\n    return place[:, None] >= place\n"),
            (
                WEIGHTS_BODY,
                '    scores = torch.einsum("...td,...sd->...ts", q, k) * q.shape[-1] ** -0.5\n'
                "    return torch.softmax(torch.where(mask, scores, -torch.inf), dim=-1)\n",
            ),
            (
                HEADS_BODY,
                "        q, k, v = self.qkv(x).unflatten(-1, (3, self.n_head, -1)).unbind(2)\n"
                '        scores = torch.einsum("bthd,bshd->bhts", q, k) / (C // self.n_head) ** 0.5\n'
                "        scores = torch.where(self.mask[:T, :T], scores, -torch.inf)\n"
                "        weights = self.dropout(torch.softmax(scores, dim=-1))\n"
                '        return self.out(torch.einsum("bhts,bshd->bthd", weights, v).flatten(2))\n',
            ),
            (
                LOSS_BODY,
                "    return -logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:, None]).mean()\n",
            ),
        ),
    ),
    Variant(
        "fused",
        "torch's own attention, and its own triangle",
        (
            (MASK_BODY, "    return ~torch.ones(length, length).triu(1).bool()\n"),
            (
                WEIGHTS_BODY,
                "    every = torch.eye(q.size(-2)).expand(*q.shape[:-2], -1, -1)\n"
                "    return F.scaled_dot_product_attention(q, k, every, attn_mask=mask)\n",
            ),
            (
                HEADS_BODY,
                "        q, k, v = self.qkv(x).chunk(3, dim=-1)\n"
                "        q, k, v = (z.view(B, T, self.n_head, -1).transpose(1, 2) for z in (q, k, v))\n"
                "        dropped = self.dropout.p if self.training else 0.0\n"
                "        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropped, is_causal=True)\n"
                "        return self.out(y.transpose(1, 2).contiguous().view(B, T, C))\n",
            ),
        ),
    ),
    Variant(
        "additive",
        "a mask of minus infinity that is added, the scale on the queries, heads one after the other",
        (
            (
                WEIGHTS_BODY,
                '    future = torch.zeros(mask.shape).masked_fill(mask.logical_not(), float("-inf"))\n'
                "    scores = (q / q.shape[-1] ** 0.5) @ k.mT + future\n"
                "    scores = scores - scores.max(dim=-1, keepdim=True).values\n"
                "    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)\n",
            ),
            (
                HEADS_BODY,
                "        D = C // self.n_head\n"
                "        query, key, value = self.qkv(x).split(C, dim=2)\n"
                "        results = []\n"
                "        for head in range(self.n_head):\n"
                "            own = slice(head * D, (head + 1) * D)\n"
                "            weights = attention_weights(query[..., own], key[..., own], self.mask[:T, :T])\n"
                "            results.append(self.dropout(weights) @ value[..., own])\n"
                "        return self.out(torch.cat(results, dim=-1))\n",
            ),
        ),
    ),
    Variant(
        "three-layers",
        "the weights of q, k and v taken apart and used one by one",
        (
            (
                HEADS_BODY,
                "        weights, biases = self.qkv.weight.chunk(3), self.qkv.bias.chunk(3)\n"
                "        q, k, v = (F.linear(x, w, b) for w, b in zip(weights, biases, strict=True))\n"
                "        q, k, v = (z.unflatten(2, (self.n_head, -1)).transpose(1, 2) for z in (q, k, v))\n"
                "        y = self.dropout(attention_weights(q, k, causal_mask(T))) @ v\n"
                "        return self.out(y.transpose(1, 2).flatten(2))\n",
            ),
        ),
    ),
    Variant(
        "classes",
        "an MLP of its own class, a block in one line for each part, a head without a layer",
        (
            (
                MLP_BODY,
                "    class MLP(nn.Module):\n"
                "        def __init__(self):\n"
                "            super().__init__()\n"
                "            self.widen = nn.Linear(config.n_embd, 4 * config.n_embd)\n"
                "            self.narrow = nn.Linear(4 * config.n_embd, config.n_embd)\n"
                "\n"
                "        def forward(self, x):\n"
                "            x = self.narrow(F.gelu(self.widen(x)))\n"
                "            return F.dropout(x, config.dropout, self.training)\n"
                "\n"
                "    return MLP()\n",
            ),
            (
                BLOCK_BODY,
                "        attended = self.attention(self.norm_1(x))\n"
                "        after = torch.add(x, self.dropout(attended))\n"
                "        computed = self.mlp(self.norm_2(after))\n"
                "        return after + computed\n",
            ),
            (TIED, "        del self.head\n"),
            (
                GPT_BODY,
                "        B, T = tokens.shape\n"
                "        x = self.dropout(self.tokens(tokens) + self.positions(torch.arange(T)))\n"
                "        x = nn.Sequential(*self.blocks)(x)\n"
                "        return self.norm(x) @ self.tokens.weight.T\n",
            ),
        ),
    ),
    Variant(
        "tied-from-the-other-end",
        "the embedding takes the head's weight",
        ((TIED, "        self.tokens.weight = self.head.weight\n"),),
    ),
    Variant(
        "training-otherwise",
        "gradients forgotten after the step, a decorator, a try, one draw for each by its place on a line",
        (
            (
                STEP_BODY,
                "    model.train()\n"
                "    loss = next_token_loss(model(batch.inputs), batch.tokens)\n"
                "    loss.backward()\n"
                "    optimizer.step()\n"
                "    model.zero_grad()\n"
                "    return float(loss.detach())\n",
            ),
            ("def heldout_loss(", "@torch.no_grad()\ndef heldout_loss("),
            (
                HELDOUT_BODY,
                "    before = model.training\n"
                "    try:\n"
                "        model.train(False)\n"
                "        losses = [next_token_loss(model(w[None]), w[None]) for w in windows]\n"
                "        return float(torch.stack(losses).mean())\n"
                "    finally:\n"
                "        model.train(before)\n",
            ),
            ("def sample(", "@torch.inference_mode()\ndef sample("),
            (
                SAMPLE_BODY,
                "    numbers = tokens[0].tolist()\n"
                "    for _ in range(n):\n"
                "        context = torch.tensor([numbers[-(model.config.block_size - 1) :]])\n"
                "        chances = F.softmax(model(context)[0, -1], dim=0).cumsum(0)\n"
                "        ticket = torch.rand(1, generator=generator) * chances[-1]\n"
                "        numbers.append(int(torch.searchsorted(chances, ticket)))\n"
                "    return torch.tensor([numbers])\n",
            ),
        ),
    ),
    Variant(
        "helpers",
        "helpers, a partial, defaults, and names of the library's that are no answers",
        (
            (
                _EMBED_START,
                "from functools import partial\n\nlower = partial(torch.tril, diagonal=0)\n\n\n"
                f"{_EMBED_START}",
            ),
            (MASK_BODY, "    return lower(torch.ones(length, length, dtype=torch.bool))\n"),
            (
                MLP_BODY,
                "    assert isinstance(config, GPTConfig)\n"
                "    return nn.Sequential(*_layers(config.n_embd), nn.Dropout(config.dropout))\n"
                "\n\n"
                "def _layers(C, wide=4, between=nn.GELU):\n"
                "    yield from (nn.Linear(C, wide * C), between(), nn.Linear(wide * C, C))\n",
            ),
            (
                STEP_BODY,
                "    from lastgood.training.data import Batch as Windows\n"
                "\n"
                "    assert isinstance(batch, Windows)\n"
                "    optimizer.zero_grad()\n"
                "    loss = next_token_loss(model(batch.inputs), batch.tokens)\n"
                "    loss.backward()\n"
                "    optimizer.step()\n"
                "    return loss.tolist()\n",
            ),
        ),
    ),
)
