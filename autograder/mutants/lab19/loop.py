"""Lab 19, part D: supervisors that lose a run, hold it up, or never let go of it."""

from autograder.mutants import Variant
from autograder.mutants.lab19.parts import LOOP, LOOP_BODY

_FIND = "        checkpoint, _ = last_good(job.folder, job.run)\n"
_CUT = "        del job.record[step:]  # what was done beyond the checkpoint will be done again\n"
_KILL = """        if state == "hung":
            process.kill()  # it may wake up, and write beside the next one
"""


def _edit(old: str, new: str) -> tuple[tuple[str, str], ...]:
    assert LOOP_BODY.count(old) == 1, old
    return ((LOOP_BODY, LOOP_BODY.replace(old, new)),)


LOOP_MUTANTS = (
    Variant(
        "restarts-from-step-0",
        "a restart starts the program again",
        _edit(_FIND, "        checkpoint = None\n"),
        {LOOP: 4},
        ("It restarted from step 0", "was good"),
        slow=True,
    ),
    Variant(
        "trusts-the-newest-in-the-loop",
        "I have seen the newest one being written",
        _edit(
            _FIND,
            '        whole = [p for p in job.folder.glob("step-*") if p.suffix != ".tmp"]\n'
            "        checkpoint = max(whole, key=lambda p: int(p.name[5:]), default=None)\n",
        ),
        {LOOP: 4},
        ("It trusted a damaged checkpoint", "corrupt"),
    ),
    Variant(
        "repeats-a-batch",
        "the record is the job's business",
        _edit(_CUT, ""),
        {LOOP: 2},
        ("stand there twice",),
    ),
    Variant(
        "loses-a-batch",
        "the step of the checkpoint is done again as well",
        _edit("del job.record[step:]", "del job.record[max(step - 1, 0) :]"),
        {LOOP: 2},
        ("are lost",),
        slow=True,
    ),
    Variant(
        "waits-for-ever",
        "a process ends, sooner or later",
        _edit(
            '        while state == "running":\n',
            '        while process.poll() is None or state == "running":\n',
        ),
        {LOOP: 6},
        ("it waited for ever for a process that hung",),
    ),
    Variant(
        "polls-the-dead",
        "the loop ends when the job has finished",
        _edit('        while state == "running":\n', '        while state != "finished":\n'),
        {LOOP: 9},
        ("it polled on and on a process that had ended",),
        slow=True,
    ),
    Variant(
        "leaves-the-hung-one",
        "whoever hangs does no harm",
        _edit(_KILL, ""),
        {LOOP: 4},
        ("Two processes write into one folder".lower(), "Kill it first"),
    ),
    Variant(
        "loops-for-ever-on-a-poison-step",
        "once more will do it",
        _edit("    while no_progress(reached) < LIMIT:\n", "    while True:\n"),
        {LOOP: 3},
        ("did not come to an end", "it started one more"),
        slow=True,
    ),
    Variant(
        "gives-up-though-there-was-progress",
        "three failures are enough",
        _edit("    while no_progress(reached) < LIMIT:\n", "    while len(reached) < LIMIT:\n"),
        {LOOP: 6},
        ("It gave up too early",),
        slow=True,
    ),
    Variant(
        "gives-up-at-the-first",
        "whoever has failed has failed",
        _edit(
            "        reached.append(process.step)\n",
            '        reached.append(process.step)\n        return "gave up"\n',
        ),
        {LOOP: 9},
        ("It gave up too early", "It gave up after 1 death"),
    ),
    Variant(
        "one-too-many",
        "the limit may be exceeded once",
        _edit("no_progress(reached) < LIMIT", "no_progress(reached) <= LIMIT"),
        {LOOP: 3},
        ("are enough",),
    ),
    Variant(
        "kills-a-slow-start",
        "no heartbeat, no mercy",
        _edit(
            "            state = what_happened(status, process.silence, process.beats)\n",
            "            state = what_happened(status, process.silence, 1)\n",
        ),
        {LOOP: 4},
        ("while that was still starting",),
    ),
    Variant(
        "left-means-done",
        "who leaves on request is not to be started again",
        _edit(
            '        if state == "finished":\n            return state\n',
            '        if state in ("finished", "left"):\n            return "finished"\n',
        ),
        {LOOP: 6},
        ("SIGTERM", "The job is not complete"),
    ),
    Variant(
        "starts-what-is-complete",
        "a supervisor restarts whatever ends",
        _edit('        if state == "finished":\n            return state\n', ""),
        {LOOP: 4},
        ("though the job was complete",),
        slow=True,
    ),
    Variant(
        "says-nothing-at-the-end",
        "that it ended is enough",
        _edit("            return state\n", "            return None\n"),
        {LOOP: 4},
        ("'finished' is wanted",),
        slow=True,
    ),
    Variant(
        "finished-though-it-gave-up",
        "somebody will see",
        _edit('    return "gave up"\n', '    return "finished"\n'),
        {LOOP: 3},
        ("'gave up' is wanted",),
        slow=True,
    ),
)
