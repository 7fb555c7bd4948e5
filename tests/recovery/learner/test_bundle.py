"""Notebook functions are made by `exec` in a namespace whose `__name__` is `__main__`, as in a kernel."""

import pickle
import subprocess
import sys
import textwrap

import pytest

from lastgood.recovery.learner import bundle
from lastgood.recovery.learner.bundle import BundleError


def notebook(source, **names):
    """The namespace of a notebook whose cells hold `source`."""
    namespace = {"__name__": "__main__", **names}
    exec(compile(textwrap.dedent(source), "cell.py", "exec"), namespace)
    return namespace


# A Python that has imported the library once, which takes a second, and answers each question in a fork.
ANSWERS = """
import os, sys
from lastgood.recovery.learner.bundle import loads

for line in sys.stdin.buffer:
    size, expression = eval(line)
    blob = sys.stdin.buffer.read(size)
    pid = os.fork()
    if pid == 0:
        f = loads(blob)
        print(eval(expression), flush=True)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        print("failed", flush=True)
"""


@pytest.fixture(scope="module")
def in_fresh_process():
    """A function: what an expression is in a process that has loaded the bundle as `f` and seen no other."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", ANSWERS], **pipes) as process:

        def in_fresh_process(blob, expression):
            process.stdin.write(f"{(len(blob), expression)!r}\n".encode() + blob)
            process.stdin.flush()
            return process.stdout.readline().decode().strip()

        yield in_fresh_process
        process.stdin.close()


def test_functions_share_their_globals_in_the_other_process(in_fresh_process):
    cells = notebook(
        """
        count = 0
        def add():
            global count
            count += 1
        def read():
            return count
        """
    )
    blob = bundle.dumps({"add": cells["add"], "read": cells["read"]})
    assert in_fresh_process(blob, "(f['add'](), f['add'](), f['read']())[-1]") == "2"


def test_an_instance_of_a_notebook_class_pickles_and_loads_in_the_other_process(in_fresh_process):
    cells = notebook(
        """
        import pickle
        from dataclasses import dataclass
        @dataclass
        class State:
            step: int
        def there_and_back():
            return pickle.loads(pickle.dumps(State(7)))
        """
    )
    blob = bundle.dumps({"save": cells["there_and_back"]})
    assert in_fresh_process(blob, "f['save']()") == "State(step=7)"


def test_a_class_reached_only_through_another_class_travels(in_fresh_process):
    cells = notebook(
        """
        import pickle
        class Base:
            pass
        class Inner(Base):
            pass
        class Outer:
            def make(self):
                return Inner()
        def there_and_back():
            return type(pickle.loads(pickle.dumps(Outer().make()))).__mro__[1].__name__
        """
    )
    blob = bundle.dumps({"save": cells["there_and_back"]})
    assert in_fresh_process(blob, "f['save']()") == "Base"


def test_unrelated_cells_may_hold_what_cannot_travel(in_fresh_process):
    cells = notebook(
        """
        import threading
        lock = threading.Lock()
        def elsewhere():
            with lock:
                return undefined_as_yet
        def capture(run):
            return {"step": run}
        """
    )
    assert in_fresh_process(bundle.dumps({"capture": cells["capture"]}), "f['capture'](3)") == "{'step': 3}"


def test_code_keeps_the_name_of_its_cell(in_fresh_process):
    cells = notebook(
        """
        class Log:
            def where(self):
                return (lambda: sys._getframe().f_code.co_filename)()
        def helper():
            return sys._getframe().f_code.co_filename
        def save():
            return [Log().where(), helper(), sys._getframe().f_code.co_filename]
        """,
        sys=sys,
    )
    assert in_fresh_process(bundle.dumps({"save": cells["save"]}), "set(f['save']())") == "{'cell.py'}"


UNPICKLABLE = {
    "open file": ("log = open_file", "log", "an open file.*Open it inside the function"),
    "lock": ("import threading\nlock = threading.Lock()", "lock", "a lock"),
    "generator": ("batches = (n for n in range(3))", "batches", "a generator.*turn it into a list"),
    "file in a dict": ("log = {'out': open_file}", "log", "an open file"),
    "file in an object": (
        "class Log:\n    pass\nlog = Log()\nlog.out = open_file",
        "out",
        "an open file",
    ),
    "compiled module": (
        "class OptimizedModule:\n    def __reduce__(self):\n        raise TypeError('no')\n"
        "log = OptimizedModule()",
        "log",
        "a compiled module.*Use the module",
    ),
}


@pytest.mark.parametrize(("cell", "name", "words"), UNPICKLABLE.values(), ids=UNPICKLABLE)
def test_a_value_that_cannot_be_pickled_is_named_with_its_function(cell, name, words, tmp_path):
    used = cell.split("\n")[-1].split(" = ")[0].split(".")[0]
    with (tmp_path / "log").open("w") as file:
        cells = notebook(f"{cell}\ndef save(state, folder):\n    return {used}", open_file=file)
        with pytest.raises(BundleError, match=rf"`save` uses `{name}`, which is {words}"):
            bundle.dumps({"save": cells["save"]})


def test_the_helper_that_a_function_calls_is_looked_into():
    cells = notebook(
        """
        import threading
        lock = threading.RLock()
        def helper():
            return lock
        def load(folder):
            return helper()
        """
    )
    with pytest.raises(BundleError, match="`load` uses `lock`, which is a lock"):
        bundle.dumps({"load": cells["load"]})


def test_a_closure_is_looked_into():
    cells = notebook(
        """
        def make(items):
            numbers = (n for n in items)
            def load(folder):
                return next(numbers)
            return load
        load = make([1])
        """
    )
    with pytest.raises(BundleError, match="`load` uses `numbers`, which is a generator"):
        bundle.dumps({"load": cells["load"]})


@pytest.mark.parametrize("names", [{"get_ipython": lambda: None}, {}], ids=["in a notebook", "outside one"])
def test_a_magic_line_is_refused(names):
    cells = notebook("def save():\n    get_ipython().system('ls')", **names)
    with pytest.raises(BundleError, match=r"`save` calls IPython: a line that begins with % or !"):
        bundle.dumps({"save": cells["save"]})


@pytest.mark.parametrize("decorated", ["save", "helper"])
def test_a_cached_function_is_refused(decorated):
    source = "import functools\ndef helper():\n    return 1\ndef save():\n    return helper()\n"
    cells = notebook(source.replace(f"def {decorated}", f"@functools.lru_cache\ndef {decorated}"))
    with pytest.raises(BundleError, match=rf"`{decorated}`(, which)? has a cache.*Remove the decorator"):
        bundle.dumps({"save": cells["save"]})


@pytest.mark.parametrize("line", ["import besides", "from besides import useful"])
def test_a_file_beside_the_notebook_is_refused(line, tmp_path, monkeypatch):
    (tmp_path / "besides.py").write_text("def useful():\n    return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "besides", raising=False)
    used = line.split()[-1]
    cells = notebook(f"{line}\ndef save():\n    return {used}")
    with pytest.raises(
        BundleError, match=rf"`save` uses `{used}`, which comes from .*besides\.py.*into a cell"
    ):
        bundle.dumps({"save": cells["save"]})


def test_a_function_of_a_file_beside_the_notebook_is_refused_itself(tmp_path, monkeypatch):
    (tmp_path / "besides2.py").write_text("def save():\n    return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    cells = notebook("from besides2 import save")
    with pytest.raises(BundleError, match=r"`save` comes from .*besides2\.py"):
        bundle.dumps({"save": cells["save"]})


def test_installed_modules_and_the_library_may_be_used(in_fresh_process):
    cells = notebook(
        """
        import json, numpy, sys
        import lastgood.recovery.faults as faults
        from pathlib import Path
        def save():
            return json.dumps([numpy.pi > 3, Path("a").name, faults.OPT_175B.restarts, bool(sys.argv)])
        """
    )
    assert in_fresh_process(bundle.dumps({"save": cells["save"]}), "f['save']()") == '[true, "a", 105, true]'


def test_a_name_that_is_defined_later_is_refused():
    cells = notebook("def capture(run):\n    return [helper(part) for part in run]")
    with pytest.raises(BundleError, match="`capture` uses `helper`, which is not defined yet"):
        bundle.dumps({"capture": cells["capture"]})


def test_builtins_attributes_and_names_set_by_the_code_itself_are_not_missing():
    cells = notebook(
        """
        def capture(run):
            global kept
            kept = sorted(run.anything.at_all)
            class Local:
                field: int = 3
                other = field
            return kept, Local.other
        """
    )
    bundle.dumps({"capture": cells["capture"]})


def test_bytes_that_cannot_be_unpacked_are_an_error_with_the_cause():
    with pytest.raises(BundleError, match=r"fresh process: ModuleNotFoundError: .*nowhere"):
        bundle.loads(b"cnowhere\nfunction\n.")
    with pytest.raises(BundleError, match="fresh process"):
        bundle.loads(pickle.dumps([1, 2]))
