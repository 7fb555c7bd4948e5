"""Lab 18, part C: saves that a kill tears, and loads that find another state."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import DISK, LOAD_BODY, SAVE_BODY

DISK_MUTANTS = (
    Variant(
        "written-in-place",
        "torch.save overwrites the old file, which is what I want",
        ((SAVE_BODY, '    torch.save(state, Path(folder) / "newest.pt")\n'),),
        {DISK: 4},
        ("LOST survives a kill", "into checkpoints/newest.pt", "a cut-off file"),
    ),
    Variant(
        "old-one-removed-first",
        "rename needs a free name",
        (
            (
                '    os.replace(temporary, Path(folder) / "newest.pt")\n',
                """    (Path(folder) / "newest.pt").unlink(missing_ok=True)
    temporary.rename(Path(folder) / "newest.pt")
""",
            ),
        ),
        {DISK: 4},
        ("just before “rename", "load found no file of the name newest.pt"),
    ),
    Variant(
        "two-files-not-together",
        "each file is renamed into place, so nothing can tear",
        (
            (
                SAVE_BODY,
                """    for name in ("model", "optimizer", "step", "loader", "rng"):
        temporary = Path(folder) / "half"
        torch.save(state[name], temporary)
        os.replace(temporary, Path(folder) / f"{name}.pt")
""",
            ),
            (
                LOAD_BODY,
                """    names = ("model", "optimizer", "step", "loader", "rng")
    return {name: torch.load(Path(folder) / f"{name}.pt", weights_only=True) for name in names}
""",
            ),
        ),
        {DISK: 4},
        ("load returned a mix: parameters from the newer save, the rest from the older",),
    ),
    Variant(
        "short-write",
        "os.write writes what it is given",  # it may write less, and says so only in what it returns
        (
            ("import copy\n", "import copy\nimport io\n"),
            (
                """    with open(temporary, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
""",
                """    data = io.BytesIO()
    torch.save(state, data)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(descriptor, data.getvalue())
    os.close(descriptor)
""",
            ),
        ),
        {DISK: 4},
        ("the rest was refused", "notice how much was written?"),
    ),
    Variant(
        "copied-into-place",
        "a finished file can be copied over the old one",
        (
            ("import copy\n", "import copy\nimport shutil\nimport tempfile\n"),
            (
                SAVE_BODY,
                """    handle, temporary = tempfile.mkstemp()
    os.close(handle)
    torch.save(state, temporary)
    shutil.copy(temporary, Path(folder) / "newest.pt")
    os.unlink(temporary)
""",
            ),
        ),
        {DISK: 4},
        ("when half of", "newest.pt was written"),
    ),
    Variant(
        "closed-after-the-rename",
        "the file closes itself when the function ends",
        (
            ("import copy\n", "import copy\nimport pickle\n"),
            (
                SAVE_BODY,
                """    file = open(Path(folder) / "newest.tmp", "wb")
    pickle.dump(state, file)
    os.replace(Path(folder) / "newest.tmp", Path(folder) / "newest.pt")
    file.close()
""",
            ),
            (LOAD_BODY, '    return pickle.loads((Path(folder) / "newest.pt").read_bytes())\n'),
        ),
        {DISK: 4},
        ("just after “rename", "bytes were in the file"),
    ),
    Variant(
        "backup-of-a-torn-file",
        "if the new file is torn, load takes the backup",
        (
            ("import copy\n", "import copy\nimport shutil\n"),
            (
                SAVE_BODY,
                """    newest = Path(folder) / "newest.pt"
    if newest.exists():
        shutil.copy(newest, Path(folder) / "half.bak")
        os.replace(Path(folder) / "half.bak", Path(folder) / "newest.bak")
    torch.save(state, newest)
""",
            ),
            (
                LOAD_BODY,
                """    try:
        return torch.load(Path(folder) / "newest.pt", weights_only=True)
    except Exception:
        return torch.load(Path(folder) / "newest.bak", weights_only=True)
""",
            ),
        ),
        {DISK: 4},
        ("and the next save when half of checkpoints/newest.pt was", "Cut off are now"),
    ),
    Variant(
        "only-the-first-is-written",
        "a checkpoint that exists need not be written again",
        (
            (
                "    temporary = Path(folder)",
                '    if (Path(folder) / "newest.pt").exists():\n        return\n    temporary = Path(folder)',
            ),
        ),
        {DISK: 6},
        ("load found the state of step 1", "In the folder lies newest.pt"),
    ),
    Variant(
        "names-sorted-as-text",
        "the greatest name is the newest",
        (
            (
                'Path(folder) / "newest.pt")\n    directory',
                "Path(folder) / f\"step-{state['step']}.pt\")\n    directory",
            ),
            (LOAD_BODY, '    return torch.load(max(Path(folder).glob("*.pt")), weights_only=True)\n'),
        ),
        {DISK: 6},
        ("load found the state of step 9", "step-10.pt"),
    ),
    Variant(
        "leftover-in-the-way",
        "a folder of my own, made anew for each save",
        (
            (
                SAVE_BODY,
                """    half = Path(folder) / "half"
    half.mkdir()
    torch.save(state, half / "state")
    os.replace(half / "state", Path(folder) / "newest.pt")
    half.rmdir()
""",
            ),
        ),
        {DISK: 4},
        ("the next save was not killed", "it raised FileExistsError"),
    ),
    Variant(
        "load-hands-out-a-name",
        "whoever wants the state can open the file",
        ((LOAD_BODY, '    return Path(folder) / "newest.pt"\n'),),
        {DISK: 6},
        ("restore raised TypeError", "look at what save wrote and what load returned"),
    ),
)
