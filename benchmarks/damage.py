"""Random damage to checkpoints, in memory: what disks and networks do to files, and what people would.

A checkpoint is a dict of its files' bytes by name. The same dice do the same damage.
"""

from __future__ import annotations

import copy
import functools
import io
import itertools
import json
import pickletools
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

Files = dict[str, bytes]
Damage = Callable[[bytes, random.Random], bytes]

_OPCODES = b"()NKJMGTUXVcbRtsuade}]l0.\x80\x81\x85\x86\x87\x88\x8a\x8b\x8c\x8d\x91\x92\x93\x94\x95"
_LENGTHS = re.compile(rb"[TUXBCJMK\x8a\x8b\x8c\x8d\x8e\x95\x96]")  # opcodes that a length or a number follows
_SIGNATURES = re.compile(rb"PK(?:\x01\x02|\x03\x04|\x05\x06|\x06\x06|\x06\x07)")
_ABSURD = (b"\xff" * 8, bytes(8), b"\x7f" * 8, b"\x80" + bytes(7), bytes(7) + b"\x80", b"\0\0\0\x7f" * 2)
_PIECES = (
    b"N", b")", b"]", b"}", b"K\x00", b"\x88", b"(t", b"(l", b"(d", b"0", b"2", b"1", b"R", b"b", b"\x85",
    b"Q", b"J\xff\xff\xff\xff", b"J\xff\xff\xff\x7f", b"\x8a\x09" + b"\x7f" * 9, b"\x8a\x40" + b"\x7f" * 64,
    b"G\x7f\xf8" + bytes(6), b"G\x7f\xf0" + bytes(6), b"F-1e400\n", b"X\x04\0\0\0step", b"X\0\0\0\0",
    b"X\x05\0\0\0state", b"X\x0a\0\0\0last_epoch", b"X\x03\0\0\0\xed\xa0\x80", b"X\x04\0\0\0\x1b[2J",
    b"cposix\nsystem\n", b"ccollections\nOrderedDict\n", b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"c\n\n", b"ctorch\nfloat32\n", b"cnumpy\ndtype\n", b"\x8f", b"(\x91", b"S'\\xff'\n", b"I01\n", b"L9L\n",
    b"C\x02\xff\xfe",
)  # fmt: skip
_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**31, 2**63, 10**300, 0.5, 1e308, float("nan"), float("-inf"), "", "F32", "step",
    "..", "\x1b[2J", "\ud800", "a" * 5000, [], [[]], [0] * 100, [-1, 2**62], {}, {"": {}}, {"dtype": "F32"},
)  # fmt: skip


def damaged(files: Files, dice: random.Random) -> Files:
    """The checkpoint with one of its files damaged, gone, empty or swapped with another."""
    spoilt = dict(files)
    name, other = dice.choice(sorted(files)), dice.choice(sorted(files))
    chance = dice.random() if len(files) > 1 else 1.0
    if chance < 0.05:
        del spoilt[name]
    elif chance < 0.10:
        spoilt[name] = b""
    elif chance < 0.15:
        spoilt[name], spoilt[other] = files[other], files[name]
    else:
        spoilt[name] = dice.choice(_damages(files[name]))(files[name], dice)
    return spoilt


def _damages(data: bytes) -> list[Damage]:
    """What can be done to this file."""
    if data.startswith(b"PK"):
        return [_bytes, _cut, _directory, _member, _member_pickle, _member_pickle]
    if data[8:9] == b"{":
        return [_bytes, _cut, _header_length, _header, _header]
    if data[:1] == b"{":
        return [_bytes, _cut, _json, _json]
    return [_bytes, _cut, _lengths, _pickle, _pickle]


def _bytes(data: bytes, dice: random.Random) -> bytes:
    """Bits flip, bytes are lost or come in between; once, or many times."""
    spoilt = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8, 40))):
        at = dice.randrange(len(spoilt)) if spoilt else 0
        match dice.randrange(5):
            case 0:
                spoilt[at:at] = bytes(dice.choices(_OPCODES, k=dice.randint(1, 9)))
            case 1:
                del spoilt[at : at + dice.randint(1, 30)]
            case 2:
                spoilt[at : at + 8] = dice.choice(_ABSURD)
            case 3 if spoilt:
                spoilt[at] ^= 1 << dice.randrange(8)
            case _:
                spoilt[at : at + 1] = bytes([dice.choice(_OPCODES)])
    return bytes(spoilt)


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _overwritten(data: bytes, at: int, dice: random.Random) -> bytes:
    """Two, four or eight bytes become an absurd number."""
    number = dice.choice(_ABSURD)[: dice.choice((2, 4, 8))]
    return data[:at] + number + data[at + len(number) :]


