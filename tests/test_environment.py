"""One set of requirements, wherever it is written: pyproject.toml, constraints.txt, environment.yml."""

import re
import tomllib
from importlib import metadata

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version


@pytest.fixture(scope="module")
def project(repository):
    return tomllib.loads((repository / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def requirements(project):
    """What pyproject.toml asks for, with the extra that the tests need."""
    return [Requirement(line) for line in project["dependencies"] + project["optional-dependencies"]["dev"]]


@pytest.fixture(scope="module")
def pins(repository):
    """What constraints.txt pins: name to version."""
    lines = (repository / "constraints.txt").read_text().splitlines()
    pinned = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pinned}


@pytest.fixture(scope="module")
def conda(repository):
    return yaml.safe_load((repository / "environment.yml").read_text())


def comparable(requirement):
    return canonicalize_name(requirement.name), frozenset(map(str, requirement.specifier))


def test_conda_users_get_the_same_requirements(conda, requirements):
    [pip] = [entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict)]
    named = [Requirement(line) for line in pip if not line.startswith("-")]
    assert sorted(map(comparable, named)) == sorted(map(comparable, requirements))
    assert [line for line in pip if line.startswith("-")] == ["--constraint constraints.txt", "--editable ."]


def test_conda_users_get_the_same_python(conda, project):
    assert f"python{project['requires-python']}" in conda["dependencies"]


def test_the_makefile_asks_for_the_same_python(repository, project):
    asked = re.search(r"sys\.version_info < \((\d+), (\d+)\)", (repository / "Makefile").read_text())
    assert f">={asked[1]}.{asked[2]}" == project["requires-python"]


def test_every_requirement_is_pinned_to_a_version_that_it_allows(requirements, pins):
    missing = Version("0.dev0")
    wrong = [
        str(line)
        for line in requirements
        if pins.get(canonicalize_name(line.name), missing) not in line.specifier
    ]
    assert wrong == []


def test_whatever_a_requirement_brings_along_is_pinned_too(requirements, pins):
    assert closure(requirements) - pins.keys() == set()


def test_nothing_is_pinned_that_nothing_asks_for(requirements, pins):
    assert pins.keys() - closure(requirements) == set()


def test_the_pins_name_no_build_of_one_machine(pins):
    assert [name for name, version in pins.items() if version.local] == []


def closure(requirements):
    """The names of all packages that these bring along here, by what the installed ones say of themselves."""
    names, waiting = set(), [(line.name, extra) for line in requirements for extra in ("", *line.extras)]
    seen = set()
    while waiting:
        name, extra = waiting.pop()
        name = canonicalize_name(name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        names.add(name)
        for line in map(Requirement, metadata.requires(name) or []):
            if line.marker is None or line.marker.evaluate({"extra": extra}):
                waiting += [(line.name, inner) for inner in ("", *line.extras)]
    return names
