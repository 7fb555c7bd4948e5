"""Lab 18's right solutions that differ in two functions."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import CAPTURE_BODY, LOAD_BODY, RESTORE_BODY, SAVE_BODY

RIGHT_PARTS = (
    Variant(
        "one-function",
        "one list of getters and setters, walked in both directions",
        (
            (
                "def capture(run: Run) -> Any:\n",
                """def parts(run):
    return [
        (run.model.state_dict, run.model.load_state_dict),
        (run.optimizer.state_dict, run.optimizer.load_state_dict),
        (lambda: run.step, lambda value: setattr(run, "step", value)),
        (run.loader.state_dict, run.loader.load_state_dict),
        (random.getstate, random.setstate),
        (np.random.get_state, np.random.set_state),
        (torch.get_rng_state, torch.set_rng_state),
    ]


def capture(run: Run) -> Any:
""",
            ),
            (CAPTURE_BODY, "    return copy.deepcopy([get() for get, _ in parts(run)])\n"),
            (
                RESTORE_BODY,
                """    for (_, put), value in zip(parts(run), copy.deepcopy(state), strict=True):
        put(value)
""",
            ),
            (LOAD_BODY, LOAD_BODY.replace("True", "False")),
        ),
    ),
    Variant(
        "methods-of-an-object",
        "the four functions are methods of one object, made in the notebook",
        (
            (
                "def save(state: Any, folder: str) -> None:\n",
                """class Keeper:
    generators = staticmethod(capture_rng)

    def capture(self, run: Run) -> dict[str, Any]:
        parts = {name: copy.deepcopy(getattr(run, name).state_dict()) for name in self.names()}
        return {**parts, "at": run.step, "draws": self.generators()}

    def restore(self, run: Run, state: dict[str, Any]) -> Run:
        for name in self.names():
            getattr(run, name).load_state_dict(state[name])
        run.step = state["at"]
        restore_rng(state["draws"])
        return run

    def names(self):
        return ["model", "optimizer", "loader"]


keeper = Keeper()
capture, restore = keeper.capture, keeper.restore


def save(state: Any, folder: str) -> None:
""",
            ),
        ),
    ),
    Variant(
        "two-files-in-turn",
        "the older of two files is overwritten, with a checksum; whichever is whole and newer counts",
        (
            ("import copy\n", "import copy\nimport hashlib\nimport io\nimport struct\n"),
            (
                "def save(state: Any",
                """def read(path: Path) -> tuple[int, bytes]:
    data = path.read_bytes() if path.exists() else b""
    digest, number, payload = data[:32], data[32:40], data[40:]
    if len(data) < 40 or hashlib.sha256(number + payload).digest() != digest:
        return -1, b""
    return struct.unpack("<q", number)[0], payload


def save(state: Any""",
            ),
            (
                SAVE_BODY,
                """    files = [Path(folder) / "even", Path(folder) / "odd"]
    numbers = [read(path)[0] for path in files]
    number = struct.pack("<q", max(numbers) + 1)
    data = io.BytesIO()
    torch.save(state, data)
    with open(files[numbers.index(min(numbers))], "wb") as file:
        file.write(hashlib.sha256(number + data.getvalue()).digest() + number + data.getvalue())
        file.flush()
        os.fsync(file.fileno())
""",
            ),
            (
                LOAD_BODY,
                """    _, payload = max(read(Path(folder) / name) for name in ("even", "odd"))
    return torch.load(io.BytesIO(payload), weights_only=True)
""",
            ),
        ),
    ),
    Variant(
        "a-database",
        "a database has solved this: one row in SQLite, replaced in a transaction",
        (
            ("import copy\n", "import contextlib\nimport copy\nimport io\nimport sqlite3\n"),
            (
                SAVE_BODY,
                """    data = io.BytesIO()
    torch.save(state, data)
    with contextlib.closing(sqlite3.connect(Path(folder) / "run.db")) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, data BLOB)")
        database.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (data.getvalue(),))
""",
            ),
            (
                LOAD_BODY,
                """    with contextlib.closing(sqlite3.connect(Path(folder) / "run.db")) as database:
        ((data,),) = database.execute("SELECT data FROM state")
    return torch.load(io.BytesIO(data), weights_only=True)
""",
            ),
        ),
    ),
)
