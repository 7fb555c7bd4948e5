"""Lab 08, part E: one loss taken for another, and ratios upside down."""

from autograder.mutants import Variant
from autograder.mutants.lab08.parts import (
    FIRST_UPDATE,
    FIRST_UPDATE_BODY,
    LOSE_MOMENTS,
    LOSE_STEP,
    RATIO,
)

LOSSES_MUTANTS = (
    Variant(
        "correction-restarted",
        "whoever loses the moments begins anew",
        ((LOSE_STEP, LOSE_STEP.replace('"everything", "step"', '"everything", "step", "moments"')),),
        {FIRST_UPDATE: 1},
        ("The bias correction begins anew in yours. Only the moments are lost",),
    ),
    Variant(
        "step-takes-the-moments-along",
        "without a step there are no moments",
        ((LOSE_MOMENTS, LOSE_MOMENTS.replace('"everything", "moments"', '"everything", "moments", "step"')),),
        {FIRST_UPDATE: 1},
        ("The moments begin anew in yours. Only the step is lost",),
        slow=True,
    ),
    Variant(
        "step-never-lost",
        "the step is in the schedule",
        ((LOSE_STEP, "            if False:\n"),),
        {FIRST_UPDATE: 2},
        ("The step is lost too", "matters to the bias correction alone"),
        slow=True,
    ),
    Variant(
        "moments-never-lost",
        "weights and moments are saved together",
        ((LOSE_MOMENTS, "            if False:\n"),),
        {FIRST_UPDATE: 2},
        ("The moments are kept in yours", "Nothing is lost in yours"),
        slow=True,
    ),
    Variant(
        "losses-swapped",
        "the names say what is kept",
        (
            (
                FIRST_UPDATE_BODY,
                FIRST_UPDATE_BODY.replace('("everything", "moments")', '("everything", "")')
                .replace('"everything", "step"', '"everything", "moments"')
                .replace('"everything", ""', '"everything", "step"'),
            ),
        ),
        {FIRST_UPDATE: 2},
        ("You keep the moments and lose the step", "You lose the moments and keep the step"),
        slow=True,
    ),
    Variant(
        "upside-down",
        "the undisturbed run comes first",
        ((RATIO, '    return abs(update("nothing") / update(lost))\n'),),
        {FIRST_UPDATE: 3},
        ("the wrong way round",),
    ),
    Variant(
        "not-a-ratio",
        "the size of the update",
        ((RATIO, "    return abs(update(lost))\n"),),
        {FIRST_UPDATE: 3},
        ("Divide it by the one without", "which is always one learning rate"),
        slow=True,
    ),
    Variant(
        "lost-too-early",
        "the restart comes at the last gradient but one",
        (
            (LOSE_MOMENTS, LOSE_MOMENTS.replace("len(gradients)", "len(gradients) - 1")),
            (LOSE_STEP, LOSE_STEP.replace("len(gradients)", "len(gradients) - 1")),
        ),
        {FIRST_UPDATE: 3},
        ("one step too early",),
        slow=True,
    ),
    Variant(
        "never-corrected",
        "the correction does not matter after so many steps",
        (
            (
                "first / (1 - beta1**step) / math.sqrt(second / (1 - beta2**step))",
                "first / math.sqrt(second)",
            ),
        ),
        {FIRST_UPDATE: 2},
        ("goes on, or there is none", "matters to the bias correction alone"),
        slow=True,
    ),
)
