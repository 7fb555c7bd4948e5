# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 17. Warm-up, decay and clipping
#
# You will write the schedule and the clipping of this course's runs, and an object that knows where on the schedule it is. Then you
# restart a run at the wrong place, and measure what that costs.
#
# - **Time**: about 60 minutes. It is fine to stop after any part.
# - **Before**: [Lesson 17](../../course/lessons/17_warm_up_decay_and_clipping.ipynb). Any word that feels slippery is in the
#   [glossary](../../glossary.md).
# - **How it works**: each exercise opens with something that goes wrong or is missing. Then comes a cell with a blank, then a cell
#   that checks it. A check that fails is normal. It says why. It uses the course's own parts for whatever an earlier exercise
#   should have brought, so a mistake costs its own points and no others.
# - **Points**: 27 are checked on the spot, 3 are for a short written answer that a person reads. The *Validate* button in the toolbar
#   runs all checks in a fresh kernel.
#
# | part | what you write | points |
# |---|---|---|
# | A | `learning_rate` | 4 |
# | B | `clip_gradients` | 5 |
# | C | a schedule that counts: `Scheduler`, and `train`, which saves it | 9 |
# | D | the damage: `rates_after_kill`, `damage`, and what you saw | 6 |
# | E | `resume_with_betas` | 3 |
# | F | a short answer | 3 |
#
# A [learning-rate schedule](../../glossary.md#learning-rate-schedule) has four numbers, and they have the same names everywhere:
# `peak`, `warmup`, `horizon` and `floor`. Steps are counted from 0. The library has all this in `lastgood.training.schedule`. Write
# yours first, then compare.

# %%
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import nn

from lastgood.teaching.checks.lab17 import check

torch.set_num_threads(1)  # the model is so small that a second thread has nothing to do

# %% [markdown]
# ## A. The learning rate of a step
#
# ### At full speed from the first step
#
# The course's model, trained twice for 100 steps: same text, same start, same peak of 0.01. One run takes 30 steps to get up to the
# peak, the other is there at once. (This takes some seconds.)

# %%
from lastgood.teaching.checks.lab17.shown import without_warm_up

without_warm_up()

# %% [markdown]
# The run that began more slowly is far ahead. Its [warm-up](../../glossary.md#warm-up) was no loss of time. After it comes the
# [cosine decay](../../glossary.md#cosine-decay), from the peak down to the [floor](../../glossary.md#floor).
#
# **Write `learning_rate(step, peak, warmup, horizon, floor)`.** It returns a number, and needs to know nothing but its arguments:
#
# - **warm-up**: in steps 0 to `warmup - 1` it climbs in a straight line. Step 0 has `peak / warmup`, step 1 twice that, and the last
#   one the whole `peak`.
# - **decay**: at step `warmup` it is still at the peak. From there it follows half a cosine down. At step `horizon` it is at the
#   `floor`.
# - **beyond**: after the [horizon](../../glossary.md#horizon) it stays at the floor.
#
# <details><summary>Hint 1: where on the way down?</summary>
#
# First a share: 0 at step `warmup`, 1 at step `horizon`. Which steps lie between the two, and how many of them are done?
# </details>
#
# <details><summary>Hint 2: half a cosine</summary>
#
# `math.cos(math.pi * share)` goes from 1 to -1. What do you have to add, and to multiply by, so that it goes from 1 to 0? That is how
# much of the way from floor to peak is left.
# </details>
#
# <details><summary>Hint 3: beyond the horizon</summary>
#
# A share above 1 brings the cosine up again. `min(1.0, share)` is never above 1.
# </details>


# %% nbgrader={"grade": false, "grade_id": "learning-rate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def learning_rate(step: int, peak: float, warmup: int, horizon: int, floor: float) -> float:
    """The learning rate of the step with this number; the first is step 0."""
    ### BEGIN SOLUTION
    if step < warmup:
        return peak * (step + 1) / warmup
    share = min(1.0, (step - warmup) / (horizon - warmup))
    return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * share))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-learning-rate", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check.learning_rate(learning_rate)

# %% [markdown]
# ## B. Clipping
#
# ### Cut off, or made shorter
#
# A gradient is an arrow: it says in which direction the loss falls. This one has two numbers, and is too long for a threshold of 1.
# Somebody clips each number to the range from -1 to 1.

