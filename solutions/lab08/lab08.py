# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 08. What the optimizer remembers
#
# You will count what an optimizer remembers, and weigh it. You will write AdamW, so that it takes the same hundred steps as
# torch's. You will say how large a file gets before it is there. And you will find out what happens to a run that comes back
# without its memory.
#
# - **Time**: about 70 minutes. It is fine to stop after any part.
# - **Before**: [Lesson 08](../../course/lessons/08_what_the_optimizer_remembers.ipynb). Any word that feels slippery is in the
#   [glossary](../../glossary.md).
# - **How it works**: each exercise opens with something that goes wrong or is missing. Then comes a cell with a blank, then a cell that
#   checks it. A check that fails is normal. It says why. It uses right parts for whatever an earlier exercise should have brought, so
#   a mistake costs its own points and no others.
# - **Points**: 27 are checked on the spot, 3 are for a short written answer that a person reads. The *Validate* button in the toolbar
#   runs all checks in a fresh kernel.
#
# | part | what you write | points |
# |---|---|---|
# | A | `count_parameters`, `remembered` | 5 |
# | B | `in_memory`, `in_checkpoint`, `opt_checkpoint` | 6 |
# | C | `momentum_step`, `corrected_moments`, `adamw_step` | 10 |
# | D | `file_bytes` | 3 |
# | E | `first_update` | 3 |
# | F | a short answer | 3 |
#
# Torch has all this. Write yours without its optimizers, then compare.

# %%
import copy
import math
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lastgood.teaching.checks.lab08 import check
from lastgood.training.model import GPT, GPTConfig
from lastgood.training.rng import seed_everything
from lastgood.training.run import Run, RunConfig

torch.set_num_threads(1)  # the models are so small that a second thread has nothing to do
# A process's first optimizer takes two seconds or more, since torch loads its compiler. So make one now.
torch.optim.SGD([torch.zeros(1)], lr=0.1)
config = GPTConfig(vocab_size=36, block_size=48)
config

# %% [markdown]
# ## A. Count
#
# ### Each number once
#
# How many [parameters](../../glossary.md#parameters) does the model of this course have? A
# [checkpoint](../../glossary.md#checkpoint) lists tensors, so add them up. And ask the optimizer how many numbers it was given.

# %%
model = GPT(config)
optimizer = torch.optim.AdamW(model.parameters())
listed = sum(tensor.numel() for tensor in model.state_dict().values())
given = sum(tensor.numel() for tensor in optimizer.param_groups[0]["params"])
print(f"in the tensors of the state_dict: {listed:,}")
print(f"given to the optimizer:           {given:,}")
print(f"too many:                         {listed - given:,} = 36 characters of 64 channels")

# %% [markdown]
# The list has one table twice. The head is [*tied*](../../glossary.md#tied-weights) to the
# [embedding](../../glossary.md#embedding) of the tokens: one parameter under two names. A
# [state_dict](../../glossary.md#state-dict) may also list [*buffers*](../../glossary.md#buffer), such as the running mean of a
# normalization. Those are stored, but no optimizer moves them.
#
# **Write `count_parameters(model)`.** It returns how many numbers there are in all parameters of a model. Each counts once, whatever
# names it has. Frozen ones count too: they are parameters, even if nobody trains them.
#
# <details><summary>Hint</summary>
#
# `model.parameters()` gives each parameter once. `numel()` says how many numbers a tensor holds.
# </details>


# %% nbgrader={"grade": false, "grade_id": "count-parameters", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_parameters(model: nn.Module) -> int:
    """Numbers in all parameters of a model, each once."""
    ### BEGIN SOLUTION
    return sum(parameter.numel() for parameter in model.parameters())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-count-parameters", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.count_parameters(count_parameters)

# %% [markdown]
# ### What is left after a step
#
# An optimizer that has just been made remembers nothing. After its first step it does. Here is what three of torch's keep for a
# layer of 4 by 3 weights and 4 biases:

