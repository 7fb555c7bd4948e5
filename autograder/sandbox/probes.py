"""What the doctor has tried from inside a sandboxed kernel: each function tries to cross one wall.

The text of this file is a cell's source, so it needs the standard library alone. A function returns whether
the wall held and in a few words what was seen; where a wall that holds stops it, what it did if not.
"""

import ctypes
import errno
import os
import socket
from contextlib import suppress
from pathlib import Path

_NEW_USER_NAMESPACE = 0x10000000  # linux/sched.h
_EFFECTIVE = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
_OWN = ("/tmp", "/dev/shm")  # may be written
_NO_FILES = ("/proc", "/dev/pts")  # are written, and keep nothing
_NAMED = 3  # files at home


def unreadable(paths: list[str]) -> tuple[bool, str]:
    """Try to read files and list folders that are there on the machine."""
    found = []
    for path in paths:
        with suppress(OSError):
            if os.listdir(path) if os.path.isdir(path) else Path(path).read_bytes():
                found.append(path)
    return not found, f"could read {', '.join(found[:3])}" if found else f"{len(paths)} tried: none is there"


def home(path: str, shown: list[str]) -> tuple[bool, str]:
    """Look for files at home, save on the way to what is shown."""
    if not os.path.isdir(path):
        return True, "there is no such folder"
    files = []
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in shown]
        found = (os.path.join(folder, name) for name in names)
        files += [name for name in found if name not in shown]
        if len(files) >= _NAMED:
            break
    saw = f"could see {', '.join(files[:_NAMED])}" if files else "no file but the Python environment's"
    return not files, saw


def unwritable(paths: list[str]) -> tuple[bool, str]:
    """Try to write a file into folders, and look for other places that can be written."""
    wrote = []
    own = os.stat(_OWN[0]).st_dev  # what lies below it on the machine may have folders of its name there
    for folder in paths:
        with suppress(OSError):
            if os.stat(folder).st_dev == own:
                continue
            path = os.path.join(folder, ".lastgood-doctor")
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.unlink(path)
            wrote.append(folder)
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place, options = line.split(" ")[4:6]
        writable = "rw" in options.split(",") and os.path.isdir(place)
        if writable and place not in (*_OWN, *_NO_FILES):
            wrote.append(place)
    with open("/proc/self/exe", "rb") as program:  # can be written where it lies, once nobody runs it?
        if not os.fstatvfs(program.fileno()).f_flag & os.ST_RDONLY:
            wrote.append(program.name)
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            with suppress(OSError):
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
                wrote.append(os.path.join(folder, name))
    saw = f"could write {', '.join(wrote[:3])}" if wrote else f"{len(paths)} folders and /proc/sys tried"
    return not wrote, saw


def unreachable(port: int, name: str) -> tuple[bool, str]:
    """Try to connect to a server on this machine, by number and by name, and look for ways out."""
    reached = []
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 2).close()
        reached.append("a server on 127.0.0.1")
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.connect(f"\0{name}")
        reached.append("an abstract socket")
    reached += [f"interface {name}" for _, name in socket.if_nameindex() if name != "lo"]
    return not reached, ", ".join(reached) or "no server reached, no interface but lo"


def alone(pid: int, name: str) -> tuple[bool, str]:
    """Look for a process of the machine's, and try to signal it."""
    seen = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if name in (folder / "cmdline").read_text():
                seen.append(f"sees process {folder.name}")
    with suppress(OSError):
        os.kill(pid, 0)
        if name in Path(f"/proc/{pid}/cmdline").read_text():
            seen.append(f"can signal process {pid}")
    count = sum(1 for _ in Path("/proc").glob("[0-9]*"))
    return not seen, ", ".join(seen) or f"{count} processes, all of the kernel's own"


def powerless() -> tuple[bool, str]:
    """Look for capabilities, and try to gain some in a namespace of one's own."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = dict(line.split(":\t") for line in lines if ":\t" in line)
    held = [f"{name} {status[name]}" for name in _EFFECTIVE if int(status[name], 16)]
    if status["NoNewPrivs"].strip() != "1":
        held.append("a program may gain more")
    if ctypes.CDLL(None).unshare(_NEW_USER_NAMESPACE) == 0:
        held.append("can make a user namespace")
    return not held, ", ".join(held) or "none, and none to be gained"


def clean(secret: str) -> tuple[bool, str]:
    """Look for a value of the grader's environment in all that processes here started with."""
    seen = [name for name, value in os.environ.items() if secret in value]
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if secret.encode() in path.read_bytes():
                seen.append(str(path))
    return not seen, f"seen in {', '.join(seen)}" if seen else f"not among {len(os.environ)} variables"


def small_disk(limit: int) -> tuple[bool, str]:
    """Fill all that can be written."""
    wrote, rounded = 0, limit + 2 * os.sysconf("SC_PAGE_SIZE")
    files = [os.path.join(folder, ".lastgood-doctor") for folder in _OWN]
    for path in files:
        with suppress(OSError), open(path, "wb", buffering=0) as file:
            while wrote <= rounded:
                wrote += file.write(bytes(10**6))
    for path in files:
        with suppress(OSError):
            os.unlink(path)
    return wrote <= rounded, f"{'full after' if wrote <= rounded else 'took'} {wrote // 10**6} MB"


def take_memory(limit: int) -> str:
    """Take more memory than there may be."""
    kept: list[bytearray] = []
    step = 32 * 2**20
    while len(kept) * step < limit * 1.2:
        kept.append(bytearray(b"x") * step)
    return f"took {len(kept) * step // 2**20} MiB"


def start_processes(limit: int) -> str:
    """Start more processes than there may be."""
    started: list[int] = []
    try:
        while len(started) <= limit:
            pid = os.fork()
            if pid == 0:
                while True:
                    os.read(os.pipe()[0], 1)
            started.append(pid)
    except OSError as error:
        return f"refused after {len(started)}: {errno.errorcode[error.errno or 0]}"
    finally:
        for pid in started:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
    return f"started {len(started)}"
