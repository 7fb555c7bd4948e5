"""The one error of an export."""


class ExportError(Exception):
    """Grades cannot be exported as asked; the message says whose, why, and what to do, a line for each."""
