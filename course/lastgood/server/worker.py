"""The child that validates one notebook: `python -m lastgood.server.worker NOTEBOOK`.

It prints one JSON object, what `rich.validate` returns. Its current folder is the course's root, where
nbgrader finds its configuration.
"""

import json
import os
import signal
import sys
import traceback

from lastgood.server.environment import import_nbformat_quickly


def main() -> None:
    """Validate the notebook named on the command line."""
    # nbclient shuts its kernel down on the way out of an exception, not when the process just dies.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # Whatever a library prints goes to stderr: stdout holds the answer alone.
    answer_fd = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    import_nbformat_quickly()
    try:
        from lastgood.server.rich import validate

        answer = validate(sys.argv[1])
    except Exception:
        answer = {"problem": f"The notebook could not be validated:\n{traceback.format_exc()}"}
    with os.fdopen(answer_fd, "w") as stream:
        json.dump(answer, stream)


if __name__ == "__main__":
    main()
