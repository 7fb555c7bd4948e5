"""Attacks on what the grader and the kernel, and the judge and its processes, say to each other.

Each ends its own notebook at worst, or costs the grader memory, disk or time: so each is handed in by a
student of its own, with a right answer before it that keeps its points.
"""

from nbformat.v4 import new_code_cell

from ..classroom import RIGHT, Attack
from .cheats import FORGE, WRONG
from .walls import HONEST

RIGHT_MASK = RIGHT["causal_mask"]


def protocol(tries: str, source: str, earns: float = 0.0, answer: str = WRONG, **more: object) -> Attack:
    return Attack(tries, f"{answer}{FORGE}{source}", earns=earns, **more)  # type: ignore[arg-type]


def in_the_measure(tries: str, source: str) -> Attack:
    """Something done by the function that is tested, while it is tested."""
    body = "".join(f"    {line}\n" for line in source.splitlines())
    return Attack(
        tries,
        f"{FORGE}import os, signal, threading, time\ndef mask(n):\n{body}    return ~torch.ones(n, n).bool()",
    )


JUNK = """
import threading
display({'text/plain': 'first'}, raw=True, display_id='junk')
"""
LATER = """
for junk in (['a list'], 'text', {'text/plain': ['a', 7]}, {'text/plain': 'half \\ud800'}):
    content = {'data': junk, 'metadata': {}, 'transient': {'display_id': 'junk'}}
    send('update_display_data', content)
"""
SOCKETS = """
import glob, os
(folder,) = [p for p in glob.glob('/tmp/.*') if os.path.isdir(p)]
for name in os.listdir(folder):
    path = os.path.join(folder, name)
    os.rename(path, path + '.kept')
    os.symlink(SOCK, path)
print('x' * 70_000_000)
"""
THREAD = """
import atexit, threading, time
def go_on():
    while True:
        parent = kernel.get_parent()
        show('AAAA')
        send('execute_result', {'data': {'text/plain': '2'}, 'metadata': {}, 'execution_count': 1}, parent)
        send('status', {'execution_state': 'busy'}, parent)
        time.sleep(0.01)
threading.Thread(target=go_on, daemon=True).start()
atexit.register(go_on)
"""
STREAM_LIST = "send('stream', {'name': 'stdout', 'text': ['a\\n', 'b\\n']})"
FLOOD = tuple(new_code_cell("print('x' * 900_000)") for _ in range(40))
FILL = f"""{HONEST}
def save(state, folder):
    for number in range(3):
        with open(Path(folder, str(number)), "wb") as file:
            file.write(bytes(100_000_000))
    while True:
        pass
def load(folder):
    return None
"""


def protocols(sock: str) -> dict[str, Attack]:
    """By the student who hands it in. `sock` is a server of this machine's that nobody may reach."""
    return {
        "answer-no-text": protocol("an answer that is a number", "far.answer = lambda *a, **k: show(7)"),
        "exits": in_the_measure("the process ends", "os._exit(0)"),
        "killed": in_the_measure("the process is killed", "os.kill(os.getpid(), signal.SIGKILL)"),
        "stream-list": protocol("text that is a list", STREAM_LIST, 2.0, RIGHT_MASK),
        "displays-junk": protocol(
            "an earlier cell's display is replaced by what no notebook holds",
            JUNK,
            2.0,
            RIGHT_MASK,
            after=LATER,
        ),
        "goes-on": protocol("a thread that displays for ever, and at the end", THREAD),
        "no-parent": protocol(
            "messages without what each message has",
            "far.answer = lambda *a, **k: [send('display_data', {}), send('stream', 7)]",
        ),
        "unsigned": protocol(
            "parts that are no message",
            "junk = [b'x', b'<IDS|MSG>', b'0', b'{', b'']\n"
            "far.answer = lambda *a, **k: kernel.iopub_socket.send_multipart(junk)",
        ),
        "deep": protocol(
            "a message nested without end",
            "def answer(*a, **k):\n    deep = '[' * 10**6 + ']' * 10**6\n    real = kernel.session.pack\n"
            "    kernel.session.pack = lambda data: deep.encode()\n    try: show('AAAA')\n"
            "    finally: kernel.session.pack = real\nfar.answer = answer",
        ),
        "sockets": protocol(
            "the grader is led to another server when it connects again", f"SOCK = {sock!r}\n{SOCKETS}"
        ),
        "printed": in_the_measure("twenty megabytes are printed by what is tested", "print('x' * 5_000_000)"),
        "floods": Attack("forty cells of nearly a megabyte each", RIGHT_MASK, earns=2.0, cells=FLOOD),
        "metadata": Attack(
            "a graded cell that says it is a solution, which nobody overwrites",
            WRONG,
            change=lambda notebook: (
                [
                    cell.metadata.nbgrader.update(solution=True)
                    for cell in notebook.cells
                    if cell.metadata.get("nbgrader", {}).get("grade")
                ]
                and None
            ),
        ),
    }


FILLS = Attack("the disk in memory is filled, and the judge kept waiting", FILL, "save_load")
