"""The floors of the library: each stands on those below it, and never on the autograder."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

# From the ground up. A name is the first part below `lastgood`: a wing or a module of its own.
FLOORS = [
    {"training"},
    {"recovery"},
    {"teaching", "workspace", "exercises", "released", "asked"},
    {"server"},
    {"commands"},
    {"cli"},
]
LIBRARY = Path(__file__).resolve().parent.parent / "course/lastgood"


def module_name(path: Path) -> str:
    parts = path.relative_to(LIBRARY.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(LIBRARY.rglob("*.py"))}


def imports(tree: ast.AST, package: str, modules: frozenset[str]) -> Iterator[str]:
    """Yield every module that the code imports, wherever in it: inside functions too.

    `from package import name` means the module `package.name` where there is one. Imports for type checkers
    count too: a floor must not even name what stands above it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in modules else base


def imports_of(module: str) -> set[str]:
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return set(imports(ast.parse(path.read_text()), package, frozenset(MODULES)))


def floor(module: str) -> int | None:
    """The floor of a module; None for `lastgood` itself, which holds nothing."""
    _, _, below = module.partition(".")
    wing = below.partition(".")[0]
    found = [number for number, wings in enumerate(FLOORS) if wing in wings]
    assert found or not wing, f"{module} stands on no floor: add {wing!r} to FLOORS"
    return found[0] if found else None


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_its_own_floor_or_below(module):
    own = floor(module)
    ours = {name for name in imports_of(module) if name.split(".")[0] == "lastgood"}
    if own is None:
        assert ours == set()
    above = {name: floor(name) for name in ours if (floor(name) or 0) > (own or 0)}
    assert above == {}


@pytest.mark.parametrize("module", MODULES)
def test_the_library_never_imports_the_autograder(module):
    assert not {name for name in imports_of(module) if name.split(".")[0] == "autograder"}


def test_no_modules_import_each_other_in_a_circle():
    graph = {module: imports_of(module) & MODULES.keys() - {module} for module in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' → '.join(error.args[1])}")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import lastgood.cli", {"lastgood.cli"}),
        ("import lastgood.cli as c, os", {"lastgood.cli", "os"}),
        ("from lastgood import cli", {"lastgood.cli"}),
        ("from lastgood.cli import app", {"lastgood.cli"}),
        ("from .. import cli", {"lastgood.cli"}),
        ("from ..cli import app", {"lastgood.cli"}),
        ("from . import missing", {"lastgood.training"}),
        ("def f():\n    from autograder import build", {"autograder"}),
    ],
)
def test_every_way_to_import_is_seen(code, found):
    assert set(imports(ast.parse(code), "lastgood.training", frozenset({"lastgood.cli"}))) == found
