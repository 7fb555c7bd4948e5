# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 19. A supervisor that brings a run back
#
# You will write a program that watches a training run, finds out what became of it, and starts it again where it stood. It
# faces real processes: they are killed, they [hang](../../glossary.md#hang), they leave, and one of their
# [checkpoints](../../glossary.md#checkpoint) is damaged.
#
# - **Time**: 60 to 90 minutes. It is fine to stop after any part.
# - **Before**: [Lesson 19](../../course/lessons/19_when_a_node_fails_mid_run.ipynb). Any word that feels slippery is in the
#   [glossary](../../glossary.md).
# - **How it works**: most exercises open with something that goes wrong. Then comes a cell with a blank, then a cell that checks
#   it. A check that fails is normal. It says why.
# - **Points**: 24 are checked on the spot, 6 are for two short written answers that a person reads. The
#   *Validate* button in the toolbar runs all checks in a fresh kernel.
#
# | part | what you write | points |
# |---|---|---|
# | A | what happened to a process | 4 |
# | B | the last good checkpoint | 5 |
# | C | when to give up | 2 |
# | D | the supervisor | 9 |
# | E | what the failures cost | 4 |
# | F | two short answers | 6 |
# | G | nothing: your supervisor stands trial | |
#
# Parts A to C are the three questions that a [supervisor](../../glossary.md#supervisor) asks. Part D puts them into a loop of
# some fifteen lines.

# %%
import hashlib
import json
import re
import signal
from pathlib import Path
from typing import Any

from lastgood.recovery.job import LIMIT, PATIENCE, START_PATIENCE, Fate, Job, Plan, compare, drawn
from lastgood.teaching.checks.lab19 import check

# %% [markdown]
# ## A. What happened?
#
# ### It looks alive
#
# A `Job` is a small training run that somebody has to start, process by process. What befalls each process is written down
# beforehand, in a `Plan`. Here the first one is killed at step 7, the second stops at step 7 and does not end, and the third is
# [told to leave](../../glossary.md#preemption).
#
# `start` starts a process. `poll` waits for a few milliseconds and returns the [exit status](../../glossary.md#exit-status), or
# `None` as long as the process is there. We poll each of them until it is at step 7, and then fifty times more. The first
# process takes some seconds to start.

# %%
plan = Plan(seed=19, steps=12, fates=(Fate("killed", 7), Fate("hung", 7), Fate("told to leave", 7)))
with Job(plan) as job:
    for fate in plan.fates:
        process = job.start(None)
        while process.step < 7:
            process.poll()
        for _ in range(50):
            status = process.poll()
        print(f"{fate.kind:<13}  exit status {status}, step {process.step}, silent for {process.silence:.2f} s")

# %% [markdown]
# The first and the third left a status: minus the number of the [signal](../../glossary.md#signal). The second left nothing. By
# its status it is a healthy process, today and next week. Only its silence tells: it gives a
# [heartbeat](../../glossary.md#heartbeat) at each step, and none has come.
#
# How long is too long? Between two heartbeats of this job there are never more than [`PATIENCE`](../../glossary.md#time-out)
# seconds. The *first* heartbeat may take longer, because a process that starts has a checkpoint to load: `START_PATIENCE`
# seconds.

# %%
print(f"PATIENCE {PATIENCE} s, START_PATIENCE {START_PATIENCE} s")

# %% [markdown]
# **Write `what_happened(status, silence, beats)`.** `status` is what `poll` returned. `silence` is the time since the last
# heartbeat in seconds, or since the start where there was none yet. `beats` counts the heartbeats. Return one of these texts:
#
# | text | when |
# |---|---|
# | `"finished"` | it ended with status 0 |
# | `"left"` | it was ended by [SIGTERM](../../glossary.md#sigterm) |
# | [`"killed by SIGKILL"`](../../glossary.md#sigkill) | it was ended by another signal; the text has that signal's name |
# | `"failed"` | it ended with an error of its own: any other status |
# | `"hung"` | it is there, and has been silent for longer than it may |
# | `"running"` | it is there, and may be |
#
# <details><summary>Hint 1</summary>
#
# A process that has ended is silent as well. Which of the three numbers do you look at first?
# </details>
#
# <details><summary>Hint 2</summary>
#
# `signal.Signals(9).name` is `"SIGKILL"`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "what-happened", "locked": false, "schema_version": 3, "solution": true, "task": false}
def what_happened(status: int | None, silence: float, beats: int) -> str:
    """What became of a process, in one of the texts above."""
    ### BEGIN SOLUTION
    if status is None:
        patience = PATIENCE if beats else START_PATIENCE
        return "hung" if silence > patience else "running"
    if status == 0:
        return "finished"
    if status == -signal.SIGTERM:
        return "left"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return "failed"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-what-happened", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check.what_happened(what_happened)

