"""Files with grades in them: whole or not at all, and for their owner's eyes only."""

import os
import tempfile
from pathlib import Path

from autograder.export.errors import ExportError


def replace(path: Path, data: bytes) -> None:
    """Write `data` to `path`. A reader finds the old file or the new one. Raises ExportError."""
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # readable by us alone
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError as error:
        Path(name).unlink(missing_ok=True) if name else None
        raise ExportError(f"cannot write {path}: {error.strerror or error}") from error