# %%
for made in (
    lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    lambda parameters: torch.optim.AdamW(parameters, lr=0.1),
):
    layer = nn.Linear(3, 4)
    optimizer = made(layer.parameters())
    before = len(optimizer.state)
    layer(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    momentum = optimizer.defaults.get("momentum")
    print(f"{type(optimizer).__name__}, momentum {momentum}: before the step {before} entries, after it")
    for parameter, kept in optimizer.state.items():
        print(
            f"    for {tuple(parameter.shape)}:", {name: tuple(value.shape) for name, value in kept.items()}
        )

# %% [markdown]
# `exp_avg` and `exp_avg_sq` are torch's names for the two [moments](../../glossary.md#moments). `step` is a tensor of shape (),
# one number.
#
# **Write `remembered(model, optimizer)`.** `optimizer` is `"sgd"`, `"momentum"` (SGD with
# [momentum](../../glossary.md#momentum)) or [`"adamw"`](../../glossary.md#adamw). Return how many numbers torch's optimizer
# remembers for this model between two steps, the `step` of each tensor included. The check makes the real one, lets it take a
# step, and counts.
#
# - The model may have frozen parameters (`requires_grad` is False). They get no gradient, and torch keeps nothing for a parameter that
#   never got one.
# - Count by thinking, not by making an optimizer: for a model of 175 billion parameters you could not.
#
# <details><summary>Hint</summary>
#
# For how many parameters does it remember something? How many numbers for each number in them? And how many for each *tensor*?
# </details>


# %% nbgrader={"grade": false, "grade_id": "remembered", "locked": false, "schema_version": 3, "solution": true, "task": false}
def remembered(model: nn.Module, optimizer: str) -> int:
    """Numbers that torch's optimizer keeps between two steps."""
    ### BEGIN SOLUTION
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    numbers = sum(parameter.numel() for parameter in trained)
    if optimizer == "sgd":
        return 0
    if optimizer == "momentum":
        return numbers
    return 2 * numbers + len(trained)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-remembered", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.remembered(remembered)

# %% [markdown]
# ## B. Weigh
#
# ### Four times the model
#
# A model of 105,472 parameters, with 4 bytes each, takes 421,888 bytes. Can it be trained where there is room for half a
# million bytes?

# %%
model = GPT(config)
optimizer = torch.optim.AdamW(model.parameters())
tokens = torch.randint(36, (8, 48))
model(tokens).mean().backward()
optimizer.step()

weights = sum(p.nbytes for p in model.parameters())
gradients = sum(p.grad.nbytes for p in model.parameters())
state = sum(value.nbytes for kept in optimizer.state.values() for value in kept.values())
print(f"weights          {weights:9,} bytes")
print(f"gradients        {gradients:9,}")
print(f"optimizer state  {state:9,}")
together = weights + gradients + state
print(f"together         {together:9,} bytes: {together / weights:.2f} times the weights")

# %% [markdown]
# It can be run there, but not trained. (What a step computes on its way, the [*activations*](../../glossary.md#activations),
# comes on top. It depends on the batch, and is gone after the step. Leave it out.)
#
# In [mixed precision](../../glossary.md#mixed-precision) the model computes in 16 bits. This is the table of this lab, in bytes
# for each parameter:
#
# | | weights | [master weights](../../glossary.md#master-weights) | gradients | each moment |
# |---|---|---|---|---|
# | 32 bits throughout | 4 | none | 4 | 4 |
# | mixed precision | 2 | 4 | 2 | 4 |
#
# **Write `in_memory(parameters, moments, mixed)`.** It returns the bytes that a run keeps in memory after a step: weights,
# gradients, and what the optimizer remembers. `moments` is how many numbers the optimizer keeps for each parameter: 0, 1 or 2.
# `mixed` is True for the second row. (Leave `step` out. For a large model a few hundred numbers are nothing.)
#
# <details><summary>Hint</summary>
#
# Add up one parameter's bytes first: a row of the table, with the last column as often as there are moments. Which column would be
# there twice with AdamW, and not at all with plain SGD?
# </details>


# %% nbgrader={"grade": false, "grade_id": "in-memory", "locked": false, "schema_version": 3, "solution": true, "task": false}
def in_memory(parameters: int, moments: int, mixed: bool) -> int:
    """Bytes that a run keeps in memory, without activations."""
    ### BEGIN SOLUTION
    if mixed:
        weights, master, gradients, moment = 2, 4, 2, 4
    else:
        weights, master, gradients, moment = 4, 0, 4, 4
    return parameters * (weights + master + gradients + moments * moment)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-in-memory", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.in_memory(in_memory)

# %% [markdown]
# ### What need not be saved
#
# Now save such a run, model and optimizer, in 32 bits. Four times four bytes would be 16 for each parameter.

# %%
large = GPT(GPTConfig(vocab_size=36, block_size=48, n_layer=3, n_embd=192))
optimizer = torch.optim.AdamW(large.parameters())
large(tokens).mean().backward()
optimizer.step()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "state.pt"
    torch.save({"model": large.state_dict(), "optimizer": optimizer.state_dict()}, path)
    size = path.stat().st_size
print(f"{size:,} bytes for {sum(p.numel() for p in large.parameters()):,} parameters:", end=" ")
print(f"{size / sum(p.numel() for p in large.parameters()):.2f} bytes a parameter")

# %% [markdown]
# Four bytes are missing, and nothing is wrong with the file. What was in memory that the next step does not need?
#
# **Write `in_checkpoint(parameters, moments, mixed)`.** It returns the bytes of a checkpoint that loses nothing, by the same
# table. In mixed precision, save the 16-bit weights beside the master weights. They could be rounded anew, but whoever only
# wants to *use* the model needs no others.
#
# <details><summary>Hint</summary>
#
# For each column: does the *next* step read what is there now, or does it write over it first?
# </details>


# %% nbgrader={"grade": false, "grade_id": "in-checkpoint", "locked": false, "schema_version": 3, "solution": true, "task": false}
def in_checkpoint(parameters: int, moments: int, mixed: bool) -> int:
    """Bytes of a checkpoint that loses nothing."""
    ### BEGIN SOLUTION
    bytes_each = 2 + 4 if mixed else 4  # the gradients are computed anew
    return parameters * (bytes_each + 4 * moments)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-in-checkpoint", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.in_checkpoint(in_checkpoint)

# %% [markdown]
# ### 1.6 of what?
#
# OPT-175B's chronicles speak of about 1.6 TB a checkpoint, 992 files of about 1.7 GB. The weights have 16 bits:

# %%
print(f"weights of OPT-175B: {175e9 * 2 / 1e12:.2f} TB")
print(f"992 files of 1.7 GB: {992 * 1.7e9 / 1e12:.2f} TB")

# %% [markdown]
# So the weights are a fifth of it. Suppose that a checkpoint holds 16-bit weights and [Adam](../../glossary.md#adam)'s two
# moments in 32 bits, without master weights. How large is it? The answer depends on the unit: a terabyte (TB) is 10¹² bytes, a
# [tebibyte](../../glossary.md#tebibyte) (TiB) is 2⁴⁰. Many tools count in the second, and print the name of the first.
#
# **Write `opt_checkpoint()`.** It returns the predicted size twice, as a pair: first in TB, then in TiB.
#
# <details><summary>Hint</summary>
#
# Bytes first: 2 for the weight, and how many for two moments? Then divide the same bytes by each unit.
# </details>


# %% nbgrader={"grade": false, "grade_id": "opt-checkpoint", "locked": false, "schema_version": 3, "solution": true, "task": false}
def opt_checkpoint() -> tuple[float, float]:
    """OPT-175B's checkpoint in terabytes and in tebibytes."""
    ### BEGIN SOLUTION
    size = 175e9 * (2 + 4 + 4)
    return size / 10**12, size / 2**40
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-opt-checkpoint", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.opt_checkpoint(opt_checkpoint)

# %% [markdown]
# Which of your two numbers is “about 1.6”? And how far is the other one from 992 files of “about 1.7 GB”? We do not know which
# unit the chronicles meant. Rounded numbers without a unit carry an error of a tenth.
#
# ## C. Remember
#
# From here on, an update is a function. It gets a parameter and its gradient, plain tensors of one shape, and a `state`:
#
# - `state` is a dict of this parameter's own, and it is empty before the first step. Keep in it whatever the next step needs, under names
#   that you choose. What is not in it will be gone after a restart.
# - The function returns the parameter after the step. It leaves the gradient as it is.
# - `lr` may be another one at each step, as under a [schedule](../../glossary.md#learning-rate-schedule).
#
# ### A valley
#
# The loss is a long valley: flat along x, steep across y. Plain gradient descent from (1, 1) to the lowest point, (0, 0):

# %%
steepness = torch.tensor([1.0, 50.0])  # the gradient is steepness · parameter


def walk(lr: float, steps: int = 100) -> Tensor:
    parameter = torch.ones(2)
    for _ in range(steps):
        parameter = parameter - lr * steepness * parameter
    return parameter


for lr in (0.005, 0.03, 0.041):
    x, y = walk(lr).tolist()
    print(f"lr {lr:5}: after 100 steps x = {x:.3f}, y = {y:9.3g}")

# %% [markdown]
# A rate that y can bear is slow for x. A rate that is only a little larger throws y out of the valley. But along x all
# gradients agree, step after step, and across y they cancel. An optimizer that *adds them up* would notice.
#
# **Write `momentum_step(parameter, gradient, state, lr, momentum)`,** in torch's form. b is what it remembers, and it is 0 at first:
#
# - b ← momentum · b + gradient
# - parameter ← parameter - lr · b
#
# <details><summary>Hint 1: the first step</summary>
#
# `state.get("b", 0)` is what is there, or 0 where there is nothing yet.
# </details>
#
# <details><summary>Hint 2: one trap</summary>
#
# `state["b"] = gradient` puts the gradient's own tensor there, not a copy. Whoever owns it will write the next gradient into it.
# </details>


# %% nbgrader={"grade": false, "grade_id": "momentum-step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def momentum_step(
    parameter: Tensor, gradient: Tensor, state: dict[str, Any], lr: float, momentum: float
) -> Tensor:
    """The parameter after a step of SGD with momentum."""
    ### BEGIN SOLUTION
    state["b"] = momentum * state.get("b", 0.0) + gradient
    return parameter - lr * state["b"]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-momentum-step", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.momentum_step(momentum_step)


