"""Lab 18's mutants: what each forgets, and what that costs."""

from autograder.mutants import Variant

MODEL, LOSS = "check-causal-mask", "check-next-token-loss"
CONTENTS, DISK = "check-capture-restore", "check-save-load"

CAPTURE_BODY = """    return {
        "model": copy.deepcopy(run.model.state_dict()),
        "optimizer": copy.deepcopy(run.optimizer.state_dict()),
        "step": run.step,
        "loader": run.loader.state_dict(),
        "rng": capture_rng(),
    }
"""
RESTORE_BODY = """    run.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.step = state["step"]
    run.loader.load_state_dict(state["loader"])
    restore_rng(state["rng"])
"""
SAVE_BODY = """    temporary = Path(folder) / "newest.tmp"
    with open(temporary, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, Path(folder) / "newest.pt")
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)  # the rename itself is on disk only now
    os.close(directory)
"""
LOAD_BODY = """    return torch.load(Path(folder) / "newest.pt", weights_only=True)
"""

MUTANTS = (
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
        "written-in-place",
        "torch.save overwrites the old file, which is what I want",
        ((SAVE_BODY, '    torch.save(state, Path(folder) / "newest.pt")\n'),),
        {DISK: 4},
        ("LOST survives a kill", "Killed when"),
    ),
    Variant(
        "stash-in-a-global",
        "a dictionary is the fastest disk",
        (
            ("def save(state: Any", "STASH: dict[str, Any] = {}\n\n\ndef save(state: Any"),
            (SAVE_BODY, '    STASH["state"] = state\n    (Path(folder) / "saved").touch()\n'),
            (LOAD_BODY, '    return STASH["state"]\n'),
        ),
        {DISK: 6},
        ("load raised KeyError", "STASH (dict)"),
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
        "mask-off-by-one",
        "the triangle above the diagonal is what is hidden",
        ((".tril()", ".tril(1)"),),
        {MODEL: 2},
        ("off by one", "t + 1"),
    ),
    Variant(
        "loss-not-shifted",
        "logits and tokens have the same length, so they belong together",
        (
            (
                "logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()",
                "logits.flatten(0, 1), tokens.flatten()",
            ),
        ),
        {LOSS: 2},
        ("Not shifted",),
    ),
)
