"""`python -m docs.frameworks [--table]`: audit each framework, keep what was found, write the table."""

from __future__ import annotations

import sys
from pathlib import Path

from docs.frameworks import results, table
from docs.frameworks.results import Case

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = (
    Case("`torch.save` of model, optimizer and epoch", "torch_save.py", "torch"),
    Case("Lightning's Trainer", "lightning_run.py", "lightning"),
    Case("Accelerate, `load_state` alone", "accelerate_naive.py", "accelerate"),
    Case("Accelerate, and `skip_first_batches`", "accelerate_run.py", "accelerate"),
    Case("Hugging Face's Trainer", "trainer_noisy.py", "transformers"),
    Case("the same, on data that draws nothing", "trainer_run.py", "transformers"),
)


def main() -> None:
    """Measure, unless only the table is to be written again."""
    if sys.argv[1:] != ["--table"]:
        found = []
        for case in CASES:
            print(f"{case.run} …", file=sys.stderr, flush=True)
            found.append(results.measured(case))
        results.write(found)
    table.refresh(ROOT, results.read())


if __name__ == "__main__":
    main()
