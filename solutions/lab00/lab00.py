# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 00. A small GPT
#
# You will build the model of this course, from an empty cell to text that it writes itself: log lines of a training run, with
# failures in them. It is small, and it is a whole GPT. From lab 18 on, it is what gets killed.
#
# - **Time**: about 70 minutes. It is fine to stop after any part.
# - **Before**: Python, and some PyTorch: tensors, `nn.Linear`, what a gradient is. No GPU. Any word that feels slippery is in the
#   [glossary](../../glossary.md).
# - **How it works**: each exercise opens with something that goes wrong or is missing. Then comes a cell with a blank, then a
#   cell that checks it. A check that fails is normal, and says why. For whatever an earlier exercise should have brought, checks
#   take the course's own parts: a mistake costs its own points and no others.
# - **Points**: 30, all checked on the spot. The *Validate* button in the toolbar runs all checks in a fresh kernel.
#
# | part | what you write | points | minutes |
# |---|---|---|---|
# | A | `embed` | 2 | 8 |
# | B | attention: `causal_mask`, `attention_weights`, `SelfAttention` | 9 | 24 |
# | C | `make_mlp`, `Block`, `GPT` | 9 | 15 |
# | D | `next_token_loss`, `train_step`, `heldout_loss` | 7 | 15 |
# | E | `sample` | 3 | 8 |
#
# Tensors have axes, and axes have letters. These stay the same all the way, in comments and in reports:
#
# | letter | axis | here |
# |---|---|---|
# | B | batch: windows of text in one step | 16 |
# | T | time: characters in a window | up to 48 |
# | C | channels: numbers in each position's vector | 64 |
# | H | heads of attention | 4 |
# | D | width of one head, C / H | 16 |
# | V | vocabulary: different characters | 36 |

# %%
import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lastgood.teaching.checks.lab00 import check
from lastgood.teaching.views.attention import attention_map, loss_curve, mask_picture
from lastgood.training.data import Batch, Loader
from lastgood.training.logbook import ENTROPY, Vocabulary, generate
from lastgood.training.model import GPTConfig
from lastgood.training.rng import seed_everything

torch.set_num_threads(1)  # the model is so small that a second thread has nothing to do
vocabulary = Vocabulary()
config = GPTConfig(vocab_size=len(vocabulary), block_size=48)
config

# %% [markdown]
# ## A. Vectors
#
# ### Which character, and where
#
# The text is the incident log of a training run. Each character has a number, and each number gets a vector of C numbers that
# will be learned: its [embedding](../../glossary.md#embedding). Is that enough?

# %%
print(generate(seed=0, n_chars=220))

table = torch.randn(len(vocabulary), config.n_embd)  # (V, C)
one, other = (table[vocabulary.encode(text)] for text in ("node12", "node21"))  # (T, C) each: six vectors
print("node21 has the vectors of node12, the last two exchanged:", torch.equal(other, one[[0, 1, 2, 3, 5, 4]]))

# %% [markdown]
# The same six vectors. [Attention](../../glossary.md#attention), which comes next, sees vectors and not their places: to it,
# the two [hosts](../../glossary.md#host) would be one. So each place gets a vector as well, and the two are added.
#
# **Write `embed(tokens, characters, positions)`.** `tokens` are `(B, T)` numbers. `characters` is a `(V, C)` table with a row for each
# character, `positions` a `(block_size, C)` table with a row for each place in a window. Return `(B, T, C)`: for each token, its
# character's row plus its place's row. A window may be shorter than `block_size`; its first token stands at place 0.
#
# <details><summary>Hint</summary>
#
# Indexing a table with a tensor of numbers looks all of them up: `characters[tokens]` is `(B, T, C)`. For the places, you need the first
# T rows. What does `+` do with `(B, T, C)` and `(T, C)`?
# </details>


# %% nbgrader={"grade": false, "grade_id": "embed", "locked": false, "schema_version": 3, "solution": true, "task": false}
def embed(tokens: Tensor, characters: Tensor, positions: Tensor) -> Tensor:
    """(B, T) numbers to (B, T, C) vectors, from tables of (V, C) and (block_size, C)."""
    ### BEGIN SOLUTION
    T = tokens.size(1)
    return characters[tokens] + positions[:T]  # (B, T, C)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-embed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.embed(embed)

