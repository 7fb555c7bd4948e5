"""Lab 18, part B: functions that cannot be taken to another process."""

from autograder.mutants import Variant
from autograder.mutants.lab18.parts import CONTENTS

TRAVEL_MUTANTS = (
    Variant(
        "a-cached-function",
        "the same run has the same state, so it need not be asked twice",
        (
            ("import copy\n", "import copy\nimport functools\n"),
            ("def capture(run: Run)", "@functools.lru_cache\ndef capture(run: Run)"),
        ),
        {CONTENTS: 10},
        ("`capture` has a cache", "Remove the decorator"),
    ),
    Variant(
        "a-name-defined-later",
        "I run the cells in any order",
        (('    run.step = state["step"]\n', "    run.step = state[STEP_KEY]\n"),),
        {CONTENTS: 10},
        ("`restore` uses `STEP_KEY`, which is not defined yet",),
    ),
    Variant(
        "a-magic-line",
        "%time tells me how long it takes",
        (
            (
                '        "step": run.step,\n',
                '        "step": run.step,\n        "took": get_ipython().run_line_magic("time", "1"),\n',
            ),
        ),
        {CONTENTS: 10},
        ("`capture` calls IPython", "begins with % or !"),
    ),
)