# %%
gradient = torch.tensor([8.0, 0.6])
for what, arrow in (("as it is", gradient), ("each number clipped", gradient.clamp(-1, 1))):
    degrees = math.degrees(math.atan2(arrow[1], arrow[0]))
    print(f"{what:20} ({arrow[0]:.1f}, {arrow[1]:.1f})  length {arrow.norm():.2f}, angle {degrees:.0f}°")

broken = torch.tensor([8.0, math.inf])
print("scaled to length 1, with an inf in it:", (broken * (1.0 / broken.norm())).tolist())

# %% [markdown]
# It points elsewhere, and is still too long. [Gradient clipping](../../glossary.md#gradient-clipping) multiplies *all* numbers of *all*
# tensors by one factor. The direction stays.
#
# The last line is another trap. Where a gradient is not finite, no factor helps: it makes `nan`, the optimizer writes
# that into the [parameters](../../glossary.md#parameters), and the run is lost. Better to stop before.
#
# **Write `clip_gradients(parameters, max_norm)`.** `parameters` is what `model.parameters()` gives. Each parameter has its gradient in
# `.grad`.
#
# - Compute the [global norm](../../glossary.md#global-norm): the root of the sum of the squares of all numbers in all gradients.
# - If it is above `max_norm`, rescale all gradients together, so that it becomes `max_norm`. Else leave them as they are.
# - A parameter that took no part in the loss has `.grad` `None`. Leave it out.
# - If the norm is not finite, raise a `ValueError`, and leave all gradients as they are.
# - Return the norm *before* clipping, as a number.
#
# The check compares with torch's own `clip_grad_norm_`, which you may not use here.
#
# <details><summary>Hint 1: the norm</summary>
#
# `gradient.pow(2).sum()` is the sum of one tensor's squares. Add those of all tensors, and take the root once, at the end.
# </details>
#
# <details><summary>Hint 2: changing a gradient</summary>
#
# `gradient.mul_(factor)` changes the tensor in place. `gradient = gradient * factor` makes another one, and the parameter still has the
# old one.
# </details>
#
# <details><summary>Hint 3: “nothing is rescaled”</summary>
#
# `model.parameters()` is a generator: it can be gone through once. You need to do so twice.
# </details>


# %% nbgrader={"grade": false, "grade_id": "clip-gradients", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clip_gradients(parameters: Iterable[nn.Parameter], max_norm: float) -> float:
    """Rescale all gradients together to a global norm of at most `max_norm`; returns the one before."""
    ### BEGIN SOLUTION
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = math.sqrt(sum(gradient.pow(2).sum().item() for gradient in gradients))
    if not math.isfinite(norm):
        raise ValueError(f"the global norm of the gradients is {norm}")
    if norm > max_norm:
        for gradient in gradients:
            gradient.mul_(max_norm / norm)
    return norm
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-clip-gradients", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check.clip_gradients(clip_gradients)

# %% [markdown]
# Yours and torch's on the course's model, for a gradient of a real batch:

# %%
from lastgood.training.data import Loader
from lastgood.training.logbook import Vocabulary, generate
from lastgood.training.model import GPT, GPTConfig, next_token_loss

tokens = Vocabulary().encode(generate(seed=17, n_chars=4_000))
batch = Loader(tokens, block_size=48, batch_size=8, seed=0).next_batch()
clipped = []
for clip in (clip_gradients, nn.utils.clip_grad_norm_):
    torch.manual_seed(17)
    model = GPT(GPTConfig(vocab_size=len(Vocabulary()), block_size=48))
    next_token_loss(model(batch.inputs), batch.tokens).backward()
    print(f"{clip.__name__:16} global norm {float(clip(model.parameters(), 0.5)):.6f}")
    clipped.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))
print(f"the clipped gradients differ by at most {(clipped[0] - clipped[1]).abs().max().item():.0e}")

# %% [markdown]
# Torch divides by the norm plus a millionth, so that it never divides by 0. That is all the difference there is.
#
# ## C. A schedule that counts
#
# ### Another curve, without a word
#
# `learning_rate` remembers nothing: whoever knows the [step](../../glossary.md#global-step) knows the rate. Frameworks like an object
# better, one that counts its own steps. Then its position is state, and has to be in the [checkpoint](../../glossary.md#checkpoint).
#
# Here a run of 300 steps is killed at step 120. Torch's scheduler is saved and loaded, as its manual says. But the job that resumes
# was told how many steps are *left*, 180. (The rate falls in a straight line here.)


