"""Pictures made of pixels, told by what they hold and not by what they are called."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

_BEGINS: Final = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


def pixels(data: Mapping[str, Any]) -> dict[str, str]:
    """Those of a bundle's entries, MIME type → base64, that are a PNG or a JPEG."""
    return {kind: text for kind in _BEGINS if (text := _picture(data.get(kind), kind))}


def as_link(data: Mapping[str, Any]) -> str:
    """A data link to the first picture in a bundle; empty where there is none."""
    for kind, text in pixels(data).items():
        return f"data:{kind};base64,{text}"
    return ""


def _picture(value: Any, kind: str) -> str:
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "".join(value)
    if not isinstance(value, str):
        return ""
    try:
        raw = base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        return ""
    return base64.b64encode(raw).decode() if raw.startswith(_BEGINS[kind]) else ""
