# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 18. A checkpoint that survives a kill
#
# You will fill two blanks in a small GPT, write its [checkpoint](../../glossary.md#checkpoint), and put that checkpoint on
# trial: fresh processes, real [`SIGKILL`](../../glossary.md#sigkill)s, and a comparison that is exact to the last bit.
#
# - **Time**: 60 to 90 minutes. It is fine to stop after any part.
# - **Before**: [Lesson 18](../../course/lessons/18_what_a_checkpoint_has_to_hold.ipynb). Any word that feels slippery is in the
#   [glossary](../../glossary.md).
# - **How it works**: each exercise of parts A to C opens with something that goes wrong, so that you see what you are about to
#   mend. Then comes a cell with a blank, then a cell that checks it. A check that fails is normal. It says why.
# - **Points**: 24 are checked on the spot, 6 are for two short written answers that a person reads. The
#   *Validate* button in the toolbar runs all checks in a fresh kernel.
#
# | part | what you write | points |
# |---|---|---|
# | A | the causal mask and the shifted loss | 4 |
# | B | `capture` and `restore` | 10 |
# | C | `save` and `load` | 6 |
# | D | four numbers and two short answers | 10 |
# | E | nothing: your checkpoint stands trial | |

# %%
import copy
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from lastgood.teaching.checks.lab18 import check
from lastgood.training.model import plain_attention
from lastgood.training.rng import capture_rng, restore_rng
from lastgood.training.run import Run

torch.set_num_threads(1)  # with more threads, sums come out in another order, and the last bits differ

# %% [markdown]
# ## A. Two blanks in the GPT
#
# ### What a position may see
#
# A GPT predicts each character from those before it. [Attention](../../glossary.md#attention) must therefore not look ahead.
# Here is what happens when nothing stops it: we change the **last** of four characters, and look at the output for the
# **first**.

# %%
source = torch.Generator().manual_seed(18)
q, k, v = (torch.randn(1, 1, 4, 8, generator=source) for _ in range(3))  # (B, H, T, D)
everything = torch.ones(4, 4, dtype=torch.bool)  # no mask: every position sees every other

before = plain_attention(q, k, v, everything)[0, 0, 0]
v[0, 0, 3] += 1.0  # another last character
after = plain_attention(q, k, v, everything)[0, 0, 0]
print("the first position's output moved by", (after - before).abs().max().item())