# %% [markdown]
# ## B. Where to go on?
#
# ### The newest checkpoint
#
# This job saves every 5 steps. Its first process gets to step 13. Then a byte of its newest checkpoint is changed on the disk, and
# it is killed. We take the newest one all the same.

# %%
with Job(Plan(seed=19, steps=20, fates=(Fate("corrupt", 13),))) as job:
    process = job.start(None)
    while process.poll() is None:
        pass
    print("in the folder:", sorted(path.name for path in job.folder.iterdir()))
    print("the last of them:", max(path.name for path in job.folder.iterdir()))
    print((job.folder / "step-10" / "manifest.json").read_text())

    del job.record[10:]  # what this is for, part D says
    process = job.start("step-10")
    while process.poll() is None:
        pass
    print("exit status", process.poll())
    compare(job)

# %% [markdown]
# No error, and another run. The damage went into the weights, and from there into every step after it.
#
# The second line shows another trap. `max` compares names as text, and takes `step-5` for the last one.
#
# A checkpoint of this job is a folder `step-N` with two files: `state.pt`, and `manifest.json`. The
# [manifest](../../glossary.md#manifest) holds
#
# - `run`, the name of the run that wrote it,
# - `step`, its step,
# - `bytes` and `sha256`, the length of `state.pt` and its [SHA-256](../../glossary.md#checksum) in hex, as they were when it
#   was written.
#
# A checkpoint can be bad in three ways:
#
# | word | what is wrong |
# |---|---|
# | [torn](../../glossary.md#torn-write) | something is missing: no `manifest.json`, or half of one; no `state.pt`, or not all of its bytes |
# | corrupt | all is there, and the SHA-256 is another |
# | foreign | its manifest names another run, or another step than the name of its folder |
#
# **Write `last_good(folder, run)`.** It returns two things:
#
# - the path of the good checkpoint with the highest step, or `None` if there is none;
# - a dict of the checkpoints that you passed over, which are those with a higher step. The key is the name, such as `"step-10"`. The
#   value is a text that holds one of the three words.
#
# Leave alone whatever is not named `step-N`: it is no checkpoint.
#
# <details><summary>Hint 1: which is newer</summary>
#
# Not the one with the later time: a copy has a new one. Not the one that sorts last as text: `"step-95" > "step-100"`. Take the
# number out of the name. `re.fullmatch(r"step-(\d+)", name)` also tells you what is no checkpoint's name.
# </details>
#
# <details><summary>Hint 2: two functions are easier than one</summary>
#
# Write one that says what is wrong with *one* checkpoint, and an empty text if nothing is. Then go through the folder from the highest
# step down, and return the first good one.
# </details>
#
# <details><summary>Hint 3: half a manifest</summary>
#
# `json.loads` raises `ValueError` at half a manifest; reading a file that is not there raises `OSError`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "last-good", "locked": false, "schema_version": 3, "solution": true, "task": false}
def last_good(folder: Path, run: str) -> tuple[Path | None, dict[str, str]]:
    """The newest good checkpoint of `run`, or None; and why each newer one was passed over."""
    ### BEGIN SOLUTION
    steps = {}
    for path in folder.iterdir():
        if match := re.fullmatch(r"step-(\d+)", path.name):
            steps[int(match[1])] = path
    skipped = {}
    for step in sorted(steps, reverse=True):
        wrong = fault(steps[step], run, step)
        if not wrong:
            return steps[step], skipped
        skipped[steps[step].name] = wrong
    return None, skipped


