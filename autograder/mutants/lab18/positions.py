"""Lab 18, part B: step, loader and generators that stand elsewhere after a resume."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import CONTENTS, RESTORE_BODY

POSITIONS_MUTANTS = (
    Variant(
        "no-step",
        "the step is only for logging",
        (('        "step": run.step,\n', ""), ('    run.step = state["step"]\n', "")),
        {CONTENTS: 2},
        ("LOST step and schedule position", "First step with another learning rate"),
    ),
    Variant(
        "schedule-with-what-is-left",
        "the resumed run has fewer steps to go, so it gets a shorter horizon",
        (
            ("import copy\n", "import copy\nimport dataclasses\n"),
            (
                '    run.step = state["step"]\n',
                """    run.step = state["step"]
    run.schedule = dataclasses.replace(run.schedule, horizon=run.schedule.horizon - run.step)
""",
            ),
        ),
        # Within the warm-up both curves are one, so the first steps come out right.
        {CONTENTS: 2},
        (
            "LOST step and schedule position",
            "the schedule's horizon is",
            "First step with another learning rate",
        ),
    ),
    Variant(
        "step-since-the-last-start",
        "I count the steps of this process",
        (
            ('        "step": run.step,\n', '        "step": run.step - getattr(run, "started_at", 0),\n'),
            ('    run.step = state["step"]\n', '    run.step = run.started_at = state["step"]\n'),
        ),
        {CONTENTS: 2},
        (
            "LOST step and schedule position",
            "Correct after the first resume",
            "First step with another learning rate",
        ),
    ),
    Variant(
        "one-step-behind",
        "the step that was taken last is the current one",  # lightning#1772
        (('        "step": run.step,\n', '        "step": run.step - 1,\n'),),
        {CONTENTS: 2},
        ("LOST step and schedule position", "one step behind", "First step with another learning rate"),
    ),
    Variant(
        "no-loader-position",
        "data is shuffled anyway",
        (
            ('        "loader": run.loader.state_dict(),\n', ""),
            ('    run.loader.load_state_dict(state["loader"])\n', ""),
        ),
        {CONTENTS: 2},
        ("LOST data-loader position", "First step on other windows"),
    ),
    Variant(
        "cursor-without-its-permutation",
        "position 40 is position 40",
        (
            (
                '    run.loader.load_state_dict(state["loader"])\n',
                """    position = {"epoch": state["loader"]["epoch"], "cursor": state["loader"]["cursor"]}
    run.loader.load_state_dict({**run.loader.state_dict(), **position})
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST data-loader position", "the new run's seed", "First step on other windows"),
    ),
    Variant(
        "epoch-forgotten",
        "every epoch has the same order",  # accelerate#4195
        (
            (
                '    run.loader.load_state_dict(state["loader"])\n',
                '    run.loader.load_state_dict({**state["loader"], "epoch": 0})\n',
            ),
        ),
        {CONTENTS: 2},
        ("LOST data-loader position", "the epoch's number is wrong", "First step on other windows"),
    ),
    Variant(
        "skipped-twice",
        "the loader has to skip the batch that was read",  # datasets#7447: the offset applied again
        (
            (
                '    run.loader.load_state_dict(state["loader"])\n',
                '    run.loader.load_state_dict(state["loader"])\n    run.loader.next_indices()\n',
            ),
        ),
        {CONTENTS: 2},
        ("LOST data-loader position", "the loader is one batch too far", "First step on other windows"),
    ),
    Variant(
        "no-rng",
        "random is random",
        (('        "rng": capture_rng(),\n', ""), ('    restore_rng(state["rng"])\n', "")),
        {CONTENTS: 2},
        ("LOST RNG state", "First step whose loss differs"),
    ),
    Variant(
        "torch-rng-only",
        "only torch draws random numbers",
        (
            ('"rng": capture_rng()', '"rng": torch.get_rng_state()'),
            ('    restore_rng(state["rng"])\n', '    torch.set_rng_state(state["rng"])\n'),
        ),
        {CONTENTS: 2},
        ("LOST RNG state", "Python's random and NumPy's generators"),
    ),
    Variant(
        "seeded-anew",
        "a seed makes it reproducible",  # nanoGPT#467
        (
            (
                '    restore_rng(state["rng"])\n',
                "    for seed in (random.seed, np.random.seed, torch.manual_seed):\n        seed(18)\n",
            ),
        ),
        {CONTENTS: 2},
        ("LOST RNG state", "not put back exactly", "First step whose loss differs"),
    ),
    Variant(
        "generators-before-the-loader",
        "the order in restore does not matter",  # transformers PR 46628
        (
            (
                RESTORE_BODY,
                """    restore_rng(state["rng"])
    run.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.step = state["step"]
    run.loader.load_state_dict({"seed": state["loader"]["seed"], "epoch": 0, "cursor": 0})
    for _ in range(run.step):
        run.loader.next_batch()  # skip what was read already
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST RNG state", "then something drew random numbers", "First step whose loss differs"),
    ),
    Variant(
        "capture-that-draws",
        "a name for the checkpoint needs a random suffix",
        (
            (
                '        "rng": capture_rng(),\n',
                '        "rng": capture_rng(),\n        "name": f"checkpoint-{random.random()}",\n',
            ),
        ),
        {CONTENTS: 2},
        ("LOST RNG state", "capture changed the run itself", "Python's random generator", "First step"),
    ),
    Variant(
        "patched-advance",
        "a resumed run that does not draw cannot draw wrongly",
        (
            (
                '    restore_rng(state["rng"])\n',
                """    original = Run.advance
    def advance(self):
        restore_rng(state["rng"])
        return original(self)
    Run.advance = advance
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST RNG state", "First step whose loss differs"),
    ),
)