# %%
def with_momentum(steps: int = 100) -> str:
    parameter, state = torch.ones(2), {}
    for _ in range(steps):
        parameter = momentum_step(parameter, steepness * parameter, state, lr=0.03, momentum=0.8)
    return "after {} steps x = {:.2g}, y = {:.2g}".format(steps, *parameter.tolist())


print("with momentum:", with_momentum())

# %% [markdown]
# ### Averages that begin at zero
#
# Adam keeps two [moving averages](../../glossary.md#exponential-moving-average), of the gradient and of its square, and moves
# by the first over the root of the second. Both begin at zero. Here each gradient is exactly 1, so both should be 1:

# %%
first = second = 0.0
for step in range(1, 101):
    first = 0.9 * first + 0.1 * 1.0
    second = 0.999 * second + 0.001 * 1.0**2
    if step in (1, 2, 12, 100):
        quotient = first / math.sqrt(second)
        print(f"step {step:3d}: first {first:.3f}, second {second:.3f}, first / √second {quotient:.2f}")

# %% [markdown]
# Both are too small, the second one far more so and for longer, so the quotient is too *large*: over six times at the twelfth
# step. After t steps, an average that began at zero has a share of 1 - βᵗ of what it should be. [Bias
# correction](../../glossary.md#bias-correction) divides by that.
#
# **Write `corrected_moments(gradient, state, beta1, beta2)`.** It takes in a gradient and returns both moments, corrected. t
# counts the steps, and is 1 at the first one.
#
# - first ← beta1 · first + (1 - beta1) · gradient
# - second ← beta2 · second + (1 - beta2) · gradient²
# - return first / (1 - beta1ᵗ) and second / (1 - beta2ᵗ)
#
# <details><summary>Hint</summary>
#
# Three things have to be there at the next step. The *corrected* moments are not among them.
# </details>


