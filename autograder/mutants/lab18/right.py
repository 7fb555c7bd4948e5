"""Lab 18's right solutions that differ in all four functions: other keys, other files, other styles."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import CAPTURE_BODY, LOAD_BODY, RESTORE_BODY, SAVE_BODY

RIGHT_STYLES = (
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
)