# %%
def torchs_scheduler(horizon: int) -> torch.optim.lr_scheduler.LambdaLR:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / horizon))


killed = torchs_scheduler(horizon=300)
for _ in range(120):
    killed.optimizer.step()
    killed.step()

resumed = torchs_scheduler(horizon=180)
resumed.load_state_dict(killed.state_dict())
print("                undisturbed  resumed")
print(f"position        {killed.last_epoch:11} {resumed.last_epoch:8}")
print(f"rate            {killed.get_last_lr()[0]:11.3f} {resumed.get_last_lr()[0]:8.3f}")
for scheduler in (killed, resumed):
    scheduler.optimizer.step()
    scheduler.step()
print(f"one step later  {killed.get_last_lr()[0]:11.3f} {resumed.get_last_lr()[0]:8.3f}")

# %% [markdown]
# No error, and right after the load even the rate that it reports is right. One step later the run is on another curve. `LambdaLR`
# computes the rate with a function, and a function is not in its state: the resumed job has its own. (Torch's
# `CosineAnnealingLR` has the opposite surprise: the saved horizon replaces the job's.) A position is a place on *one* curve. So
# a state that is worth something says on which.
#
# **Write the four methods of `Scheduler`.** `__init__` is given; add to it what you like.
#
# - `lr`: the rate of the step that comes next. `learning_rate` is yours to use.
# - `step()`: call it after each step of the optimizer.
# - [`state_dict()`](../../glossary.md#state-dict): what a checkpoint has to hold, in plain numbers, text, lists and dicts, so
#   that it goes through JSON. It must not change when the run trains on.
# - `load_state_dict(state)`: go on from there, in a new object and in another process. If the state is of another curve, with
#   another peak, warm-up, horizon or floor, raise a `ValueError` and change nothing. (Its text is for whoever reads the log: say
#   what differs. The check does not read it.)
#
# The check saves, builds a new object, loads through JSON, and compares the next 50 rates exactly.
#
# <details><summary>Hint 1: what to save</summary>
#
# One number says where. Four say on which curve.
# </details>
#
# <details><summary>Hint 2: “It refuses each state”</summary>
#
# JSON knows lists and no tuples, and all keys of its dicts are text. A dict with text keys and numbers comes back equal to itself.
# </details>


# %% nbgrader={"grade": false, "grade_id": "scheduler", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Scheduler:
    """A learning-rate schedule that knows how many steps have been made."""

    def __init__(self, peak: float, warmup: int, horizon: int, floor: float) -> None:
        self.curve = {"peak": peak, "warmup": warmup, "horizon": horizon, "floor": floor}
        self.position = 0  # steps made

    @property
    def lr(self) -> float:
        """The learning rate of the step that comes next."""
        ### BEGIN SOLUTION
        return learning_rate(self.position, **self.curve)
        ### END SOLUTION

    def step(self) -> None:
        """A step has been made."""
        ### BEGIN SOLUTION
        self.position += 1
        ### END SOLUTION

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, and on which curve: plain data."""
        ### BEGIN SOLUTION
        return {"position": self.position, "curve": dict(self.curve)}
        ### END SOLUTION

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there. Raises ValueError for a state of another curve."""
        ### BEGIN SOLUTION
        if state["curve"] != self.curve:
            raise ValueError(f"the state is of the curve {state['curve']}, this one is {self.curve}")
        self.position = state["position"]
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-scheduler", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check.scheduler(Scheduler)

# %% [markdown]
# ### When to save
#
# A state that holds everything can still be saved at the wrong moment. In this loop the save stands between the optimizer's step and
# the schedule's. A real framework had that mistake once
# ([Lightning, issue 1772](https://github.com/Lightning-AI/pytorch-lightning/issues/1772)). After two steps of ten, the process dies:

# %%
rates = [0.1, 0.2, 0.3, 0.4]  # a warm-up
position = 0
while position < 2:
    print(f"step with rate {rates[position]}")
    saved = position  # the save
    position += 1  # the schedule's own step
position = saved  # killed; a new process loads what was saved last
while position < 3:
    print(f"step with rate {rates[position]}, after the restart")
    position += 1