# %% nbgrader={"grade": false, "grade_id": "corrected-moments", "locked": false, "schema_version": 3, "solution": true, "task": false}
def corrected_moments(
    gradient: Tensor, state: dict[str, Any], beta1: float, beta2: float
) -> tuple[Tensor, Tensor]:
    """Adam's two moments after this gradient, corrected for having begun at zero."""
    ### BEGIN SOLUTION
    state["step"] = step = state.get("step", 0) + 1
    state["first"] = beta1 * state.get("first", 0.0) + (1 - beta1) * gradient
    state["second"] = beta2 * state.get("second", 0.0) + (1 - beta2) * gradient**2
    return state["first"] / (1 - beta1**step), state["second"] / (1 - beta2**step)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-corrected-moments", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.corrected_moments(corrected_moments)

# %% [markdown]
# ### Decay that keeps out of the division
#
# [Weight decay](../../glossary.md#weight-decay) makes parameters a little smaller at each step. The [older
# way](../../glossary.md#l2-penalty) adds `weight_decay · parameter` to the gradient. With Adam that does something odd. Two
# parameters begin at 1. Their gradients go to and fro, so that they stay where they are, but for the decay. One has small
# gradients, the other large ones:

# %%
for made, name in ((torch.optim.Adam, "through the gradient:"), (torch.optim.AdamW, "by itself, in AdamW: ")):
    pair = nn.Parameter(torch.ones(2))
    optimizer = made([pair], lr=0.01, weight_decay=0.1)
    for step in range(300):
        pair.grad = torch.tensor([0.01, 10.0]) * (-1) ** step
        optimizer.step()
    print(f"decay {name} small gradients {pair[0].item():.3f}, large gradients {pair[1].item():.3f}")