def _lengths(data: bytes, dice: random.Random) -> bytes:
    places = [match.end() for match in _LENGTHS.finditer(data)] or [0]
    return _overwritten(data, dice.choice(places), dice)


def _directory(data: bytes, dice: random.Random) -> bytes:
    """A field of a zip archive's headers or of its directory."""
    places = [match.start() for match in _SIGNATURES.finditer(data)] or [0]
    return _overwritten(data, dice.choice(places) + dice.randrange(4, 46), dice)


def _header_length(data: bytes, dice: random.Random) -> bytes:
    length = dice.choice((0, 1, len(data), 2**31, 2**40, 2**63, int.from_bytes(data[:8], "little") + 1))
    return length.to_bytes(8, "little") + data[8:]


def _header(data: bytes, dice: random.Random) -> bytes:
    """A safetensors file whose header is sound JSON and says something odd."""
    length = int.from_bytes(data[:8], "little")
    header = _json(data[8 : 8 + length], dice)
    return len(header).to_bytes(8, "little") + header + data[8 + length :]


def _json(data: bytes, dice: random.Random) -> bytes:
    """Sound JSON in which a value is another one."""
    value = json.loads(data)
    for _ in range(dice.choice((1, 1, 3))):
        inside = value
        while isinstance(inside, dict | list) and inside:
            key = dice.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
            if dice.random() < 0.4 or not isinstance(inside[key], dict | list) or not inside[key]:
                inside[key] = copy.deepcopy(dice.choice(_ODD))
                break
            inside = inside[key]
    return json.dumps(value).encode()


@functools.lru_cache(maxsize=64)
def _pieces(data: bytes) -> tuple[bytes, ...]:
    """A row of pickles, opcode by opcode; what follows them is the last piece."""
    stream, cuts = io.BytesIO(data), [0]
    try:
        while True:
            cuts += [position for _, _, position in pickletools.genops(stream) if position is not None]
    except (ValueError, IndexError):
        cuts = sorted({*cuts, len(data)})
    return tuple(data[begin:end] for begin, end in itertools.pairwise(cuts))


def _pickle(data: bytes, dice: random.Random) -> bytes:
    """Opcodes are lost, doubled, exchanged or come in between: mostly a pickle still, of something else."""
    pieces = list(_pieces(data))
    for _ in range(dice.choice((1, 1, 2, 6))):
        at, other = dice.randrange(len(pieces)), dice.randrange(len(pieces))
        match dice.randrange(5):
            case 0:
                pieces[at] = b""
            case 1:
                pieces[at] *= dice.choice((2, 2, 50))
            case 2:
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case 3:
                pieces[at] = dice.choice(_PIECES)
            case _:
                pieces[at] += dice.choice(_PIECES)
    return b"".join(pieces)


@functools.lru_cache(maxsize=64)
def _members(data: bytes) -> tuple[tuple[str, bytes], ...]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return tuple((info.filename, archive.read(info)) for info in archive.infolist())


def _member_pickle(data: bytes, dice: random.Random) -> bytes:
    """The pickle of an archive is damaged; the archive's checksums are right."""
    damage = dice.choice((_bytes, _cut, _lengths, _pickle, _pickle, _pickle))
    return _archive([
        (name, damage(inside, dice) if name.endswith("data.pkl") else inside)
        for name, inside in _members(data)
    ])  # fmt: skip


def _member(data: bytes, dice: random.Random) -> bytes:
    """A member is lost, doubled, renamed, empty, or has another's content."""
    members = list(_members(data))
    at, other = dice.randrange(len(members)), dice.randrange(len(members))
    name, inside = members[at]
    match dice.randrange(5):
        case 0:
            del members[at]
        case 1:
            twin = f"twin{name[4:]}"  # zipfile itself warns of a second member of that name
            written = _archive([*members, (twin, members[other][1])])
            return written.replace(twin.encode(), name.encode())
        case 2:
            strange = (f"../{name}", f"{name}\n", "code/a.py", "data.pkl/x", "\x1b[2J")
            members[at] = (dice.choice(strange), inside)
        case 3:
            members[at] = (name, b"")
        case _:
            members[at], members[other] = (name, members[other][1]), (members[other][0], inside)
    return _archive(members)


def _archive(members: list[tuple[str, bytes]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, inside in members:
            archive.writestr(zipfile.ZipInfo(name), inside)
    return stream.getvalue()
