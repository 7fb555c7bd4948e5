"""The child: `python -m autograder.formgrader.worker SERVER METHOD LAB [STUDENT]`, or `… SERVER grade …`.

It ends when the process SERVER does, which is its parent. Its current folder is the course's root. `grade …`
is the command line of `autograder grade`; else it prints, as one line of JSON, what that method of nbgrader's
API returns.
"""

import json
import os
import sys
from typing import Any

from lastgood.recovery.warm.child import die_with_parent


def main() -> None:
    """Do what the command line says."""
    server, method, *arguments = sys.argv[1:]
    die_with_parent(int(server))
    if method == "grade":
        from autograder.cli import app

        raise SystemExit(app([method, *arguments]))
    # Whatever a library prints goes to stderr: stdout holds the answer alone.
    answer_fd = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    reply = call(method, *arguments)
    with os.fdopen(answer_fd, "w") as stream:
        json.dump(reply, stream)


def call(method: str, *arguments: str) -> dict[str, Any]:
    """Call the method under the configuration found in the current folder."""
    from nbgrader.apps import NbGrader, NbGraderAPI

    app = NbGrader()
    app.load_config_file()
    reply: dict[str, Any] | None = getattr(NbGraderAPI(config=app.config), method)(*arguments)
    # On Windows nbgrader has no exchange, and says nothing.
    return reply or {"success": False, "error": f"nbgrader has no {method} on this system."}


if __name__ == "__main__":
    main()