# %% [markdown]
# Through the gradient, the decay gets divided by the root of the second moment like everything else. Where gradients are large,
# next to nothing is left of it. [AdamW](../../glossary.md#adamw) keeps it out of the division: both shrink alike.
#
# **Write `adamw_step(parameter, gradient, state, lr, beta1, beta2, eps, weight_decay)`.** It returns the parameter after the step:
#
# - first and second, corrected, come from your `corrected_moments`, with the same `state`;
# - parameter ← parameter - lr · weight_decay · parameter, and from the result,
# - parameter ← parameter - lr · first / (√second + eps)
#
# The check walks beside `torch.optim.AdamW` for 100 steps, twice: without decay, and with it.
#
# <details><summary>Hint</summary>
#
# Three lines are enough. `second.sqrt()` is the root; eps is added to it, not to what is under it.
# </details>


# %% nbgrader={"grade": false, "grade_id": "adamw-step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def adamw_step(
    parameter: Tensor,
    gradient: Tensor,
    state: dict[str, Any],
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
) -> Tensor:
    """The parameter after a step of AdamW."""
    ### BEGIN SOLUTION
    first, second = corrected_moments(gradient, state, beta1, beta2)
    shrunk = parameter * (1 - lr * weight_decay)
    return shrunk - lr * first / (second.sqrt() + eps)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-adamw-step", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check.adamw_step(adamw_step)

# %% [markdown]
# Now let it train the GPT. `Own` wraps your function in what a run expects of an optimizer, and takes the place of torch's in
# the course's own run.


# %%
class Own:
    """Your `adamw_step`, with an optimizer's interface."""

    def __init__(self, parameters: Any) -> None:
        self.parameters = list(parameters)
        self.param_groups = [{"lr": 0.0}]
        self.states: list[dict[str, Any]] = [{} for _ in self.parameters]

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        lr = self.param_groups[0]["lr"]
        for parameter, state in zip(self.parameters, self.states, strict=True):
            parameter.copy_(adamw_step(parameter, parameter.grad, state, lr, 0.9, 0.95, 1e-8, 0.1))


def losses(own: bool, steps: int = 50) -> list[float]:
    run = Run(seed=8)
    if own:
        run.optimizer = Own(run.model.parameters())
    return [run.advance().loss for _ in range(steps)]


with_yours, with_torchs = losses(own=True), losses(own=False)
for at in (0, 10, 25, 49):
    print(f"step {at:2d}: loss {with_yours[at]:.6f} with yours, {with_torchs[at]:.6f} with torch's")

# %% [markdown]
# What still differs, if anything, is the last digit: torch adds and multiplies in another order.
#
# ## D. Save
#
# ### A file before it is there
#
# 12 bytes for each parameter, in 32 bits with AdamW. Here are three GPTs, and what the file really weighs.


# %%
def saved(model: nn.Module) -> int:
    """Bytes of a file with the state of a model and of its AdamW, after a step."""
    optimizer = torch.optim.AdamW(model.parameters())
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.pt"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
        return path.stat().st_size


