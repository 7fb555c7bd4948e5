"""Lab 18, part B: captures and restores that are wrong as a whole."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import CAPTURE_BODY, CONTENTS, LOAD_BODY, RESTORE_BODY

SCHEMES_MUTANTS = (
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
        ("capture must hand over the state itself",),
    ),
    Variant(
        "more-threads",
        "a resumed run may as well be faster",
        (
            (
                '    restore_rng(state["rng"])\n',
                '    restore_rng(state["rng"])\n    torch.set_num_threads(2)\n',
            ),
        ),
        {CONTENTS: 10},
        ("2 threads instead of 1", "Reread: glossary, “Bit-identical”"),
    ),
    Variant(
        "a-key-misspelt",
        "optim is short for optimizer",
        (('state["optimizer"]', 'state["optim"]'),),
        {CONTENTS: 10},
        ("restore raised KeyError: 'optim'",),
    ),
    Variant(
        "the-run-itself",
        "the run knows its own state, all of it",
        (
            (CAPTURE_BODY, "    return copy.deepcopy(run)\n"),
            (RESTORE_BODY, "    run.__dict__.update(state.__dict__)\n"),
            (LOAD_BODY, LOAD_BODY.replace("True", "False")),
        ),
        {CONTENTS: 2},
        ("LOST RNG state", "restore left it as the new run had it"),
    ),
)
