"""Lab 18, part C: states that are kept anywhere but in the folder, and die with the process."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import DISK, LOAD_BODY, SAVE_BODY

STASHES_MUTANTS = (
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
        "stash-in-a-function-attribute",
        "functions can hold things",
        ((SAVE_BODY, "    save.kept = state\n"), (LOAD_BODY, "    return save.kept\n")),
        {DISK: 6},
        ("load raised AttributeError", "only what save left in the folder"),
    ),
    Variant(
        "stash-in-a-class",
        "class attributes live as long as the class",
        (
            ("def save(state: Any", "class Keeper:\n    state: Any = None\n\n\ndef save(state: Any"),
            (SAVE_BODY, "    Keeper.state = state\n"),
            (LOAD_BODY, "    return Keeper.state\n"),
        ),
        {DISK: 6},
        ("load: it returned None in a fresh process",),
    ),
    Variant(
        "stash-in-a-default",
        "a list as a default argument remembers",
        (
            (
                "def save(state: Any, folder: str)",
                "KEPT: list[Any] = []\n\n\ndef save(state: Any, folder: str, kept: Any = KEPT)",
            ),
            ("def load(folder: str)", "def load(folder: str, kept: Any = KEPT)"),
            (SAVE_BODY, "    kept.append(state)\n"),
            (LOAD_BODY, "    return kept[-1]\n"),
        ),
        {DISK: 6},
        ("load raised IndexError",),
    ),
    Variant(
        "stash-in-a-closure",
        "the two functions can share a variable",
        (
            (SAVE_BODY, "    put(state)\n"),
            (LOAD_BODY, "    return take()\n"),
            (
                "def save(state: Any",
                """def pair():
    kept = {}

    def put(state):
        kept["state"] = state

    def take():
        return kept["state"]

    return put, take


put, take = pair()


def save(state: Any""",
            ),
        ),
        {DISK: 6},
        ("load raised KeyError",),
    ),
    Variant(
        "stash-in-the-environment",
        "environment variables outlive a function",
        (
            ("import copy\n", "import base64\nimport copy\nimport pickle\n"),
            (
                SAVE_BODY,
                '    os.environ["STATE"] = base64.b85encode(pickle.dumps(state["step"])).decode()\n',
            ),
            (LOAD_BODY, '    return {"step": pickle.loads(base64.b85decode(os.environ["STATE"]))}\n'),
        ),
        {DISK: 6},
        ("load raised KeyError",),
    ),
    Variant(
        "stash-in-tmp",
        "a file is a file, wherever it lies",
        (
            (
                SAVE_BODY,
                """    torch.save(state, "/tmp/lastgood-mutant.half")
    os.replace("/tmp/lastgood-mutant.half", "/tmp/lastgood-mutant.pt")
""",
            ),
            (LOAD_BODY, '    return torch.load("/tmp/lastgood-mutant.pt", weights_only=True)\n'),
        ),
        {DISK: 6},
        ("outside the folder", "/tmp/lastgood-mutant"),
    ),
)