for width in (16, 64, 192):
    gpt = GPT(GPTConfig(vocab_size=36, block_size=48, n_embd=width))
    predicted, size = 12 * sum(p.numel() for p in gpt.parameters()), saved(gpt)
    tensors = 4 * len(list(gpt.parameters()))  # a weight, two moments, a step
    print(f"predicted {predicted:10,} bytes, the file {size:10,}: {size / predicted - 1:5.1%} more", end="; ")
    print(f"{(size - predicted) / tensors:.0f} bytes for each of {tensors} tensors")

# %% [markdown]
# For the smallest the prediction is off by more than a quarter. Torch writes something about each tensor, its name, shape, type
# and place in the file: here nearly 250 bytes, whatever the tensor's size. Where tensors are large that is nothing, and where
# they are small it is much.
#
# **Write `file_bytes(model, optimizer)`.** `optimizer` is `"sgd"`, `"momentum"` or `"adamw"`. Return how many bytes the file
# will have, to within 1 %. It holds the two state_dicts, as above, after a step. The models in the check are GPTs of half a
# million parameters or more, all in 32 bits, none of them frozen. So you may leave out what torch writes about each tensor, or
# put it in.
#
# A tensor that is there under two names is written once. The [causal masks](../../glossary.md#causal-mask) of this model are
# buffers that are *not* saved: they follow from the sizes.
#
# <details><summary>Hint</summary>
#
# Part A has counted all numbers that are in the file. Each has 32 bits.
# </details>


# %% nbgrader={"grade": false, "grade_id": "file-bytes", "locked": false, "schema_version": 3, "solution": true, "task": false}
def file_bytes(model: nn.Module, optimizer: str) -> float:
    """Bytes of a file with the state of a model and of its optimizer."""
    ### BEGIN SOLUTION
    return 4 * (count_parameters(model) + remembered(model, optimizer))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-file-bytes", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.file_bytes(file_bytes)

# %% [markdown]
# ## E. Forget
#
# ### Three ways to lose it
#
# A run is stopped after 150 steps. Then it makes a [cold restart](../../glossary.md#cold-restart): it comes back with the right
# weights, the right batch, the right [learning rate](../../glossary.md#learning-rate). But something of the optimizer's state
# is gone. How large is its first update, beside that of the run that was never stopped? Before you run the cell: larger or
# smaller?


# %%
def update_size(run: Run, lost: str) -> float:
    """How far all parameters move in the next step, where this was lost before it."""
    run = copy.deepcopy(run)
    for state in run.optimizer.state.values():
        if lost in ("everything", "moments"):
            state["exp_avg"].zero_()
            state["exp_avg_sq"].zero_()
        if lost in ("everything", "step"):
            state["step"].zero_()
    before = [p.detach().clone() for p in run.model.parameters()]
    seed_everything(8)  # the same dropout for all
    run.advance()
    moved = [(p.detach() - b).norm() for p, b in zip(run.model.parameters(), before, strict=True)]
    return torch.stack(moved).norm().item()


print("lost:                 everything   moments      step")
for betas in ((0.9, 0.95), (0.9, 0.999)):
    run = Run(RunConfig(betas=betas), seed=8)
    for _ in range(150):
        run.advance()
    whole = update_size(run, "nothing")
    ratios = [update_size(run, lost) / whole for lost in ("everything", "moments", "step")]
    print(f"betas {betas}:".ljust(22) + "  ".join(f"x {ratio:6.2f}" for ratio in ratios))

