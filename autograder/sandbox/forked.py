"""What a fork of a warm server does behind the walls before it is a kernel: it comes to look newly started.

The server imports this module, and with it what every kernel needs. What it has in memory, each fork has:
so it never runs a line of a learner's, and knows nothing of the class.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import random
import re
import resource
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import ipykernel.kernelapp  # noqa: F401

from autograder.sandbox import boot
from lastgood.recovery.warm import Channel

_PR_SET_DUMPABLE = 4  # linux/prctl.h

# What else a kernel imports on its way to the first cell, and when a cell raises: a name may have changed.
_LATER = (
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.logger", "IPython.core.oinspect"),
    *("IPython.extensions.storemagic", "IPython.utils.wildcard", "ipykernel.debugger", "faulthandler"),
    *("pygments.formatters.terminal256", "sqlite3", "stack_data", "tornado.platform.asyncio"),
)
_before = dict(os.environ)
for _name in _LATER:
    with suppress(ImportError):
        importlib.import_module(_name)
_set_by_imports = {name: value for name, value in os.environ.items() if _before.get(name) != value}


def become_kernel(channel: Channel, about: str, module: str, *arguments: str) -> None:
    """Become the program that `boot.main` would in a new Python, with the plan `about`.

    Besides what boot reads there, it says what the environment is.
    """
    plan = json.loads(about)
    os.setsid()  # whoever signals the own process group must not reach out of the walls
    _leave_files(channel)
    os.environ.clear()
    os.environ.update(_set_by_imports | plan["environment"])
    time.tzset()
    # Entering has made it unreadable to itself, as a program is that may do more than its user.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    new_secrets(sys.modules)
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] == "autograder"]:
        del sys.modules[name]
    plan["limits"] = [(name, value + _taken(name)) for name, value in plan["limits"]]
    boot.main(module, json.dumps(plan), *arguments)


def new_secrets(modules: Mapping[str, Any]) -> None:
    """Draw anew what each of these modules has drawn when the server imported it."""
    random.seed()
    if "numpy.random" in modules:
        modules["numpy.random"].seed()
    if "torch" in modules:
        modules["torch"].seed()
    if "multiprocessing.process" in modules:
        modules["multiprocessing.process"].current_process().authkey = os.urandom(32)


def _leave_files(channel: Channel) -> None:
    """Keep stderr, which is a pipe, and open nothing but that."""
    channel.close()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def _taken(limit: str) -> int:
    """Bytes of address space that the fork shares with its server: they are not the notebook's."""
    if getattr(resource, limit) != resource.RLIMIT_AS:
        return 0
    (size,) = re.findall(r"^VmSize:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(size) * 1024
