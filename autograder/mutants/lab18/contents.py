"""Lab 18, part B: captures and restores that miss something, and what that costs."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import CAPTURE_BODY, CONTENTS, RESTORE_BODY

CONTENTS_MUTANTS = (
    Variant(
        "no-optimizer-state",
        "the weights are what matters",
        (
            ('        "optimizer": copy.deepcopy(run.optimizer.state_dict()),\n', ""),
            ('    run.optimizer.load_state_dict(state["optimizer"])\n', ""),
        ),
        {CONTENTS: 2},
        ("LOST optimizer state", "First step that it changes"),
    ),
    Variant(
        "no-step",
        "the step is only for logging",
        (('        "step": run.step,\n', ""), ('    run.step = state["step"]\n', "")),
        {CONTENTS: 2},
        ("LOST step and schedule position", "First step that it changes"),
    ),
    Variant(
        "no-loader-position",
        "data is shuffled anyway",
        (
            ('        "loader": run.loader.state_dict(),\n', ""),
            ('    run.loader.load_state_dict(state["loader"])\n', ""),
        ),
        {CONTENTS: 2},
        ("LOST data-loader position", "First step that it changes"),
    ),
    Variant(
        "no-rng",
        "random is random",
        (('        "rng": capture_rng(),\n', ""), ('    restore_rng(state["rng"])\n', "")),
        {CONTENTS: 2},
        ("LOST RNG state", "First step that it changes"),
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
        "references",
        "state_dict() gives me the state",
        (
            ('"model": copy.deepcopy(run.model.state_dict())', '"model": run.model.state_dict()'),
            (
                '"optimizer": copy.deepcopy(run.optimizer.state_dict())',
                '"optimizer": run.optimizer.state_dict()',
            ),
        ),
        {CONTENTS: 4},
        ("LOST parameters", "LOST optimizer state", "references to live objects"),
    ),
    Variant(
        "replay",
        "training again for n steps comes to the same place",
        (
            (CAPTURE_BODY, '    return {"n": run.step}\n'),
            (RESTORE_BODY, '    for _ in range(state["n"]):\n        run.advance()\n'),
        ),
        {CONTENTS: 10},
        ("that is a replay",),
    ),
    Variant(
        "imports-the-answer",
        "the library has it already",
        (
            (
                'def capture(run: Run) -> Any:\n    """Everything',
                'def my_capture(run: Run) -> Any:\n    """Everything',
            ),
            (
                'def restore(run: Run, state: Any) -> None:\n    """Put',
                'def my_restore(run: Run, state: Any) -> None:\n    """Put',
            ),
            (
                RESTORE_BODY + "    ### END SOLUTION\n",
                RESTORE_BODY
                + "    ### END SOLUTION\n\n\nfrom lastgood.recovery.state import capture, restore\n",
            ),
        ),
        {CONTENTS: 10},
        ("the library's own function",),
    ),
    Variant(
        "assigned-to-the-name",
        "run = state makes run the state",
        (
            (CAPTURE_BODY, '    return {"run": copy.deepcopy(run), "rng": capture_rng()}\n'),
            (RESTORE_BODY, '    run = state["run"]\n    run.advance  # noqa: B018\n'),
        ),
        {CONTENTS: 10},
        ("the run is exactly as it was built",),
    ),
    Variant(
        "capture-without-return",
        "the last line is the result",
        ((CAPTURE_BODY, CAPTURE_BODY.replace("    return {", "    state = {") + "    state.copy()\n"),),
        {CONTENTS: 10},
        ("capture: it returned None. Is a `return` missing?",),
    ),
    Variant(
        "moments-without-their-count",
        "AdamW's step is only a counter",
        (
            (
                '    run.optimizer.load_state_dict(state["optimizer"])\n',
                """    for moments in state["optimizer"]["state"].values():
        moments["step"] = torch.zeros_like(moments["step"])
    run.optimizer.load_state_dict(state["optimizer"])
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST optimizer state", "step of", "First step that it changes"),
    ),
    Variant(
        "moments-into-an-empty-optimizer",
        # KempnerForge PR 115: the optimizer makes its entries at the first step
        "the optimizer has entries that I can fill in",
        (
            (
                '    run.optimizer.load_state_dict(state["optimizer"])\n',
                """    for number, moments in enumerate(run.optimizer.state.values()):
        moments.update(state["optimizer"]["state"][number])
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST optimizer state", "AdamW starts cold", "First step that it changes"),
    ),
    Variant(
        "moments-in-half-precision",
        "moments are only averages",
        (
            (
                '"optimizer": copy.deepcopy(run.optimizer.state_dict())',
                '"optimizer": shortened(copy.deepcopy(run.optimizer.state_dict()))',
            ),
            (
                "def capture(run: Run) -> Any:\n",
                """def shortened(optimizer: dict[str, Any]) -> dict[str, Any]:
    for moments in optimizer["state"].values():
        moments["exp_avg"] = moments["exp_avg"].bfloat16()
    return optimizer


def capture(run: Run) -> Any:
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST optimizer state", "is off by up to", "First step that it changes"),
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
        ("LOST step and schedule position", "the schedule is another one", "First step that it changes"),
    ),
    Variant(
        "step-since-the-last-start",
        "I count the steps of this process",
        (
            ('        "step": run.step,\n', '        "step": run.step - getattr(run, "started_at", 0),\n'),
            ('    run.step = state["step"]\n', '    run.step = run.started_at = state["step"]\n'),
        ),
        {CONTENTS: 2},
        ("LOST step and schedule position", "wrong after a second one"),
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
        ("LOST data-loader position", "the next batch has windows", "First step that it changes"),
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
        ("LOST data-loader position", "First step that it changes"),
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
        ("LOST RNG state", "First step that it changes"),
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
        ("LOST RNG state", "capture changed the run itself", "Python's random generator"),
    ),
    Variant(
        "non-strict-load",
        "strict=False makes the error go away",  # Megatron-Bridge PR 6032
        (
            (
                '"model": copy.deepcopy(run.model.state_dict())',
                '"model": {f"module.{k}": v.clone() for k, v in run.model.state_dict().items()}',
            ),
            (
                '    run.model.load_state_dict(state["model"])\n',
                '    run.model.load_state_dict(state["model"], strict=False)\n',
            ),
        ),
        {CONTENTS: 2},
        ("LOST parameters", "tensors differ", "First step that it changes"),
    ),
    Variant(
        "parameters-in-half-precision",
        "half of the bytes are enough",
        (
            (
                '"model": copy.deepcopy(run.model.state_dict())',
                '"model": {k: v.half() for k, v in run.model.state_dict().items()}',
            ),
        ),
        {CONTENTS: 2},
        ("LOST parameters", "is off by up to", "First step that it changes"),
    ),
    Variant(
        "tied-weights-split",
        "head and embedding are two entries of the state, so they are two tensors",
        (
            (
                '    run.model.load_state_dict(state["model"])\n',
                """    run.model.load_state_dict(state["model"])
    run.model.head.weight = torch.nn.Parameter(state["model"]["head.weight"].clone())
""",
            ),
        ),
        {CONTENTS: 2},
        ("LOST parameters", "weights that were tied are two copies"),
    ),
    Variant(
        "optimizer-of-the-old-model",
        "a new model needs nothing but its weights",
        (
            (
                '    run.model.load_state_dict(state["model"])\n'
                '    run.optimizer.load_state_dict(state["optimizer"])\n',
                """    run.optimizer.load_state_dict(state["optimizer"])
    run.model = type(run.model)(run.config.model)
    run.model.load_state_dict(state["model"])
""",
            ),
        ),
        {CONTENTS: 4},
        (
            "LOST parameters",
            "LOST optimizer state",
            "the optimizer holds parameters that are not the model's",
        ),
    ),
    Variant(
        "stored-future",
        "if I keep the next states too, nothing can be missing",
        (
            (
                CAPTURE_BODY,
                """    ahead = copy.deepcopy(run)
    state = {
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "step": run.step,
        "loader": run.loader.state_dict(),
        "rng": capture_rng(),
        "future": [],
    }
    for _ in range(20):
        ahead.advance()
        state["future"].append(copy.deepcopy(ahead.model.state_dict()))
    restore_rng(state["rng"])
    return state
""",
            ),
        ),
        {CONTENTS: 10},
        ("capture took 20 optimizer steps",),
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
        ("LOST RNG state", "First step that it changes"),
    ),
    Variant(
        "file-in-the-temporary-folder",
        "capture may write a file and hand out its name",
        (
            ("import os\n", "import os\nimport tempfile\n"),
            (
                CAPTURE_BODY,
                """    state = {
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "step": run.step,
        "loader": run.loader.state_dict(),
        "rng": capture_rng(),
    }
    handle, name = tempfile.mkstemp(suffix=".lastgood-mutant")
    os.close(handle)
    torch.save(state, name)
    return name
""",
            ),
            (
                RESTORE_BODY,
                """    state = torch.load(state, weights_only=True)
"""
                + RESTORE_BODY,
            ),
        ),
        {CONTENTS: 10},
        ("came from elsewhere",),
    ),
)
