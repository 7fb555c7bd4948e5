"""What of this machine can be read from inside: a Python environment, the course's library, the system's own.

Everything else is not hidden but absent. What lies within a folder that is shown and must not be seen, as the
grader's code does in an environment where it was installed, is covered with an empty folder.
"""

import functools
import site
import sys
from dataclasses import dataclass
from pathlib import Path

import autograder
import lastgood

_OF_AN_ENVIRONMENT = ("bin", "lib", "lib64", "share", "pyvenv.cfg")
_OF_THE_SYSTEM = (
    *("bin", "sbin", "lib", "lib32", "lib64", "libx32"),
    *(f"usr/{name}" for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share")),
    # where libraries and fonts are found, and what time it is
    *(
        f"etc/{name}"
        for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "fonts")
    ),
)


@dataclass(frozen=True)
class View:
    """Paths that are shown, read-only, and paths within them that are covered."""

    shown: tuple[Path, ...]
    covered: tuple[Path, ...] = ()

    def arguments(self) -> list[str]:
        """Bubblewrap's arguments, from the root down: a cover lies over what it covers, not under it."""
        places = [(path, True) for path in self.shown] + [(path, False) for path in self.covered]
        arguments: list[str] = []
        for path, show in sorted(places, key=lambda place: len(place[0].parts)):
            if not show:
                arguments += ["--tmpfs", str(path)]
            elif path.is_symlink() and not path.readlink().is_absolute():
                arguments += ["--symlink", str(path.readlink()), str(path)]
            else:
                arguments += ["--ro-bind", str(path), str(path)]
        # Last: what is shown within a cover needs a folder there.
        return arguments + [word for path in self.covered for word in ("--remount-ro", str(path))]


def view(root: Path) -> View:
    """What a kernel of the course in the folder `root` may read."""
    home, graders = Path.home(), Path(autograder.__file__).parent
    shown = [path for path in (*_system(), *_environment(), Path(lastgood.__file__).parent) if _exists(path)]
    covered = {root.resolve(), home.resolve(), graders.resolve()}
    if (graders.parent / "nbgrader_config.py").is_file():
        covered.add(graders.resolve().parent)  # the repository, with the masters
    folders = [path for path in shown if path.is_dir() and not path.is_symlink()]
    within = [
        secret
        for secret in covered
        if secret not in folders and any(secret.is_relative_to(folder) for folder in folders)
    ]
    return View(tuple(dict.fromkeys(shown)), tuple(within))


@functools.cache
def font_lists() -> tuple[Path, ...]:
    """Matplotlib's lists of fonts, made if there is none yet.

    A kernel that found none would make its own, which takes seconds each time and prints on stderr.
    """
    import matplotlib

    folder, pattern = Path(matplotlib.get_cachedir()), "fontlist-*.json"
    if not any(folder.glob(pattern)):
        import matplotlib.font_manager
    return tuple(folder.glob(pattern))


def _system() -> list[Path]:
    return [Path("/") / name for name in _OF_THE_SYSTEM]


def _environment() -> list[Path]:
    """This Python's own folders: of its virtual environment, and of what that was made from."""
    prefixes = dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix))
    found = [Path(prefix) / name for prefix in prefixes for name in _OF_AN_ENVIRONMENT]
    if site.ENABLE_USER_SITE:
        found.append(Path(site.getusersitepackages()))
    return found


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