# %% [markdown]
# ## B. Attention
#
# Attention lets a position take in what other positions hold: a mean of their vectors, with weights
# that it chooses itself.
#
# ### What a position may see
#
# The simplest weights are equal ones. Here each of four positions takes the mean over all. Then we change the **last** character, and
# look at what the **first** position has got.

# %%
equal = torch.ones(4, 4) / 4  # (T, T): row t holds the weights of position t
x = torch.randn(4, 8)  # (T, C)
before = (equal @ x)[0]
x[3] += 1.0  # another last character
print("the first position's vector moved by", ((equal @ x)[0] - before).abs().max().item())

# %% [markdown]
# The first position knows the end of the text. A model that is to predict each next character would only have to look at it: it
# learns to copy, and has nothing to say when the text does not exist yet. What a position may see is laid down by a
# [causal mask](../../glossary.md#causal-mask).
#
# **Write `causal_mask(length)`.** It returns a `(length, length)` tensor of booleans. Row `t` is `True` in the columns that
# position `t` may look at: itself, and all that come before it.
#
# <details><summary>Hint 1</summary>
#
# Write the mask for three positions by hand. How many `True` are in row 0? In row 2?
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.ones(length, length, dtype=torch.bool)` is the mask that allows everything. `tril` and `triu`, two methods, each keep one triangle of
# a matrix, and the diagonal with it. Which of the two is yours?
# </details>


# %% nbgrader={"grade": false, "grade_id": "causal-mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(length: int) -> Tensor:
    """(length, length) booleans: True where a position may look."""
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool).tril()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-causal-mask", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.causal_mask(causal_mask)

# %% [markdown]
# This is your mask, on a piece of log.

# %%
mask_picture(causal_mask(13), "node07 lost: ")

# %% [markdown]
# ### Where to look
#
# Equal weights find nothing. So each position asks and answers: it has a *query*, a vector of what it looks for, and a *key*, of
# what it has to offer. (Linear layers, which are learned, will make both of the position's own vector.) The score of position t for
# position s is the dot product of t's query with s's key, and a [softmax](../../glossary.md#softmax) makes weights of a row of
# scores. Here are random queries and keys, and the largest weight among ten:

# %%
for width in (4, 16, 64, 256):
    queries, keys = torch.randn(1000, 1, width), torch.randn(1000, 10, width)
    weights = (queries @ keys.transpose(1, 2)).softmax(-1)  # (1000, 1, 10)
    print(f"D = {width:3d}: the largest of ten weights is {weights.max(-1)[0].mean():.2f} on average")

# %% [markdown]
# The wider the vectors, the larger the scores, and the more does the softmax give all to one position, before anything is
# learned. Where it gives all or nothing, hardly any gradient comes back. The dot product of two vectors of D random numbers has a
# size of about √D, so that is what it is divided by.
#
# The other trap is the mask. Multiply a score by 0, and what does the softmax make of it? Not nothing: e⁰ is 1.
#
# **Write `attention_weights(q, k, mask)`.** `q` and `k` are `(…, T, D)`, with one axis in front or several. `mask` is `(T, T)`. Return
# `(…, T, T)`: the softmax over each row of `q kᵀ / √D`, with a weight of exactly 0 where the mask is `False`.
#
# <details><summary>Hint 1</summary>
#
# `k.transpose(-2, -1)` swaps the last two axes, however many come before them.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which score has e to its power equal to 0? `scores.masked_fill(where, value)` puts `value` where a boolean is `True`.
# </details>


# %% nbgrader={"grade": false, "grade_id": "attention-weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_weights(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """(…, T, D) queries and keys to (…, T, T) weights: row t says how much position t takes from each other."""
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (…, T, T)
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-attention-weights", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.attention_weights(attention_weights)

# %% [markdown]
# ### Several heads
#
# A [head](../../glossary.md#head) is one such set of weights, and takes `weights @ v`: a mean of *values*, a third vector that each
# position has. But a mean forgets who brought what:

# %%
hour, host = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
half = torch.tensor([0.5, 0.5])
print("half of the hour, half of the host:", (half @ torch.stack([hour, host])).tolist())
print("the two exchanged:                 ", (half @ torch.stack([host, hour])).tolist())

# %% [markdown]
# Whoever has to look at two places at once needs two heads. They share the C channels: each of H heads has its own D = C / H of
# them, looks where it likes, and the results are set side by side again. A last layer mixes them.
#
# **Write `SelfAttention.forward(x)`,** from `(B, T, C)` to `(B, T, C)`. The layers are given; keep their names.
#
# 1. Given: one Linear layer makes query, key and value of each position's vector, `(B, T, 3C)`, and `split` cuts them apart.
# 2. Of each, make `(B, H, T, D)`; H is `self.n_head`. Head 0 has the first D channels, head 1 the next D.
# 3. The weights, by your function, with the first T rows and columns of `self.mask`.
# 4. `self.dropout` on the weights. ([Dropout](../../glossary.md#dropout) acts in training only.)
# 5. The weighted values, joined to `(B, T, C)` again, and through `self.out`.
#
# <details><summary>Hint 1: splitting</summary>
#
# `view` cannot move an axis, it only cuts and joins neighbours. C can be cut into `(H, D)` where it stands, last. Then H has to come
# before T: `transpose(1, 2)`.
# </details>
#
# <details><summary>Hint 2: joining</summary>
#
# The same, backwards: first the axes, then the shape. After a transpose the numbers lie in another order than `view` needs; `reshape`
# copies them.
# </details>


# %% nbgrader={"grade": false, "grade_id": "self-attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class SelfAttention(nn.Module):
    """Causal self-attention with several heads."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.n_head = config.n_head
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.out = nn.Linear(config.n_embd, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("mask", causal_mask(config.block_size), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)  # (B, T, C) each
        ### BEGIN SOLUTION
        q, k, v = (
            part.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)  # (B, H, T, D)
            for part in (q, k, v)
        )
        weights = attention_weights(q, k, self.mask[:T, :T])  # (B, H, T, T)
        y = self.dropout(weights) @ v  # (B, H, T, D)
        return self.out(y.transpose(1, 2).reshape(B, T, C))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-self-attention", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check.self_attention(SelfAttention)

# %% [markdown]
# ## C. From blocks to a model
#
# ### Each position by itself
#
# Attention moves vectors about and takes means of them. It computes little *with* them. For that each position gets two layers of its
# own, the [MLP](../../glossary.md#mlp). Here are two layers, and one matrix:

# %%
x, first, second = torch.randn(5, 8), torch.randn(8, 32), torch.randn(32, 8)
two_layers = x @ first @ second
one_layer = x @ (first @ second)
print("two layers and one differ by", f"{(two_layers - one_layer).abs().max().item():.0e}", "(rounding)")

# %% [markdown]
# Two layers in a row are one, only more expensive. Something that is not linear must come between. GPTs take the GELU, a smooth
# bend at zero.
#
# **Write `make_mlp(config)`.** It returns a module from `(B, T, C)` to `(B, T, C)`: a Linear layer from C to 4C, GELU, a Linear layer back
# to C, and dropout with probability `config.dropout` at the end. C is `config.n_embd`.
#
# <details><summary>Hint</summary>
#
# `nn.Sequential` runs modules one after the other. All of `nn`'s layers act on the last axis, whatever comes before it.
# </details>


# %% nbgrader={"grade": false, "grade_id": "make-mlp", "locked": false, "schema_version": 3, "solution": true, "task": false}
def make_mlp(config: GPTConfig) -> nn.Module:
    """What a block computes for each position by itself: (B, T, C) to (B, T, C)."""
    ### BEGIN SOLUTION
    return nn.Sequential(
        nn.Linear(config.n_embd, 4 * config.n_embd),  # (B, T, 4C)
        nn.GELU(),
        nn.Linear(4 * config.n_embd, config.n_embd),  # (B, T, C)
        nn.Dropout(config.dropout),
    )
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-make-mlp", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.make_mlp(make_mlp)

# %% [markdown]
# ### Added, not replaced
#
# Attention and an MLP make a block, and blocks are stacked. Below is a stack of 24 small layers, once with each layer's result in the
# place of its input, once with the result added to it. How much gradient arrives at the lowest?

# %%
layers = [nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(24)]
for added in (False, True):
    x = start = torch.randn(8, 64, requires_grad=True)
    for layer in layers:
        x = x + layer(x) if added else layer(x)
    x.mean().backward()
    print("added:   " if added else "replaced:", f"gradient at the bottom {start.grad.norm():.0e}")

# %% [markdown]
# Through layers that replace, the gradient is as good as gone: the lowest would never learn. Where results are added, there is a
# way from top to bottom that no layer stands in. It is called the [residual stream](../../glossary.md#residual-stream).
#
# Sums grow. So attention and the MLP each read a copy that a [layer norm](../../glossary.md#layer-norm) has brought to mean 0 and
# size 1. The stream itself stays as it is.
#
# **Write `Block.forward(x)`.**
#
# 1. Attention of the `norm_1` of x, with `self.dropout` on what it gives; add it to x.
# 2. The MLP of the `norm_2` of *that*; add it as well. (The MLP has its dropout inside.)


# %% nbgrader={"grade": false, "grade_id": "block", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Block(nn.Module):
    """Attention, then an MLP, each on a normalised copy and added to the residual stream."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(config.n_embd)
        self.attention = SelfAttention(config)
        self.norm_2 = nn.LayerNorm(config.n_embd)
        self.mlp = make_mlp(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        x = x + self.dropout(self.attention(self.norm_1(x)))
        return x + self.mlp(self.norm_2(x))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-block", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.block(Block)

# %% [markdown]
# ### The whole model
#
# Tokens become vectors, blocks work on them, and at the end stands a head: a layer from C channels to V numbers, one for each
# character that may come next. These are the [logits](../../glossary.md#logits).
#
# Its weight is `(V, C)`, as the table of characters is. Both hold a vector for each character, and alike characters should have
# alike vectors in both. Learned apart, they would learn that twice. GPTs of this size let them be one: the head is
# [*tied*](../../glossary.md#tied-weights) to the embedding.
#
# **Write the last line of `GPT.__init__`, and `GPT.forward(tokens)`.**
#
# 1. In `__init__`: make the weight of `self.head` the weight of `self.tokens`. The same parameter, not a copy.
# 2. In `forward`: `embed` the tokens with the weights of the two tables; `self.dropout`; then, one after the other, the modules in
#    the list `self.blocks`; then `self.norm`; then `self.head`. Return `(B, T, V)`.


# %% nbgrader={"grade": false, "grade_id": "gpt", "locked": false, "schema_version": 3, "solution": true, "task": false}
class GPT(nn.Module):
    """Embeddings, blocks, and a head that is tied to the embedding of the tokens."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab_size, config.n_embd)
        self.positions = nn.Embedding(config.block_size, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.norm = nn.LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)  # small: at first, all characters are as likely
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        ### BEGIN SOLUTION
        self.head.weight = self.tokens.weight
        ### END SOLUTION

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) numbers to (B, T, V) logits; row t is about the character after position t."""
        ### BEGIN SOLUTION
        x = embed(tokens, self.tokens.weight, self.positions.weight)  # (B, T, C)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))  # (B, T, V)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-gpt", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check.gpt(GPT)

# %% [markdown]
# That is a GPT. Compare it with the course's own, on the same weights:

# %%
from lastgood.training.model import GPT as LibraryGPT

torch.manual_seed(0)
model = GPT(config)
library = LibraryGPT(config)
library.load_state_dict(model.state_dict())
tokens = vocabulary.encode(generate(seed=1, n_chars=48))[None]  # (B, T)
difference = (model.eval()(tokens) - library.eval()(tokens)).abs().max().item()
print(f"{sum(p.numel() for p in model.parameters()):,} parameters; logits differ by at most {difference:.0e}")

# %% [markdown]
# What remains, if anything, is rounding: where you divide, and in which order you add, changes the last digits of a float.
#
# ## D. Training
#
# ### What it has to predict
#
# The loss is the [cross entropy](../../glossary.md#cross-entropy): the mean of `-log p`, where p is the probability that the model gave to
# the character that really came. The logarithm is the natural one, so it counts [nats](../../glossary.md#nats). Which character is
# that, for row t of the logits? Here is a “model” that has learned nothing but to repeat what it has just read:

# %%
said = torch.tensor([[3, 1, 4, 1, 5, 2]])  # (B, T)
parrot = 20.0 * F.one_hot(said, 6).float()  # (B, T, V): row t is certain of token t
print("loss if row t is asked for token t:", F.cross_entropy(parrot.flatten(0, 1), said.flatten()).item())

# %% [markdown]
# A perfect score for repeating. The question was wrong: row `t` must be asked for token `t + 1`.
#
# **Write `next_token_loss(logits, tokens)`.** `logits` are `(B, T, V)`, `tokens` are `(B, T)`. Return the mean cross entropy
# over all predictions that have a target. A window of T characters has T - 1 of them.
#
# <details><summary>Hint 1</summary>
#
# Which row of the logits has no target inside the window? Which token is nobody's target?
# </details>
#
# <details><summary>Hint 2</summary>
#
# Cut one from each end: `logits[:, :-1]` and `tokens[:, 1:]` now stand face to face. `F.cross_entropy` wants `(N, V)` and `(N,)`;
# `flatten(0, 1)` joins the first two axes.
# </details>


# %% nbgrader={"grade": false, "grade_id": "next-token-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def next_token_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    """Mean cross entropy, in nats a character, of predicting each token from those before it."""
    ### BEGIN SOLUTION
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-next-token-loss", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.next_token_loss(next_token_loss)

# %% [markdown]
# ### One step of training
#
# `backward()` computes how the loss would change with each [parameter](../../glossary.md#parameters). Where does it put that?

# %%
weight = torch.tensor(1.0, requires_grad=True)
for _ in range(3):
    (2 * weight).backward()
    print("the gradient of 2w is", weight.grad.item())

# %% [markdown]
# It is 2 each time. `backward` adds to what is there, and nobody has taken the old one away.
#
# The loader gives a `batch` with `inputs` and `tokens`, both `(B, T)`. They differ: in some windows two of the inputs are replaced at random
# ([augmentation](../../glossary.md#augmentation)), so that the model does not learn the text by heart. It reads `batch.inputs`, and is to
# predict `batch.tokens`.
#
# **Write `train_step(model, optimizer, batch)`.** One step: the loss of this batch, its gradient and no other, one step of the optimizer. Return
# the loss as a plain number.
#
# <details><summary>Hint</summary>
#
# Three calls, in an order for you to find: `optimizer.step()` moves the parameters, `loss.backward()` adds to their gradients,
# `optimizer.zero_grad()` forgets those. `loss.item()` is a plain number.
# </details>


# %% nbgrader={"grade": false, "grade_id": "train-step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: Batch) -> float:
    """One step of the optimizer. Returns the loss before it, in nats a character."""
    ### BEGIN SOLUTION
    loss = next_token_loss(model(batch.inputs), batch.tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-train-step", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.train_step(train_step)

# %% [markdown]
# ### Text that it has never seen
#
# The loss of a training batch says how well a model does on text that it is learning, perhaps by heart. What counts is the
# [held-out loss](../../glossary.md#held-out-loss), on text that it never trains on. Here it is, three times, for one model and one text:

# %%
for _ in range(3):
    print(next_token_loss(library.train()(tokens), tokens).item())

# %% [markdown]
# Nothing was trained in between. Dropout is on, and drops something else each time.
#
# **Write `heldout_loss(model, windows)`.** `windows` are `(N, T)` tokens. Return the loss as a plain number, with dropout off. Afterwards the
# model must be in the mode that it was in before: whoever calls this in the middle of training wants dropout on again.
#
# <details><summary>Hint</summary>
#
# `model.training` says which mode it is in. `model.eval()` switches dropout off, `model.train(mode)` sets either. Nothing will be learned
# here: with `torch.no_grad()`, torch keeps no graph.
# </details>


# %% nbgrader={"grade": false, "grade_id": "heldout-loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def heldout_loss(model: nn.Module, windows: Tensor) -> float:
    """Loss on (N, T) tokens without dropout, in nats a character. Leaves the model in the mode it was in."""
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    with torch.no_grad():
        loss = next_token_loss(model(windows), windows).item()
    model.train(was_training)
    return loss
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-heldout-loss", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.heldout_loss(heldout_loss)

# %% [markdown]
# ### Down to the floor
#
# Everything is there. This takes some 20 seconds, or a minute on a busy computer: 400 steps on 60,000 characters, with
# [AdamW](../../glossary.md#adamw), which lesson 08 takes apart. A window begins at every eleventh character, so that they begin
# at all places of a line.
#
# How low can the loss get? The log is drawn from a grammar, so its entropy is known exactly. It is the
# [entropy floor](../../glossary.md#entropy-floor): no model can do better on text that it has not seen.

# %%
text = vocabulary.encode(generate(seed=18, n_chars=60_000 + 4_800))
windows = text[60_000:].view(-1, config.block_size)  # (100, T), never trained on
loader = Loader(text[:60_000], block_size=config.block_size, batch_size=16, seed=0, stride=11)

seed_everything(0)
model = GPT(config).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
training, heldout = [], {0: heldout_loss(model, windows)}
for step in range(1, 401):
    training.append(train_step(model, optimizer, loader.next_batch()))
    if step % 50 == 0:
        heldout[step] = heldout_loss(model, windows)
        print(f"step {step:3d}   training {training[-1]:.3f}   held-out {heldout[step]:.3f}")

print(f"floor                        {ENTROPY:.3f}")
loss_curve(training, heldout)

# %% [markdown]
# At first, all 36 characters are as likely: the loss begins near ln 36 = 3.58. Then it learns which characters are common, which come
# together, and at last what a log line is. It ends above the floor, for two reasons. It could be trained longer. And a window may
# begin in the middle of a line, where nobody can know what the grammar knows. The training loss lies higher still: it is taken with
# dropout on, and on disturbed inputs.
#
# What has it learned to look at? Here is one head of the second block on a new line. Each row adds up to 1. A dark cell beside the
# diagonal: the head reads the character just before. A dark column: many rows look back at one character, such as one that tells
# which kind of line this is. Try others: `layer` is 0 or 1, `head` 0 to 3.

# %%
attention_map(model, "07:31 node03 lost: ecc error", layer=1, head=2)

# %% [markdown]
# ## E. Text
#
# ### Drawn, not chosen
#
# The model gives a probability to each character. The next one could be the likeliest. Let it always be:

# %%
model.eval()
line = vocabulary.encode("\n")[None]  # (B, T): a line has ended
with torch.no_grad():
    for _ in range(140):
        likeliest = model(line[:, -(config.block_size - 1) :])[:, -1].argmax(-1)  # (B,)
        line = torch.cat([line, likeliest[:, None]], dim=1)
print(vocabulary.decode(line[0]))

# %% [markdown]
# It goes round in circles: the likeliest line, again and again. A log is not made of its likeliest line. So each
# character is *drawn*, with the probability that the model gives it, and from a generator of its own, so that drawing text does not
# change the random numbers of a run.
#
# No more than `block_size` characters fit into the model, and one less is better: in a full window the last row of the logits has
# no target, so nobody has ever trained the last place. (Take the `- 1` out of the cell above: the text falls apart once it fills the
# block.)
#
# **Write `sample(model, tokens, n, generator)`.** `tokens` are `(1, T)`. Return `(1, T + n)`: the tokens, and n more after them. Each is drawn
# with `generator` from the softmax of the **last** row of the logits. Show the model the last `model.config.block_size - 1` tokens, or
# all where there are fewer.
#
# <details><summary>Hint</summary>
#
# `torch.multinomial(p, 1, generator=generator)` draws from `(1, V)` probabilities and gives `(1, 1)`. The cell above has the rest.
# </details>


# %% nbgrader={"grade": false, "grade_id": "sample", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sample(model: nn.Module, tokens: Tensor, n: int, generator: torch.Generator) -> Tensor:
    """(1, T) tokens to (1, T + n): each new one drawn from what the model expects after all before it."""
    ### BEGIN SOLUTION
    with torch.no_grad():
        for _ in range(n):
            logits = model(tokens[:, 1 - model.config.block_size :])[:, -1]  # (1, V)
            new = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)  # (1, 1)
            tokens = torch.cat([tokens, new], dim=1)
    return tokens
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-sample", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.sample(sample)

# %%
generator = torch.Generator().manual_seed(0)
start = vocabulary.encode("\n")[None]
print(vocabulary.decode(sample(model.eval(), start, 500, generator)[0]))

# %% [markdown]
# Hosts are lost, [checkpoints](../../glossary.md#checkpoint) are saved, a run restarts from a step that there never was. All of
# it comes from the parameters in `model`, which did not exist some minutes ago.
#
# Now imagine that this had taken two months on 992 GPUs, and that a machine fails. What has to be on disk so that nothing is lost? The
# model that you have built is the one that [lab 18](../lab18/lab18.ipynb) kills. Save the notebook and press *Validate*.
