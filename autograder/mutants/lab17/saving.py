"""Lab 17, part C: loops that save at the wrong moment, or train with the wrong rate."""

from autograder.mutants import Variant
from autograder.mutants.lab17.parts import PUT, SAVE, STEPS, TRAIN, TRAIN_BODY

SAVING_MUTANTS = (
    Variant(
        "saved-before-the-schedules-step",
        "the model has made its step, so save it",
        ((STEPS + SAVE, "        optimizer.step()\n" + SAVE + "        scheduler.step()\n"),),
        {TRAIN: 1},
        ("steps of the optimizer and", "a rate is used twice", "ok the rate"),
    ),
    Variant(
        "saved-before-any-step",
        "save first, then risk something",
        ((PUT + STEPS + SAVE, SAVE + PUT + STEPS),),
        {TRAIN: 1},
        ("saves before the optimizer's step",),
    ),
    Variant(
        "saved-at-the-beginning",
        "range begins at 0",
        (
            ("    for made in range(1, steps + 1):\n", "    for made in range(steps):\n"),
        ),
        {TRAIN: 1},
        ("not at the beginning",),
    ),
    Variant(
        "saved-each-step",
        "more is safer",
        ((SAVE, "        save()\n"),),
        {TRAIN: 1},
        ("saves after every step",),
        slow=True,
    ),
    Variant(
        "never-saved",
        "whoever calls it saves",
        ((SAVE, ""),),
        {TRAIN: 2},
        ("It never saves",),
    ),
    Variant(
        "schedule-first",
        "the schedule says what is next",
        (
            (
                PUT + STEPS,
                "        scheduler.step()\n" + PUT + "        optimizer.step()\n",
            ),
        ),
        {TRAIN: 1},
        ("the rate of step 0 is left out", "ok saves"),
    ),
    Variant(
        "first-group-only",
        "an optimizer has one learning rate",
        ((PUT, '        optimizer.param_groups[0]["lr"] = scheduler.lr\n'),),
        {TRAIN: 1},
        ("One of the two parameter groups",),
    ),
    Variant(
        "rate-never-set",
        "the scheduler does that",
        ((PUT, ""),),
        {TRAIN: 1},
        ("keeps the rate that it was built with",),
    ),
    Variant(
        "rate-set-once",
        "the rate is put in before the loop",
        (
            (
                TRAIN_BODY,
                "    for group in optimizer.param_groups:\n"
                '        group["lr"] = scheduler.lr\n' + TRAIN_BODY.replace(PUT, ""),
            ),
        ),
        {TRAIN: 1},
        ("the rate of the first",),
        slow=True,
    ),
    Variant(
        "rate-set-after-the-step",
        "first the step, then its rate",
        ((PUT + "        optimizer.step()\n", "        optimizer.step()\n" + PUT),),
        {TRAIN: 1},
        ("One step behind",),
    ),
    Variant(
        "rate-set-last",
        "after all is done, the next rate",
        ((PUT + STEPS, STEPS + PUT),),
        {TRAIN: 1},
        ("The first step is made with the rate that the optimizer was built with", "ok saves"),
        slow=True,
    ),
    Variant(
        "schedule-never-moved",
        "the schedule counts by itself",
        (("        scheduler.step()\n", ""),),
        {TRAIN: 2},
        ("the rate of the first", "First the schedule has to move"),
    ),
)  # fmt: skip
