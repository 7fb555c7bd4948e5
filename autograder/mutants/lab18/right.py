"""Lab 18's right solutions: other key names, other files, other styles. Each keeps every point."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import CAPTURE_BODY, LOAD_BODY, RESTORE_BODY, SAVE_BODY

RIGHT = (
    Variant(
        "by-hand",
        "every generator asked for its own state, tuples and arrays kept as they are, numbered files",
        (
            (
                CAPTURE_BODY,
                """    moments = {
        name: {key: torch.as_tensor(part).clone() for key, part in run.optimizer.state[parameter].items()}
        for name, parameter in run.model.named_parameters()
    }
    return (
        [parameter.detach().numpy().copy() for parameter in run.model.parameters()],
        moments,
        (run.step, run.loader.seed, run.loader.epoch, run.loader.cursor),
        (random.getstate(), np.random.get_state(), torch.get_rng_state().numpy().copy()),
    )
""",
            ),
            (
                RESTORE_BODY,
                """    arrays, moments, (step, seed, epoch, cursor), (python, numpy, torch_state) = state
    with torch.no_grad():
        for parameter, array in zip(run.model.parameters(), arrays, strict=True):
            parameter.copy_(torch.from_numpy(array))
    for name, parameter in run.model.named_parameters():
        run.optimizer.state[parameter] = moments[name]
    run.step = step
    run.loader.load_state_dict({"seed": seed, "epoch": epoch, "cursor": cursor})
    random.setstate(python)
    np.random.set_state(numpy)
    torch.set_rng_state(torch.from_numpy(torch_state))
""",
            ),
            (
                SAVE_BODY,
                """    numbers = [int(path.stem) for path in Path(folder).glob("*.ckpt")]
    number = max(numbers, default=0) + 1
    half = Path(folder) / f"{number}.half"
    torch.save(state, half)
    half.rename(Path(folder) / f"{number}.ckpt")
    for old in numbers:
        (Path(folder) / f"{old}.ckpt").unlink()
""",
            ),
            (
                LOAD_BODY,
                """    newest = max(Path(folder).glob("*.ckpt"), key=lambda path: int(path.stem))
    return torch.load(newest, weights_only=False)
""",
            ),
        ),
    ),
    Variant(
        "folder-of-files",
        "safetensors beside JSON, in a folder for each save that is renamed when it is complete",
        (
            ("import copy\n", "import copy\nimport json\nimport shutil\nimport tempfile\n"),
            (
                "import torch\nfrom torch import Tensor\n",
                "import torch\n"
                "from safetensors.torch import load_file, save_file\n"
                "from torch import Tensor\n",
            ),
            (
                CAPTURE_BODY,
                """    tensors = {f"w.{key}": value.clone() for key, value in run.model.named_parameters()}
    for index, moments in run.optimizer.state_dict()["state"].items():
        for key, value in moments.items():
            tensors[f"o.{index}.{key}"] = torch.as_tensor(value).clone()
    rng = capture_rng()
    tensors |= {"r.numpy": rng["numpy"].pop("keys"), "r.torch": rng.pop("torch")}
    return tensors, {"at": run.step, "loader": run.loader.state_dict(), "rng": rng}
""",
            ),
            (
                RESTORE_BODY,
                """    tensors, facts = state
    with torch.no_grad():
        for key, parameter in run.model.named_parameters():
            parameter.copy_(tensors[f"w.{key}"])
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("o."):
            _, index, name = key.split(".")
            moments.setdefault(int(index), {})[name] = value
    run.optimizer.load_state_dict({**run.optimizer.state_dict(), "state": moments})
    run.step = facts["at"]
    run.loader.load_state_dict(facts["loader"])
    rng = facts["rng"]
    restore_rng({**rng, "numpy": {**rng["numpy"], "keys": tensors["r.numpy"]}, "torch": tensors["r.torch"]})
""",
            ),
            (
                SAVE_BODY,
                """    tensors, facts = state
    half = Path(tempfile.mkdtemp(prefix="half-", dir=folder))
    save_file(tensors, half / "tensors.safetensors")
    (half / "facts.json").write_text(json.dumps(facts))
    old = sorted(Path(folder).glob("done-*"))
    half.rename(Path(folder) / f"done-{facts['at']:08d}")
    for path in old:
        shutil.rmtree(path)