# %% [markdown]
# None of them leaves the update as it was, and none raises an error. Losing *less* can be worse: with the second pair, keeping
# the `step` while the moments are gone makes a larger update than losing both. (In the first row, two numbers are alike by
# chance. By the lesson, the one for moments is that for everything times c₁ = 0.45. The one for the step is 1 / c₁.)
#
# **Write `first_update(gradients, lost, beta1, beta2)`** for a single parameter, in plain numbers. `gradients` is a list. Just
# before the *last* of them the run was restarted, and `lost` says what of Adam's state was lost then:
#
# - `"everything"`: the moments are zero and t is 1 at the last gradient;
# - `"moments"`: the moments are zero, and t goes on as if nothing had happened;
# - `"step"`: the moments are kept, and t is 1 at the last gradient.
#
# Return the size of the last update, divided by the size that it has in a run that lost nothing: 2.0 if it is twice as large.
# The learning rate cancels. Leave eps and weight decay out.
#
# <details><summary>Hint 1</summary>
#
# Write a helper that goes through the gradients and returns `first / √second`, both corrected, at the end. Call it twice, and
# divide. It may use your `corrected_moments`, or three plain numbers.
# </details>
#
# <details><summary>Hint 2</summary>
#
# In the helper, before the last gradient comes in, set to zero what was lost.
# </details>


# %% nbgrader={"grade": false, "grade_id": "first-update", "locked": false, "schema_version": 3, "solution": true, "task": false}
def first_update(gradients: list[float], lost: str, beta1: float, beta2: float) -> float:
    """How many times as large the last update is where something was lost before it."""

    ### BEGIN SOLUTION
    def update(lost: str) -> float:
        first, second, step = 0.0, 0.0, 0
        for number, gradient in enumerate(gradients, start=1):
            if number == len(gradients) and lost in ("everything", "moments"):
                first = second = 0.0
            if number == len(gradients) and lost in ("everything", "step"):
                step = 0
            step += 1
            first = beta1 * first + (1 - beta1) * gradient
            second = beta2 * second + (1 - beta2) * gradient**2
        return first / (1 - beta1**step) / math.sqrt(second / (1 - beta2**step))

    return abs(update(lost) / update("nothing"))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-first-update", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.first_update(first_update)

# %% [markdown]
# With it, the two extremes. On a slope all gradients are alike. On a plateau they are noise: what remains in the first moment
# is small, and so is the undisturbed update.

# %%
source = torch.Generator().manual_seed(8)
slope = [1.0] * 2000
print("lost:                     everything  moments     step")
for betas in ((0.9, 0.95), (0.9, 0.999)):
    ratios = [first_update(slope, lost, *betas) for lost in ("everything", "moments", "step")]
    print(f"slope, {betas}:".ljust(24) + "  ".join(f"x {ratio:6.2f}" for ratio in ratios))
    noise = torch.randn(200, 300, generator=source).tolist()  # 200 parameters
    middle = [
        torch.tensor([first_update(one, lost, *betas) for one in noise]).median().item()
        for lost in ("everything", "moments", "step")
    ]
    print(f"noise, {betas}:".ljust(24) + "  ".join(f"x {ratio:6.2f}" for ratio in middle))

# %% [markdown]
# (For noise it is the median of 200 parameters, since a few undisturbed updates are nearly zero.)
#
# On a slope, losing everything cannot be seen at all. In noise it multiplies the update, since its first step always has the
# full size of the learning rate, whatever the gradients are. Most parameters of a real run are nearer to the second case.
#
# ## F. In your own words
#
# A person reads this. Three or four sentences are enough.
#
# **Question.** A colleague resumes a large run from its weights alone: “That saves most of each checkpoint, and Adam's moments
# fill up again within some steps anyway.” The run trains in mixed precision with betas of 0.9 and 0.999. What do you answer,
# with a number for what is saved and a number for what it costs? And if there were no other way, what would you do at the
# restart?

# %% [markdown] nbgrader={"grade": true, "grade_id": "weights-alone", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# It saves 12 of 14 bytes a parameter, if the master weights go too. But the first update then has the full size of the learning
# rate for every parameter, whatever its gradients were like: in our small run that was five times the size that it had. The
# second moment needs about 1,000 steps until it remembers as far back as before, and by then the parameters are elsewhere: the
# run goes on, but it is another one. If there were no other way, I would begin t at 1 with the moments at zero, and warm the
# learning rate up again from a small value over those steps.

# %% [markdown]
# *A point each: bytes saved, by a right count; what the first updates look like, with a number, or how long the moments need; a
# restart that is gentler, with a reason.*
#
# Save the notebook and press *Validate*. Then, for tomorrow: find a checkpoint of a run that you know, divide its size by the
# number of parameters, and say what is in it. [Lab 18](../lab18/lab18.ipynb) asks what else decides the next step.
