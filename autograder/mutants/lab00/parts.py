"""The parts of lab 00's master that its variants replace, and the cells that check them."""

EMBED, MASK, WEIGHTS = "check-embed", "check-causal-mask", "check-attention-weights"
HEADS, MLP, BLOCK, GPT = "check-self-attention", "check-make-mlp", "check-block", "check-gpt"
LOSS, STEP, HELDOUT, SAMPLE = (
    "check-next-token-loss",
    "check-train-step",
    "check-heldout-loss",
    "check-sample",
)

EMBED_BODY = """    T = tokens.size(1)
    return characters[tokens] + positions[:T]  # (B, T, C)
"""
MASK_BODY = """    return torch.ones(length, length, dtype=torch.bool).tril()
"""
WEIGHTS_BODY = """    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (…, T, T)
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1)
"""
HEADS_BODY = """        q, k, v = (
            part.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, H, T, D)
            for part in (q, k, v)
        )
        weights = attention_weights(q, k, self.mask[:T, :T])  # (B, H, T, T)
        y = self.dropout(weights) @ v  # (B, H, T, D)
        return self.out(y.transpose(1, 2).reshape(B, T, C))
"""
MLP_BODY = """    return nn.Sequential(
        nn.Linear(config.n_embd, 4 * config.n_embd),  # (B, T, 4C)
        nn.GELU(),
        nn.Linear(4 * config.n_embd, config.n_embd),  # (B, T, C)
        nn.Dropout(config.dropout),
    )
"""
BLOCK_BODY = """        x = x + self.dropout(self.attention(self.norm_1(x)))
        return x + self.mlp(self.norm_2(x))
"""
TIED = """        self.head.weight = self.tokens.weight
"""
GPT_BODY = """        x = embed(tokens, self.tokens.weight, self.positions.weight)  # (B, T, C)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))  # (B, T, V)
"""
LOSS_BODY = """    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
"""
STEP_BODY = """    loss = next_token_loss(model(batch.inputs), batch.tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""
HELDOUT_BODY = """    was_training = model.training
    model.eval()
    with torch.no_grad():
        loss = next_token_loss(model(windows), windows).item()
    model.train(was_training)
    return loss
"""
SAMPLE_BODY = """    with torch.no_grad():
        for _ in range(n):
            logits = model(tokens[:, 1 - model.config.block_size :])[:, -1]  # (1, V)
            new = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)  # (1, 1)
            tokens = torch.cat([tokens, new], dim=1)
    return tokens
"""