""",
            ),
            (
                LOAD_BODY,
                """    newest = max(Path(folder).glob("done-*"))
    facts = json.loads((newest / "facts.json").read_text())
    return load_file(newest / "tensors.safetensors"), facts
""",
            ),
        ),
    ),
    Variant(
        "a-class-and-a-rebuilt-run",
        "a class of the notebook saved whole, a model and optimizer rebuilt, a pointer to the newest",
        (
            (
                "def capture(run: Run) -> Any:\n",
                '''class Snapshot:
    """The state as an object."""

    def __init__(self, run: Run) -> None:
        self.model = copy.deepcopy(run.model)
        self.optimizer = copy.deepcopy(run.optimizer.state_dict())
        self.numbers = {"step": run.step, **run.loader.state_dict()}
        self.rng = capture_rng()


def capture(run: Run) -> Any:
''',
            ),
            (CAPTURE_BODY, "    return Snapshot(run)\n"),
            (
                RESTORE_BODY,
                """    run.model = copy.deepcopy(state.model)
    run.optimizer = type(run.optimizer)(run.model.parameters(), fused=True)
    run.optimizer.load_state_dict(state.optimizer)
    numbers = dict(state.numbers)
    run.step = numbers.pop("step")
    run.loader.load_state_dict(numbers)
    restore_rng(state.rng)
""",
            ),
            (
                SAVE_BODY,
                """    pointer = Path(folder) / "newest"
    name = "b.pt" if pointer.exists() and pointer.read_text() == "a.pt" else "a.pt"
    torch.save(state, Path(folder) / name)
    half = Path(folder) / "newest.half"
    half.write_text(name)
    half.replace(pointer)
""",
            ),
            (
                LOAD_BODY,
                """    name = (Path(folder) / "newest").read_text()
    return torch.load(Path(folder) / name, weights_only=False)
""",
            ),
        ),
    ),
    Variant(
        "arrays-in-npz",
        "everything as NumPy arrays in one .npz, the numbers as JSON inside it",
        (
            ("import copy\n", "import copy\nimport json\n"),
            (
                CAPTURE_BODY,
                """    arrays = {f"p/{k}": v.detach().numpy().copy() for k, v in run.model.named_parameters()}
    for number, moments in run.optimizer.state_dict()["state"].items():
        for key, value in moments.items():
            arrays[f"o/{number}/{key}"] = np.array(value)
    _, keys, position, has_gauss, gauss = np.random.get_state()
    arrays["numpy"], arrays["torch"] = keys.copy(), torch.get_rng_state().numpy().copy()
    numbers = [run.step, run.loader.state_dict(), random.getstate(), [position, has_gauss, gauss]]
    arrays["numbers"] = np.frombuffer(json.dumps(numbers).encode(), dtype=np.uint8)
    return arrays
""",
            ),
            (
                RESTORE_BODY,
                """    step, loader, (version, words, gauss), numpy = json.loads(state["numbers"].tobytes())
    run.model.load_state_dict(
        {k: torch.from_numpy(state[f"p/{k}"]) for k, _ in run.model.named_parameters()}
        | {"head.weight": torch.from_numpy(state["p/tokens.weight"])}
    )
    moments: dict[int, dict[str, Tensor]] = {}
    for name in state:
        if name.startswith("o/"):
            _, number, key = name.split("/")
            moments.setdefault(int(number), {})[key] = torch.from_numpy(state[name])
    run.optimizer.load_state_dict(run.optimizer.state_dict() | {"state": moments})
    run.step = step
    run.loader.load_state_dict(loader)
    random.setstate((version, tuple(words), gauss))
    np.random.set_state(("MT19937", state["numpy"], *numpy))
    torch.set_rng_state(torch.from_numpy(state["torch"]))
""",
            ),
            (
                SAVE_BODY,
                """    with open(Path(folder) / "new", "wb") as file:
        np.savez(file, **state)
    os.rename(Path(folder) / "new", Path(folder) / "state.npz")
""",
            ),
            (
                LOAD_BODY,
                """    with np.load(Path(folder) / "state.npz") as file:
        return {name: file[name] for name in file.files}
""",
            ),
        ),
    ),
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
