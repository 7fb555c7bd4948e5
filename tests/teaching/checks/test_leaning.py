"""What lets the library answer is found in what the code reaches; what is the learner's own is let be."""

from typing import Any

import pytest

from lastgood.teaching.checks import lab00
from lastgood.teaching.checks.core import Check, borrowed
from lastgood.training import model as library

ANSWERS = ("lastgood.training.model", "lastgood.training.run")


def cell(text: str) -> dict[str, Any]:
    """What a notebook holds after a cell with this text has run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(text, names)
    return names


MODEL = "from lastgood.training.model import causal_mask as theirs, Block, GPTConfig\n"
LEANING = {
    "a lambda": MODEL + "f = lambda n: theirs(n)",
    "a function": MODEL + "def f(n):\n    return theirs(n)",
    "a helper": MODEL + "def g(n):\n    return theirs(n)\ndef f(n):\n    return g(n)",
    "a wrapper": MODEL + "def wrapped(h):\n    return lambda n: h(n)\nf = wrapped(theirs)",
    "a decorator": "import functools\n" + MODEL + "@functools.wraps(theirs)\ndef f(n):\n    return theirs(n)",
    "a partial": "import functools\n" + MODEL + "f = functools.partial(theirs, 3)",
    "a default": MODEL + "def f(n, g=theirs):\n    return g(n)",
    "a list": MODEL + "tools = [theirs]\ndef f(n):\n    return tools[0](n)",
    "an object": MODEL + "class A:\n    def __call__(self, n):\n        return theirs(n)\nf = A()",
    "a method": MODEL + "class A:\n    def m(self, n):\n        return theirs(n)\nf = A().m",
    "a subclass": MODEL + "class f(Block):\n    pass",
    "a part": MODEL + "class f:\n    def __init__(self, config):\n        self.inner = Block(config)",
    "another's forward": MODEL + "class f:\n    forward = Block.forward",
    "an instance": MODEL + "made = Block(GPTConfig(3))\ndef f(x):\n    return made(x)",
    "a module": "from lastgood.training import model\ndef f(n):\n    return model.causal_mask(n)",
    "the package": "import lastgood.training.model\nf = lambda n: lastgood.training.model.causal_mask(n)",
    "an import inside": "def f(n):\n    from lastgood.training.model import Block\n    return Block(n)",
    "an import deeper": "def f(n):\n    def g():\n        import lastgood.training.run as m\n    return g()",
}
HONEST = {
    "a config": MODEL
    + "config = GPTConfig(3)\ndef f(n: GPTConfig):\n    return isinstance(n, GPTConfig), config",
    "an annotation": MODEL + "def f(n: Block) -> Block:\n    return n",
    "a name that is not used": MODEL + "def f(n):\n    return n",
    "an attribute of that name": MODEL + "def f(n):\n    return n.theirs, n.Block",
    "a local of that name": MODEL + "def f(n):\n    theirs = n + 1\n    return theirs",
    "another module": "from lastgood.training import data\ndef f(n):\n    return data.Batch(n, n, n)",
    "another import inside": "def f(n):\n    from lastgood.training.data import Batch\n    return Batch",
    "itself": "def f(n):\n    return f(n - 1) if n else 0",
}


@pytest.mark.parametrize("way", LEANING)
def test_whatever_way_the_library_is_called_it_is_refused(way: str) -> None:
    function = cell(LEANING[way])["f"]
    assert "library's own" in borrowed(function, ANSWERS, (library.GPTConfig,))


@pytest.mark.parametrize("way", HONEST)
def test_what_lets_nobody_answer_is_let_be(way: str) -> None:
    assert borrowed(cell(HONEST[way])["f"], ANSWERS, (library.GPTConfig,)) == ""


def test_without_answers_nothing_is_looked_into() -> None:
    assert borrowed(cell(LEANING["a lambda"])["f"]) == ""


def test_the_sentence_names_what_is_used_and_where() -> None:
    assert borrowed(cell(LEANING["a function"])["f"], ANSWERS).startswith(
        "`f` uses `theirs`, the library's own"
    )


STEP = """
def train_step(model, optimizer, batch):
    loss = next_token_loss(model(batch.inputs), batch.tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""
LENT = {
    "the loss is the library's": (lab00.STEP, "from lastgood.training.model import next_token_loss", STEP, 3),
    "the loss leans on it": (
        lab00.STEP,
        "from lastgood.training import model\nnext_token_loss = lambda *a: model.next_token_loss(*a)",
        STEP,
        3,
    ),
    "the block that comes after": (
        lab00.MLP,
        "from lastgood.training.model import Block",
        "make_mlp = lambda config: Block(config).mlp",
        0,
    ),
    "the block that comes after, by def": (
        lab00.MLP,
        "from lastgood.training.model import Block",
        "def make_mlp(config):\n    return Block(config).mlp",
        0,
    ),
}


@pytest.mark.parametrize("case", LENT)
def test_an_earlier_exercise_may_be_borrowed_and_costs_nothing_here_a_later_one_may_not(case: str) -> None:
    check, before, own, points = LENT[case]
    assert isinstance(check, Check)
    names = cell(f"{before}\n{own}")
    name = "train_step" if check is lab00.STEP else "make_mlp"
    assert check.run((names[name],), seed=1).points == points