# %% [markdown]
# The first position saw the future. A model that can do that learns to copy, and has nothing to say when it is
# asked for text that does not exist yet.
#
# **Write `causal_mask(length)`.** It returns the [causal mask](../../glossary.md#causal-mask), a `(length, length)` tensor of
# booleans. Row `t` is `True` in the columns that position `t` may look at: itself, and all that come before it.
#
# <details><summary>Hint 1</summary>
#
# Write the mask for three positions by hand. How many `True` are in row 0? In row 2?
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.ones(length, length, dtype=torch.bool)` is the mask that allows everything. Torch has a method that keeps one triangle
# of a matrix. The diagonal belongs to it.
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
# ### What it has to predict
#
# The [logits](../../glossary.md#logits) of a window have one row for each character. Row `t` has seen the characters up to and
# including `t`. So what is it to predict? Watch a "model" that has learned nothing but to repeat what it has just read:

# %%
tokens = torch.tensor([[3, 1, 4, 1, 5, 2]])  # (B, T)
parrot = 20.0 * F.one_hot(tokens, 6).float()  # (B, T, V): row t is certain of token t

print("loss if row t is asked for token t:", F.cross_entropy(parrot.flatten(0, 1), tokens.flatten()).item())

# %% [markdown]
# A perfect score for repeating. The question was wrong: row `t` must be asked for token `t + 1`.
#
# **Write `next_token_loss(logits, tokens)`.** `logits` are `(B, T, V)`, `tokens` are `(B, T)`. Return the mean [cross
# entropy](../../glossary.md#cross-entropy) over all predictions that have a target. A window of `T` characters has `T - 1` of
# them.
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
# The model of the course is built from these two and a few layers more. You can read it whole: `lastgood/training/model.py`.
#
# ## B. Capture and restore
#
# ### It looks as if it went on
#
# Below, a run trains for 40 steps. We keep its [parameters](../../glossary.md#parameters), as many people do, and pretend that
# the process died. A new run gets the parameters and goes on. Beside it stands what the first run would have done.

# %%
run = Run(seed=18)
for _ in range(40):
    run.advance()
kept = copy.deepcopy(run.model.state_dict())
undisturbed = [run.advance() for _ in range(6)]

resumed = Run(seed=99)  # another process would start from another seed
resumed.model.load_state_dict(kept)
gone_on = [resumed.advance() for _ in range(6)]

print("         undisturbed             resumed")
print("step     loss  learning rate     loss  learning rate")
for a, b in zip(undisturbed, gone_on, strict=True):
    print(f"{a.step:4d}   {a.loss:.4f}       {a.lr:.6f}   {b.loss:.4f}       {b.lr:.6f}")

# %% [markdown]
# No error, no warning, and losses that look like training. Some are even lower: they are losses on other text. Yet no step is the
# step it should have been. This is what makes checkpoints treacherous: one that misses something does not fail. It resumes into
# another run.
#
# **What decides the next step?** Five components:
#
# | component | where a `run` has it |
# |---|---|
# | parameters | `run.model` |
# | [optimizer state](../../glossary.md#optimizer-state) | `run.optimizer` ([AdamW](../../glossary.md#adamw): two [moments](../../glossary.md#moments) for each parameter, and a count of steps) |
# | step and schedule position | [`run.step`](../../glossary.md#global-step); the [learning rate](../../glossary.md#learning-rate) follows from it |
# | [data-loader position](../../glossary.md#data-loader-position) | `run.loader` |
# | [RNG state](../../glossary.md#rng-state) | Python's `random`, NumPy's global generator, torch's: [dropout](../../glossary.md#dropout) and the loader's [augmentation](../../glossary.md#augmentation) draw from them |
#
# Model, optimizer and loader each have [`state_dict()`](../../glossary.md#state-dict) and `load_state_dict()`. For the
# generators, the course has `capture_rng()` and `restore_rng(state)`; or ask each one yourself (`random.getstate`,
# `np.random.get_state`, `torch.get_rng_state`).
#
# **Write `capture(run)` and `restore(run, state)`.**
#
# - `capture` returns one object that holds all five. Call its parts as you like.
# - `restore` puts them into another `run`, in place. That run was built from another [seed](../../glossary.md#seed), in a
#   process that knows nothing of the first one. Do not build a run yourself, fill the one you are given: the check's runs are
#   smaller than the one above.
# - The captured state must not change while the run trains on.
#
# The check runs both in fresh processes. It captures, trains on for a few steps, saves what you captured, kills, restores,
# looks at the run before its first step, and lets it run on, past the end of an [epoch](../../glossary.md#epoch) and past the
# [warm-up](../../glossary.md#warm-up). Then it does it again. Every check begins at another step, so its numbers change from
# one to the next.
#
# <details><summary>Hint 1: where to begin</summary>
#
# Start with the model alone and run the check. It names what is still missing. Add one component at a time.
# </details>
#
# <details><summary>Hint 2: “it holds the values of a later step”</summary>
#
# `state_dict()` hands out the live tensors, not copies. The next step of training writes into them. What does `copy.deepcopy` do?
# </details>
#
# <details><summary>Hint 3: the order in restore</summary>
#
# Whatever draws a random number moves a generator: a loader that skips ahead, a model that is built. Nothing here has to draw while
# it is restored, but in other code something may. Which component is therefore safest last?
# </details>

# %% nbgrader={"grade": false, "grade_id": "capture-restore", "locked": false, "schema_version": 3, "solution": true, "task": false}
def capture(run: Run) -> Any:
    """Everything that decides the run's next step, as copies."""
    ### BEGIN SOLUTION
    return {
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "step": run.step,
        "loader": run.loader.state_dict(),
        "rng": capture_rng(),
    }
    ### END SOLUTION


def restore(run: Run, state: Any) -> None:
    """Put a captured state into `run`, in place."""
    ### BEGIN SOLUTION
    run.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.step = state["step"]
    run.loader.load_state_dict(state["loader"])
    restore_rng(state["rng"])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-capture-restore", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
check.capture_restore(capture, restore)

# %% [markdown]
# ## C. Save and load
#
# ### A save that a kill cannot tear
#
# The plain way to save is to write the new state over the old file. Here that goes well once. Then the process is
# killed when 60 percent of the second save is written.

# %%
demo_file = Path("plain.pt")
torch.save({"step": 100, "weights": torch.zeros(1000)}, demo_file)  # the first save: whole
whole = demo_file.read_bytes()
demo_file.write_bytes(whole[: len(whole) * 6 // 10])  # the second one, as the kill leaves it
try:
    torch.load(demo_file, weights_only=True)
except Exception as error:
    print(f"{type(error).__name__}: {str(error).splitlines()[0]}")
demo_file.unlink()

# %% [markdown]
# The new state is [torn](../../glossary.md#torn-write), and the old one is gone with it: both were in the one file. OPT-175B
# restarted about a hundred times. A save that only works when nobody disturbs it is not one.
#
# **Write `save(state, folder)` and `load(folder)`.**
#
# - `state` is what your `capture` returned. `folder` is the path of a folder that exists. `save` is called again and again with the
#   same folder.
# - `load` returns the newest state whose save was finished. It runs in another process, and the folder may have been moved.
# - Wherever a kill strikes during a save, `load` must find either the older state or the newer one, whole.
#
# The check kills your `save` before and after changes that it makes to the file system, and in the middle of what it writes; once it
# also kills the next save, over what the first kill left. For `load`: `torch.load` refuses NumPy's objects unless you pass
# `weights_only=False`, which is for files that you wrote yourself.
#
# <details><summary>Hint 1</summary>
#
# As long as the new file is being written, the old one must still be there, under the name that `load` reads. So the new one
# needs another name at first.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `os.replace(a, b)` gives `a` the name `b`, in [one step that cannot be seen half done](../../glossary.md#atomic-rename), even
# if a `b` exists.
# </details>
#
# <details><summary>Hint 3: what if the power fails?</summary>
#
# A kill ends the process; the operating system still writes [what it was given](../../glossary.md#page-cache). A power failure
# does not wait. `file.flush()` and [`os.fsync(file.fileno())`](../../glossary.md#fsync) before the rename put the bytes on the
# disk. The check cannot pull a plug, but do it all the same.
# </details>

# %% nbgrader={"grade": false, "grade_id": "save-load", "locked": false, "schema_version": 3, "solution": true, "task": false}
def save(state: Any, folder: str) -> None:
    """Write a state into the folder, so that a kill at any moment leaves the old one or the new one."""
    ### BEGIN SOLUTION
    temporary = Path(folder) / "newest.tmp"
    with open(temporary, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, Path(folder) / "newest.pt")
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)  # the rename itself is on disk only now
    os.close(directory)
    ### END SOLUTION


def load(folder: str) -> Any:
    """The newest state in the folder whose save was finished."""
    ### BEGIN SOLUTION
    return torch.load(Path(folder) / "newest.pt", weights_only=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-save-load", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check.save_load(save, load, capture, restore)

# %% [markdown]
# ## D. Numbers, and two short answers
#
# Each function returns a number, within one percent. Let Python do the sum: it shows how you got there.
#
# ### How often is “often”?
#
# Zhang et al. 2022 report, for OPT-175B, at least 35 manual restarts in about two months, and estimate more than 70 automatic ones
# on top. Take 35 and 70, and 60 days. **How many hours lie between two restarts, on average?**

# %% nbgrader={"grade": false, "grade_id": "hours-between-restarts", "locked": false, "schema_version": 3, "solution": true, "task": false}
def hours_between_restarts() -> float:
    """Mean time between two restarts of OPT-175B, in hours."""
    ### BEGIN SOLUTION
    return 60 * 24 / (35 + 70)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-hours-between-restarts", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check.hours_between_restarts(hours_between_restarts)

# %% [markdown]
# ### How heavy is it?
#
# A model of `n_parameters` is trained with AdamW, everything in 32-bit floats. **How many bytes are its parameters and its
# optimizer state together?** Leave out the few bytes that do not grow with the model.

# %% nbgrader={"grade": false, "grade_id": "state-bytes", "locked": false, "schema_version": 3, "solution": true, "task": false}
def state_bytes(n_parameters: int) -> float:
    """Bytes of the parameters and of AdamW's moments, all in 32-bit floats."""
    ### BEGIN SOLUTION
    return n_parameters * 4 * (1 + 2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-state-bytes", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check.state_bytes(state_bytes)

# %% [markdown]
# ### What does a restart cost?
#
# A run saves every `interval` hours and is hit by `restarts` failures, at moments that have nothing to do with the saves. **How
# many hours of training are [lost and done again](../../glossary.md#lost-work), in all, on average?** Leave aside the time that
# a restart itself takes.

# %% nbgrader={"grade": false, "grade_id": "lost-hours", "locked": false, "schema_version": 3, "solution": true, "task": false}
def lost_hours(restarts: int, interval: float) -> float:
    """Expected hours of work that are lost, over all restarts."""
    ### BEGIN SOLUTION
    return restarts * interval / 2
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-lost-hours", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check.lost_hours(lost_hours)

# %% [markdown]
# ### A symptom
#
# A run is resumed. Its loss goes on from where it was and falls on, but the learning rate begins again at a small value and climbs.
# **Which component was forgotten?** Return its letter, as text.
#
# - `a` the parameters
# - `b` the optimizer state
# - `c` the step and schedule position
# - `d` the RNG state

# %% nbgrader={"grade": false, "grade_id": "symptom", "locked": false, "schema_version": 3, "solution": true, "task": false}
def symptom() -> str:
    """The letter of the forgotten component."""
    ### BEGIN SOLUTION
    return "c"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-symptom", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check.symptom(symptom)

# %% [markdown]
# ### In your own words
#
# A person reads these. Two or three sentences each are enough.
#
# **Question 1.** A colleague says: “We resumed from the weights alone and the loss curve looks fine, so the checkpoint is fine.” What
# do you answer?

# %% [markdown] nbgrader={"grade": true, "grade_id": "looks-fine", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# A curve that looks fine shows that training goes on, not that it is the same training. Without the optimizer state, AdamW starts
# cold, without the step the schedule starts again, and without loader position and RNG state other samples and other dropout masks
# come. To know, resume in a fresh process and compare with the uninterrupted run, step by step and exactly.

# %% [markdown]
# *A point each: what such a curve shows and what not; two components that are missing, with what each changes; a test that would
# tell.*
#
# **Question 2.** You save every three hours to a disk that has room for ten checkpoints. How many do you keep, and why not only the
# newest?

# %% [markdown] nbgrader={"grade": true, "grade_id": "how-many", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# I keep several, for example the last three and then one a day as far back as room allows. The newest may be torn or corrupt, and it
# may be good as a file and bad as a state: after a divergence one goes back to an earlier point, as the OPT team did. Nothing is
# deleted before the newer one was read back and verified.

# %% [markdown]
# *A point each: how many, for this disk; why not only the newest; when an old one may go.*
#
# ## E. Your checkpoint on trial
#
# Nothing to write here. Your four functions go through a run that is hit by `SIGKILL` again and again. After each kill a fresh
# process loads, restores and goes on. In the end its parameters, moments, step, samples and generators are compared with a run
# that nothing ever hit.
#
# The short form takes some seconds. `trial(capture, restore, save, load, full=True)` gives you 105 kills, as many as OPT-175B had
# restarts by the estimate above, in about two minutes.

# %%
from lastgood.teaching.views.trial import trial

trial(capture, restore, save, load)

# %% [markdown]
# **If it says “[bit-identical](../../glossary.md#bit-identical)”**, you have built what many training frameworks do not have: a
# run that cannot be told from one that was never killed. If it names a component, go back to the part that builds it; nothing
# is lost.
#
# Save the notebook and press *Validate*. Then, for tomorrow: look at what *your* framework saves by default (lesson 18, “Going
# further”).