def fault(path: Path, run: str, step: int) -> str:
    """What is wrong with one checkpoint; empty if nothing is."""
    try:
        manifest = json.loads((path / "manifest.json").read_text())
        state = (path / "state.pt").read_bytes()
    except (OSError, ValueError) as error:
        return f"torn: {error}"
    if (manifest["run"], manifest["step"]) != (run, step):
        return f"foreign: step {manifest['step']} of {manifest['run']}"
    if len(state) != manifest["bytes"]:
        return f"torn: {len(state)} of {manifest['bytes']} bytes"
    if hashlib.sha256(state).hexdigest() != manifest["sha256"]:
        return "corrupt: its SHA-256 is another"
    return ""
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-last-good", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check.last_good(last_good)

# %% [markdown]
# ## C. Is there any point?
#
# ### It fails again, and again
#
# One batch of this job cannot be read. It comes after step 8. Whoever starts the job again meets it again.

# %%
with Job(Plan(seed=19, steps=20, poison=8)) as job:
    for checkpoint in (None, "step-5", "step-5", "step-5"):
        process = job.start(checkpoint)
        while process.poll() is None:
            pass
        print(f"died at step {process.step}:", process.output().splitlines()[-1])

# %% [markdown]
# [Bit-identical](../../glossary.md#bit-identical) restarts have their price: what fails once at a step fails there each time.
# Such a step is a [poison step](../../glossary.md#poison-step). No restart mends it, so a supervisor has to notice, stop, and
# call somebody.
#
# But it must not be hasty. A run of months dies a hundred times. As long as each process gets further than all before it,
# there is no reason to give up.
#
# **Write `no_progress(reached)`.** `reached` has one number for each process that died, in order: the step that it had reached.
# A death brought no new step if its process got no further than the furthest of all before it. The job begins at step 0. Count such
# deaths from the end of the list, up to the last one that did bring a new step.
#
# For example: `[40, 73, 73, 60]` gives 2. The first process to reach step 73 brought new steps, the two after it did not.
#
# <details><summary>Hint</summary>
#
# Go through the list and keep two numbers: the furthest step so far, and the count. Whoever gets further sets the count back to 0.
# </details>

# %% nbgrader={"grade": false, "grade_id": "no-progress", "locked": false, "schema_version": 3, "solution": true, "task": false}
def no_progress(reached: list[int]) -> int:
    """How many of the last deaths in a row brought no new step."""
    ### BEGIN SOLUTION
    furthest, deaths = 0, 0
    for step in reached:
        if step > furthest:
            furthest, deaths = step, 0
        else:
            deaths += 1
    return deaths
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-no-progress", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.no_progress(no_progress)

# %% [markdown]
# ## D. The supervisor
#
# ### One process after the other
#
# Here is the simplest supervisor of all: as long as the job is not complete, start it again from its newest checkpoint. It meets one
# kill. The job keeps a record of samples, `job.record`: entry `k` lists what step `k` was trained on, and each step that a
# process takes appends one.

# %%
with Job(Plan(seed=19, steps=12, fates=(Fate("killed", 9),))) as job:
    for checkpoint in (None, "step-5"):
        process = job.start(checkpoint)
        while process.poll() is None:
            pass
    print("the first samples of each step:", [entry[0] for entry in job.record])
    compare(job)

