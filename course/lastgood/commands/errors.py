"""How a command says that it cannot do what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def plain_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Print an error of these kinds as the message it bears, and exit with 1."""
    try:
        yield
    except kinds as error:
        typer.secho(str(error), fg=typer.colors.RED, err=True)
        raise typer.Exit(1) from None
