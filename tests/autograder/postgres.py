"""A real PostgreSQL server of a test's own: no TCP port, its socket and its data in a temporary folder."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

_USER = "grader"
_SETTINGS = "-c listen_addresses= -c fsync=off -c autovacuum=off"
# Ends the server and removes its folder once its input closes: also where the tests were killed.
_KEEPER = 'read -r _; "$0" stop --mode=immediate --wait --pgdata="$1/data"; rm -rf "$1"'


@dataclass(frozen=True)
class Server:
    """A running server; `folder` holds its socket."""

    folder: Path

    def create(self, name: str) -> str:
        """Make an empty database; returns its address for SQLAlchemy."""
        with psycopg.connect(
            host=str(self.folder), user=_USER, dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return f"postgresql+psycopg://{_USER}@/{name}?host={self.folder}"


@contextmanager
def server(initdb: Path) -> Iterator[Server]:
    """Start a server with the tools beside `initdb`; it is gone at the end.

    PostgreSQL refuses to be run by root, who therefore runs it as the user `postgres` that its packages make.
    Only that user and root get to the socket, so nobody is asked for a password.
    """
    who = _who()
    folder = Path(tempfile.mkdtemp(prefix="lastgood-postgres-"))  # a socket's path may have 107 characters
    if who:
        os.chown(folder, who["user"], who["group"])
    pg_ctl, data = initdb.with_name("pg_ctl"), f"--pgdata={folder / 'data'}"
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", _KEEPER, pg_ctl, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # Ctrl-C at the terminal is not for it
        **who,
    )
    try:
        _run(
            initdb,
            data,
            "--auth=trust",
            f"--username={_USER}",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
            who=who,
        )
        options = f"--options={_SETTINGS} -c unix_socket_directories={folder}"
        _run(pg_ctl, "start", "--wait", data, f"--log={folder / 'log'}", options, who=who)
        yield Server(folder)
    finally:
        keeper.communicate()


def _who() -> dict[str, Any]:
    if os.geteuid():
        return {}
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("PostgreSQL refuses to be run by root, and there is no user `postgres`")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _run(*command: str | Path, who: dict[str, Any]) -> None:
    done = subprocess.run(
        command,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **who,
    )
    assert done.returncode == 0, done.stdout
