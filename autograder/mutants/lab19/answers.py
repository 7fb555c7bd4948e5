"""Lab 19, parts A, C and E: what happened, when to give up, what it cost."""

from autograder.mutants import Variant
from autograder.mutants.lab19.parts import (
    ETTR,
    ETTR_BODY,
    HAPPENED,
    HAPPENED_BODY,
    LOST,
    LOST_BODY,
    PROGRESS,
    PROGRESS_BODY,
)

ANSWER_MUTANTS = (
    Variant(
        "misses-a-hang",
        "as long as there is no exit status, it runs",
        (('        return "hung" if silence > patience else "running"\n', '        return "running"\n'),),
        {HAPPENED: 2},
        ("without a limit you would wait for ever",),
    ),
    Variant(
        "slow-start-taken-for-a-hang",
        "one time-out is enough",
        (("PATIENCE if beats else START_PATIENCE", "PATIENCE"),),
        {HAPPENED: 2},
        ("has not given its first heartbeat yet", "START_PATIENCE"),
    ),
    Variant(
        "start-may-take-for-ever",
        "before the first heartbeat nothing can be said",
        (('"hung" if silence > patience', '"hung" if beats and silence > PATIENCE'),),
        {HAPPENED: 2},
        ("A start can hang, too",),
    ),
    Variant(
        "sigterm-taken-for-a-crash",
        "every signal kills",
        (('    if status == -signal.SIGTERM:\n        return "left"\n', ""),),
        {HAPPENED: 2},
        ("SIGTERM asks a process to leave",),
    ),
    Variant(
        "any-status-is-an-error",
        "whatever is not zero is an error",
        ((HAPPENED_BODY, HAPPENED_BODY.replace("if status < 0:", "if status < -15:")),),
        {HAPPENED: 2},
        ("a signal's number",),
    ),
    Variant(
        "silence-before-status",
        "whoever says nothing has hung",
        (
            (
                HAPPENED_BODY,
                '    if silence > (PATIENCE if beats else START_PATIENCE):\n        return "hung"\n'
                + HAPPENED_BODY,
            ),
        ),
        {HAPPENED: 2},
        ("look at the exit status first",),
    ),
    Variant(
        "counts-every-death",
        "after so many deaths it is time to stop",
        ((PROGRESS_BODY, "    return len(reached)\n"),),
        {PROGRESS: 2},
        ("You count every death",),
    ),
    Variant(
        "compares-with-the-one-before",
        "who gets further than the last one has made progress",
        (
            (
                PROGRESS_BODY,
                PROGRESS_BODY.replace(
                    "            deaths += 1\n", "            furthest, deaths = step, deaths + 1\n"
                ),
            ),
        ),
        {PROGRESS: 2},
        ("Compare with the furthest step",),
    ),
    Variant(
        "never-starts-anew",
        "what is counted is counted",
        (("            furthest, deaths = step, 0\n", "            furthest = step\n"),),
        {PROGRESS: 2},
        ("not those in a row",),
    ),
    Variant(
        "only-the-same-step",
        "a poison step is one step",
        (
            (
                PROGRESS_BODY,
                "    same = 0\n    furthest = 0\n    for step in reached:\n"
                "        same = same + 1 if step == furthest else 0\n        furthest = max(furthest, step)\n"
                "    return same\n",
            ),
        ),
        {PROGRESS: 2},
        ("Dying earlier is no progress either",),
    ),
    Variant(
        "counts-a-lost-step-twice",
        "what is lost is what lies below the furthest step",
        (
            (
                LOST_BODY,
                LOST_BODY.replace(
                    'failed_at = event["step"]\n', 'failed_at = max(failed_at, event["step"])\n'
                ),
            ),
        ),
        {LOST: 2},
        ("what was lost once is counted again",),
    ),
    Variant(
        "counts-back-to-the-last-save",
        "a run goes on from its last save",
        (
            (
                LOST_BODY,
                "    lost, saved = [], 0\n    for event in events:\n"
                '        if event["kind"] == "saved":\n            saved = event["step"]\n'
                '        elif event["kind"] == "failed":\n            lost.append(event["step"] - saved)\n'
                "    return lost\n",
            ),
        ),
        {LOST: 2},
        ("It may be damaged",),
    ),
    Variant(
        "one-sum",
        "the sum is what matters",
        ((LOST_BODY, LOST_BODY.replace("return lost", "return sum(lost)")),),
        {LOST: 2},
        ("a list of numbers is wanted",),
    ),
    Variant(
        "lost-steps-are-productive",
        "whoever computes is productive",
        (
            (
                ETTR_BODY,
                '    steps = sum(event["kind"] == "step" for event in events)\n'
                '    return steps * hours_per_step / events[-1]["hours"]\n',
            ),
        ),
        {ETTR: 2},
        ("That counts steps that were lost",),
    ),
    Variant(
        "only-computing-counts",
        "waiting is not the run's fault",
        (
            (
                ETTR_BODY,
                '    steps = sum(event["kind"] == "step" for event in events)\n'
                '    return events[-1]["step"] / steps\n',
            ),
        ),
        {ETTR: 2},
        ("leaves out the hours in which nothing was computed",),
    ),
    Variant(
        "steps-for-hours",
        "a step is a step",
        (('finished["step"] * hours_per_step /', 'finished["step"] /'),),
        {ETTR: 2},
        ("That counts steps, not hours",),
    ),
)
