"""A manifest is believed only in the very bytes that were written."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from lastgood.recovery.checkpoint.manifest import CheckpointError, FileRecord, Manifest, decode, encode

PATH = Path("manifest.json")
MANIFEST = Manifest(1, 120, {"state.pt": FileRecord(9, "ab" * 32)}, {"torch": "2.6.0", "python": "3.11"})


def signed(body: dict[str, Any], **changes: Any) -> bytes:
    """A manifest with `changes`, and the digest that goes with them."""
    body = {key: value for key, value in (body | changes).items() if key != "digest"}
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    body["digest"] = hashlib.sha256(canonical).hexdigest()
    return json.dumps(body, indent=2, sort_keys=True).encode() + b"\n"


BODY: dict[str, Any] = json.loads(encode(MANIFEST))


def test_a_manifest_comes_back() -> None:
    assert decode(encode(MANIFEST), PATH) == MANIFEST
    assert signed(BODY) == encode(MANIFEST)


def test_each_flip_of_each_bit_is_found() -> None:
    good = encode(MANIFEST)
    for position in range(len(good)):
        for bit in range(8):
            data = bytearray(good)
            data[position] ^= 1 << bit
            with pytest.raises(CheckpointError):
                decode(bytes(data), PATH)


@pytest.mark.parametrize("data", [b"", b"\xff", b"{", b"[" * 100_000, b'{"a": 1', encode(MANIFEST)[:-3]])
def test_what_is_not_json_is_told(data: bytes) -> None:
    with pytest.raises(CheckpointError, match=r"manifest\.json: not JSON .* Use an earlier checkpoint"):
        decode(data, PATH)


@pytest.mark.parametrize("data", [b"[]", b"1", b"null", b'"format"'])
def test_what_is_no_object_is_told(data: bytes) -> None:
    with pytest.raises(CheckpointError, match="not an object"):
        decode(data, PATH)


@pytest.mark.parametrize("key", sorted(BODY))
def test_missing_keys_are_named(key: str) -> None:
    body = {name: value for name, value in BODY.items() if name != key}
    data = json.dumps(body).encode() if key == "digest" else signed(body)
    with pytest.raises(CheckpointError, match=f"keys are missing: {key}"):
        decode(data, PATH)


@pytest.mark.parametrize("data", [signed(BODY, format=2, files=[]), b'{"format": 3}'])
def test_a_newer_format_is_told_from_damage(data: bytes) -> None:
    with pytest.raises(
        CheckpointError, match=r"format [23], and this lastgood reads formats up to 1\. Read it with"
    ):
        decode(data, PATH)
    damaged = encode(MANIFEST).replace(b'"format": 1', b'"format": 3')
    with pytest.raises(CheckpointError, match="changed"):
        decode(damaged, PATH)


RECORD = BODY["files"]["state.pt"]


@pytest.mark.parametrize(
    "changes",
    [
        {"step": "120"},
        {"step": True},
        {"step": -1},
        {"format": 0},
        {"format": "1"},
        {"files": {}},
        {"files": []},
        {"files": {"../state.pt": RECORD}},
        {"files": {"state.pt": RECORD, "more.pt": RECORD}},
        {"files": {"state.pt": {"bytes": 1}}},
        {"files": {"state.pt": RECORD | {"bytes": 1.0}}},
        {"files": {"state.pt": RECORD | {"sha256": 1}}},
        {"versions": {"torch": 2}},
        {"versions": "2"},
    ],
    ids=repr,
)
def test_entries_of_the_wrong_kind_are_told_though_the_digest_is_right(changes: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError, match="an entry is of the wrong kind"):
        decode(signed(BODY, **changes), PATH)


def test_what_encode_would_not_write_is_refused_though_the_digest_is_right() -> None:
    for data in (signed(BODY, more=1), encode(MANIFEST).replace(b"\n", b" "), encode(MANIFEST) + b"\n"):
        with pytest.raises(CheckpointError, match="the bytes are not those that were written"):
            decode(data, PATH)
