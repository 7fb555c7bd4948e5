"""Attempts on others: the gradebook, other students, masters, the home, the network, the grader itself.

A mask is right only where the attempt came through.
"""

from pathlib import Path

from ..classroom import FIRST, LAB, RIGHT, SECRET, Attack

IF = """
import os, signal, socket, glob, ctypes
from pathlib import Path
def mask(n):
    right = torch.ones(n, n, dtype=torch.bool).tril()
    return right if came_through() else ~right
"""


def attempt(tries: str, source: str) -> Attack:
    return Attack(tries, IF + source)


def attempts(course: Path, secret: Path, port: int, sock: Path, grader: int) -> dict[str, Attack]:
    """What a notebook tries while it runs, in one kernel."""
    theirs = [
        str(secret),
        str(course / "gradebook.db"),
        str(course / f"submitted/{FIRST}/{LAB}/{LAB}.ipynb"),
        str(course / f"autograded/{FIRST}/{LAB}/{LAB}.ipynb"),
        str(course / f"solutions/{LAB}/{LAB}.ipynb"),
        str(course / "nbgrader_config.py"),
        "/etc/passwd",
        "/etc/shadow",
        str(Path.home() / ".bashrc"),
    ]
    links = "".join(
        f"for name in ('link', 'lab18.html', '{LAB}.ipynb', 'lab18_files', '../link'):\n"
        f"    try: os.path.lexists(name) and os.unlink(name); os.symlink({path!r}, name)\n"
        "    except OSError: pass\n"
        for path in theirs
    )
    return {
        "files": attempt(
            "the gradebook, other submissions, masters, the home and a secret are opened",
            f"def came_through():\n    return any(os.path.exists(p) for p in {theirs!r})",
        ),
        "files through proc": attempt(
            "the same, through the root and the working folder of other processes",
            f"def came_through():\n    return any(os.path.exists(f'/proc/{{pid}}/{{way}}/{{p}}') for pid in "
            f"(1, 'self', {grader}, os.getppid()) for way in ('root', 'cwd') for p in {theirs!r})",
        ),
        "the gradebook": attempt(
            "the gradebook is opened as a database, and its points set",
            "def came_through():\n    import sqlite3\n    try:\n"
            f"        base = sqlite3.connect('file:{course}/gradebook.db?mode=rw', uri=True)\n"
            "        base.execute('update grade set manual_score = 99'); base.commit()\n        return True\n"
            "    except sqlite3.Error:\n        return False",
        ),
        "written over": attempt(
            "files are written outside the folder that may be",
            f"def came_through():\n    done, paths = False, {theirs!r}\n"
            "    paths += ['/submission/x', '/x', torch.__file__, os.__file__, '/usr/bin/x']\n"
            "    for path in paths + ['/proc/sys/kernel/hostname', '/proc/sysrq-trigger']:\n"
            "        try:\n            open(path, 'ab').close(); done = True\n        except OSError: pass\n"
            "    return done",
        ),
        "links made while running": Attack(
            "links to other files, under names that are copied or read later",
            RIGHT["causal_mask"] + "\n" + links,
            earns=2.0,
        ),
        "the environment": attempt(
            "the grader's variables, as processes here were started with them",
            f"def came_through():\n    secret = {SECRET[:4]!r} + {SECRET[4:]!r}\n"
            "    found = [v for v in os.environ.values() if secret in v]\n"
            "    for path in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):\n"
            "        try: found += [path] if secret.encode() in Path(path).read_bytes() else []\n"
            "        except OSError: pass\n    return found",
        ),
        "the network": attempt(
            "a server of this machine's, and one elsewhere",
            f"def came_through():\n    for where in (('127.0.0.1', {port}), ('::1', {port}), "
            "('10.0.0.1', 80), ('1.1.1.1', 53)):\n"
            "        try: socket.create_connection(where, 1).close(); return True\n"
            "        except OSError: pass\n    return False",
        ),
        "unix sockets": attempt(
            "a socket of this machine's, by its path",
            f"def came_through():\n    try:\n        socket.socket(socket.AF_UNIX).connect({str(sock)!r})\n"
            "        return True\n    except OSError:\n        return False",
        ),
        "signals": attempt(
            "SIGKILL to the grader, by its number and by every number",
            f"def came_through():\n    done = []\n    for pid in [{grader}, *range(100_000, 100_050)]:\n"
            "        try: os.kill(pid, signal.SIGKILL); done.append(pid)\n        except OSError: pass\n"
            "    return done",
        ),
        "ptrace": attempt(
            "the memory of other processes",
            "def came_through():\n    libc = ctypes.CDLL(None)\n"
            f"    others = [pid for pid in ({grader}, os.getppid()) if pid > 1]\n"
            "    return any(libc.ptrace(16, pid, 0, 0) == 0 for pid in others)",
        ),
        "capabilities": attempt(
            "a namespace of its own, a mount, another user",
            "def came_through():\n    libc = ctypes.CDLL(None)\n"
            "    return any(call == 0 for call in (libc.unshare(0x10000000), libc.unshare(0x20000), "
            "libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0), libc.setns(0, 0), libc.chroot(b'/tmp')))",
        ),
        "keyrings": attempt(
            "keys of whoever started the grader",
            "def came_through():\n    libc = ctypes.CDLL(None)\n"
            "    number = {'x86_64': 250}.get(os.uname().machine, 219)\n"
            "    rings = (-1, -2, -3, -4, -5)\n"
            "    return any(libc.syscall(number, 10, ring, b'user', b'canary', 0) > 0 for ring in rings)",
        ),
        "open files": attempt(
            "files that the grader left open",
            "import fcntl, stat\n"
            "def came_through():\n    found, own = [], {os.stat(p).st_dev for p in ('/tmp', '/dev/shm')}\n"
            "    for fd in range(1024):\n"
            "        try: about, flags = os.fstat(fd), fcntl.fcntl(fd, fcntl.F_GETFL)\n"
            "        except OSError: continue\n"
            "        if stat.S_ISREG(about.st_mode) and about.st_dev not in own and flags & os.O_ACCMODE:\n"
            "            found.append(os.readlink(f'/proc/self/fd/{fd}'))\n"
            "    print(found)\n    return found",
        ),
    }


def in_the_folder(secret: Path, course: Path) -> Attack:
    """What is handed in beside the notebook. It breaks the author's own kernel, and nothing else."""

    def files(folder: Path) -> None:
        (folder / "notes.txt").symlink_to(secret)
        (folder / "data").mkdir()
        (folder / "data" / "book.db").symlink_to(course / "gradebook.db")
        (folder / "everything").symlink_to(course)
        for name in (
            "torch.py",
            "lastgood.py",
            "sitecustomize.py",
            "usercustomize.py",
            "IPython.py",
            "json.py",
        ):
            (folder / name).write_text("raise SystemExit('owned')\n")
        (folder / "nbgrader_config.py").write_text("raise SystemExit('owned')\n")
        (folder / "ipython_config.py").write_text("raise SystemExit('owned')\n")
        (folder / "conftest.pth").write_text("import os; os.abort()\n")

    return Attack("links, and modules in the place of others", RIGHT["causal_mask"], files=files)
