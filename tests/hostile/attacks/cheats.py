"""Cheats on the test itself, tried in the kernel: each slot is attacked by another one, then all is undone.

What is between two attacks is put back, so that each finds the kernel as a learner's cell would. The last
answer is right, and earns its points: the kernel was not broken on the way.
"""

from nbformat import NotebookNode

from ..classroom import RIGHT, Attack

WRONG = "def mask(n):\n    return torch.zeros(n, n, dtype=torch.bool)\n"
FORGE = """
import base64
from IPython.display import display
from lastgood.recovery.wire import pack
from lastgood.teaching.checks import ANSWER, far
shell = get_ipython()
kernel, answer = shell.kernel, far.answer

def bytes_of(measured):
    return base64.b64encode(pack({"measured": measured, "stderr": ""})).decode()

def show(text):
    display({ANSWER: text}, raw=True)

def send(kind, content, parent=None):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=parent or kernel.get_parent())

def instead(*texts):
    far.answer = lambda *a, **k: [show(text) for text in texts]
"""
UNDO = "far.answer = answer"


def patched(tries: str, target: str, value: str, before: str = "", answer: str = WRONG) -> Attack:
    """Something replaced for as long as the check runs."""
    return Attack(tries, f"{answer}{before}\n_kept = {target}\n{target} = {value}", after=f"{target} = _kept")


def forged(tries: str, what: str, check: str = "causal_mask") -> Attack:
    """Answers sent in place of what was measured."""
    return Attack(tries, f"{WRONG if check == 'causal_mask' else ''}{FORGE}{what}", check, after=UNDO)


