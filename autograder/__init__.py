"""What grades: the sandbox, the judge, the class runner, reports and exports, mutants. `autograder …`."""

import sys

# jsonschema, which reads notebooks, compiles a grammar of web addresses when it finds this package. That
# takes seconds, more than the rest of nbgrader's imports together, and no schema of a notebook asks for it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: not to be imported
