"""The manifest of a checkpoint: what its files must look like, in a form where no byte can change unseen.

A manifest is JSON with sorted keys and a fixed indent. It carries a digest of its own content, and it is
accepted only in the exact bytes that `encode` would write, so a flipped byte is found even where JSON would
not mind it. Every format, also later ones, keeps the keys `format` and `digest`, and the digest's rule.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FORMAT = 1
STATE_FILE = "state.pt"
MANIFEST_FILE = "manifest.json"

USE_EARLIER = "Use an earlier checkpoint: latest_good(folder) finds one."
_KEYS = frozenset({"digest", "files", "format", "step", "versions"})


class CheckpointError(Exception):
    """A checkpoint cannot be written, read or removed. `str()` names the file, the cause and the remedy."""

    def __init__(self, path: Path, cause: str, remedy: str) -> None:
        super().__init__(path, cause, remedy)  # all of them, so that it pickles between processes
        self.path = path
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.path}: {self.cause}. {self.remedy}"


@dataclass(frozen=True)
class FileRecord:
    """What a file of a checkpoint must be: its size in bytes and the SHA-256 of its content in hex."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint says of itself: format, step, a record of each file, versions of the libraries."""

    format: int
    step: int
    files: Mapping[str, FileRecord]
    versions: Mapping[str, str]


def encode(manifest: Manifest) -> bytes:
    """Return the one and only form of `manifest` on disk."""
    body: dict[str, Any] = {
        "format": manifest.format,
        "step": manifest.step,
        "files": {name: asdict(record) for name, record in manifest.files.items()},
        "versions": dict(manifest.versions),
    }
    body["digest"] = _digest(body)
    return json.dumps(body, indent=2, sort_keys=True).encode() + b"\n"


def decode(data: bytes, path: Path) -> Manifest:
    """Return the manifest that `data` holds; `path` is only for messages.

    Raises CheckpointError: not JSON, a newer format, keys missing, or anything but what `encode` wrote.
    """
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(path, f"not JSON ({error})", USE_EARLIER) from error
    if not isinstance(body, dict):
        raise CheckpointError(path, "JSON, but not an object", USE_EARLIER)
    _refuse_newer(body, path)
    if missing := sorted(_KEYS - body.keys()):
        raise CheckpointError(path, f"keys are missing: {', '.join(missing)}", USE_EARLIER)
    if body["digest"] != _digest(body):
        raise CheckpointError(path, "changed: the content does not match its own digest", USE_EARLIER)
    try:
        manifest = _build(body)
    except (AttributeError, KeyError, TypeError) as error:
        raise CheckpointError(path, f"an entry is of the wrong kind ({error})", USE_EARLIER) from error
    if encode(manifest) != data:
        raise CheckpointError(path, "changed: the bytes are not those that were written", USE_EARLIER)
    return manifest


def _digest(body: Mapping[str, Any]) -> str:
    content = {key: value for key, value in body.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _refuse_newer(body: Mapping[str, Any], path: Path) -> None:
    """Tell a newer format from a damaged digit: a manifest is believed only where it matches its digest."""
    version = body.get("format")
    if type(version) is int and version > FORMAT and body.get("digest") in (None, _digest(body)):
        cause = f"format {version}, and this lastgood reads formats up to {FORMAT}"
        raise CheckpointError(path, cause, "Read it with the lastgood that wrote it, or a later one.")


def _build(body: Mapping[str, Any]) -> Manifest:
    files = {name: FileRecord(record["bytes"], record["sha256"]) for name, record in body["files"].items()}
    if set(files) != {STATE_FILE}:
        raise TypeError(f"files should name {STATE_FILE} alone")
    numbers = (body["format"], body["step"], files[STATE_FILE].bytes)
    if not all(type(number) is int and number >= 0 for number in numbers) or body["format"] != FORMAT:
        raise TypeError(f"format should be {FORMAT}, step and bytes whole numbers")
    texts = (files[STATE_FILE].sha256, *body["versions"].values())
    if not all(type(text) is str for text in texts):
        raise TypeError("sha256 and versions should be text")
    return Manifest(body["format"], body["step"], files, body["versions"])
