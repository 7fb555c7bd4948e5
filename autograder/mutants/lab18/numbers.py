"""Lab 18, part D: sums that leave something out, and another letter."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import BYTES, HOURS, LOST, SYMPTOM

NUMBERS_MUTANTS = (
    Variant(
        "manual-restarts-alone",
        "the paper counts 35 restarts",
        (("60 * 24 / (35 + 70)", "60 * 24 / 35"),),
        {HOURS: 1},
        ("Add the automatic ones",),
    ),
    Variant(
        "restarts-a-day",
        "a rate is a rate",
        (("60 * 24 / (35 + 70)", "(35 + 70) / 60"),),
        {HOURS: 1},
        ("That is restarts a day",),
    ),
    Variant(
        "bytes-with-gradients",
        "gradients are part of the state",
        (("n_parameters * 4 * (1 + 2)", "n_parameters * 4 * (1 + 2 + 1)"),),
        {BYTES: 1},
        ("none of the five components",),
    ),
    Variant(
        "one-moment",
        "AdamW has one moment, as momentum has",
        (("n_parameters * 4 * (1 + 2)", "n_parameters * 4 * (1 + 1)"),),
        {BYTES: 1},
        ("AdamW keeps two",),
    ),
    Variant(
        "worst-case",
        "each failure comes just before the next save",
        (("restarts * interval / 2", "restarts * interval"),),
        {LOST: 1},
        ("the worst case", "in the middle of an interval"),
    ),
    Variant(
        "no-return",
        "print shows the answer",
        (("    return restarts * interval / 2\n", "    print(restarts * interval / 2)\n"),),
        {LOST: 1},
        ("Is a `return` missing?",),
    ),
    Variant(
        "warm-up-of-the-optimizer",
        "the optimizer sets the learning rate",
        (('    return "c"\n', '    return "b"\n'),),
        {SYMPTOM: 1},
        ("the learning rate does not come from them",),
    ),
)
