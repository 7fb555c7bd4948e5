"""The first lines that run inside the sandbox. `kernel` reads this file and passes it on as `python -c`.

The arguments are the program to become, JSON, and the program's own. The JSON says where the submission lies
and where to work, which resource limits to set as [name, value] pairs, and what to copy into which cache. It
uses the standard library alone, and runs before any line of the learner's.
"""

import sys

if __name__ == "__main__":
    # `-c` puts the current folder there, and the learner's files are not to be imported in a module's place
    del sys.path[0]

import ctypes
import errno
import json
import os
import platform
import resource
import runpy
import shutil


def copy(source: str, target: str) -> None:
    """Copy regular files, folders and links; what else a folder may hold would block or be of no use."""
    os.mkdir(target)
    for entry in os.scandir(source):
        to = os.path.join(target, entry.name)
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), to)
        elif entry.is_dir():
            copy(entry.path, to)
        elif entry.is_file():
            shutil.copyfile(entry.path, to)


def leave_keyring() -> None:
    """Take a session keyring of one's own: the one that is inherited holds the instructor's keys."""
    number = {"x86_64": 250, "ppc64le": 271, "s390x": 280}.get(platform.machine(), 219)  # of keyctl(2)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, 1, None) < 0 and ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
        raise OSError(ctypes.get_errno(), "keyctl: the instructor's keyring could not be left")


def main(module: str, about: str, *arguments: str) -> None:
    """Prepare the folder and the limits, then run `module` as a program."""
    leave_keyring()
    plan = json.loads(about)
    for name, value in plan["limits"]:
        resource.setrlimit(getattr(resource, name), (value, value))
    copy(plan["submission"], plan["work"])
    os.makedirs(plan["caches"])
    for path in plan["cached"]:
        shutil.copy(path, plan["caches"])
    os.chdir(plan["work"])
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