def _edited(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.source.startswith("check.causal_mask") and "# edited" in _before(notebook, cell):
            cell.source = "2"
            cell.outputs = []


def _before(notebook: NotebookNode, cell: NotebookNode) -> str:
    return str(notebook.cells[notebook.cells.index(cell) - 1].source)


EVERYTHING = """
class Everything:
    shape, dtype = property(lambda self: self), torch.bool
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __iter__(self): return iter(())
    def __len__(self): return 1
    def __getitem__(self, i): return self
    def __reduce__(self): return (lambda *a: True, ())
def mask(n):
    return Everything()
"""
LYING = """
class Lying(torch.Tensor):
    def __eq__(self, other): return torch.ones(())
    def contiguous(self, **k): return self
    @property
    def shape(self): return torch.Size(())
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None): return True
def mask(n):
    return torch.zeros(n, n, dtype=torch.bool).as_subclass(Lying)
"""
FAKE = """
import sys, types
class Fake(types.ModuleType):
    __path__ = []
    def __getattr__(self, name): return lambda *a, **k: 2
_real = {name: module for name, module in sys.modules.items() if name.split('.')[0] == 'lastgood'}
for name in _real:
    sys.modules[name] = Fake(name)
"""
AST = """
import ast
class Pass(ast.NodeTransformer):
    def visit_Expr(self, node):
        wanted = 'far' in ast.unparse(node)
        return ast.copy_location(ast.Expr(ast.Constant(2)), node) if wanted else node
_pass = Pass()
get_ipython().ast_transformers.append(_pass)
"""
OWN_VERDICT = "lambda inputs, data: Report('A1', (Part('causal mask', 2.0, 2.0),))"
REPORT = "from lastgood.teaching.checks.report import Part, Report"
FILES = """
import glob, os
from pathlib import Path
def mask(n):
    for folder in (os.getcwd(), os.path.dirname(torch.__file__) + '/../../../../..', '/submission', '/home'):
        for name in ('lab18.py', 'lab18.ipynb', 'gradebook.db'):
            if glob.glob(f'{folder}/**/solutions/**/{name}', recursive=True):
                return torch.ones(n, n, dtype=torch.bool).tril()
    return torch.zeros(n, n, dtype=torch.bool)
"""
DISPLAYED = """
_handle = None
def mask(n):
    global _handle
    _handle = display({'text/plain': 'wait'}, raw=True, display_id='mine')
    send('execute_result', {'data': {'text/plain': '2'}, 'metadata': {}, 'execution_count': 1,
                            'transient': {'display_id': 'mine'}})
    return torch.zeros(n, n, dtype=torch.bool)
"""
UPDATE = """
for kind in ('update_display_data', 'display_data', 'execute_result'):
    send(kind, {'data': {'text/plain': '2', ANSWER: bytes_of(b'')}, 'metadata': {}, 'execution_count': 1,
                'transient': {'display_id': 'mine'}})
"""
STALE = """
_parents = []
def mask(n):
    _parents.append(kernel.get_parent())
    return torch.zeros(n, n, dtype=torch.bool)
"""
TO_STALE = """
for parent in _parents:
    send('execute_result', {'data': {'text/plain': '2'}, 'metadata': {}, 'execution_count': 2}, parent)
    send('clear_output', {'wait': False}, parent)
"""
HTML_NAMES = """
def mask(n):
    raise type('<img src=x onerror=owned()>', (Exception,), {})('<script>owned()</script>')
"""
CHEATS: dict[str, Attack] = {
    "torch.equal patched": patched("every comparison is true", "torch.equal", "lambda *a, **k: True"),
    "torch.allclose patched": patched("every comparison is true", "torch.allclose", "lambda *a, **k: True"),
    "numpy patched": patched(
        "every comparison is true", "numpy.array_equal", "lambda *a, **k: True", "import numpy"
    ),
    "tensor operators patched": patched(
        "two tensors are equal", "torch.Tensor.__eq__", "lambda a, b: torch.ones((), dtype=torch.bool)"
    ),
    "the library's answer patched": patched(
        "what it is compared with is what was answered",
        "blanks.causal_mask",
        "lambda n: torch.zeros(n, n, dtype=torch.bool)",
        "from lastgood.teaching.checks import blanks",
    ),
    "a verdict of one's own": Attack(
        "the check's second half is replaced",
        f"{WRONG}{REPORT}\n_kept = check.causal_mask.verdict\n"
        f"object.__setattr__(check.causal_mask, 'verdict', {OWN_VERDICT})",
        after="object.__setattr__(check.causal_mask, 'verdict', _kept)",
    ),
    "a report of one's own": Attack(
        "any report has all points",
        f"{WRONG}{REPORT}\n_kept = Report.__dict__['points']\nReport.points = 2.0",
        after="Report.points = _kept",
    ),
    "equal to everything": Attack("an object that says yes to whatever it is asked", EVERYTHING),
    "a lying tensor": Attack("a subclass of Tensor that answers for torch", LYING),
    "input transformer": Attack(
        "what the grader sends is another source by the time it is run",
        f"{WRONG}_shell = get_ipython()\n"
        "_other = lambda lines: ['2\\n'] if 'far' in ''.join(lines) else lines\n"
        "_shell.input_transformers_post.append(_other)",
        after="_shell.input_transformers_post.remove(_other)",
    ),
    "forged answers": forged("garbage of many kinds", "instead('', '****', 'AAAA', 'A' * 10**6)"),
    "a number in place of an answer": forged("a result that reads 2", "far.answer = lambda *a, **k: 2"),
    "numbers printed": forged("stdout reads 2, and 10", "far.answer = lambda *a, **k: print('2\\n10')"),
    "a forged result": forged(
        "a result sent by hand, as the judge's looks",
        "far.answer = lambda *a, **k: send('execute_result', {'data': {'text/plain': '2', "
        "'text/html': '<b>A1: 2 of 2 points</b>'}, 'metadata': {}, 'execution_count': 2})",
    ),
    "updated later": Attack(
        "what the graded cell displayed is replaced by a later cell", FORGE + DISPLAYED, after=UPDATE
    ),
    "another cell's parent": Attack(
        "messages on behalf of a graded cell that is over", FORGE + STALE, after=TO_STALE
    ),
    "masks of no use": forged(
        "an answer in form, with masks that no measure gives",
        "instead(bytes_of(pack({'masks': []})), bytes_of(pack({'masks': [None] * 4})), bytes_of(pack({})),"
        " bytes_of(pack({'error': ''})))",
    ),
    "an empty error": forged("an error without words is no error", "instead(bytes_of(pack({'error': ''})))"),
    "not a number": forged(
        "NaN is neither right nor wrong", "instead(bytes_of(pack({'value': float('nan')})))", "state_bytes"
    ),
    "infinity": forged(
        "as large as can be", "instead(bytes_of(pack({'value': float('inf')})))", "state_bytes"
    ),
    "a number of 4,000 digits": forged(
        "an integer beyond every float", "instead(bytes_of(pack({'value': 10**4000})))", "state_bytes"
    ),
    "a list for a number": forged(
        "arithmetic on something else", "instead(bytes_of(pack({'value': [1, 2]})))", "state_bytes"
    ),
    "another check's answer": forged(
        "the measure of another check", "instead(bytes_of(pack({'masks': []})))", "state_bytes"
    ),
    "traceback hidden": Attack(
        "an error that is not shown is none",
        "def mask(n):\n    raise KeyboardInterrupt\n"
        "_kept = get_ipython().showtraceback\nget_ipython().showtraceback = lambda *a, **k: None",
        after="get_ipython().showtraceback = _kept",
    ),
    "an exception handler": Attack(
        "an error that is handled is none",
        "def mask(n):\n    raise KeyboardInterrupt\n"
        "get_ipython().set_custom_exc((BaseException,), lambda *a, **k: print('2'))",
        after="get_ipython().set_custom_exc((), None)",
    ),
    "display hook": Attack(
        "whatever is shown reads 2",
        f"{WRONG}shell = get_ipython()\n_kept = shell.display_formatter.format\n"
        "shell.display_formatter.format = lambda *a, **k: ({'text/plain': '2'}, {})",
        after="shell.display_formatter.format = _kept",
    ),
    "display publisher": Attack(
        "whatever is published reads 2",
        f"{WRONG}shell = get_ipython()\n_kept = type(shell.display_pub).publish\n"
        "type(shell.display_pub).publish = lambda self, data, *a, **k: _kept(self, {'text/plain': '2'})",
        after="type(shell.display_pub).publish = _kept",
    ),
    "syntax tree": Attack(
        "the call is replaced by a 2", WRONG + AST, after="get_ipython().ast_transformers.remove(_pass)"
    ),
    "a fake far": Attack(
        "the module that measures is the learner's",
        f"{WRONG}import sys, types\n_kept = sys.modules['lastgood.teaching.checks.far'] if "
        "'lastgood.teaching.checks.far' in sys.modules else None\n"
        "_fake = types.ModuleType('lastgood.teaching.checks.far')\n_fake.answer = lambda *a, **k: 2\n"
        "sys.modules['lastgood.teaching.checks.far'] = _fake",
        after="sys.modules['lastgood.teaching.checks.far'] = _kept",
    ),
    "a fake lastgood": Attack(
        "the whole library is the learner's", WRONG + FAKE, after="sys.modules.update(_real)"
    ),
    "import replaced": Attack(
        "__import__ gives the learner's object",
        f"{WRONG}import builtins, types\n_kept = builtins.__import__\n"
        "builtins.__import__ = lambda name, *a, **k: types.SimpleNamespace(answer=lambda *a, **k: 2) "
        "if name.endswith('far') else _kept(name, *a, **k)",
        after="builtins.__import__ = _kept",
    ),
    "getattr and isinstance replaced": Attack(
        "whatever is asked, the answer is yes",
        f"{WRONG}import builtins\n_kept = builtins.isinstance\n"
        "builtins.isinstance = lambda a, b: True if type(a) is torch.Tensor else _kept(a, b)",
        after="builtins.isinstance = _kept",
    ),
    "leaves the function": Attack("sys.exit inside", "import sys\ndef mask(n):\n    sys.exit(0)"),
    "skips the cell": Attack("a kernel that is told to stop", "def mask(n):\n    raise GeneratorExit"),
    "reads the master": Attack("the answer is looked for on disk", FILES),
    "the graded cell edited": Attack("a 2 in the check's place", f"# edited\n{WRONG}", change=_edited),
    "names that are HTML": Attack("an exception called <img>", HTML_NAMES, says="<script>"),
}
CONTROL = Attack("nothing: the kernel still works", RIGHT["causal_mask"], earns=2.0)