# %% [markdown]
# The process went on from step 5, as it should, and the run is right. But by the record, the samples of steps 5 to 8 were used twice. A log that says
# so is worse than none: whoever reads it later looks for a fault in the data loader. What was done beyond the checkpoint is not part of
# the run any more, and has to go from the record before the steps are done again.
#
# **Write `supervise(job, what_happened, last_good, no_progress)`.** The check calls it with working versions of your three functions, so
# that a mistake in part A, B or C costs nothing here. It brings the job to its end and returns `"finished"`. Where
# `LIMIT` deaths in a row have brought no new step, it returns `"gave up"`.
#
# Before each start it finds the last good checkpoint and cuts the record to that step. After the start it polls until something has
# happened. A process that hangs is still there: kill it, or it may wake up and write beside the next one. Every process that does
# not finish counts as a death, also one that was told to leave.
#
# | of the job | |
# |---|---|
# | `job.folder`, `job.run` | what `last_good` wants to know; the folder can only be read |
# | `job.record` | the record of samples, a list with one entry a step |
# | `job.start(checkpoint)` | starts a process from a checkpoint's path, or from step 0 if that is `None` |
# | `process.poll()` | waits a few milliseconds; the exit status, or `None` |
# | `process.silence`, `process.beats` | what `what_happened` wants to know, as of the last poll |
# | `process.step` | the step that it has reached |
# | `process.kill()` | SIGKILL; returns when the process is gone |
#
# The check lets real processes fail in an order that it draws, and then gives you a job with a poison step. It takes some seconds.
# Your function runs in a process of its own, as the job's do. A loop that polls or starts for ever is ended, and you are told what it
# waited for. So is one that does neither, after 20 seconds. What it printed last stands below the points.
#
# (A real supervisor also waits before a restart, longer each time: a [back-off](../../glossary.md#back-off). Leave it out here,
# it would only cost you time.)
#
# <details><summary>Hint 1: the outline</summary>
#
# An outer loop: one round is one process. An inner loop: one round is one poll. Between the rounds of the outer loop only one thing
# has to be remembered, the list that `no_progress` wants.
# </details>
#
# <details><summary>Hint 2: the step of a checkpoint</summary>
#
# `int(path.name.removeprefix("step-"))`. And if there is no good checkpoint, the run begins at step 0, with an empty record.
# </details>
#
# <details><summary>Hint 3: cutting a list</summary>
#
# `del job.record[5:]` keeps the entries of steps 0 to 4: what a run at step 5 has been trained on.
# </details>

# %% nbgrader={"grade": false, "grade_id": "supervise", "locked": false, "schema_version": 3, "solution": true, "task": false}
def supervise(job: Job, what_happened: Any, last_good: Any, no_progress: Any) -> str:
    """Bring the job to its end, whatever befalls its processes: "finished", or "gave up"."""
    ### BEGIN SOLUTION
    reached: list[int] = []
    while no_progress(reached) < LIMIT:
        checkpoint, _ = last_good(job.folder, job.run)
        step = int(checkpoint.name.removeprefix("step-")) if checkpoint else 0
        del job.record[step:]  # what was done beyond the checkpoint will be done again

        process = job.start(checkpoint)
        state = "running"
        while state == "running":
            status = process.poll()
            state = what_happened(status, process.silence, process.beats)
        if state == "finished":
            return state
        if state == "hung":
            process.kill()  # it may wake up, and write beside the next one
        reached.append(process.step)
    return "gave up"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-supervise", "locked": true, "points": 9, "schema_version": 3, "solution": false, "task": false}
check.supervise(supervise)

# %% [markdown]
# ## E. What did it cost?
#
# ### What a failure cost
#
# A supervisor writes a log of events. This one is short: a run of 12 steps that saves every 5 and fails twice. Each step takes half an
# hour. How many steps were lost? A first idea: the furthest step ever reached, less the step at which the run was resumed.

# %%
log: list[dict[str, Any]] = [{"kind": "started", "step": 0, "hours": 0.0}]


def trains(first: int, last: int) -> None:
    """Add a step event for each of the steps to the log, and a save after every fifth."""
    for step in range(first, last + 1):
        log.append({"kind": "step", "step": step, "hours": log[-1]["hours"] + 0.5})
        if step % 5 == 0:
            log.append({"kind": "saved", "step": step, "hours": log[-1]["hours"]})


def fails(step: int, resumed: int) -> None:
    """Add a failure to the log, and the restart two hours later."""
    log.append({"kind": "failed", "step": step, "hours": log[-1]["hours"]})
    log.append({"kind": "restarted", "step": resumed, "hours": log[-1]["hours"] + 2.0})


trains(1, 9)
fails(9, resumed=5)
trains(6, 7)
fails(7, resumed=5)
trains(6, 12)
log.append({"kind": "finished", "step": 12, "hours": log[-1]["hours"]})

furthest, lost = 0, []
for event in log:
    furthest = max(furthest, event["step"])
    if event["kind"] == "restarted":
        lost.append(furthest - event["step"])
print("lost, by the first idea:", lost, "together", sum(lost))
print("steps executed:", sum(event["kind"] == "step" for event in log), "steps of the run:", log[-1]["step"])