# %% [markdown]
# The second rate comes twice. The model in the checkpoint has made two steps, the schedule one, and from now on it is one step late.
# No curve would show you that.
#
# **Write `train(steps, optimizer, scheduler, save_every, save)`.** It makes so many steps. For each one:
#
# 1. Put the schedule's rate into *all* of the optimizer's [groups](../../glossary.md#parameter-group): `optimizer.param_groups`
#    is a list of dicts, and the rate is under `"lr"`.
# 2. `optimizer.step()`. (The gradient is somebody else's business here.)
# 3. `scheduler.step()`.
#
# After each `save_every` steps, call `save()`. It saves optimizer and schedule as they are at that moment, so both must have made the
# same number of steps.


# %% nbgrader={"grade": false, "grade_id": "train", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train(steps: int, optimizer: Any, scheduler: Any, save_every: int, save: Callable[[], None]) -> None:
    """Make so many steps, and save after each `save_every` of them."""
    ### BEGIN SOLUTION
    for made in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = scheduler.lr
        optimizer.step()
        scheduler.step()
        if made % save_every == 0:
            save()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-train", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.train(train)

# %% [markdown]
# ## D. The damage
#
# ### Two mistakes at a restart
#
# A run is killed and resumed. Parameters and optimizer are restored, the schedule is not quite. Two mistakes are easy to make:
#
# - **The step is forgotten.** The schedule counts from 0 again.
# - **The horizon is forgotten.** The schedule knows its step. But the job was told how many steps are left, and takes that number for
#   its horizon.
#
# Here is the rate of the first step after the kill, in a run of 300 steps that is killed at step 120.

# %%
from lastgood.teaching.checks.lab17.shown import first_rates

print(first_rates())

# %% [markdown]
# Three rates for one step, and a training log that shows one of them. Would you have noticed? Before you read on, sketch the three
# curves up to step 300.
#
# **Write `rates_after_kill(killed, peak, warmup, horizon, floor)`.** `killed` steps were made before the kill, so the next one
# has the number `killed`. Return a dict with three lists. Each holds the [learning rates](../../glossary.md#learning-rate) of
# the steps from `killed` to `horizon - 1`:
#
# - `"right"`: nothing is forgotten;
# - `"step forgotten"`: the schedule is right, and begins at its step 0;
# - `"horizon forgotten"`: the step is right, and the horizon is `horizon - killed`.
#
# <details><summary>Hint</summary>
#
# The steps are the same in all three. In the second list, what does `learning_rate` get for its step? In the third one, what for its
# horizon?
# </details>


# %% nbgrader={"grade": false, "grade_id": "rates-after-kill", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rates_after_kill(
    killed: int, peak: float, warmup: int, horizon: int, floor: float
) -> dict[str, list[float]]:
    """The learning rates of the steps from `killed` to `horizon - 1`, for three kinds of restart."""
    ### BEGIN SOLUTION
    steps = range(killed, horizon)
    left = horizon - killed
    return {
        "right": [learning_rate(step, peak, warmup, horizon, floor) for step in steps],
        "step forgotten": [learning_rate(step - killed, peak, warmup, horizon, floor) for step in steps],
        "horizon forgotten": [learning_rate(step, peak, warmup, left, floor) for step in steps],
    }
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-rates-after-kill", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.rates_after_kill(rates_after_kill)

# %% [markdown]
# ### How much is missing, how much is too much
#
# How far off is a run? The obvious measure is the sum of the differences. Take a run whose rate is too low at first and
# too high later:

# %%
wanted, got = [3.0, 3.0, 3.0, 3.0], [1.0, 2.0, 4.0, 5.0]
print("sum of the differences:", sum(a - b for a, b in zip(wanted, got, strict=True)))

# %% [markdown]
# Nothing, it says. Not one step had its rate.
#
# **Write `damage(right, wrong)`.** Both are lists of learning rates, step by step. Return two numbers: how much rate is *missed*,
# summed over the steps where the wrong one is lower, and how much is *added*, summed over the steps where it is higher. Neither is
# ever below 0.


# %% nbgrader={"grade": false, "grade_id": "damage", "locked": false, "schema_version": 3, "solution": true, "task": false}
def damage(right: Sequence[float], wrong: Sequence[float]) -> tuple[float, float]:
    """Learning rate that is missed, and that is added, each summed over the steps."""
    ### BEGIN SOLUTION
    missed = sum(max(0.0, a - b) for a, b in zip(right, wrong, strict=True))
    added = sum(max(0.0, b - a) for a, b in zip(right, wrong, strict=True))
    return missed, added
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-damage", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.damage(damage)

