"""The files as a learner's JupyterLab shows them."""

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

SHIPPED = ("course", "labs", "solutions", "glossary.md", "README.md")


class LearnerContents(AsyncLargeFileManager):
    """Files, of which those that the course ships cannot be written.

    JupyterLab saves a notebook that was merely opened, with changes of its own. It leaves alone what it takes
    for read-only, and `work/` holds a copy of everything that a learner edits.
    """

    def is_writable(self, path: str) -> bool:
        """Tell whether JupyterLab may write to a path, relative to the server's root."""
        first = path.strip("/").partition("/")[0]
        may: bool = super().is_writable(path)  # type: ignore[no-untyped-call]
        return may and first not in SHIPPED