# %% [markdown]
# The two do not agree. Eighteen steps were executed for twelve, so six were lost, and not eight. When the second failure came, steps
# 8 and 9 had not been done again yet. They were lost once, with the first failure, and cannot be lost again.
#
# **Write `lost_steps(events)`.** Return a list with one number for each failure: how many steps it cost. In the log, a `failed` event
# has the step that the run had reached, and the `restarted` event after it the step at which it was resumed. That is not always the
# step of the last `saved` event: that checkpoint may be damaged.
#
# <details><summary>Hint</summary>
#
# Remember the step of the last `failed` event, and subtract when the run is restarted.
# </details>

# %% nbgrader={"grade": false, "grade_id": "lost-steps", "locked": false, "schema_version": 3, "solution": true, "task": false}
def lost_steps(events: list[dict[str, Any]]) -> list[int]:
    """How many steps each failure cost."""
    ### BEGIN SOLUTION
    lost = []
    failed_at = 0
    for event in events:
        if event["kind"] == "failed":
            failed_at = event["step"]
        elif event["kind"] == "restarted":
            lost.append(failed_at - event["step"])
    return lost
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-lost-steps", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.lost_steps(lost_steps)

# %% [markdown]
# ### How much of the time was training?
#
# The [effective training time ratio](../../glossary.md#ettr) (ETTR) is productive time divided by the wall-clock time of the
# run. Productive is the time of the steps that the run consists of in the end. Steps that were lost are not productive, and
# neither are saves and waiting.
#
# **Write `ettr(events, hours_per_step)`.** Each step takes `hours_per_step`. `hours` of an event is the time since the run began;
# the last event is `finished`.

# %% nbgrader={"grade": false, "grade_id": "ettr", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ettr(events: list[dict[str, Any]], hours_per_step: float) -> float:
    """Productive hours over all hours of the run."""
    ### BEGIN SOLUTION
    finished = events[-1]
    return finished["step"] * hours_per_step / finished["hours"]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check-ettr", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check.ettr(ettr)

# %% [markdown]
# ## F. In your own words
#
# A person reads these. Two or three sentences each are enough.
#
# **Question 1.** In your run, a step takes 20 seconds, and a step with a save 50. Somebody wants the heartbeat's time-out set to 30 seconds,
# so that hangs are found quickly; somebody else wants two hours, to be on the safe side. What do you answer?

# %% [markdown] nbgrader={"grade": true, "grade_id": "time-out", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# At 30 seconds the supervisor kills the healthy run at every save, before the save is complete: it never gets past the first one. At two
# hours all hosts stand idle for two hours in each hang. I would take a small multiple of the longest honest pause, such as three
# minutes, with a longer limit for the start, and keep the limit on restarts without progress in case I am wrong.

# %% [markdown]
# *A point each: what the short one does, at a save; what the long one costs; a choice that follows from the longest honest pause.*
#
# **Question 2.** Your supervisor gave up at step 4,117: three deaths, no new step. A colleague would raise the limit to 100, so that it
# goes on over the weekend. What do you answer, and what do you do instead?

# %% [markdown] nbgrader={"grade": true, "grade_id": "gave-up", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# The restarts are bit-identical, so the same batch meets the same state: the hundredth try dies as the third did, and the hosts are
# busy over the weekend for nothing. I look at how it died, whether always at this step and also on other hosts: if it moves with the
# host it is the host, else the step. Then something has to change, such as leaving out that batch, and I write down what and when.

# %% [markdown]
# *A point each: why more tries do not help; how to tell a bad host from a poison step; something that is changed, and written down.*
#
# ## G. Your supervisor on trial
#
# Nothing to write here. Your four functions get a longer job: ten failures of all kinds, in an order that is drawn
# from the [seed](../../glossary.md#seed). Try others.

# %%
with Job(drawn(seed=175, rounds=2)) as job:
    print(supervise(job, what_happened, last_good, no_progress))
    compare(job)

# %% [markdown]
# **If it says “bit-identical”**, you have built the core of what OPT's team had at the end of December. What a real one has
# beyond it, you can read in `lastgood/recovery/supervise/__init__.py`: a back-off, [spare](../../glossary.md#spare)
# [hosts](../../glossary.md#host) that run out, storage that is full for a while.
#
# Save the notebook and press *Validate*. Then, for tomorrow: what does the launcher that *you* use do with a process that hangs
# (lesson 19, “Real-world reps”)?