# %% [markdown]
# Now on a real run. The course's model trains for 120 steps and is killed. Three times it is resumed from the same checkpoint, with
# all parts restored, and trains to step 300 with the rates of your three lists. Each time its [held-out
# loss](../../glossary.md#held-out-loss) is measured after every 20 steps. What is missed and added is given in percent of the right
# run's sum. (660 steps: some ten to twenty seconds, or a minute on a busy computer.)

# %%
from lastgood.teaching.checks.lab17.shown import three_restarts

three_restarts(rates_after_kill, damage)

# %% [markdown]
# **Which sentence fits what you see?** Return its letter, as text.
#
# - `a` Both wrong runs have a higher held-out loss than the right one, at every point after the restart.
# - `b` The run that forgot its horizon is ahead of the right one soon after the restart, and behind it at the end.
# - `c` The run that forgot its step ends best: it had more learning rate in all.
# - `d` The run that forgot its step cannot be told from the right one before the end.


# %% nbgrader={"grade": false, "grade_id": "what-you-saw", "locked": false, "schema_version": 3, "solution": true, "task": false}
def what_you_saw() -> str:
    """The letter of the sentence that fits."""
    ### BEGIN SOLUTION
    return "b"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-what-you-saw", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check.what_you_saw(what_you_saw)

# %% [markdown]
# Here the lower rate let the loss fall at once, and slowed it down later. So the loss after a restart is a bad witness. The rate itself
# is a good one: it is a number that you can compute, and compare exactly.
#
# This is one run with a high peak. With other numbers a wrong restart may even end lower, because the plan was not the best one. It
# is still another run than the one that was planned.
#
# ## E. Another setting at a restart
#
# ### A new setting that is gone again
#
# Sometimes a run is to go on *differently*. OPT's team set β₁ of [Adam](../../glossary.md#adam) to 0 in the middle of the run, and
# saw no effect at first. Here is why:

# %%
old = torch.optim.AdamW([torch.zeros(3, requires_grad=True)], lr=1e-3, betas=(0.9, 0.95))
new = torch.optim.AdamW([torch.zeros(3, requires_grad=True)], lr=1e-3, betas=(0.0, 0.95))
print("as it was built:  ", new.param_groups[0]["betas"])
new.load_state_dict(old.state_dict())
print("after the load:   ", new.param_groups[0]["betas"])

# %% [markdown]
# The [optimizer state](../../glossary.md#optimizer-state) holds more than [moments](../../glossary.md#moments). Each group's
# settings are in it too, learning rate and betas among them, and loading brings them back.
#
# **Write `resume_with_betas(optimizer, state, betas)`.** `optimizer` is new, `state` is the `state_dict()` of the old one. Afterwards
# the optimizer has all of the saved state, and in each of its groups the new `betas`. The saved state itself stays as it was:
# somebody else may resume from it.


# %% nbgrader={"grade": false, "grade_id": "resume-with-betas", "locked": false, "schema_version": 3, "solution": true, "task": false}
def resume_with_betas(optimizer: Any, state: dict[str, Any], betas: tuple[float, float]) -> None:
    """Restore an optimizer's state, with other betas from now on."""
    ### BEGIN SOLUTION
    optimizer.load_state_dict(state)
    for group in optimizer.param_groups:
        group["betas"] = betas
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-resume-with-betas", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check.resume_with_betas(resume_with_betas)

# %% [markdown]
# ## F. In your own words
#
# A person reads this. Two or three sentences are enough.
#
# **Question.** Your framework's checkpoint holds, of the schedule, one number: `{"last_epoch": 12000}`. Name two ways in which a run
# resumed from it can get wrong learning rates, although this number is loaded rightly. What do you log or check in the first step
# after a restart, so that either would show?

# %% [markdown] nbgrader={"grade": true, "grade_id": "one-number", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# The new job may be built with another horizon, for instance with the steps that are left, or with another peak or warm-up: position
# 12,000 is then on another curve. Or the number was saved before the schedule's own step, and all rates come one step late. I save
# the whole configuration of the schedule beside the position and refuse another one, and I compare the rate that the optimizer really
# uses in the first step with the one that the function of the step gives, and with the last one in the old log.

# %% [markdown]
# *A point each: one way; another way; a check of the first step that would show both.*
#
# Save the notebook and press *Validate*. Then, for tomorrow: print the learning rate that *your* framework uses in the first step
# after a restart, and compare it with the log of the run before. [Lab 18](../lab18/lab18.ipynb) restores the rest of the run.
